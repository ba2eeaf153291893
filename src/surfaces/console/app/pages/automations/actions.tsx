import { useRef, useState } from "preact/hooks";

import type { AutomationDetail, AutomationOfferDetail, OccurrenceSummary } from "../../../automation-messages.ts";
import { InputError, request } from "../../api.ts";
import { askToConfirm, Dialog } from "../../components/dialog.tsx";
import { Button } from "../../components/elements.tsx";
import { Field, Form, type FormValues } from "../../components/form.tsx";
import { KeyField } from "../../components/outcome/save-automation.tsx";
import { Text } from "../../components/text.tsx";
import { formatLink, navigate } from "../../router.ts";
import { announceChange } from "../../state/announce-change.ts";
import { showError, showToast } from "../../state/toasts.ts";
import { ArgumentFields, listArguments, readArguments } from "../methods/argument-fields.tsx";
import { createLazyPage } from "../lazy-page.tsx";
import type { EditDialogProps } from "./edit.tsx";
import { OfferView, Plan } from "./offer.tsx";
import { getPath } from "./states.tsx";

/** The editor is a large library. */
const EditDialog = createLazyPage<EditDialogProps>(async () => (await import("./edit.tsx")).EditDialog);

interface AutomationActionsProps {
  readonly automation: AutomationDetail;
}

/** The buttons of an automation: run now, pause, resume, accept, remove. */
export function AutomationActions({ automation }: AutomationActionsProps) {
  const [dialog, setDialog] = useState<"run" | "pause" | "accept" | "edit" | undefined>(undefined);
  const { name, state, offer, input, hook, isHidden } = automation;
  const close = (): void => setDialog(undefined);
  const isActive = state === "enabled" || state === "failing";
  const takesInput = input !== null || hook !== null;
  const resume = async (): Promise<void> => {
    await request(`${getPath(name)}/resume`, { method: "POST", body: {} });
    announceChange(`${name} is resumed`, "automations");
  };
  const remove = async (): Promise<void> => {
    const text = `${name}, its file, its history and its stored values are deleted.`;
    if (!(await askToConfirm({ title: `Remove ${name}?`, text, confirm: "Remove" }))) return;
    await request(getPath(name), { method: "DELETE" });
    showToast({ tone: "ok", text: `${name} is removed` });
    navigate(formatLink(["automations"]));
  };
  return (
    <div class="row" role="group" aria-label="Actions">
      {isActive && (
        <Button
          label={takesInput ? "Run now …" : "Run now"}
          onClick={() => (takesInput ? setDialog("run") : run(name))}
        />
      )}
      {isActive && <Button label="Pause …" onClick={() => setDialog("pause")} />}
      {state === "paused" && <Button label="Resume" tone="primary" onClick={resume} />}
      {offer !== null && needsAcceptance(automation) && (
        <Button label="Accept …" tone="primary" onClick={() => setDialog("accept")} />
      )}
      {state !== "proposed" && !isHidden && <Button label="Edit …" onClick={() => setDialog("edit")} />}
      <Button label="Remove" tone="danger" onClick={remove} />
      {dialog === "run" && <RunDialog automation={automation} onClose={close} />}
      {dialog === "edit" && <EditDialog name={name} onClose={close} />}
      {dialog === "pause" && <PauseDialog name={name} onClose={close} />}
      {dialog === "accept" && offer !== null && <AcceptDialog automation={automation} offer={offer} onClose={close} />}
    </div>
  );
}

/** A paused one that has changed is held as soon as it is resumed. */
function needsAcceptance({ state, offer }: AutomationDetail): boolean {
  if (state === "proposed" || state === "unaccepted" || state === "held") return true;
  return offer !== null && offer.difference.lines.length + offer.difference.methods.length > 0;
}

async function run(name: string, input?: unknown): Promise<void> {
  await request<OccurrenceSummary>(`${getPath(name)}/run`, { method: "POST", body: { input } });
  announceChange(`${name} runs; its history has the result`, "automations");
}

interface AutomationDialogProps extends AutomationActionsProps {
  readonly onClose: () => void;
}

/** Asks for the input of a run. */
function RunDialog({ automation, onClose }: AutomationDialogProps) {
  const { name, input, example, hook } = automation;
  const fields = useRef(hasProperties(input) ? listArguments({ input, arguments: example }) : undefined).current;
  const start = async (values: FormValues): Promise<void> => {
    await run(name, fields === undefined ? parseInput(values["input"] ?? "") : readArguments(fields, values));
    onClose();
  };
  return (
    <Dialog title={`Run ${name}`} onClose={onClose}>
      <Form submit="Run" onSubmit={start} onCancel={onClose}>
        <p class="muted">The program gets this input. It runs now, with the rights of its key and its limits.</p>
        {fields !== undefined && <ArgumentFields fields={fields} />}
        {fields === undefined && (
          <Field
            name="input"
            label="Input (JSON)"
            rows={8}
            value={hook === null ? "" : JSON.stringify({ body: {}, headers: {} }, null, 2)}
            note="Empty for the input of the schedule, or for none"
          />
        )}
      </Form>
    </Dialog>
  );
}

function hasProperties(schema: unknown): boolean {
  return typeof schema === "object" && schema !== null && "properties" in schema;
}

function parseInput(text: string): unknown {
  if (text.trim() === "") return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new InputError('The input is not valid JSON. Write a value such as { "name": "a" }');
  }
}

function PauseDialog({ name, onClose }: { readonly name: string; readonly onClose: () => void }) {
  const pause = async ({ reason = "" }: FormValues): Promise<void> => {
    await request(`${getPath(name)}/pause`, { method: "POST", body: { reason } });
    announceChange(`${name} is paused`, "automations");
    onClose();
  };
  return (
    <Dialog title={`Pause ${name}`} onClose={onClose}>
      <Form submit="Pause" onSubmit={pause} onCancel={onClose}>
        <p class="muted">Its slots do not run while it is paused. A run that has begun continues.</p>
        <Field name="reason" label="Reason" autofocus maxLength={500} note="Shown to others" />
      </Form>
    </Dialog>
  );
}

/** The version that a person accepts. */
interface Version {
  readonly offer: AutomationOfferDetail;
  /** In place of the key of a proposal. */
  readonly key?: string;
}

/** Shows what is accepted, and sends the digest of what was shown. A version that comes meanwhile is not shown. */
function AcceptDialog({
  automation,
  offer,
  onClose,
}: AutomationDialogProps & { readonly offer: AutomationOfferDetail }) {
  const { name, state } = automation;
  const [version, setVersion] = useState<Version>({ offer });
  const { flaw, calls, digest } = version.offer;
  const key = version.key ?? automation.key;
  const choose = async (text: string): Promise<void> => {
    const path = `${getPath(name)}/offer?key=${encodeURIComponent(text)}`;
    setVersion(text === "" ? { offer } : { offer: await request<AutomationOfferDetail>(path), key: text });
  };
  const accept = async (): Promise<void> => {
    const body = { digest, ...(version.key !== undefined && { key: version.key }) };
    await request(`${getPath(name)}/accept`, { method: "POST", body });
    announceChange(`${name} is accepted and enabled`, "automations");
    onClose();
  };
  return (
    <Dialog form="drawer" title={`Accept ${name}`} onClose={onClose}>
      {state === "proposed" && (
        <>
          <p class="warning">A model has written this. Read the whole of it before you accept it.</p>
          <KeyField
            first={["", `as proposed (${automation.key})`]}
            onText={(text) => void choose(text).catch(showError)}
          />
        </>
      )}
      <OfferView offer={version.offer} isAccepted={state !== "proposed" && state !== "unaccepted"} />
      <section>
        <h3>Plan</h3>
        <Plan calls={calls} />
      </section>
      <p class="muted">
        It then runs by itself with the rights of the key <Text value={key ?? "of its file"} limit={200} />, until it is
        paused or changes.
      </p>
      <div class="row form-actions">
        <Button label="Cancel" onClick={onClose} />
        {flaw === null && <Button label="Accept" tone="primary" onClick={accept} />}
      </div>
    </Dialog>
  );
}
