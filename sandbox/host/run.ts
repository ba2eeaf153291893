import type {
  AnswerCall,
  Delivery,
  SandboxProgram,
  StopReason,
  RunLimits,
  RunUsage,
  SandboxEnd,
  SandboxOutcome,
} from "../contract.ts";
import type { SuspendedRun } from "../engine/snapshot.ts";
import { type GuestCall, isQuestion, type SliceEnd, type SliceReport } from "../shared/protocol.ts";
import { type AnswerBatch, AnswerQueue, RecordedAnswers } from "./answers.ts";
import { OrderedCalls } from "./ordered-calls.ts";
import { RunOutput } from "./output.ts";
import { Repetition } from "./repetition.ts";
import { RunAllowance } from "./run-allowance.ts";
import { RunCalls } from "./run-calls.ts";
import { RunMeasures } from "./run-measures.ts";
import { toStopReason } from "./stop-reason.ts";
import { RunTimers } from "./timers.ts";
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
  readonly caller: string;
  /** The share of computing time of its caller. */
  readonly weight: number;
  /** True once a worker was asked to start it. */
  started = false;
  /** Its pages, while it is in no worker's isolate. */
  parked: SuspendedRun | undefined;
  /** The budget that is left. */
  readonly allowance: RunAllowance;
  readonly #on: RunListener;
  readonly #calls: RunCalls;
  /** Calls that the program does not await. */
  readonly #ordered: OrderedCalls;
  readonly #timers: RunTimers;
  readonly #output: RunOutput;
  readonly #measures: RunMeasures;
  readonly #startedAt = performance.now();
  readonly #clock: WallClock;
  readonly #answers: AnswerQueue;
  /** The same answers if their deliveries are recorded or repeated. */
  readonly #recorded: RecordedAnswers | undefined;
  readonly #repetition: Repetition;
  /** True while the guest stands still and has not been sent answers. */
  #standsStill = false;
  /** Continues a guest that blocks. */
  #wake: (() => void) | undefined;
  /** Why the run must end, while the guest is asked to stop. */
  #ending: StopReason | undefined;
  #over = false;
  /** True if the run must be suspended as soon as it may be. */
  #isSuspending = false;

  constructor(
    id: number,
    program: SandboxProgram,
    { limits, caller, weight }: Pick<Run, "limits" | "caller" | "weight">,
    answer: AnswerCall,
    on: RunListener,
  ) {
    this.id = id;
    this.program = program;
    this.limits = limits;
    this.caller = caller;
    this.weight = weight;
    this.#on = on;
    const { deliveries, time = Date.now(), used = UNUSED, matches } = program;
    this.#measures = new RunMeasures(used.cpuMs);
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
    this.#clock = new WallClock(limits.wallMs, () => this.end("WALL_LIMIT"));
    this.#calls = new RunCalls(limits, answer, this.#clock, {
      isOver: () => this.#over,
      isReplayed: (id) => this.#recorded?.expects(id) === true,
      readBudget: () => this.allowance.forRun,
      onSuspendable: () => this.#onSuspendable(),
      onAnswer: (id, answer) => this.#arrived(id, answer),
      onRepeatedId: () => this.stop("ENGINE_TRAP"),
    });
    this.#ordered = new OrderedCalls(program.readOnly ?? [], (call) => this.#calls.make(call));
    this.allowance = new RunAllowance({
      limits,
      measures: this.#measures,
      clock: this.#clock,
      calls: this.#calls,
      ordered: this.#ordered,
      output: this.#output,
      repetition: this.#repetition,
    });
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
    return this.#calls.areSuspendable;
  }

  /** True if the guest stands still for a person, and the run may be suspended for other runs. */
  get mayMakeWay(): boolean {
    return this.#on.suspendable !== undefined && this.#calls.pendingCount > 0 && this.#isSuspendable;
  }

  /** Ends the run as `suspended` as soon as it only waits for suspendable calls and timers. */
  suspend(): void {
    this.#isSuspending = true;
    if (!this.#isSuspendable) return;
    const { firstAt } = this.#timers;
    const used = { ...this.#getUsage(), cpuMs: this.#measures.deliveredCpuMs };
    this.#finish({ kind: "suspended", used, ...(firstAt < Infinity && { timerAt: firstAt }) });
  }

  #getUsage(): RunUsage {
    const wallMs = Math.max(0, this.limits.wallMs - this.#clock.leftMs);
    return { cpuMs: this.#measures.cpuMs, wallMs, prints: this.#output.passedOn };
  }

  /** Takes the answers that the guest receives next. */
  takeAnswers(): AnswerBatch {
    this.#standsStill = false;
    const batch = this.#answers.take();
    this.#measures.deliveredCpuMs = this.#measures.cpuMs;
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
    return { answers: batch?.answers, time: batch?.time, openBytes: this.allowance.openBytes };
  }

  /** True if an answer or a timer may still come. */
  get #mayReceive(): boolean {
    return (
      this.#calls.areOpen ||
      this.#timers.size > 0 ||
      this.#repetition.hasPostponedCalls ||
      this.#recorded?.hasEarly === true
    );
  }

  /** Makes a call, at once or in the order of the program. A call that a repeated delivery does not contain must wait. */
  #begin(call: GuestCall, isOrdered: boolean): void {
    if (this.#repetition.postpone(call, isOrdered)) return;
    if (isOrdered) this.#ordered.add(call);
    else void this.#calls.make(call);
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
        this.#finish({ ...end, kind: "returned" });
        return;
      case "fail":
        this.#finish({ kind: "threw", json: end.json });
        return;
      case "stop":
        this.stop(toStopReason(end.stop, this.#clock.leftMs));
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
    this.#measures.add(report, this.#repetition.isReplaying);
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
    const { count, pendingIds, queuedPaths } = this.#calls;
    const { waits, misreads, cpuMs, memoryBytes } = this.#measures;
    this.#on.settle({
      end,
      output: this.#output.format(),
      outputCut: this.#output.isCut,
      waits,
      misreads,
      unfinished: pendingIds,
      queued: queuedPaths,
      cpuMs,
      wallMs: (this.program.used?.wallMs ?? 0) + performance.now() - this.#startedAt,
      memoryBytes,
      calls: count - queuedPaths.filter((path) => !isQuestion(path)).length,
    });
    // The answers of a suspended run are still wanted: they are recorded.
    if (end.kind !== "suspended") this.#calls.cancelAll();
    this.#wake?.();
  }
}

const UNUSED: RunUsage = { cpuMs: 0, wallMs: 0, prints: 0 };

/** How a guest that blocks continues. */
interface WaitEnd {
  /** Missing if no answer can come. */
  readonly answers: string | undefined;
  readonly time: number | undefined;
  /** Bytes that calls may hold until more answers are in. */
  readonly openBytes: number;
}
