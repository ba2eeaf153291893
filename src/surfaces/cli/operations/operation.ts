import type { Problem } from "../../../model/provider.ts";
import type { RunOptions, Runtime } from "../../../runtime.ts";
import type { WrittenInput } from "../input/call-input.ts";
import type { Paint } from "../terminal/terminal.ts";

/** Runs a program. */
export interface RunOperation {
  readonly kind: "run";
  readonly source: string;
  readonly timeoutMs?: number;
  readonly hasTrace?: boolean;
  readonly continue?: string;
  readonly again?: readonly number[];
  readonly reuse?: readonly number[];
}

/** Calls one method. */
export interface CallOperation {
  readonly kind: "call";
  /** `Skill.method` */
  readonly path: string;
  readonly input: WrittenInput;
}

/** The work of a command, which its own process or the one that serves the project can do. */
export type CommandOperation = RunOperation | CallOperation;

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

/** Returns the problems that concern every command, and those of parts that are held, if the command needs them. */
export function filterProblems(problems: readonly Problem[], reportsHeld: boolean): readonly Problem[] {
  return problems.filter(({ isForAllRuns, isHeld }) => isForAllRuns || (isHeld && reportsHeld));
}
