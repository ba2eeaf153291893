import { useState } from "preact/hooks";

import type { RecordedRunDetail, RunLine, SavedSkillFacts } from "../../../program-messages.ts";
import { ApiError, request, requestLines } from "../../api.ts";
import { askToConfirm, Dialog } from "../../components/dialog.tsx";
import { Button } from "../../components/elements.tsx";
import { Field, Form, type FormValues } from "../../components/form.tsx";
import { SaveAutomationDialog } from "../../components/outcome/save-automation.tsx";
import { formatLink } from "../../router.ts";
import { showToast } from "../../state/toasts.ts";

interface RunActionsProps {
  readonly run: RecordedRunDetail;
  /** Is called after the run has changed. */
  readonly onChange: () => void;
}

/** The buttons of a run: resume, cancel, replay, compare, continue, save as a skill or an automation. */
export function RunActions({ run, onChange }: RunActionsProps) {
  const [busy, setBusy] = useState("");
  const [saving, setSaving] = useState<"automation" | "skill" | undefined>(undefined);
  const { id, mayChange, maySave, canContinue } = run;
  const path = `/runs/${encodeURIComponent(id)}`;
  const act = (name: string, work: () => Promise<void>) => async (): Promise<void> => {
    setBusy(name);
    try {
      await work();
    } finally {
      setBusy("");
      onChange();
    }
  };
  const replay = act("replay", async () => {
    const { outcome } = await request<{ readonly outcome: unknown }>(`${path}/replay`, { method: "POST" });
    const text = outcome === null ? "what is recorded is repeated without a difference" : "the outcome is the same";
    showToast({ tone: "ok", text: `Repeated without providers: ${text}` });
  });
  const resume = act("resume", () => resumeRun(path));
  const cancel = act("cancel", async () => {
    const text = "Calls that have begun are not undone.";
    if (!(await askToConfirm({ title: "Cancel this run?", text, confirm: "Cancel the run" }))) return;
    await request(`${path}/cancel`, { method: "POST" });
  });
  const isBusy = busy !== "";
  return (
    <div class="row" aria-label="Actions" role="group">
      {run.ended === null && mayChange && (
        <>
          <Button
            label={busy === "resume" ? "Resuming …" : "Resume"}
            tone="primary"
            disabled={isBusy || run.isOpen}
            onClick={resume}
          />
          <Button label="Cancel the run" disabled={busy === "cancel"} onClick={cancel} />
        </>
      )}
      <Button label={busy === "replay" ? "Replaying …" : "Replay"} disabled={isBusy} onClick={replay} />
      <a class="button" href={formatLink(["runs", id, "diff"], { program: run.program })}>
        Compare …
      </a>
      <a class="button" href={formatLink(["playground"], { run: id, ...(canContinue && { continue: id }) })}>
        {canContinue ? "Correct and continue" : "Open in the playground"}
      </a>
      {maySave && <Button label="Save as a skill …" onClick={() => setSaving("skill")} />}
      {maySave && <Button label="Save as an automation …" onClick={() => setSaving("automation")} />}
      {saving === "skill" && <SaveSkillDialog run={id} onClose={() => setSaving(undefined)} />}
      {saving === "automation" && <SaveAutomationDialog run={id} onClose={() => setSaving(undefined)} />}
    </div>
  );
}

/** Continues a run, and waits until it ends or waits for a person. */
async function resumeRun(path: string): Promise<void> {
  let problem: ApiError | undefined;
  await requestLines<RunLine>(`${path}/resume`, { method: "POST", body: {} }, (line) => {
    if (line.kind === "problem") problem = new ApiError(line.problem);
  });
  if (problem !== undefined) throw problem;
}

interface SaveSkillDialogProps {
  readonly run: string;
  readonly onClose: () => void;
}

/** The form that makes a saved skill of a run. */
function SaveSkillDialog({ run, onClose }: SaveSkillDialogProps) {
  const save = async ({ name, description, parameters = "" }: FormValues): Promise<void> => {
    const lines = parameters.split("\n").flatMap((line) => (line.trim() === "" ? [] : [line.trim()]));
    const body = { name, description, parameters: lines };
    const saved = await request<SavedSkillFacts>(`/runs/${encodeURIComponent(run)}/skill`, { method: "POST", body });
    showToast({ tone: "ok", text: `Saved ${saved.path}(${saved.parameters.join(", ")}) in ${saved.file}` });
    onClose();
  };
  return (
    <Dialog title="Save as a skill" onClose={onClose}>
      <p class="muted">The program becomes a method that later programs call. Its recorded calls become its test.</p>
      <Form submit="Save" onSubmit={save}>
        <Field name="name" label="Name" required autofocus placeholder="city weather" note="One or a few words" />
        <Field name="description" label="Description" note="What it does, for search" />
        <Field
          name="parameters"
          label="Parameters"
          rows={3}
          placeholder={"city\norder=1001"}
          note="One a line: a constant of the program, or a name with the value that it replaces"
        />
      </Form>
    </Dialog>
  );
}
