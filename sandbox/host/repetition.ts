import type { SandboxProgram } from "../contract.ts";
import { toJson } from "../codec/guest-value.ts";
import type { GuestCall, SliceEnd, Timer } from "../shared/protocol.ts";
import type { RecordedAnswers } from "./answers.ts";
import type { RunTimers } from "./timers.ts";

/** A call that waits until the last delivery is repeated. */
interface PostponedCall {
  readonly call: GuestCall;
  /** True for a call that is made in the order of the program. */
  readonly isOrdered: boolean;
}

/** The repetition of the deliveries of an earlier run; ended from the beginning for a run that repeats none. */
export class Repetition {
  readonly #matches: SandboxProgram["matches"];
  readonly #answers: RecordedAnswers | undefined;
  readonly #timers: RunTimers;
  /** Timers that the deliveries contain which are left to repeat. */
  readonly #repeatedTimers = new Map<number, Timer>();
  /** Calls that no repeated delivery contains: they are made after the last one. */
  #postponed: PostponedCall[] = [];
  /** True if the program continues in another way than the one whose deliveries it has. */
  #hasParted = false;
  #hasEnded: boolean;

  constructor(
    { deliveries, matches }: Pick<SandboxProgram, "deliveries" | "matches">,
    answers: RecordedAnswers | undefined,
    timers: RunTimers,
  ) {
    this.#matches = matches;
    this.#answers = answers;
    this.#timers = timers;
    this.#hasEnded = deliveries === undefined;
  }

  /** True once the guest stands still after the last delivery that it repeats. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** True while deliveries are left to repeat. */
  get isReplaying(): boolean {
    return this.#answers?.isReplaying === true;
  }

  get hasPostponedCalls(): boolean {
    return this.#postponed.length > 0;
  }

  /** Postpones a call that no repeated delivery contains; returns false for a call that may be made now. */
  postpone(call: GuestCall, isOrdered: boolean): boolean {
    if (this.#answers?.isReplaying !== true) return false;
    if (this.#answers.expects(call.id)) {
      this.#answers.markCalled(call.id);
      return false;
    }
    this.#postponed.push({ call, isOrdered });
    return true;
  }

  /** Compares the next calls of the guest with those of the earlier program, until they are not the same. */
  compareCalls(calls: readonly GuestCall[]): void {
    for (const { id, path, arguments: args } of calls) {
      if (this.#matches === undefined || this.#hasParted) return;
      if (!this.#matches({ id, call: { path, arguments: toJson(args) } })) this.dropDeliveries();
    }
  }

  /** True if a guest that waits, or has ended, does not repeat its deliveries. */
  hasDiverged(end: SliceEnd | undefined): boolean {
    if (this.#answers?.isReplaying !== true || end?.kind === "stop") return false;
    return end !== undefined || this.#answers.isDiverged;
  }

  /** Drops the deliveries that are left. Timers that were due at once, because a delivery contained them, wait for their time. */
  dropDeliveries(): void {
    this.#hasParted = true;
    const timers = new Map(this.#repeatedTimers);
    this.#repeatedTimers.clear();
    if (this.#answers?.isReplaying !== true) return;
    for (const id of timers.keys()) if (!this.#answers.expects(id)) timers.delete(id);
    this.#answers.dropDeliveries(new Set(timers.keys()));
    for (const timer of timers.values()) this.#timers.set(timer, this.#answers.time);
  }

  /** Ends the repetition, and returns the postponed calls: they come before those that the guest has made since. */
  end(): readonly PostponedCall[] {
    this.#hasEnded = true;
    const calls = this.#postponed;
    this.#postponed = [];
    return calls;
  }

  /** Sets or clears a timer. Returns true for one that is due at once, because a repeated delivery contains it. */
  setTimer(timer: Timer): boolean {
    const answers = this.#answers;
    this.#repeatedTimers.delete(timer.id);
    if (answers === undefined || this.#hasEnded) {
      this.#timers.set(timer);
      return false;
    }
    if (timer.milliseconds >= 0 && answers.isReplaying && this.#matches?.({ id: timer.id }) === false)
      this.dropDeliveries();
    if (!answers.isReplaying || !answers.expects(timer.id)) {
      this.#timers.set(timer, answers.time);
      return false;
    }
    if (!(timer.milliseconds >= 0)) return false;
    answers.markCalled(timer.id);
    this.#repeatedTimers.set(timer.id, timer);
    return true;
  }
}
