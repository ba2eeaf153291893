import type {
  AnswerCall,
  Delivery,
  SandboxProgram,
  StopReason,
  RunBudget,
  RunLimits,
  RunState,
  RunUsage,
  SandboxAnswer,
  SandboxEnd,
  SandboxOutcome,
} from "../contract.ts";
import type { SuspendedRun } from "../engine/snapshot.ts";
import { plainJson } from "../shared/dates.ts";
import { isJsonTooDeep } from "../shared/nesting.ts";
import { type AnswerBatch, AnswerQueue, RecordedAnswers } from "./answers.ts";
import { OrderedCalls } from "./ordered-calls.ts";
import { RunOutput } from "./output.ts";
import { createSizeError, TOO_DEEP, UNANSWERED } from "./call-errors.ts";
import { PendingCall } from "./pending-call.ts";
import { Repetition } from "./repetition.ts";
import { toStopReason } from "./stop-reason.ts";
import { RunTimers } from "./timers.ts";
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
} from "../shared/protocol.ts";
import { WallClock } from "./wall-clock.ts";

/** Maximum of timers that a guest may have running; its own code allows fewer. */
const MAX_TIMERS = 2_000;

/** Receives what happens to a run. */
export interface RunListener {
  readonly ready: (run: Run) => void;
  /** Called when a guest that blocks waits for a person. Missing if the run must not be suspended. */
  readonly suspendable: (() => void) | undefined;
  /** Asks the guest to stop if it is computing; returns false if it is not. */
  readonly interrupt: (run: Run) => boolean;
  readonly settle: (outcome: SandboxOutcome) => void;
  readonly print: (text: string) => void;
  /** Receives each new delivery before the guest does. */
  readonly record?: ((delivery: Delivery, used: RunUsage) => void) | undefined;
}

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
  readonly #on: RunListener;
  readonly #pending = new Map<number, PendingCall>();
  /** Calls that wait until fewer are under way. */
  readonly #queue = new Map<number, QueuedCall>();
  /** Bytes that calls without an answer hold. */
  #openBytes = 0;
  readonly #timers: RunTimers;
  readonly #output: RunOutput;
  readonly #startedAt = performance.now();
  readonly #clock: WallClock;
  readonly #answers: AnswerQueue;
  /** The same answers if their deliveries are recorded or repeated. */
  readonly #recorded: RecordedAnswers | undefined;
  readonly #repetition: Repetition;
  readonly #waits = new Set<string>();
  readonly #misreads = new Map<string, Misread>();
  #cpuMs: number;
  /** The same until the last delivery. */
  #deliveredCpuMs: number;
  /** Time that the repetition of deliveries has computed. */
  #repeatedCpuMs = 0;
  #memoryBytes = 0;
  /** The heap after the newest slice. */
  #heapBytes = 0;
  #calls = 0;
  #questions = 0;
  /** Calls that the program does not await. */
  readonly #ordered: OrderedCalls;
  /** True while the guest stands still and has not been sent answers. */
  #standsStill = false;
  /** Continues a guest that blocks. */
  #wake: (() => void) | undefined;
  /** Why the run must end, while the guest is asked to stop. */
  #ending: StopReason | undefined;
  #over = false;
  /** True if the run must be suspended as soon as it may be. */
  #isSuspending = false;

  constructor(id: number, program: SandboxProgram, limits: RunLimits, answer: AnswerCall, on: RunListener) {
    this.id = id;
    this.program = program;
    this.limits = limits;
    this.#answer = answer;
    this.#on = on;
    const { deliveries, time = Date.now(), used = UNUSED, matches } = program;
    this.#cpuMs = used.cpuMs;
    this.#deliveredCpuMs = used.cpuMs;
    this.#recorded =
      deliveries === undefined && on.record === undefined
        ? undefined
        : new RecordedAnswers(
            { ...(deliveries && { deliveries }), recordsRepeated: matches !== undefined },
            time,
            (delivery) => on.record?.(delivery, this.#getUsage()),
          );
    this.#answers = this.#recorded ?? new AnswerQueue();
    this.#output = new RunOutput(limits.outputBytes, on.print, used.prints);
    this.#timers = new RunTimers(
      limits.wallMs,
      (timer) => this.#arrived(timer, `${timer},1,null`),
      deliveries !== undefined,
    );
    this.#repetition = new Repetition(program, this.#recorded, this.#timers);
    this.#ordered = new OrderedCalls(program.readOnly ?? [], (call) => this.#make(call));
    this.#clock = new WallClock(limits.wallMs, () => this.end("WALL_LIMIT"));
  }

  /** Restores a suspended run. */
  restore(state: RunState): void {
    this.started = true;
    const shared = new SharedArrayBuffer(state.parked.bytes.length);
    new Uint8Array(shared).set(state.parked.bytes);
    this.parked = { bytes: shared, range: state.parked.range };
    this.#output.restore(state.prints);
    this.#cpuMs = state.cpuMs;
    this.#memoryBytes = state.memoryBytes;
    const open = [...state.pending, ...state.queued];
    this.#calls = state.calls - open.filter(({ path }) => !isQuestion(path)).length;
    for (const timer of state.timers) this.#timers.set(timer);
    for (const answer of state.answers) this.#arrived(parseInt(answer, 10), answer);
    for (const call of state.pending) void this.#make(call, true);
    for (const call of state.queued) void this.#make(call);
  }

  /** Ends this run with its state as the outcome. Does nothing unless the run is parked. */
  leave(): void {
    const { parked, limits } = this;
    if (this.#over || parked === undefined) return;
    const state: RunState = {
      limits,
      parked: { bytes: Uint8Array.from(new Uint8Array(parked.bytes)), range: parked.range },
      pending: [...this.#pending.values()].map(toPlainCall),
      queued: [...this.#queue.values()].map(toPlainCall),
      answers: this.#answers.answers,
      timers: this.#timers.list(),
      prints: this.#output.prints,
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
    return this.#answers.isReady;
  }

  /** True if the deliveries of the run are recorded: the guest's clock moves only with them. */
  get isRecorded(): boolean {
    return this.#recorded !== undefined;
  }

  /** True if the guest stands still for calls that may be made again later, and nothing else can continue it now. */
  get #isSuspendable(): boolean {
    if (!this.#standsStill || !this.#repetition.hasEnded || this.hasAnswers || this.#recorded === undefined)
      return false;
    return [...this.#pending.values()].every((call) => call.isSuspendable);
  }

  /** True if the guest stands still for a person, and the run may be suspended for other runs. */
  get mayMakeWay(): boolean {
    return this.#on.suspendable !== undefined && this.#pending.size > 0 && this.#isSuspendable;
  }

  /** Ends the run as `suspended` as soon as it only waits for suspendable calls and timers. */
  suspend(): void {
    this.#isSuspending = true;
    if (!this.#isSuspendable) return;
    const { firstAt } = this.#timers;
    const used = { ...this.#getUsage(), cpuMs: this.#deliveredCpuMs };
    this.#finish({ kind: "suspended", used, ...(firstAt < Infinity && { timerAt: firstAt }) });
  }

  #getUsage(): RunUsage {
    const wallMs = Math.max(0, this.limits.wallMs - this.#clock.leftMs);
    return { cpuMs: this.#cpuMs, wallMs, prints: this.#output.passedOn };
  }

  /** Returns what the program may still use. */
  #getBudget(): RunBudget {
    const { limits } = this;
    const whole = (left: number): number => Math.max(0, Math.floor(Math.min(left, Number.MAX_SAFE_INTEGER)));
    return {
      cpuMs: whole(limits.cpuMs - this.#cpuMs),
      wallMs: whole(this.#clock.leftMs),
      calls: whole(limits.calls - this.#calls),
      memoryBytes: whole(limits.memoryBytes - this.#heapBytes),
      outputBytes: whole(this.#output.left),
    };
  }

  /** Returns the budget that is left for the next slice. */
  allowance(): SliceBudget {
    const { limits } = this;
    const finite = (number: number): number => Math.min(number, Number.MAX_SAFE_INTEGER);
    return {
      computeMs: this.computeMs,
      calls: finite(limits.calls - this.#calls),
      questions: finite(limits.calls - this.#questions),
      openBytes: this.#openBytesLeft,
      argumentBytes: finite(limits.argumentBytes),
      resultBytes: finite(limits.resultBytes),
      outputBytes: finite(this.#output.left),
    };
  }

  /** Time that the guest may compute now. A repetition has the whole limit for itself. */
  get computeMs(): number {
    const used = this.#repetition.isReplaying ? this.#repeatedCpuMs : this.#cpuMs;
    const left = Math.max(1, Math.min(this.limits.cpuMs - used, this.#clock.leftMs));
    return Math.min(left, Number.MAX_SAFE_INTEGER);
  }

  /** Bytes that calls may still hold: as many as those that may be under way at once need at most. */
  get #openBytesLeft(): number {
    const { callsInFlight, argumentBytes } = this.limits;
    const most = Math.max(1, callsInFlight) * (argumentBytes + CALL_BYTES);
    return Math.min(most - this.#openBytes - this.#ordered.openBytes, Number.MAX_SAFE_INTEGER);
  }

  /** Takes the answers that the guest receives next. */
  takeAnswers(): AnswerBatch {
    this.#standsStill = false;
    const batch = this.#answers.take();
    this.#deliveredCpuMs = this.#cpuMs;
    return batch;
  }

  /** Handles the end of a slice of work. */
  onSlice(report: SliceReport, end: SliceEnd | undefined): void {
    this.#account(report);
    if (this.#over) return;
    this.#standsStill = end === undefined;
    this.#repetition.compareCalls(report.calls);
    this.#endRepetition();
    // Make calls that the program has not awaited too: the end cancels them at once, so they are reported as unfinished.
    if (end?.kind !== "stop") {
      this.#ordered.flush();
      for (const call of report.calls) this.#begin(call, false);
    }
    if (this.#repetition.hasDiverged(end)) this.#diverge();
    if (end !== undefined) {
      this.#end(end);
      return;
    }
    if (this.#ending !== undefined) this.stop(this.#ending);
    if (this.#timers.size > MAX_TIMERS) this.stop("ENGINE_TRAP");
    if (!this.#mayReceive && !this.hasAnswers) this.stop("NEVER_SETTLES");
    if (this.#recorded !== undefined && this.hasAnswers) this.#on.ready(this);
    if (this.#isSuspending) this.suspend();
  }

  /** Waits for answers while the guest blocks; `answers` is undefined if none can come. */
  async onWait(report: SliceReport, inOrder: readonly number[]): Promise<WaitEnd> {
    this.#account(report);
    if (this.#ending !== undefined) this.stop(this.#ending);
    this.#standsStill = true;
    this.#repetition.compareCalls(report.calls);
    this.#endRepetition();
    const ordered = new Set(inOrder);
    for (const call of report.calls) this.#begin(call, ordered.has(call.id));
    if (this.#mayReceive && this.#repetition.hasDiverged(undefined)) this.#diverge();
    if (this.mayMakeWay) this.#on.suspendable?.();
    if (this.#isSuspending) this.suspend();
    if (!this.hasAnswers && this.#mayReceive && !this.#over) await this.#nextAnswers();
    const batch = this.hasAnswers ? this.takeAnswers() : undefined;
    this.#standsStill = false;
    return { answers: batch?.answers, time: batch?.time, openBytes: this.#openBytesLeft };
  }

  /** True if an answer or a timer may still come. */
  get #mayReceive(): boolean {
    return (
      this.#pending.size + this.#timers.size > 0 ||
      this.#repetition.hasPostponedCalls ||
      this.#recorded?.hasEarly === true
    );
  }

  /** Makes a call, at once or in the order of the program. A call that a repeated delivery does not contain must wait. */
  #begin(call: GuestCall, isOrdered: boolean): void {
    if (this.#repetition.postpone(call, isOrdered)) return;
    if (isOrdered) this.#ordered.add(call);
    else void this.#make(call);
  }

  /** Ends a run that does not repeat its deliveries, or lets it go on without those that are left. */
  #diverge(): void {
    if (this.program.matches === undefined) {
      this.stop("REPLAY_DIVERGED");
      return;
    }
    this.#repetition.dropDeliveries();
    this.#endRepetition();
  }

  /**
   * Makes the calls and starts the timers that the repeated deliveries do not contain, when the guest stands still after the
   * last one: they come before those that it has made since.
   */
  #endRepetition(): void {
    if (this.#repetition.hasEnded || this.#repetition.isReplaying) return;
    const calls = this.#repetition.end();
    this.#clock.restart(this.limits.wallMs - (this.program.used?.wallMs ?? 0));
    for (const { call, isOrdered } of calls) this.#begin(call, isOrdered);
    this.#timers.start();
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
    if (!this.#on.interrupt(this)) this.stop(reason);
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
        this.stop(toStopReason(end.stop, this.#clock.leftMs));
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
    this.#arrived(call.id, `${call.id},${answer}`);
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
    const replayed = this.#recorded?.expects(call.id) === true;
    const pending = new PendingCall(call, { resumed, replayed }, this.#clock, {
      suspendable: () => this.#onSuspendable(),
      readBudget: () => this.#getBudget(),
    });
    this.#pending.set(call.id, pending);
    const answer = await this.#getAnswer(pending);
    if (!this.#over) this.#pending.delete(call.id);
    const failed = (error: Readonly<Record<string, unknown>>): string =>
      `0,${JSON.stringify({ ...error, stack: call.stack })}`;
    if (!answer.ok) return failed(answer.error);
    const bytes = Buffer.byteLength(answer.json);
    if (bytes > this.limits.answerBytes) return failed(createSizeError(bytes, this.limits.answerBytes));
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

  /** A call may be made again later from now on. */
  #onSuspendable(): void {
    if (this.#isSuspending) this.suspend();
    else if (this.mayMakeWay) this.#on.suspendable?.();
  }

  #arrived(id: number, answer: string): void {
    const isReady = this.#answers.add(id, answer);
    // Answers that the guest cannot hold anyway must not pile up here.
    if (this.#answers.length > this.limits.memoryBytes) this.stop("MEMORY_LIMIT");
    if (!isReady) return;
    if (this.#wake !== undefined) this.#wake();
    else this.#on.ready(this);
  }

  #account(report: SliceReport): void {
    if (this.#repetition.isReplaying) this.#repeatedCpuMs += report.computeMs;
    else this.#cpuMs += report.computeMs;
    for (const stack of report.waits) if (this.#waits.size < MAX_WAITS) this.#waits.add(stack);
    for (const misread of report.misreads)
      if (this.#misreads.size < MAX_MISREADS) this.#misreads.set(`${misread.stack}${misread.name}`, misread);
    this.#heapBytes = report.heapBytes;
    this.#memoryBytes = Math.max(this.#memoryBytes, report.heapBytes);
    if (this.#over) return;
    this.#output.add(report.prints);
    for (const timer of report.timers)
      if (this.#repetition.setTimer(timer)) this.#arrived(timer.id, `${timer.id},1,null`);
  }

  #finish(end: SandboxEnd): void {
    if (this.#over) return;
    this.#over = true;
    this.#clock.end();
    this.#timers.end();
    this.parked = undefined;
    this.#answers.clear();
    const unfinished = [...this.#pending.keys()];
    const queued = Array.from(this.#queue.values(), ({ call }) => call.path);
    this.#on.settle({
      end,
      output: this.#output.format(),
      outputCut: this.#output.isCut,
      waits: [...this.#waits],
      misreads: [...this.#misreads.values()],
      unfinished,
      queued,
      cpuMs: this.#cpuMs,
      wallMs: (this.program.used?.wallMs ?? 0) + performance.now() - this.#startedAt,
      memoryBytes: this.#memoryBytes,
      calls: this.#calls - queued.filter((path) => !isQuestion(path)).length,
    });
    // The answers of a suspended run are still wanted: they are recorded.
    if (end.kind !== "suspended") for (const pending of this.#pending.values()) pending.cancel();
    this.#wake?.();
  }
}

const UNUSED: RunUsage = { cpuMs: 0, wallMs: 0, prints: 0 };

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

/** How a guest that blocks continues. */
interface WaitEnd {
  /** Missing if no answer can come. */
  readonly answers: string | undefined;
  readonly time: number | undefined;
  /** Bytes that calls may hold until more answers are in. */
  readonly openBytes: number;
}
