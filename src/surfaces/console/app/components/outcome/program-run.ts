import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

import type { Outcome } from "../../../../../model/outcome.ts";
import { appendLine } from "../../../../../shared/format-text.ts";
import type { ProblemDetails } from "../../../messages.ts";
import type { ApprovalSummary, RecordedRunDetail, RunLine } from "../../../program-messages.ts";
import { request, requestLines, toProblem } from "../../api.ts";
import type { ChartedCall } from "./call-timeline.tsx";
import { onEvent } from "../../state/events.ts";

/** A run of a program that a page has started, as far as its events tell. */
export interface ProgramRun {
  readonly state: "running" | "stopped" | "ended";
  readonly runId: string;
  readonly output: string;
  /** Times are in milliseconds since the browser sent the program. */
  readonly calls: readonly ChartedCall[];
  readonly logs: readonly string[];
  readonly approvals: readonly ApprovalSummary[];
  readonly outcome: Outcome | undefined;
  /** The type of the result as TypeScript. */
  readonly type: string;
  readonly problem: ProblemDetails | undefined;
  /** `performance.now()` at the start. */
  readonly startedAt: number;
}

interface ProgramRunner {
  readonly run: Signal<ProgramRun | undefined>;
  /** The input is JSON. */
  readonly start: (body: { readonly source: string; readonly input?: string; readonly continue?: string }) => void;
  readonly stop: () => void;
}

const MAX_LOGS = 200;

/** Runs programs one at a time. The run stops when the page is left. */
export function useProgramRun(): ProgramRunner {
  const run = useSignal<ProgramRun | undefined>(undefined);
  const controller = useRef<AbortController>(undefined);
  const change = (part: Partial<ProgramRun>): void => {
    if (run.value !== undefined) run.value = { ...run.value, ...part };
  };

  async function execute(body: object, signal: AbortSignal): Promise<void> {
    run.value = { ...EMPTY, state: "running", startedAt: performance.now() };
    try {
      await requestLines<RunLine>("/run", { method: "POST", body, signal }, (line) => {
        if (run.value !== undefined && !signal.aborted) run.value = addLine(run.value, line);
      });
      if (!signal.aborted) change({ state: "ended" });
    } catch (thrown) {
      if (!signal.aborted) change({ state: "ended", problem: toProblem(thrown) });
    }
  }

  useEffect(() => () => controller.current?.abort(), []);
  useEffect(() => onEvent("approvals", () => void refreshApprovals(run.value?.approvals, change)), []);
  useEffect(
    () =>
      onEvent("run", ({ runId }) => {
        if (run.value?.runId === runId && run.value.outcome?.kind === "waiting") void refreshOutcome(runId, change);
      }),
    [],
  );
  return {
    run,
    start(body) {
      controller.current?.abort();
      controller.current = new AbortController();
      void execute(body, controller.current.signal);
    },
    stop() {
      controller.current?.abort();
      change({ state: "stopped", calls: (run.value?.calls ?? []).map((call) => endCall(call, run.value)) });
    },
  };
}

const EMPTY = {
  runId: "",
  output: "",
  calls: [],
  logs: [],
  approvals: [],
  outcome: undefined,
  type: "",
  problem: undefined,
};

type ChangeRun = (part: Partial<ProgramRun>) => void;

/** A run that waited has ended later: its record has the outcome. */
async function refreshOutcome(runId: string, change: ChangeRun): Promise<void> {
  const { outcome } = await request<RecordedRunDetail>(`/runs/${encodeURIComponent(runId)}`);
  if (outcome !== null) change({ outcome });
}

async function refreshApprovals(approvals: readonly ApprovalSummary[] = [], change: ChangeRun): Promise<void> {
  if (!approvals.some(({ state }) => state === "pending")) return;
  const newest = await Promise.all(
    approvals.map(async (each) =>
      each.state === "pending"
        ? request<ApprovalSummary>(`/approvals/${encodeURIComponent(each.id)}`).catch(() => each)
        : each,
    ),
  );
  change({ approvals: newest });
}

function addLine(run: ProgramRun, line: RunLine): ProgramRun {
  const now = performance.now() - run.startedAt;
  switch (line.kind) {
    case "start":
      return { ...run, runId: line.runId };
    case "call-start": {
      const { id, path } = line;
      return { ...run, calls: [...run.calls, { id, path, from: now, end: "unfinished" }] };
    }
    case "call-end": {
      const { id, skill, method, outcome, durationMs } = line.call;
      const begun = run.calls.find((call) => call.id === id);
      const from = begun?.from ?? Math.max(0, now - durationMs);
      const call: ChartedCall = { ...begun, id, path: `${skill}.${method}`, from, to: from + durationMs, end: outcome };
      return { ...run, calls: [...run.calls.filter((each) => each.id !== id), call].toSorted((a, b) => a.id - b.id) };
    }
    case "progress":
      return { ...run, calls: noteProgress(run.calls, line) };
    case "log":
      return { ...run, logs: [...run.logs, `${line.path} ${line.level}: ${line.text}`].slice(-MAX_LOGS) };
    case "output":
      return { ...run, output: appendLine(run.output, line.text) };
    case "approval":
      return { ...run, approvals: [...run.approvals.filter(({ id }) => id !== line.approval.id), line.approval] };
    case "outcome":
      return { ...run, runId: line.outcome.runId, outcome: line.outcome, type: line.type ?? "" };
    case "problem":
      return { ...run, problem: line.problem };
  }
}

/** The newest call of the method that has no end has made the progress. */
function noteProgress(
  calls: readonly ChartedCall[],
  { path, done, total, text = "" }: Extract<RunLine, { readonly kind: "progress" }>,
): readonly ChartedCall[] {
  const at = calls.findLastIndex((call) => call.path === path && call.end === "unfinished");
  const note = `${done}${total === undefined ? "" : ` of ${total}`} ${text}`.trim();
  return calls.map((call, index) => (index === at ? { ...call, note } : call));
}

function endCall(call: ChartedCall, run: ProgramRun | undefined): ChartedCall {
  return call.to === undefined ? { ...call, to: performance.now() - (run?.startedAt ?? 0) } : call;
}
