import { useState } from "preact/hooks";

import type { RecordedRunDetail, RecordedRunSummary, RowPage, RunLine } from "../../../run-messages.ts";
import { ApiError, request, requestLines } from "../../api.ts";
import { askToConfirm } from "../../components/confirmation.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { Skeleton } from "../../components/skeleton.tsx";
import { Text } from "../../components/text.tsx";
import { Time } from "../../components/time.tsx";
import { formatLink, navigate } from "../../router.ts";
import { useResource } from "../../state/resource.ts";
import { showError, showToast } from "../../state/toasts.ts";
import { SaveSkillDialog } from "./save-skill.tsx";

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
  const act = (name: string, work: () => Promise<void>) => (): void => {
    setBusy(name);
    work()
      .catch(showError)
      .finally(() => {
        setBusy("");
        onChange();
      });
  };
  const replay = act("replay", async () => {
    const { outcome } = await request<{ readonly outcome: unknown }>(`${path}/replay`, { method: "POST" });
    const text = outcome === null ? "What is recorded is repeated without a difference" : "The outcome is the same";
    showToast({ tone: "ok", text: `Repeated without providers: ${text.toLowerCase()}` });
  });
  const resume = act("resume", () => resumeRun(path));
  const cancel = act("cancel", async () => {
    const text = "Calls that have begun are not undone.";
    if (!(await askToConfirm({ title: "Cancel this run?", text, confirm: "Cancel the run" }))) return;
    await request(`${path}/cancel`, { method: "POST" });
  });
  return (
    <div class="actions" aria-label="Actions" role="group">
      {run.ended === null && mayChange && (
        <>
          <button type="button" class="button button-primary" disabled={busy !== "" || run.isOpen} onClick={resume}>
            {busy === "resume" ? "Resuming …" : "Resume"}
          </button>
          <button type="button" class="button" disabled={busy === "cancel"} onClick={cancel}>
            Cancel the run
          </button>
        </>
      )}
      <button type="button" class="button" disabled={busy !== ""} onClick={replay}>
        {busy === "replay" ? "Replaying …" : "Replay"}
      </button>
      <button type="button" class="button" onClick={() => setChoosing(true)}>
        Compare …
      </button>
      <a class="button" href={formatLink(["playground"], { run: id, ...(canContinue && { continue: id }) })}>
        {canContinue ? "Correct and continue" : "Open in the playground"}
      </a>
      {maySave && (
        <button type="button" class="button" onClick={() => setSaving(true)}>
          Save as a skill …
        </button>
      )}
      {isSaving && <SaveSkillDialog run={id} onClose={() => setSaving(false)} />}
      {isChoosing && <RunChooser run={run} onClose={() => setChoosing(false)} />}
    </div>
  );
}

/** Continues a run, and waits until it ends or waits for a person. */
async function resumeRun(path: string): Promise<void> {
  let problem: ApiError | undefined;
  await requestLines(`${path}/resume`, { method: "POST", body: {} }, (value) => {
    const line = value as RunLine;
    if (line.kind === "problem") problem = new ApiError(line.problem);
  });
  if (problem !== undefined) throw problem;
}

/** The newest other runs, to compare with. */
function RunChooser({ run, onClose }: { readonly run: RecordedRunDetail; readonly onClose: () => void }) {
  const { data } = useResource<RowPage<RecordedRunSummary>>("/runs?limit=50");
  const rows = data.value?.rows.filter(({ id }) => id !== run.id);
  return (
    <Dialog title="Compare with" form="drawer" onClose={onClose}>
      {rows === undefined && <Skeleton lines={6} />}
      {rows?.length === 0 && (
        <EmptyState icon="runs" title="There is no other run">
          Run the program again in the playground.
        </EmptyState>
      )}
      <ul class="list">
        {rows?.map(({ id, title, created }) => (
          <li key={id} class="list-row">
            <a
              class="list-main"
              href={formatLink(["runs", run.id, "diff", id])}
              onClick={(event) => {
                event.preventDefault();
                onClose();
                navigate(formatLink(["runs", run.id, "diff", id]));
              }}
            >
              <Text value={title === "" ? id : title} limit={120} />
            </a>
            <Time at={created} />
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
