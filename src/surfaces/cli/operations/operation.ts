import type { Approval } from "../../../approvals/index.ts";
import type { Method } from "../../../model/catalog.ts";
import { KEPT_RESULT_BYTES } from "../../../model/kept-results.ts";
import { DEFAULT_LIMITS, type Limits } from "../../../model/limits.ts";
import { type AnswerFacts, shownFacts } from "../../../model/run-observer.ts";
import type { RunOptions, Runtime } from "../../../runtime.ts";
import type { CommandResult } from "../command.ts";
import { outcomeToExit } from "../exit-codes.ts";
import { isWrittenInput, parseInput, type WrittenInput } from "../input/call-input.ts";
import { parseRunInput } from "../input/run-input.ts";
import { type FieldTest, isBoolean, isNumber, isNumberList, isText, orAbsent } from "../input/field-tests.ts";
import type { Paint } from "../terminal/terminal.ts";
import { describePending } from "../text/approval-texts.ts";
import { lines } from "../text/layout.ts";
import { skillStackText, valueText, warningsText } from "../text/output.ts";
import { noteLines, outcomeRemarks, outcomeText, traceText } from "../text/run-texts.ts";
import { lacksSkill, selectProblems, throwUnknown } from "../unknown-path.ts";
import { UsageError } from "../usage-error.ts";
import type { AutomationOperation } from "./run-automation.ts";

/** Runs a program. Its fields after `source` are flags of the command. */
export interface RunOperation {
  readonly kind: "run";
  readonly source: string;
  readonly timeout?: number;
  readonly trace?: boolean;
  readonly continue?: string;
  readonly again?: readonly number[];
  readonly reuse?: readonly number[];
  /** JSON of the input of the run. */
  readonly input?: string;
}

/** Calls one method. */
export interface CallOperation {
  readonly kind: "call";
  /** `Skill.method` */
  readonly path: string;
  readonly input: WrittenInput;
}

/** The flags of `run` that another process needs, too, each with its test of a value from the socket. */
export const RUN_FLAGS: Readonly<Record<keyof Omit<RunOperation, "kind" | "source">, FieldTest>> = {
  timeout: orAbsent(isNumber),
  trace: orAbsent(isBoolean),
  continue: orAbsent(isText),
  again: orAbsent(isNumberList),
  reuse: orAbsent(isNumberList),
  input: orAbsent(isText),
};

/** The fields of each operation. */
export const OPERATION_FIELDS: {
  readonly [Kind in CommandOperation["kind"]]: Readonly<
    Record<Exclude<keyof Extract<CommandOperation, { kind: Kind }>, "kind">, FieldTest>
  >;
} = {
  run: { source: isText, ...RUN_FLAGS },
  call: { path: isText, input: isWrittenInput },
  automation: { name: isText, occurrence: orAbsent(isText), input: orAbsent(isText), wait: orAbsent(isBoolean) },
};

/** The work of a command, which its own process or the one that serves the project can do. */
export type CommandOperation = RunOperation | CallOperation | AutomationOperation;

/** The parts that an operation uses. */
export interface OperationContext {
  readonly runtime: Runtime;
  /** Settles when the tools of all servers are known. */
  readonly whenKnown: () => Promise<unknown>;
  readonly signal: AbortSignal;
  /** The colours of stderr. */
  readonly paint: Paint;
  readonly isVerbose: boolean;
  /** True if a person reads stderr. */
  readonly isTerminal: boolean;
  /** Options of the run or the call. */
  readonly options: Pick<RunOptions, "approve" | "runId">;
}

export async function performCall(
  { path, input }: CallOperation,
  { runtime, whenKnown, signal, paint, options }: OperationContext,
): Promise<CommandResult> {
  if (runtime.catalog.method(path) === undefined) await whenKnown();
  const method = methodAt(runtime, path);
  let facts: AnswerFacts = { cached: false, notes: [] };
  const value = await runtime.call(method.path, parseInput(input, method.parameters), {
    ...options,
    signal,
    observer: { answered: (answer) => void (facts = answer) },
  });
  return {
    exit: "ok",
    json: { path: method.path, value: value ?? null, ...shownFacts(facts) },
    text: valueText(value),
    asides: noteLines(facts.notes, paint),
  };
}

function methodAt(runtime: Runtime, path: string): Method {
  throwUnknown(runtime, path);
  const method = runtime.catalog.method(runtime.describe(path).path);
  if (method === undefined)
    throw new UsageError(`Cannot call ${JSON.stringify(path)}: name one method, as in Skill.method`);
  return method;
}

export async function performRun(operation: RunOperation, context: OperationContext): Promise<CommandResult> {
  const { source, timeout, trace, input, kind: _kind, ...continuation } = operation;
  const { runtime, whenKnown, signal, paint, isVerbose, isTerminal, options } = context;
  // With --verbose, wait until all problems are known.
  if (isVerbose) await whenKnown();
  const pending: Approval[] = [];
  const stop = runtime.on("approval", (approval) => {
    const isOwn = options.runId === undefined || approval.runId === options.runId;
    if (isOwn && !approval.isWaiting) pending.push(approval);
  });
  const outcome = await runtime
    .run(source, {
      ...options,
      ...continuation,
      ...(input !== undefined && { input: parseRunInput(input) }),
      signal,
      limits: { ...showWhole(runtime.limits), ...(timeout !== undefined && { wallMs: timeout }) },
    })
    .finally(stop);
  const isInterrupted = outcome.kind === "failed" && outcome.error.code === "CANCELLED" && signal.aborted;
  const isLacking = outcome.kind === "refused" && lacksSkill(outcome.violations);
  return {
    exit: outcomeToExit(outcome),
    json: outcome,
    text: outcomeText(outcome),
    ...(isInterrupted
      ? { isInterrupted }
      : {
          remarks: lines([outcomeRemarks(outcome, paint, isTerminal), await describePending(runtime, pending, paint)]),
        }),
    asides: lines([
      outcome.kind === "failed" ? skillStackText(outcome.error.cause, paint) : "",
      warningsText(selectProblems(runtime, isVerbose || isLacking), paint),
      trace ? traceText(outcome, paint) : "",
    ]),
  };
}

/** Without a limit in the settings, the whole result is printed: nothing could read a part of it after this process. */
function showWhole({ resultBytes }: Limits): Partial<Limits> {
  return resultBytes === DEFAULT_LIMITS.resultBytes ? { resultBytes: KEPT_RESULT_BYTES } : {};
}
