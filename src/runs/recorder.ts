import type { Delivery, RunUsage } from "../../sandbox/index.ts";
import { createError } from "../errors.ts";
import type { Outcome } from "../model/outcome.ts";
import type { ServerTask } from "../model/skill.ts";
import type { RetryQueue } from "./retry-queue.ts";
import { VERSION } from "../shared/version.ts";
import type { RunRow, RunStatus } from "../store/index.ts";
import type { Cassette } from "./cassette.ts";
import type { RunHeader, StoredOutcome } from "./header.ts";
import { type CallCounts, PROGRESS, RecordWriter, type RecordWriterOptions } from "./record-writer.ts";
import {
  type BeginEvent,
  type CallEvent,
  createStoredCall,
  type EndEvent,
  type RunRecord,
  type StoredCall,
  type RecordEvent,
} from "./run-record.ts";

export interface RecorderOptions extends Omit<RecordWriterOptions, "created"> {
  /** Writes later what cannot be written now. */
  readonly retries: RetryQueue;
  /** Keeps also runs without an effect. */
  readonly keepsAll: boolean;
  /** True if the store outlives the process: then effects are committed before they happen. */
  readonly isDurable: boolean;
  /** Is called when the run has ended or was left, and everything is recorded. `isStored` says whether the store has it. */
  readonly onEnd: (id: string, isStored: boolean) => void;
  /** When the run of a record began. */
  readonly created?: number;
}

interface BeginFacts {
  readonly accounts?: BeginEvent["accounts"];
  /** Another process makes the call, if it finds it in the store. */
  readonly isElsewhere?: boolean;
}

/**
 * Milliseconds after which the end of a call is committed that took less time; a commit takes as long as such a call. If the
 * process is killed before, it is not known how the call ended.
 */
const COMMIT_AFTER_MS = 5;

/** Records one run: nothing is written until its first effect, or until it waits for a person. */
export class RunRecorder {
  readonly id: string;
  readonly header: RunHeader;
  readonly #options: RecorderOptions;
  readonly #writer: RecordWriter;
  readonly #created: number;
  readonly #calls: Map<number, MutableCall>;
  readonly #deliveries: Delivery[];
  #used: RunUsage | undefined;
  #state: RunStatus = "running";
  /** Commits the ends of calls, unless another commit does it before. */
  #timer: NodeJS.Timeout | undefined;
  /** True if nothing more is recorded than there is. */
  #isClosed = false;
  #isLeft = false;
  #hasEnded = false;

  constructor(options: RecorderOptions) {
    const { id, header, record, claims } = options;
    this.id = id;
    this.header = header;
    this.#options = options;
    // The clock of a program that continues another run begins with that one.
    this.#created = options.created ?? (header.continues === undefined ? header.time : Date.now());
    this.#calls = new Map([...(record?.calls ?? [])].map(([number, call]) => [number, { ...call }]));
    this.#deliveries = [...(record?.deliveries ?? [])];
    this.#used = record?.used;
    this.#writer = new RecordWriter({ ...options, created: this.#created }, () => this.#countCalls());
    if (record === undefined) this.#writer.add({ type: "start", header });
    else this.#writer.add({ type: "claim", by: claims.by, version: VERSION, time: Date.now() });
  }

  /** The part of a sandbox program that repeats the execution so far. */
  get replay(): { readonly deliveries: readonly Delivery[]; readonly used?: RunUsage } {
    return { deliveries: [...this.#deliveries], ...(this.#used !== undefined && { used: this.#used }) };
  }

  get calls(): ReadonlyMap<number, StoredCall> {
    return this.#calls;
  }

  /** The ids of the connections that an earlier execution has used, or that this one begins with. */
  get accounts(): RunRecord["accounts"] {
    return this.#options.record?.accounts ?? this.header.accounts ?? {};
  }

  get deliveries(): readonly Delivery[] {
    return this.#deliveries;
  }

  find(id: number): StoredCall | undefined {
    return this.#calls.get(id);
  }

  /** The calls with an effect whose provider was invoked, each with the short digest of its input. */
  listEffects(): readonly { readonly path: string; readonly digest: string }[] {
    const begun = [...this.#calls.values()].filter(({ isEffect, state }) => isEffect && state !== "made");
    return begun.map(({ path, digest = "" }) => ({ path, digest }));
  }

  /** True if the run was left to other processes. */
  get isLeft(): boolean {
    return this.#isLeft;
  }

  /** True if the record is in the store, or may be. */
  get isWritten(): boolean {
    return this.#writer.isWritten;
  }

  /** Resolves when the store has the run, so that other processes find it. */
  get whenStored(): Promise<void> {
    return this.#writer.whenStored;
  }

  addCall(facts: Omit<CallEvent, "type" | "time">): void {
    const call = { ...facts, time: Date.now() };
    this.#calls.set(call.id, createStoredCall(call));
    this.#add({ type: "call", ...call });
  }

  /**
   * Resolves when it is committed that the provider of a call is invoked next. That of a read is committed with what follows, unless
   * another process makes the call.
   */
  begin(id: number, digest: string, { accounts, isElsewhere = false }: BeginFacts = {}): Promise<void> {
    const call = this.#calls.get(id);
    if (call === undefined) throw new TypeError(`Call ${id} was not added`);
    call.state = "begun";
    call.digest = digest;
    call.beginTime = Date.now();
    this.#add({ type: "begin", id, digest, time: call.beginTime, ...(accounts && { accounts }) });
    const mustCommit = isElsewhere || (call.isEffect && (this.#options.isDurable || this.isWritten));
    return mustCommit ? this.#commit({ state: "running" }) : Promise.resolve();
  }

  /** Resolves when it is committed that a call waits for a task of a server, or when this cannot be committed now. Never rejects. */
  async keepTask(id: number, task: ServerTask): Promise<void> {
    const call = this.#calls.get(id);
    const { digest = "", beginTime: time = Date.now() } = call ?? {};
    if (call === undefined || call.task?.id === task.id) return;
    call.task = task;
    this.#add({ type: "begin", id, digest, time, task });
    const mustCommit = this.isWritten || (call.isEffect && this.#options.isDurable);
    if (mustCommit && !this.#isClosed) await this.#save();
  }

  addEnd(end: Omit<EndEvent, "type" | "time">): void {
    const call = this.#calls.get(end.id);
    if (call === undefined || this.#isClosed) return;
    const hasBegun = call.state === "begun" && call.isEffect;
    call.state = "ended";
    call.answer = end.answer;
    call.digest = end.digest;
    call.durationMs = end.durationMs;
    call.outcome = end.outcome;
    call.notes = end.notes;
    if (end.from !== undefined) call.from = end.from;
    call.endTime = Date.now();
    this.#add({ type: "end", ...end, time: call.endTime });
    if (!hasBegun || !this.isWritten) return;
    if (end.durationMs >= COMMIT_AFTER_MS) void this.#save();
    else this.#timer ??= setTimeout(() => void this.#save(), COMMIT_AFTER_MS).unref();
  }

  addDelivery({ ids, time }: Delivery, used: RunUsage): void {
    this.#deliveries.push({ ids, time });
    this.#used = used;
    this.#add({ type: "delivery", ids, time, used });
  }

  /** Commits that the run waits for a person. */
  wait(): void {
    if (!this.#isClosed) void this.#save({ state: "waiting" });
  }

  /** Commits that a person is asked: this is progress, as the run is not continued before an answer. */
  ask(): void {
    if (this.#writer.isAttempt && !this.#isClosed) void this.#save(PROGRESS);
  }

  /** Commits that this process has claimed the run. */
  claim(): Promise<void> {
    return this.#commit({ state: "running" });
  }

  /** Records how the run ended: now, or as soon as the store works. Never rejects. */
  async finish(outcome: StoredOutcome, state: RunStatus): Promise<void> {
    if (this.#isClosed) return;
    const { keepsAll } = this.#options;
    // A corrected program can continue a failed run, once.
    const concernsOthers = state !== "completed" || this.header.continues !== undefined;
    const isRecorded = this.isWritten || keepsAll || (concernsOthers && this.listEffects().length > 0);
    const time = Date.now();
    this.#add({ type: "outcome", outcome, time });
    this.#isClosed = true;
    if (isRecorded) await this.#save({ state, ended: time, duration: Math.max(0, time - this.#created), ...UNCLAIMED });
    else this.#end();
  }

  /** True if all that the run waits for are answers of persons. */
  get isWaiting(): boolean {
    return this.#state === "waiting";
  }

  /** Records nothing more, and ends the claim: another process may claim the run. Never rejects. */
  async leave(): Promise<void> {
    if (this.#isClosed) return;
    this.#isLeft = true;
    this.#isClosed = true;
    if (this.isWritten) await this.#save(UNCLAIMED);
    else this.#end();
  }

  #add(event: RecordEvent): void {
    if (!this.#isClosed) this.#writer.add(event);
  }

  /** Commits everything, at the latest when the store works again. */
  #save(changes: Partial<RunRow> = {}): Promise<void> {
    this.#change(changes);
    return this.#options.retries.add(`record run ${this.id}`, async () => {
      // Another process that has claimed the run records the rest.
      if (!this.#writer.isLost) await this.#commit();
      if (this.#isClosed) this.#end();
    });
  }

  /** Everything is recorded. */
  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#options.claims.remove(this.id);
    this.#options.onEnd(this.id, this.#writer.isStored && !this.#isLeft);
  }

  #change(changes: Partial<RunRow>): void {
    const { state = this.#state } = changes;
    const hasChanged = state !== this.#state || Object.keys(changes).some((name) => name !== "state");
    this.#state = state;
    if (hasChanged) this.#writer.change(changes);
  }

  #commit(changes: Partial<RunRow> = {}): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#isClosed && changes.state !== undefined)
      return Promise.reject(
        createError("RECORD_FAILED", this.#isLeft ? "the runtime is closing" : "the run has ended"),
      );
    this.#change(changes);
    return this.#writer.commit();
  }

  #countCalls(): CallCounts {
    const ended = [...this.#calls.values()].filter(({ state }) => state === "ended");
    const effects = ended.filter(({ isEffect, from }) => isEffect && from === undefined);
    return { calls: ended.length, effects: effects.length };
  }
}

/** The change of a run that no process executes. */
const UNCLAIMED = { claimedBy: null } as const;

type MutableCall = { -readonly [Field in keyof StoredCall]: StoredCall[Field] };

/** True if the record does not have all results. */
export function isIncomplete({ calls }: Pick<RunRecord, "calls"> | Cassette): boolean {
  return [...calls.values()].some(({ answer }) => answer?.ok === false && answer.error["code"] === "RUN_TOO_LARGE");
}

/** Returns the state of a run that has ended in this way. */
export function toRunStatus(outcome: Outcome): RunStatus {
  if (outcome.kind === "completed") return "completed";
  if (outcome.kind !== "failed") return "waiting";
  if (outcome.error.code === "CANCELLED") return "cancelled";
  return outcome.error.code === "CALL_END_UNKNOWN" ? "unknown" : "failed";
}
