import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";

import type { SessionInfo } from "../../../messages.ts";
import type { ApprovalSummary } from "../../../program-messages.ts";
import { ApprovalCard } from "../approval-card.tsx";
import { Button, Card, EmptyState, ErrorNotice, StatusBadge } from "../elements.tsx";
import { CallTimeline } from "./call-timeline.tsx";
import { OutcomeView } from "./outcome-view.tsx";
import { Code } from "../text.tsx";
import { formatLink } from "../../router.ts";
import type { ProgramRun } from "./program-run.ts";

interface RunViewProps {
  readonly run: ProgramRun | undefined;
  readonly info: SessionInfo;
  readonly onPlace?: (line: number, column: number) => void;
  /** True if the program was changed after the run. */
  readonly isOutdated?: boolean;
  /** Offers to save the program of a run that worked. */
  readonly onSave?: (run: string) => void;
  /** Says what to do before anything has run. */
  readonly children: ComponentChildren;
}

/** Milliseconds between two drawings of the bars of calls that last. */
const DRAW_MS = 250;

/** A run as it happens: questions, output, calls, outcome. */
export function RunView({ run, info, onPlace, onSave, isOutdated = false, children }: RunViewProps) {
  const now = useClock(run?.state === "running");
  if (run === undefined)
    return (
      <Card title="Run">
        <EmptyState icon="playground" title="Nothing has run yet">
          {children}
        </EmptyState>
      </Card>
    );
  const { approvals, output, calls, logs, outcome, problem, startedAt, state } = run;
  return (
    <div class={isOutdated && state !== "running" ? "stack run-view outdated" : "stack run-view"}>
      {approvals
        .filter((each) => each.state === "pending")
        .map((approval) => (
          <ApprovalCard key={approval.id} approval={approval} canAnswer={mayAnswer(approval, info)} />
        ))}
      <Card title="Run" actions={<RunState run={run} />}>
        <div class="stack outcome" aria-live="polite">
          {isOutdated && state !== "running" && <p class="muted">The program has changed since this run.</p>}
          {problem !== undefined && <ErrorNotice error={problem} />}
          {outcome !== undefined && <OutcomeView outcome={outcome} type={run.type} onPlace={onPlace} />}
          {outcome?.kind === "completed" && onSave !== undefined && (
            <div class="row">
              <Button label="Save as an automation …" onClick={() => onSave(run.runId)} />
            </div>
          )}
          {state === "stopped" && <p class="muted">The run was stopped</p>}
        </div>
      </Card>
      {output !== "" && (
        <Card title="Output">
          <Code label="Output" value={output} />
        </Card>
      )}
      {calls.length > 0 && (
        <Card title="Calls">
          <CallTimeline calls={calls} until={state === "running" ? now - startedAt : undefined} />
        </Card>
      )}
      {logs.length > 0 && (
        <Card title="Log">
          <Code label="Log" value={logs.join("\n")} />
        </Card>
      )}
    </div>
  );
}

/** An administrator answers every question; others those of their own calls that need no administrator. */
function mayAnswer({ approver, caller }: ApprovalSummary, info: SessionInfo): boolean {
  return info.admin.includes("AnswerApprovals") || (approver === "user" && caller === info.caller);
}

function RunState({ run: { state, outcome, runId } }: { readonly run: ProgramRun }) {
  const label = state === "running" ? state : (outcome?.kind ?? state);
  return (
    <>
      {runId !== "" && outcome?.kind !== "refused" && <a href={formatLink(["runs", runId])}>run {runId.slice(0, 8)}</a>}
      <StatusBadge label={label} />
    </>
  );
}

function useClock(isRunning: boolean): number {
  const [now, setNow] = useState(() => performance.now());
  useEffect(() => {
    if (!isRunning) return undefined;
    const timer = setInterval(() => setNow(performance.now()), DRAW_MS);
    return () => clearInterval(timer);
  }, [isRunning]);
  return now;
}
