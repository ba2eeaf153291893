import { formatPlan } from "../../approvals/index.ts";
import { formatPartsPath } from "../../shared/names/method-paths.ts";
import type { Approve } from "../../model/approval.ts";
import type { Plan } from "../../model/plan.ts";
import type { RunOptions } from "../../runtime.ts";
import type { RuntimeView } from "../../runtime/api/view.ts";
import type { BudgetMeter } from "../budgets.ts";
import type { AgentEvent, PlannedStep, WaitingRun } from "../events.ts";

/** The services that the steps of one message use. */
export interface StepContext {
  readonly view: RuntimeView;
  readonly approve: Approve | undefined;
  readonly conversation: string;
  readonly signal: AbortSignal;
  readonly meter: BudgetMeter;
  readonly emit: (event: AgentEvent) => void;
  /** Returns an id that is unique in the conversation. */
  readonly createStepId: () => string;
  /** Records methods that a search found or a call used, the newest last. */
  readonly remember: (paths: Iterable<string>) => void;
}

/** The result of a program or a tool call. */
export interface StepResult extends StepText {
  readonly name: string;
  /** The program waits for a person; this is not its result yet. */
  readonly waiting?: WaitingProgram;
}

/** A program that waits for a person. */
export interface WaitingProgram extends WaitingRun {
  /** Receives its events. */
  readonly target: StepTarget;
  /** Its events since its caller does not wait for it any more. */
  readonly missed: readonly AgentEvent[];
}

/** Receives the events of a program, and counts its calls. */
export interface StepTarget {
  emit: StepContext["emit"];
  meter: BudgetMeter;
}

/**
 * Returns the options of all runs and calls. The time in which a person is asked does not count. Calls of a quote that have an
 * effect need an approval.
 */
export function getRunOptions(
  { view, approve, conversation, signal, meter }: StepContext,
  isQuote: boolean,
): RunOptions {
  const { calls, wallMs } = view.shared.limits;
  return {
    ...(approve !== undefined && {
      approve: (request, closed) => meter.pauseWhile(Promise.resolve(approve(request, closed))),
    }),
    conversation,
    signal,
    ...(isQuote && { asksForEffects: true }),
    limits: {
      calls: Math.max(1, Math.min(calls, meter.limits.calls - meter.calls)),
      wallMs: Math.max(1, Math.min(wallMs, meter.remainingMs)),
    },
  };
}

/** Formats the plan of a program for a person. */
export function formatPlannedSteps(plan: Plan, { secrets }: RuntimeView): readonly PlannedStep[] {
  const texts = formatPlan(
    plan.map(({ literalArguments: args, path, parts = [], ...site }) => ({
      ...site,
      path: formatPartsPath(path, parts),
      args,
    })),
  );
  return texts.map(({ line, text, inLoop, conditional }, index) => {
    const { path = "", parallel = false } = plan[index] ?? {};
    return { line, path, text: secrets.mask(text), inLoop, conditional, parallel };
  });
}

/** The result of a program or a tool call, as the model reads it. */
export interface StepText {
  readonly text: string;
  readonly isError: boolean;
}

const NEXT_AFTER_SUCCESS = "Answer the user from this result, or send one more program if something is missing.";
const NEXT_AFTER_ERROR =
  "Fix what the message says and send the whole program again, or tell the user why it cannot be done.";

/** Formats a result for a model that answers with programs in fences. */
export function formatToolResult(name: string, { text, isError }: StepText): string {
  const heading = `[Tool Result: ${name} — ${isError ? "ERROR" : "SUCCESS"}]`;
  return `${heading}\n${text}\n\n${isError ? NEXT_AFTER_ERROR : NEXT_AFTER_SUCCESS}`;
}
