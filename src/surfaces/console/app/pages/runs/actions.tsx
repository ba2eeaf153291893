import { useState } from "preact/hooks";

import type { RecordedRunDetail, RecordedRunSummary, RowPage, RunLine, SavedSkillFacts } from "../../../messages.ts";
import { ApiError, request, requestLines } from "../../api.ts";
import { askToConfirm, Dialog } from "../../components/dialog.tsx";
import { Button, EmptyState } from "../../components/elements.tsx";
import { Field, Form, type FormValues } from "../../components/form.tsx";
import { Load } from "../../components/load.tsx";
import { Text, Time } from "../../components/text.tsx";
import { formatLink } from "../../router.ts";
import { showToast } from "../../state/toasts.ts";

interface RunActionsProps {
  readonly run: RecordedRunDetail;
  /** Is called after the run has changed. */
  readonly onChange: () => void;
}

/** The buttons of a run: resume, cancel, replay, compare, continue, save as a skill. */
export function RunActions({ run, onChange }: RunActionsProps) {
  const [busy, setBusy] = useState("");
  const [isChoosing, setChoosing] = useState(false);
  const [isSaving, setSaving] = useState(false);
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
      <Button label="Compare …" onClick={() => setChoosing(true)} />
      <a class="button" href={formatLink(["playground"], { run: id, ...(canContinue && { continue: id }) })}>
        {canContinue ? "Correct and continue" : "Open in the playground"}
      </a>
      {maySave && <Button label="Save as a skill …" onClick={() => setSaving(true)} />}
      {isSaving && <SaveSkillDialog run={id} onClose={() => setSaving(false)} />}
      {isChoosing && <RunChooser run={run} onClose={() => setChoosing(false)} />}
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

/** The newest other runs, to compare with. */
function RunChooser({ run, onClose }: { readonly run: RecordedRunDetail; readonly onClose: () => void }) {
  return (
    <Dialog title="Compare with" form="drawer" onClose={onClose}>
      <Load<RowPage<RecordedRunSummary>> path="/runs?limit=50">
        {({ rows }) => <OtherRuns run={run} others={rows.filter(({ id }) => id !== run.id)} />}
      </Load>
    </Dialog>
  );
}

interface OtherRunsProps {
  readonly run: RecordedRunDetail;
  readonly others: readonly RecordedRunSummary[];
}

function OtherRuns({ run, others }: OtherRunsProps) {
  if (others.length === 0)
    return (
      <EmptyState icon="runs" title="There is no other run">
        Run the program again in the playground.
      </EmptyState>
    );
  return (
    <ul class="list">
      {others.map(({ id, title, created }) => (
        <li key={id} class="list-row">
          <span class="list-main">
            <Text href={formatLink(["runs", run.id, "diff", id])} value={title === "" ? id : title} limit={120} />
          </span>
          <Time at={created} />
        </li>
      ))}
    </ul>
  );
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
