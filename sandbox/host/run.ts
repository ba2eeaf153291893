import type {
  AnswerCall,
  SandboxProgram,
  StopReason,
  RunLimits,
  RunState,
  SandboxAnswer,
  SandboxEnd,
  SandboxOutcome,
} from "../contract.ts";
import type { SuspendedRun } from "../engine/snapshot.ts";
import { MAX_DEPTH } from "../guest/host-protocol.ts";
import { plainJson } from "../shared/dates.ts";
import { isJsonTooDeep } from "../shared/nesting.ts";
import { OrderedCalls } from "./ordered-calls.ts";
import { PendingCall } from "./pending-call.ts";
import { toTaggedJson } from "../codec/guest-value.ts";
import {
  type SliceBudget,
  type SliceReport,
  type SliceEnd,
  CALL_BYTES,
  getOpenBytes,
  type GuestCall,
  isQuestion,
  MAX_MISREADS,
  type Misread,
  MAX_WAITS,
  type Print,
  type Timer,
} from "../shared/protocol.ts";
import { WallClock } from "./wall-clock.ts";

/** Maximum of timers that a guest may have running; its own code allows fewer. */
const MAX_TIMERS = 2_000;

/** One run on the host's side: its open calls and timers, its usage and its end. */
export class Run {
  readonly id: number;
  readonly program: SandboxProgram;
  readonly limits: RunLimits;
  /** True once a worker was asked to start it. */
  started = false;
  /** Its pages, while it is in no worker's isolate. */
  parked: SuspendedRun | undefined;
  /** True if the run must be suspended for good as soon as it waits. */
  leaving = false;
  readonly #answer: AnswerCall;
  readonly #ready: (run: Run) => void;
  readonly #settle: (outcome: SandboxOutcome) => void;
  readonly #interrupt: () => boolean;
  readonly #print: (text: string) => void;
  readonly #pending = new Map<number, PendingCall>();
  /** Calls that wait until fewer are under way. */
  readonly #queue = new Map<number, QueuedCall>();
  /** Bytes that calls without an answer hold. */
  #openBytes = 0;
  readonly #timers = new Map<number, Alarm>();
  #prints: Print[] = [];
  readonly #startedAt = performance.now();
  readonly #clock: WallClock;
  #answers: string[] = [];
  #answersLength = 0;
  #outputLeft: number;
  #outputCut = false;
  readonly #waits = new Set<string>();
  readonly #misreads = new Map<string, Misread>();
  #cpuMs = 0;
  #memoryBytes = 0;
  #calls = 0;
  #questions = 0;
  /** Calls that the snippet does not await. */
  readonly #ordered: OrderedCalls;
  /** Continues a guest that stands still. */
  #wake: (() => void) | undefined;
  /** Why the run must end, while the guest is asked to stop. */
  #ending: StopReason | undefined;
  #over = false;

  constructor(
    id: number,
    program: SandboxProgram,
    limits: RunLimits,
    answer: AnswerCall,
    on: {
      readonly ready: (run: Run) => void;
      /** Asks the guest to stop if it is computing; returns false if it is not. */
      readonly interrupt: (run: Run) => boolean;
      readonly settle: (outcome: SandboxOutcome) => void;
      readonly print: (text: string) => void;
    },
  ) {
    this.id = id;
    this.program = program;
    this.limits = limits;
    this.#answer = answer;
    this.#ready = on.ready;
    this.#interrupt = () => on.interrupt(this);
    this.#settle = on.settle;
    this.#print = on.print;
    this.#outputLeft = limits.outputBytes;
    this.#ordered = new OrderedCalls(program.readOnly ?? [], (call) => this.#make(call));
    this.#clock = new WallClock(limits.wallMs, () => this.end("WALL_LIMIT"));
  }

  /** Restores a suspended run. */
  restore(state: RunState): void {
    this.started = true;
    const shared = new SharedArrayBuffer(state.parked.bytes.length);
    new Uint8Array(shared).set(state.parked.bytes);
    this.parked = { bytes: shared, range: state.parked.range };
    this.#prints = [...state.prints];
    for (const print of state.prints) this.#outputLeft -= Buffer.byteLength(print.text) + 1;
    this.#cpuMs = state.cpuMs;
    this.#memoryBytes = state.memoryBytes;
    const open = [...state.pending, ...state.queued];
    this.#calls = state.calls - open.filter(({ path }) => !isQuestion(path)).length;
    for (const timer of state.timers) this.#setTimer(timer);
    for (const answer of state.answers) this.#arrived(answer);
    for (const call of state.pending) void this.#make(call, true);
    for (const call of state.queued) void this.#make(call);
  }

  /** Ends this run with its state as the outcome. Does nothing unless the run is parked. */
  leave(): void {
    const { parked, limits } = this;
    if (this.#over || parked === undefined) return;
    const now = performance.now();
    const state: RunState = {
      limits,
      parked: { bytes: Uint8Array.from(new Uint8Array(parked.bytes)), range: parked.range },
      pending: [...this.#pending.values()].map(toPlainCall),
      queued: [...this.#queue.values()].map(toPlainCall),
      answers: this.#answers,
      timers: [...this.#timers].map(([id, { at }]) => ({ id, milliseconds: Math.max(0, at - now) })),
      prints: this.#prints,
      cpuMs: this.#cpuMs,
      memoryBytes: this.#memoryBytes,
      calls: this.#calls,
    };
    this.#finish({ kind: "parked", state });
  }

  get over(): boolean {
    return this.#over;
  }

  get hasAnswers(): boolean {
    return this.#answers.length > 0;
  }

  /** Returns the budget that is left for the next slice. */
  allowance(): SliceBudget {
    const { limits } = this;
    const finite = (number: number): number => Math.min(number, Number.MAX_SAFE_INTEGER);
    return {
      computeMs: finite(Math.max(1, Math.min(limits.cpuMs - this.#cpuMs, this.#clock.leftMs))),
      calls: finite(limits.calls - this.#calls),
      questions: finite(limits.calls - this.#questions),
      openBytes: this.#openBytesLeft,
      argumentBytes: finite(limits.argumentBytes),
      resultBytes: finite(limits.resultBytes),
      outputBytes: finite(this.#outputLeft),
    };
  }

  /** Bytes that calls may still hold: as many as those that may be under way at once need at most. */
  get #openBytesLeft(): number {
    const { callsInFlight, argumentBytes } = this.limits;
    const most = Math.max(1, callsInFlight) * (argumentBytes + CALL_BYTES);
    return Math.min(most - this.#openBytes - this.#ordered.openBytes, Number.MAX_SAFE_INTEGER);
  }

  /** Takes the answers that have arrived, as one JSON list. */
  takeAnswers(): string {
    const answers = `[${this.#answers.join(",")}]`;
    this.#answers = [];
    this.#answersLength = 0;
    return answers;
  }

  /** Handles the end of a slice of work. */
  onSlice(report: SliceReport, end: SliceEnd | undefined): void {
    this.#account(report);
    if (this.#over) return;
    // Make calls that the snippet has not awaited too: the end cancels them at once, so they are reported as unfinished.
    if (end?.kind !== "stop") {
      this.#ordered.flush();
      for (const call of report.calls) void this.#make(call);
    }
    if (end !== undefined) {
      this.#end(end);
      return;
    }
    if (this.#ending !== undefined) this.stop(this.#ending);
    if (this.#timers.size > MAX_TIMERS) this.stop("ENGINE_TRAP");
    if (this.#pending.size === 0 && this.#timers.size === 0 && !this.hasAnswers) this.stop("NEVER_SETTLES");
  }

  /** Waits for answers while the guest stands still; `answers` is undefined if none can come. */
  async onWait(
    report: SliceReport,
    inOrder: readonly number[],
  ): Promise<{ readonly answers: string | undefined; readonly openBytes: number }> {
    this.#account(report);
    if (this.#ending !== undefined) this.stop(this.#ending);
    const ordered = new Set(inOrder);
    for (const call of report.calls) {
      if (ordered.has(call.id)) this.#ordered.add(call);
      else void this.#make(call);
    }
    if (!this.hasAnswers && this.#pending.size + this.#timers.size > 0) await this.#nextAnswers();
    const answers = this.hasAnswers ? this.takeAnswers() : undefined;
    return { answers, openBytes: this.#openBytesLeft };
  }

  /** Waits for the next answer and for those that are ready in the same tick. */
  async #nextAnswers(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#wake = undefined;
    await new Promise<void>((resolve) => {
      process.nextTick(resolve);
    });
  }

  /** Ends the run as soon as the guest has reported its work so far; it gets a short time for that. */
  end(reason: StopReason): void {
    this.#ending ??= reason;
    if (!this.#interrupt()) this.stop(reason);
  }

  /** Ends the run at once. */
  stop(reason: StopReason): void {
    this.#finish({ kind: "stopped", reason: this.#ending ?? reason });
  }

  #end(end: SliceEnd): void {
    switch (end.kind) {
      case "done":
        this.#finish(returned(end.json));
        return;
      case "fail":
        this.#finish({ kind: "threw", json: end.json });
        return;
      case "stop":
        this.stop(this.#toReason(end.stop));
    }
  }

  #toReason(stop: Extract<SliceEnd, { kind: "stop" }>["stop"]): StopReason {
    switch (stop) {
      case "time":
        return this.#clock.leftMs <= 0 ? "WALL_LIMIT" : "CPU_LIMIT";
      case "memory":
        return "MEMORY_LIMIT";
      case "stack":
        return "STACK_LIMIT";
      case "calls":
        return "CALL_LIMIT";
      case "callsInFlight":
        return "CALLS_IN_FLIGHT_LIMIT";
      case "argument":
        return "ARGUMENT_LIMIT";
      case "result":
        return "RESULT_LIMIT";
      case "nesting":
        return "NESTING_LIMIT";
      case "trap":
      case "protocol":
        return "ENGINE_TRAP";
    }
  }

  /**
   * Makes a call, or queues it if as many as may be under way at once are. A call that need not wait is made before this
   * returns: the run may end right after. Resolves when the call has ended.
   */
  async #make(call: GuestCall, resumed = false): Promise<void> {
    if (this.#over) return;
    if (this.#pending.has(call.id) || this.#queue.has(call.id)) {
      this.stop("ENGINE_TRAP"); // ids are unique; a guest that repeats one has been taken over
      return;
    }
    this.#openBytes += getOpenBytes(call.arguments);
    if (isQuestion(call.path)) this.#questions++;
    else this.#calls++;
    if (this.#pending.size < Math.max(1, this.limits.callsInFlight)) await this.#perform(call, resumed);
    else await new Promise<void>((ended) => this.#queue.set(call.id, { call, ended }));
  }

  async #perform(call: GuestCall, resumed = false): Promise<void> {
    const answer = await this.#ask(call, resumed);
    if (this.#over) return;
    this.#openBytes -= getOpenBytes(call.arguments);
    this.#performNext();
    this.#arrived(`${call.id},${answer}`);
  }

  #performNext(): void {
    for (const { call, ended } of this.#queue.values()) {
      this.#queue.delete(call.id);
      void this.#perform(call).then(ended);
      return;
    }
  }

  /** Makes the call on the host; never rejects. Resolves to JSON of `ok, value`. */
  async #ask(call: GuestCall, resumed = false): Promise<string> {
    const pending = new PendingCall(call, resumed, this.#clock);
    this.#pending.set(call.id, pending);
    const answer = await this.#getAnswer(pending);
    if (!this.#over) this.#pending.delete(call.id);
    const failed = (error: Readonly<Record<string, unknown>>): string =>
      `0,${JSON.stringify({ ...error, stack: call.stack })}`;
    if (!answer.ok) return failed(answer.error);
    if (answer.json.length > this.limits.answerBytes)
      return failed(tooLarge(answer.json.length, this.limits.answerBytes));
    return `${answer.tagged === true ? 2 : 1},${answer.json}`;
  }

  /** A host error fails only this call; its message is not passed to the guest. */
  async #getAnswer(pending: PendingCall): Promise<SandboxAnswer> {
    const { arguments: args } = pending.call;
    if (typeof args === "string" && isJsonTooDeep(plainJson(args))) return { ok: false, error: TOO_DEEP };
    try {
      return await this.#answer(pending);
    } catch {
      return { ok: false, error: UNANSWERED };
    }
  }

  #arrived(answer: string): void {
    this.#answers.push(answer);
    this.#answersLength += answer.length;
    // Answers that the guest cannot hold anyway must not pile up here.
    if (this.#answersLength > this.limits.memoryBytes) this.stop("MEMORY_LIMIT");
    if (this.#wake !== undefined) this.#wake();
    else if (this.#answers.length === 1) this.#ready(this);
  }

  #account(report: SliceReport): void {
    this.#cpuMs += report.computeMs;
    for (const stack of report.waits) if (this.#waits.size < MAX_WAITS) this.#waits.add(stack);
    for (const misread of report.misreads)
      if (this.#misreads.size < MAX_MISREADS) this.#misreads.set(`${misread.stack}${misread.name}`, misread);
    this.#memoryBytes = Math.max(this.#memoryBytes, report.heapBytes);
    if (this.#over) return;
    for (const print of report.prints) {
      this.#prints.push(print);
      this.#outputLeft -= Buffer.byteLength(print.text) + 1;
      if (this.#outputLeft >= 0) this.#show(print.text);
    }
    if (this.#outputLeft < 0) this.#outputCut = true;
    for (const timer of report.timers) this.#setTimer(timer);
  }

  /** A throwing listener must not end the run; its error is rethrown as uncaught. */
  #show(text: string): void {
    try {
      this.#print(text);
    } catch (error) {
      process.nextTick(() => {
        throw error;
      });
    }
  }

  #setTimer({ id, milliseconds }: Timer): void {
    clearTimeout(this.#timers.get(id)?.timeout);
    this.#timers.delete(id);
    if (!(milliseconds >= 0)) return;
    const fire = (): void => {
      this.#timers.delete(id);
      this.#arrived(`${id},1,null`);
    };
    const delay = Math.min(milliseconds, this.limits.wallMs);
    this.#timers.set(id, { timeout: setTimeout(fire, delay), at: performance.now() + delay });
  }

  #finish(end: SandboxEnd): void {
    if (this.#over) return;
    this.#over = true;
    this.#clock.end();
    for (const { timeout } of this.#timers.values()) clearTimeout(timeout);
    this.parked = undefined;
    this.#answers = [];
    const unfinished = [...this.#pending.keys()];
    const queued = Array.from(this.#queue.values(), ({ call }) => call.path);
    this.#settle({
      end,
      output: this.#output(),
      outputCut: this.#outputCut,
      waits: [...this.#waits],
      misreads: [...this.#misreads.values()],
      unfinished,
      queued,
      cpuMs: this.#cpuMs,
      wallMs: performance.now() - this.#startedAt,
      memoryBytes: this.#memoryBytes,
      calls: this.#calls - queued.filter((path) => !isQuestion(path)).length,
    });
    for (const pending of this.#pending.values()) pending.cancel();
    this.#wake?.();
  }

  #output(): string {
    const text = this.#prints
      .sort((a, b) => a.slot - b.slot)
      .map((print) => print.text)
      .join("\n");
    return this.#outputCut ? Buffer.from(text).subarray(0, this.limits.outputBytes).toString().replace(/�$/, "") : text;
  }
}

function returned(tagged: string): SandboxEnd {
  const json = plainJson(tagged);
  return json === tagged ? { kind: "returned", json } : { kind: "returned", json, tagged };
}

/** A call with its arguments as text. */
function toPlainCall({ call }: { readonly call: GuestCall }): GuestCall {
  return { ...call, arguments: toTaggedJson(call.arguments) };
}

interface QueuedCall {
  readonly call: GuestCall;
  /** Called when the call has ended. */
  readonly ended: () => void;
}

interface Alarm {
  readonly timeout: NodeJS.Timeout;
  /** When it fires, in `performance.now()`. */
  readonly at: number;
}

const TOO_DEEP = {
  name: "CallError",
  code: "NESTING_LIMIT",
  message: `The value is nested too deeply: the arguments have more than ${MAX_DEPTH} levels (NESTING_LIMIT)`,
} as const;

const UNANSWERED = {
  name: "CallError",
  code: "CALL_FAILED",
  message: "Cannot complete the call: the host could not answer it (CALL_FAILED)",
} as const;

function tooLarge(bytes: number, limit: number): Readonly<Record<string, unknown>> {
  return {
    name: "CallError",
    code: "ANSWER_LIMIT",
    message: `Call result size limit exceeded: ${bytes} bytes, at most ${limit} (ANSWER_LIMIT)`,
  };
}
