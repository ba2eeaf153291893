import type { AnswerCall, RunBudget, RunLimits, SandboxAnswer } from "../contract.ts";
import { MAX_DEPTH } from "../guest/host-protocol.ts";
import { plainJson } from "../shared/dates.ts";
import { findJsonExcess, MAX_ARGUMENT_NAMES } from "../shared/nesting.ts";
import { getOpenBytes, type GuestCall, isQuestion } from "../shared/protocol.ts";
import { runInTurn } from "./loop-turn.ts";
import { PendingCall } from "./pending-call.ts";
import type { WallClock } from "./wall-clock.ts";

/** Calls under way of a run up to which a call waits for no turn of the event loop. */
const MAX_FIRST_CALLS = 8;

/** Largest call that waits for no turn, in the bytes that it holds. */
const MAX_FIRST_BYTES = 4_096;

/** The run that makes the calls. */
export interface CallingRun {
  readonly isOver: () => boolean;
  /** True if a repeated delivery contains the answer. */
  readonly isReplayed: (id: number) => boolean;
  readonly readBudget: () => RunBudget;
  readonly onSuspendable: () => void;
  /** Receives `id,ok,value`. */
  readonly onAnswer: (id: number, answer: string) => void;
  /** Called for an id that an open call has: ids are unique, so the guest has been taken over. */
  readonly onRepeatedId: () => void;
}

interface QueuedCall {
  readonly call: GuestCall;
  /** Called when the call has ended. */
  readonly ended: () => void;
}

/** The calls of a run: those under way, and those that wait until fewer are. */
export class RunCalls {
  /** Calls that were made or queued. */
  count = 0;
  questionCount = 0;
  /** Bytes that calls without an answer hold. */
  openBytes = 0;
  readonly #limits: RunLimits;
  readonly #answer: AnswerCall;
  readonly #clock: WallClock;
  readonly #run: CallingRun;
  readonly #pending = new Map<number, PendingCall>();
  readonly #queue = new Map<number, QueuedCall>();

  constructor(limits: RunLimits, answer: AnswerCall, clock: WallClock, run: CallingRun) {
    this.#limits = limits;
    this.#answer = answer;
    this.#clock = clock;
    this.#run = run;
  }

  get pendingCount(): number {
    return this.#pending.size;
  }

  /** True if a call is under way or will be. */
  get areOpen(): boolean {
    return this.#pending.size + this.#queue.size > 0;
  }

  /** Ids of the calls under way. */
  get pendingIds(): readonly number[] {
    return [...this.#pending.keys()];
  }

  /** The calls that wait until fewer are under way. */
  get queuedPaths(): readonly string[] {
    return Array.from(this.#queue.values(), ({ call }) => call.path);
  }

  /** True if every call under way may be made again later. */
  get areSuspendable(): boolean {
    return [...this.#pending.values()].every((call) => call.isSuspendable);
  }

  /**
   * Makes a call, or queues it if as many as may be under way at once are, or if calls have taken the time of this turn of the
   * event loop. The first small calls do not wait for a turn: the run may end right after, and what it has done must not depend
   * on the load of the machine. Resolves when the call has ended.
   */
  async make(call: GuestCall): Promise<void> {
    if (this.#run.isOver()) return;
    if (this.#pending.has(call.id) || this.#queue.has(call.id)) {
      this.#run.onRepeatedId();
      return;
    }
    const openBytes = getOpenBytes(call.arguments);
    const mayPrecede = openBytes <= MAX_FIRST_BYTES && this.#queue.size === 0 && this.#pending.size < MAX_FIRST_CALLS;
    this.openBytes += openBytes;
    if (isQuestion(call.path)) this.questionCount++;
    else this.count++;
    const end = new Promise<void>((ended) => this.#queue.set(call.id, { call, ended }));
    if (mayPrecede) this.#performNext();
    else runInTurn(() => this.#performNext());
    await end;
  }

  cancelAll(): void {
    for (const pending of this.#pending.values()) pending.cancel();
  }

  async #perform(call: GuestCall): Promise<void> {
    const answer = await this.#ask(call);
    if (this.#run.isOver()) return;
    this.openBytes -= getOpenBytes(call.arguments);
    runInTurn(() => this.#performNext());
    this.#run.onAnswer(call.id, `${call.id},${answer}`);
  }

  /** Makes the first call of the queue, if one more may be under way. */
  #performNext(): void {
    const [first] = this.#queue.values();
    if (first === undefined || this.#run.isOver()) return;
    if (this.#pending.size >= Math.max(1, this.#limits.callsInFlight)) return;
    this.#queue.delete(first.call.id);
    void this.#perform(first.call).then(first.ended);
  }

  /** Makes the call on the host; never rejects. Resolves to JSON of `ok, value`. */
  async #ask(call: GuestCall): Promise<string> {
    const { isOver, isReplayed, readBudget, onSuspendable: suspendable } = this.#run;
    const replayed = isReplayed(call.id);
    const pending = new PendingCall(call, replayed, this.#clock, { suspendable, readBudget });
    this.#pending.set(call.id, pending);
    const answer = await this.#getAnswer(pending);
    if (!isOver()) this.#pending.delete(call.id);
    const failed = (error: Readonly<Record<string, unknown>>): string =>
      `0,${JSON.stringify({ ...error, stack: call.stack })}`;
    if (!answer.ok) return failed(answer.error);
    const bytes = Buffer.byteLength(answer.json);
    if (bytes > this.#limits.answerBytes) return failed(createSizeError(bytes, this.#limits.answerBytes));
    return `${answer.tagged === true ? 2 : 1},${answer.json}`;
  }

  /** A host error fails only this call; its message is not passed to the guest. */
  async #getAnswer(pending: PendingCall): Promise<SandboxAnswer> {
    const { arguments: args } = pending.call;
    const excess = typeof args === "string" ? findJsonExcess(plainJson(args), MAX_ARGUMENT_NAMES) : undefined;
    if (excess !== undefined) return { ok: false, error: EXCESS_ERRORS[excess] };
    try {
      return await this.#answer(pending);
    } catch {
      return { ok: false, error: UNANSWERED };
    }
  }
}

const EXCESS_ERRORS = {
  levels: {
    name: "CallError",
    code: "NESTING_LIMIT",
    message: `The value is nested too deeply: the arguments have more than ${MAX_DEPTH} levels (NESTING_LIMIT)`,
  },
  names: {
    name: "CallError",
    code: "ARGUMENT_LIMIT",
    message: `Argument size limit exceeded: an object has more than ${MAX_ARGUMENT_NAMES} names (ARGUMENT_LIMIT)`,
  },
} as const;

const UNANSWERED = {
  name: "CallError",
  code: "CALL_FAILED",
  message: "Cannot complete the call: the host could not answer it (CALL_FAILED)",
} as const;

function createSizeError(bytes: number, limit: number): Readonly<Record<string, unknown>> {
  return {
    name: "CallError",
    code: "ANSWER_LIMIT",
    message: `Call result size limit exceeded: ${bytes} bytes, at most ${limit} (ANSWER_LIMIT)`,
  };
}
