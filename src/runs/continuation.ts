import type { ProgramStep } from "../../sandbox/index.ts";
import { canonicalText } from "../shared/digest.ts";
import type { History, PastCall } from "./history.ts";
import { toRecordedArguments } from "./run-record.ts";

/** How the author of a corrected program answers where it is not certain which calls were made. Numbers of past calls. */
export interface ContinueAnswers {
  /** These may be made again. */
  readonly again: readonly number[];
  /** These count as made, and answer the next call with the same arguments. */
  readonly reuse: readonly number[];
}

/** `alike`: several past calls are the same. `arguments`: a past call had other arguments. `unknown`: its end is not known. */
export type Doubt = "alike" | "arguments" | "unknown";

export type ContinueDecision =
  | { readonly kind: "live" }
  /** The past call answers; `isSameStep` in the common beginning. */
  | { readonly kind: "reuse"; readonly past: PastCall; readonly isSameStep: boolean }
  | { readonly kind: "unsure"; readonly doubt: Doubt; readonly past: readonly PastCall[] };

/** A call of the corrected program. */
export interface NewCall {
  readonly id: number;
  readonly path: string;
  readonly args: string;
  readonly isEffect: boolean;
  /** True if only its missing annotation makes it an effect: it is made again unless the author counts a past one as made. */
  readonly isUnlikely: boolean;
  /** True if a second call does no harm. */
  readonly isRepeatable: boolean;
}

/**
 * Decides which calls of a corrected program are answered from the history of a failed one. The same number, path and
 * arguments until the first difference are the common beginning, in which reads are answered too. After it, an effect is
 * answered only by the one unused call that is the same.
 */
export class Continuation {
  readonly history: History;
  readonly answers: ContinueAnswers;
  readonly #again: ReadonlySet<number>;
  readonly #reuse: ReadonlySet<number>;
  readonly #used = new Set<number>();
  /** The calls of the common beginning, by their numbers. */
  readonly #beginning = new Map<number, PastCall>();
  #isBeginning = true;

  /** `used` are the numbers of past calls that an earlier execution of the corrected program has used. */
  constructor(history: History, answers: ContinueAnswers, used: readonly number[] = []) {
    this.history = history;
    this.answers = answers;
    this.#again = new Set(answers.again);
    this.#reuse = new Set(answers.reuse);
    for (const number of used) this.#used.add(number);
  }

  /** Tests whether the next step of the program is that of the common beginning. */
  readonly matches = ({ id, call }: ProgramStep): boolean => {
    const past = this.history.own.get(id);
    if (call === undefined) this.#isBeginning &&= past === undefined;
    else {
      const isSame =
        past !== undefined &&
        past.path === call.path &&
        hasSameArguments(past.args, toRecordedArguments(call.arguments));
      this.#isBeginning &&= isSame && past.end === "ok" && !this.#again.has(id);
      if (this.#isBeginning && past !== undefined) this.#beginning.set(id, past);
    }
    return this.#isBeginning;
  };

  decide(call: NewCall): ContinueDecision {
    const step = this.#beginning.get(call.id);
    if (step !== undefined) return this.#use(step, true);
    if (!call.isEffect) return { kind: "live" };
    const open = this.#listOpen(call);
    const same = open.filter(({ args }) => hasSameArguments(args, call.args));
    const chosen = same.find(({ number }) => this.#reuse.has(number));
    if (chosen !== undefined) return this.#use(chosen, false);
    if (call.isUnlikely) return { kind: "live" };
    const doubtful = open.filter(({ number }) => !this.#reuse.has(number));
    const unknown = doubtful.filter(({ end }) => end === "unknown");
    if (unknown.length > 0) return { kind: "unsure", doubt: "unknown", past: unknown };
    const [only] = same;
    if (only !== undefined && same.length === 1) return this.#use(only, false);
    if (same.length > 1) return { kind: "unsure", doubt: "alike", past: same };
    return doubtful.length === 0 ? { kind: "live" } : { kind: "unsure", doubt: "arguments", past: doubtful };
  }

  /** The past calls of the same method that may have had an effect, and that no call of the program has used. */
  #listOpen({ path, isRepeatable }: NewCall): readonly PastCall[] {
    return [...this.history.own.values(), ...this.history.inherited].filter(
      (past) =>
        past.isEffect &&
        past.path === path &&
        past.end !== "failed" &&
        !(past.end === "unknown" && isRepeatable) &&
        !this.#used.has(past.number) &&
        !this.#again.has(past.number),
    );
  }

  #use(past: PastCall, isSameStep: boolean): ContinueDecision {
    this.#used.add(past.number);
    return { kind: "reuse", past, isSameStep };
  }
}

/** The order of the members of an object does not matter. */
function hasSameArguments(a: string, b: string): boolean {
  return a === b || (a.length === b.length && toCanonicalText(a) === toCanonicalText(b));
}

/** Digests of long arguments are no JSON, and stay as they are. */
function toCanonicalText(json: string): string {
  try {
    return canonicalText(JSON.parse(json));
  } catch {
    return json;
  }
}
