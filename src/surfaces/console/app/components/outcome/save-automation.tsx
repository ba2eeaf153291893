import { useState } from "preact/hooks";

import type { SavedAutomationFacts } from "../../../automation-messages.ts";
import type { KeyList } from "../../../messages.ts";
import { request } from "../../api.ts";
import { formatLink, navigate } from "../../router.ts";
import { showToast } from "../../state/toasts.ts";
import { Dialog } from "../dialog.tsx";
import { type Choice, Field, Form, type FormValues } from "../form.tsx";
import { Load } from "../load.tsx";

interface SaveAutomationProps {
  /** The id of a run that worked. */
  readonly run: string;
  /** The program, for a run that was not recorded. */
  readonly source?: string;
  readonly onClose: () => void;
}

type Trigger = "cron" | "every" | "none" | "webhook";

const TRIGGERS: readonly Choice[] = [
  ["cron", "at times of the clock (cron)"],
  ["every", "after each period"],
  ["webhook", "for deliveries to a webhook"],
  ["none", "only when a person starts it"],
] satisfies readonly (readonly [Trigger, string])[];

const SERVICES: readonly Choice[] = [
  ["github", "GitHub"],
  ["stripe", "Stripe"],
  ["slack", "Slack"],
  ["standard", "Standard Webhooks"],
  ["token", "a token in the header Authorization"],
];

/** The form that makes an automation of a run. It is written into a file, and runs after a person has accepted it. */
export function SaveAutomationDialog({ run, source, onClose }: SaveAutomationProps) {
  const [trigger, setTrigger] = useState("cron");
  const save = async (values: FormValues): Promise<void> => {
    const { name = "", key, description = "", parameters = "" } = values;
    const body = {
      name,
      key,
      run,
      ...(source !== undefined && { source }),
      ...(description !== "" && { description }),
      parameters: parameters.split("\n").flatMap((line) => (line.trim() === "" ? [] : [line.trim()])),
      ...readTrigger(values),
    };
    const saved = await request<SavedAutomationFacts>("/automations", { method: "POST", body });
    showToast({ tone: "ok", text: `Saved ${saved.file}. Look at it, then accept it` });
    onClose();
    navigate(formatLink(["automations", saved.name]));
  };
  return (
    <Dialog title="Save as an automation" onClose={onClose}>
      <p class="muted">The program then runs by itself with the rights of a key, after a person has accepted it.</p>
      <Form submit="Save" onSubmit={save}>
        <Field name="name" label="Name" required autofocus placeholder="daily-report" note="a to z, 0 to 9 and -" />
        <KeyField />
        <Field name="trigger" label="It runs" choices={TRIGGERS} onText={setTrigger} />
        {trigger === "cron" && <CronFields />}
        {trigger === "every" && (
          <Field name="every" label="Period" required placeholder="15m" note="A number with m, h or d" />
        )}
        {trigger === "webhook" && <WebhookFields />}
        <Field name="description" label="Description" note="What it does" />
        {trigger !== "webhook" && (
          <Field
            name="parameters"
            label="Parameters"
            rows={2}
            placeholder={"city\norder=1001"}
            note="One a line: a constant of the program that becomes its input, or a name with the value that it replaces"
          />
        )}
      </Form>
    </Dialog>
  );
}

/** The key of an automation must not administer. */
const isForbidden = (permission: string): boolean => permission.startsWith("admin:") && permission !== "admin:Read";

interface KeyFieldProps {
  /** The first choice. */
  readonly first?: Choice;
  readonly onText?: (key: string) => void;
}

/** Chooses the key with whose rights an automation runs. */
export function KeyField({ first, onText }: KeyFieldProps) {
  return (
    <Load<KeyList> path="/keys" lines={1}>
      {({ keys }) => {
        const usable = keys.filter(({ state, permissions }) => state === "active" && !permissions.some(isForbidden));
        const active = [...(first === undefined ? [] : [first]), ...usable.map(({ name }): Choice => [name, name])];
        if (active.length > 0)
          return (
            <Field
              name="key"
              label="Key"
              choices={active}
              note="Its rights are the upper bound"
              {...(onText !== undefined && { onText })}
            />
          );
        return (
          <Field name="key" label="Key" required note="There is no key yet: write the name of one to create later" />
        );
      }}
    </Load>
  );
}

function CronFields() {
  return (
    <>
      <Field
        name="cron"
        label="Cron"
        required
        placeholder="0 9 * * MON-FRI"
        note="Minute, hour, day of the month, month, day of the week"
      />
      <Field name="zone" label="Zone" required value={Intl.DateTimeFormat().resolvedOptions().timeZone} />
    </>
  );
}

function WebhookFields() {
  return (
    <>
      <Field name="verify" label="Service" choices={SERVICES} />
      <Field
        name="secret"
        label="Secret"
        required
        placeholder={"${HOOK_SECRET}"}
        note="A reference to a variable, and not the secret itself"
      />
    </>
  );
}

function readTrigger({ trigger, cron, zone, every, verify, secret }: FormValues): object {
  if (trigger === "cron") return { schedule: { cron, zone } };
  if (trigger === "every") return { schedule: { every } };
  return trigger === "webhook" ? { webhook: { verify, secrets: [secret] } } : {};
}
