import type { RunBudget, RunLimits } from "../contract.ts";
import { CALL_BYTES, type SliceBudget } from "../shared/protocol.ts";
import type { OrderedCalls } from "./ordered-calls.ts";
import type { RunOutput } from "./output.ts";
import type { Repetition } from "./repetition.ts";
import type { RunCalls } from "./run-calls.ts";
import type { RunMeasures } from "./run-measures.ts";
import type { WallClock } from "./wall-clock.ts";

interface BudgetParts {
  readonly limits: RunLimits;
  readonly measures: RunMeasures;
  readonly clock: WallClock;
  readonly calls: RunCalls;
  readonly ordered: OrderedCalls;
  readonly output: RunOutput;
  readonly repetition: Repetition;
}

/** The budget that a run has left. */
export class RunAllowance {
  readonly #parts: BudgetParts;

  constructor(parts: BudgetParts) {
    this.#parts = parts;
  }

  /** The budget of the whole run. */
  get forRun(): RunBudget {
    const { limits, measures, clock, calls, output } = this.#parts;
    const whole = (left: number): number => Math.max(0, Math.floor(finite(left)));
    return {
      cpuMs: whole(limits.cpuMs - measures.cpuMs),
      wallMs: whole(clock.leftMs),
      calls: whole(limits.calls - calls.count),
      memoryBytes: whole(limits.memoryBytes - measures.heapBytes),
      outputBytes: whole(output.left),
    };
  }

  /** The budget of the next slice. */
  get forSlice(): SliceBudget {
    const { limits, calls, output } = this.#parts;
    return {
      computeMs: this.computeMs,
      calls: finite(limits.calls - calls.count),
      questions: finite(limits.calls - calls.questionCount),
      openBytes: this.openBytes,
      argumentBytes: finite(limits.argumentBytes),
      resultBytes: finite(limits.resultBytes),
      outputBytes: finite(output.left),
      described: limits.described,
    };
  }

  /** Time that the guest may compute now. A repetition has the whole limit for itself. */
  get computeMs(): number {
    const { limits, measures, clock, repetition } = this.#parts;
    const used = repetition.isReplaying ? measures.repeatedCpuMs : measures.cpuMs;
    return finite(Math.max(1, Math.min(limits.cpuMs - used, clock.leftMs)));
  }

  /** Bytes that calls may still hold: as many as those that may be under way at once need at most. */
  get openBytes(): number {
    const { limits, calls, ordered } = this.#parts;
    const most = Math.max(1, limits.callsInFlight) * (limits.argumentBytes + CALL_BYTES);
    return finite(most - calls.openBytes - ordered.openBytes);
  }
}

/** A number that JSON can hold. */
function finite(number: number): number {
  return Math.min(number, Number.MAX_SAFE_INTEGER);
}
