import type { Outcome } from "../../model/outcome.ts";
import type { RunObserver } from "../../model/run-observer.ts";
import { resumeRun, runCode } from "../../runtime/builtin-tools/index.ts";
import { formatRpcError, toRpcError } from "../../shared/rpc-errors.ts";
import type { AgentEvent } from "../events.ts";
import {
  formatPlannedSteps,
  getRunOptions,
  type StepContext,
  type StepResult,
  type StepTarget,
  type WaitingProgram,
} from "./step-context.ts";

const NAME = "run_code";

/**
 * Runs a program, and reports its plan, its calls and its output. `args` are those of the tool `run_code`. The calls of a quote
 * that have an effect need an approval.
 */
export async function runProgram(
  args: Readonly<Record<string, unknown>>,
  context: StepContext,
  isQuote = false,
): Promise<StepResult> {
  const { view, emit } = context;
  const step = context.createStepId();
  const { code } = args;
  if (typeof code === "string") {
    emit({ type: "code", step, code });
    const { plan, violations } = await view.plan(code);
    emit({ type: "plan", step, calls: violations.length === 0 ? formatPlannedSteps(plan, view) : [] });
  }
  const target = { emit, meter: context.meter };
  return endStep(step, target, async () => {
    const observer = createObserver(step, target);
    return (await runCode(view, args, { ...getRunOptions(context, isQuote), observer })).outcome;
  });
}

/** Waits for a program that waits for a person; the result says if it still does. */
export async function resumeProgram(waiting: WaitingProgram, context: StepContext): Promise<StepResult> {
  const { step, runId, target } = waiting;
  const { view, signal, emit, meter } = context;
  Object.assign(target, { emit, meter });
  for (const event of waiting.missed) emit(event);
  return endStep(step, target, async () => {
    const options = { signal, observer: createObserver(step, target) };
    // The time in which a person is asked does not count, and the program has a limit of its own.
    return (await meter.pauseWhile(resumeRun(view, { run_id: runId }, options))).outcome;
  });
}

/** Waits for the outcome of a program, and reports its result, or that it waits for a person. */
async function endStep(step: string, target: StepTarget, getOutcome: () => Promise<Outcome>): Promise<StepResult> {
  try {
    const outcome = await getOutcome();
    const result = { name: NAME, text: outcome.text, isError: outcome.kind !== "completed" };
    if (outcome.kind === "waiting") {
      const run = { step, runId: outcome.runId, approvals: outcome.approvals };
      target.emit({ type: "waiting", ...run });
      const missed: AgentEvent[] = [];
      target.emit = (event) => void missed.push(event);
      return { ...result, waiting: { ...run, target, missed } };
    }
    target.emit({ type: "result", step, ...result, outcome });
    return result;
  } catch (thrown) {
    const result = { name: NAME, text: formatRpcError(toRpcError(thrown, NAME)), isError: true };
    target.emit({ type: "result", step, ...result });
    return result;
  }
}

/** Reports to the target as it is at the time of an event. */
function createObserver(step: string, target: StepTarget): RunObserver {
  let endWait = (): void => {};
  return {
    onCallStart(path, call) {
      target.meter.calls += 1;
      target.emit({ type: "call_started", step, call, path });
    },
    onCallEnd({ id, skill, method, outcome, durationMs }) {
      target.emit({ type: "call_ended", step, call: id, path: `${skill}.${method}`, outcome, durationMs });
    },
    onWait(isWaiting) {
      endWait();
      if (isWaiting) void target.meter.pauseWhile(new Promise<void>((resolve) => (endWait = resolve)));
    },
    onOutput: (text) => target.emit({ type: "output", step, text }),
    progress(path, done, total, text) {
      target.emit({
        type: "call_progress",
        step,
        path,
        done,
        ...(total !== undefined && { total }),
        ...(text !== undefined && { text }),
      });
    },
  };
}
