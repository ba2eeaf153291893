import { hash } from "node:crypto";

import { type Delivery, type RunUsage, waitForTurn } from "../../sandbox/index.ts";
import { createError, SkillgateError } from "../errors.ts";
import type { Outcome } from "../model/outcome.ts";
import type { ServerTask } from "../model/skill.ts";
import type { RetryQueue } from "./retry-queue.ts";
import { VERSION } from "../shared/version.ts";
import type { Database, RunEntryRow, RunRow, RunStatus } from "../store/index.ts";
import type { Cassette } from "./cassette.ts";
import type { Claims } from "./claims.ts";
import { encodeEntry } from "./encode-entry.ts";
import type { RunHeader, StoredOutcome } from "./header.ts";
import {
  type BeginEvent,
  type CallEvent,
  createStoredCall,
  type EndEvent,
  FIRST_HASH,
  hashEntry,
  type RunRecord,
  type StoredCall,
  type RecordEvent,
} from "./run-record.ts";

export interface RecorderOptions {
  readonly id: string;
  readonly header: RunHeader;
  readonly claims: Claims;
  readonly open: () => Promise<Pick<Database, "runs">>;
  /** Writes later what cannot be written now. */
  readonly retries: RetryQueue;
  /** Keeps also runs without an effect. */
  readonly keepsAll: boolean;
  /** True if the store outlives the process: then effects are committed before they happen. */
  readonly isDurable: boolean;
  /** Is called when the run has ended or was left, and everything is recorded. `isStored` says whether the store has it. */
  readonly onEnd: (id: string, isStored: boolean) => void;
  /** The record of an earlier execution, which has been claimed. */
  readonly record?: RunRecord;
  /** When that run began. */
  readonly created?: number;
}

interface BeginFacts {
  readonly accounts?: BeginEvent["accounts"];
  /** Another process makes the call, if it finds it in the store. */
  readonly isElsewhere?: boolean;
}

/** Entries of more UTF-16 units are not written: the run continues, but it cannot be resumed or replayed. */
const MAX_RECORD_UNITS = 64 << 20;

/**
 * Milliseconds after which the end of a call is committed that took less time; a commit takes as long as such a call. If the
 * process is killed before, it is not known how the call ended.
 */
const COMMIT_AFTER_MS = 5;

/** The change of a run that has made progress: the claims before do not count any more. */
const PROGRESS = { attempts: 0 } as const;

/** Records one run: nothing is written until its first effect, or until it waits for a person. */
export class RunRecorder {
  readonly id: string;
  readonly header: RunHeader;
  /** Resolves when the store has the run, so that other processes find it. */
  readonly whenStored: Promise<void>;
  readonly #options: RecorderOptions;
  readonly #created: number;
  #markStored = (): void => {};
  #failStored = (_error: unknown): void => {};
  readonly #calls: Map<number, MutableCall>;
  readonly #deliveries: Delivery[];
  #used: RunUsage | undefined;
  #buffer: RecordEvent[] = [];
  /** Changes of the facts that are not written. */
  #changes: Partial<RunRow> = {};
  /** The last write if it has failed: it may be in the store nevertheless. */
  #unsure: Write | undefined;
  #queue: Promise<void> = Promise.resolve();
  #seq: number;
  #lastHash: string;
  #size = 0;
  #state: RunStatus = "running";
  /** True if the claim of this process is committed as one without progress. */
  #isAttempt: boolean;
  /** Commits the ends of calls, unless another commit does it before. */
  #timer: NodeJS.Timeout | undefined;
  /** True if nothing more is recorded than there is. */
  #isClosed = false;
  #isLeft = false;
  /** True if another process has claimed the run. */
  #isLost = false;
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
    this.#seq = record?.nextSeq ?? 0;
    this.#lastHash = record?.lastHash ?? FIRST_HASH;
    this.#isAttempt = record !== undefined;
    this.whenStored =
      record === undefined
        ? new Promise((resolve, reject) => {
            this.#markStored = resolve;
            this.#failStored = reject;
          })
        : Promise.resolve();
    this.whenStored.catch(() => {}); // a call of the run reports the same
    if (record === undefined) this.#buffer.push({ type: "start", header });
    else this.#buffer.push({ type: "claim", by: claims.by, version: VERSION, time: Date.now() });
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
    return this.#seq > 0 || this.#unsure !== undefined;
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
    if (this.#isAttempt && !this.#isClosed) void this.#save(PROGRESS);
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
    if (!this.#isClosed) this.#buffer.push(event);
  }

  /** Commits everything, at the latest when the store works again. */
  #save(changes: Partial<RunRow> = {}): Promise<void> {
    this.#change(changes);
    return this.#options.retries.add(`record run ${this.id}`, async () => {
      // Another process that has claimed the run records the rest.
      if (!this.#isLost) await this.#commit();
      if (this.#isClosed) this.#end();
    });
  }

  /** Everything is recorded. */
  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#options.claims.remove(this.id);
    this.#options.onEnd(this.id, this.#seq > 0 && !this.#isLeft);
  }

  #change(changes: Partial<RunRow>): void {
    const { state = this.#state } = changes;
    const hasChanged = state !== this.#state || Object.keys(changes).some((name) => name !== "state");
    this.#state = state;
    if (hasChanged) this.#changes = { ...this.#changes, ...changes };
  }

  #commit(changes: Partial<RunRow> = {}): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#isClosed && changes.state !== undefined)
      return Promise.reject(
        createError("RECORD_FAILED", this.#isLeft ? "the runtime is closing" : "the run has ended"),
      );
    this.#change(changes);
    const written = this.#queue.then(() => this.#writeAll());
    this.#queue = written.catch(() => {}); // each commit reports its own failure
    return written;
  }

  /** Repeats the write that has failed, and writes what came after it, in several entries if it is much. */
  async #writeAll(): Promise<void> {
    if (this.#unsure !== undefined) await this.#write(this.#unsure);
    // Events that are added meanwhile belong to a later commit.
    let left = this.#buffer;
    let changes = this.#changes;
    this.#buffer = [];
    this.#changes = {};
    try {
      do {
        const { count, json } = encodeEntry(left, { omitsAnswers: this.#size > MAX_RECORD_UNITS });
        const isLast = count === left.length;
        const batch = left.slice(0, count);
        this.#unsure = this.#createWrite({ batch, json }, isLast ? changes : {});
        left = left.slice(count);
        if (isLast) changes = {};
        if (this.#unsure !== undefined) await this.#write(this.#unsure);
        if (!isLast) await waitForTurn();
      } while (left.length > 0);
    } finally {
      this.#buffer = [...left, ...this.#buffer];
      this.#changes = { ...changes, ...this.#changes };
    }
  }

  #createWrite(
    { batch, json: events }: { readonly batch: readonly RecordEvent[]; readonly json: string },
    facts: Partial<RunRow>,
  ): Write | undefined {
    const isProgress = this.#isAttempt && batch.some(({ type }) => type === "end");
    const changes = { ...facts, ...(isProgress && PROGRESS) };
    if (batch.length === 0 && Object.keys(changes).length === 0) return undefined;
    const seq = this.#seq;
    const hash = hashEntry(this.#lastHash, this.id, seq, events);
    return { entry: { run: this.id, seq, events, hash }, changes };
  }

  async #write({ entry, changes }: Write): Promise<void> {
    const { runs } = await this.#options.open();
    const size = this.#size + entry.events.length;
    try {
      if (entry.seq === 0) await this.#options.claims.hold(this.id);
      if (entry.seq === 0) await runs.add({ ...this.#createRow(), ...changes, size }, entry, this.header.program.paths);
      else if (Object.keys(changes).length === 0) await runs.append(entry);
      else await runs.appendAndUpdate(entry, { ...this.#getCounts(), size, updated: Date.now(), ...changes });
    } catch (error) {
      if (!(error instanceof SkillgateError && error.code === "STORE_CONFLICT")) throw error;
      const stored = (await runs.entries(this.id)).find(({ seq }) => seq === entry.seq);
      this.#isLost = stored?.hash !== entry.hash;
      if (this.#isLost) {
        const lost = createError("RECORD_FAILED", "another process has claimed the run");
        this.#failStored(lost);
        throw lost;
      }
    }
    this.#unsure = undefined;
    this.#seq++;
    this.#markStored();
    this.#lastHash = entry.hash;
    this.#size = size;
    if (changes.attempts === 0) this.#isAttempt = false;
  }

  #createRow(): RunRow {
    const { header, id } = this;
    const { claims } = this.#options;
    return {
      id,
      caller: header.caller.id,
      state: "running",
      title: createTitle(header.source),
      program: hashProgram(header.source),
      created: this.#created,
      updated: Date.now(),
      ended: null,
      duration: 0,
      continues: header.continues ?? null,
      ...this.#getCounts(),
      size: 0,
      claimedBy: claims.by,
      ...PROGRESS,
    };
  }

  #getCounts(): Pick<RunRow, "calls" | "effects"> {
    const ended = [...this.#calls.values()].filter(({ state }) => state === "ended");
    const effects = ended.filter(({ isEffect, from }) => isEffect && from === undefined);
    return { calls: ended.length, effects: effects.length };
  }
}

/** An entry with the changes of the facts that are committed together with it. */
interface Write {
  readonly entry: RunEntryRow;
  readonly changes: Partial<RunRow>;
}

/** The change of a run that no process executes. */
const UNCLAIMED = { claimedBy: null } as const;

type MutableCall = { -readonly [Field in keyof StoredCall]: StoredCall[Field] };

/** True if the record does not have all results. */
export function isIncomplete({ calls }: Pick<RunRecord, "calls"> | Cassette): boolean {
  return [...calls.values()].some(({ answer }) => answer?.ok === false && answer.error["code"] === "RUN_TOO_LARGE");
}

const MAX_TITLE_UNITS = 120;

/** Returns the first line of a program that is not a comment, cut. */
export function createTitle(source: string): string {
  const line = source.split("\n").find((text) => text.trim() !== "" && !text.trim().startsWith("//")) ?? "";
  return line.trim().slice(0, MAX_TITLE_UNITS);
}

/** Returns the digest by which runs of one program are found. */
export function hashProgram(source: string): string {
  return hash("sha256", source).slice(0, PROGRAM_DIGITS);
}

const PROGRAM_DIGITS = 16;

/** Returns the state of a run that has ended in this way. */
export function toRunStatus(outcome: Outcome): RunStatus {
  if (outcome.kind === "completed") return "completed";
  if (outcome.kind !== "failed") return "waiting";
  if (outcome.error.code === "CANCELLED") return "cancelled";
  return outcome.error.code === "CALL_END_UNKNOWN" ? "unknown" : "failed";
}
