import { useSignal } from "@preact/signals";
import type { Diagnostic } from "@codemirror/lint";
import type { Text as EditorText } from "@codemirror/state";
import { useMemo, useRef } from "preact/hooks";

import type { AutomationCheck, AutomationFileText } from "../../../automation-messages.ts";
import { request } from "../../api.ts";
import { askToConfirm, Dialog } from "../../components/dialog.tsx";
import { createCheckLinter, findOffset } from "../../components/editor/check-linter.ts";
import { CodeEditor } from "../../components/editor/code-editor.tsx";
import { Button } from "../../components/elements.tsx";
import { Load } from "../../components/load.tsx";
import { Text } from "../../components/text.tsx";
import { announceChange } from "../../state/announce-change.ts";
import { showError } from "../../state/toasts.ts";
import { Plan } from "./offer.tsx";
import { getPath } from "./states.tsx";

export interface EditDialogProps {
  readonly name: string;
  readonly onClose: () => void;
}

/** An editor for the file of an automation, with its mistakes and its plan. A changed one runs after it is accepted again. */
export function EditDialog({ name, onClose }: EditDialogProps) {
  const isChanged = useRef(false);
  const close = async (): Promise<void> => {
    const question = { title: "Discard the changes?", text: `${name}.yaml stays as it is.`, confirm: "Discard" };
    if (!isChanged.current || (await askToConfirm(question))) onClose();
  };
  return (
    <Dialog form="drawer" title={`Edit ${name}`} onClose={() => void close()}>
      <Load<AutomationFileText> path={`${getPath(name)}/text`}>
        {(file) => (
          <FileEditor name={name} file={file} isChanged={isChanged} onClose={onClose} onCancel={() => void close()} />
        )}
      </Load>
    </Dialog>
  );
}

interface FileEditorProps extends EditDialogProps {
  readonly file: AutomationFileText;
  readonly isChanged: { current: boolean };
  readonly onCancel: () => void;
}

function FileEditor({ name, file, isChanged, onClose, onCancel }: FileEditorProps) {
  const text = useRef(file.text);
  const check = useSignal<AutomationCheck | undefined>(undefined);
  const language = useMemo(
    () =>
      createCheckLinter<AutomationCheck>({
        path: `${getPath(name)}/check`,
        member: "text",
        onCheck: (result) => (check.value = result),
        toDiagnostics,
      }),
    [],
  );
  const save = async (): Promise<void> => {
    await request(getPath(name), { method: "PUT", body: { text: text.current, digest: file.digest } });
    announceChange(`${name}.yaml is saved. Accept it, so that it runs`, "automations");
    onClose();
  };
  return (
    <>
      <CodeEditor
        label="File"
        text={file.text}
        extensions={language}
        onSubmit={() => void save().catch(showError)}
        onChange={(changed) => {
          text.current = changed;
          isChanged.current = changed !== file.text;
        }}
      />
      <p class="muted small">
        <kbd>Ctrl Enter</kbd> saves, <kbd>Tab</kbd> leaves the editor
      </p>
      <CheckView check={check.value} />
      <div class="row form-actions">
        <Button label="Cancel" onClick={onCancel} />
        <Button label="Save" tone="primary" onClick={save} />
      </div>
    </>
  );
}

function CheckView({ check }: { readonly check: AutomationCheck | undefined }) {
  if (check === undefined) return null;
  const why = check.problem ?? check.offer?.flaw ?? null;
  return (
    <div class="stack" role="status">
      {why !== null && <Text in="p" class="warning" value={why} limit={2_000} />}
      {check.offer !== null && (
        <section>
          <h3>Plan</h3>
          <Plan calls={check.offer.calls} />
        </section>
      )}
    </div>
  );
}

/** A mistake in the file names its line. */
function toDiagnostics({ problem }: AutomationCheck, doc: EditorText): readonly Diagnostic[] {
  const [, line] = /\.yaml:(\d+):/.exec(problem ?? "") ?? [];
  if (problem === null || line === undefined) return [];
  const [from, to] = [findOffset(doc, Number(line), 0), findOffset(doc, Number(line), Infinity)];
  return [{ from, to, severity: "error", message: problem }];
}
