import type { Delivery, RunUsage, SandboxAnswer } from "../../sandbox/index.ts";
import { getMessage, sentence, SkillgateError } from "../errors.ts";
import type { Outcome } from "../model/outcome.ts";
import { VERSION } from "../shared/version.ts";
import type { Database, RunRow, RunStatus } from "../store/index.ts";
import type { Cassette } from "./cassette.ts";
import type { Claims } from "./claims.ts";
import type { RunHeader, StoredOutcome } from "./header.ts";
import {
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
  /** Receives a sentence about a record that cannot be written. */
  readonly warn: (text: string) => void;
  /** Keeps also runs without an effect. */
  readonly keepsAll: boolean;
  /** True if the store outlives the process: then effects are committed before they happen. */
  readonly isDurable: boolean;
  /** Is called when a run that is in the store has ended. */
  readonly onEnd: (id: string) => void;
  /** The record of an earlier execution, which has been claimed. */
  readonly record?: RunRecord;
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
  readonly #options: RecorderOptions;
  readonly #calls: Map<number, MutableCall>;
  readonly #deliveries: Delivery[];
  #used: RunUsage | undefined;
  #buffer: RecordEvent[] = [];
  #queue: Promise<void> = Promise.resolve();
  #seq: number;
  #lastHash: string;
  #size = 0;
  #state: RunStatus = "running";
  /** True if the claim of this process is committed as one without progress. */
  #isAttempt: boolean;
  /** Commits the ends of calls, unless another commit does it before. */
  #timer: NodeJS.Timeout | undefined;
  #isEnding = false;
  #isClosed = false;

  constructor(options: RecorderOptions) {
    const { id, header, record, claims } = options;
    this.id = id;
    this.header = header;
    this.#options = options;
    this.#calls = new Map([...(record?.calls ?? [])].map(([number, call]) => [number, { ...call }]));
    this.#deliveries = [...(record?.deliveries ?? [])];
    this.#used = record?.used;
    this.#seq = record?.nextSeq ?? 0;
    this.#lastHash = record?.lastHash ?? FIRST_HASH;
    this.#isAttempt = record !== undefined;
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

  /** True if nothing more is recorded. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** True if the record is in the store, or is being written. */
  get isWritten(): boolean {
    return this.#seq > 0;
  }

  addCall(facts: Omit<CallEvent, "type" | "time">): void {
    const call = { ...facts, time: Date.now() };
    this.#calls.set(call.id, createStoredCall(call));
    this.#buffer.push({ type: "call", ...call });
  }

  /** Resolves when it is committed that the provider of a call is invoked next; of a read, it is committed with what follows. */
  begin(id: number, digest: string): Promise<void> {
    const call = this.#calls.get(id);
    if (call === undefined) throw new TypeError(`Call ${id} was not added`);
    call.state = "begun";
    call.digest = digest;
    call.beginTime = Date.now();
    this.#buffer.push({ type: "begin", id, digest, time: call.beginTime });
    const mustCommit = call.isEffect && (this.#options.isDurable || this.isWritten);
    return mustCommit ? this.#commit("running") : Promise.resolve();
  }

  addEnd(end: Omit<EndEvent, "type" | "time">): void {
    const call = this.#calls.get(end.id);
    if (call === undefined || this.#isEnding) return;
    const hasBegun = call.state === "begun" && call.isEffect;
    call.state = "ended";
    call.answer = end.answer;
    call.digest = end.digest;
    call.durationMs = end.durationMs;
    call.outcome = end.outcome;
    call.notes = end.notes;
    if (end.from !== undefined) call.from = end.from;
    call.endTime = Date.now();
    this.#buffer.push({ type: "end", ...end, time: call.endTime });
    if (!hasBegun || !this.isWritten) return;
    if (end.durationMs >= COMMIT_AFTER_MS) this.#commitLater();
    else this.#timer ??= setTimeout(() => this.#commitLater(), COMMIT_AFTER_MS).unref();
  }

  addDelivery({ ids, time }: Delivery, used: RunUsage): void {
    this.#deliveries.push({ ids, time });
    this.#used = used;
    this.#buffer.push({ type: "delivery", ids, time, used });
  }

  /** Commits that the run waits for a person. */
  wait(): void {
    this.#state = "waiting";
    this.#commitLater({ state: "waiting" });
  }

  /** Commits that a person is asked: this is progress, as the run is not continued before an answer. */
  ask(): void {
    if (this.#isAttempt) this.#commitLater(PROGRESS);
  }

  /** Commits that this process has claimed the run. */
  claim(): Promise<void> {
    this.#options.claims.add(this.id);
    return this.#commit("running");
  }

  /** Commits how the run ended. */
  async finish(outcome: StoredOutcome, state: RunStatus): Promise<void> {
    const { keepsAll, claims, onEnd } = this.#options;
    this.#isEnding = true;
    claims.remove(this.id);
    // A corrected program can continue a failed run, once.
    const concernsOthers = state !== "completed" || this.header.continues !== undefined;
    const isRecorded = this.isWritten || keepsAll || (concernsOthers && this.listEffects().length > 0);
    if (this.#isClosed || !isRecorded) return;
    const time = Date.now();
    this.#buffer.push({ type: "outcome", outcome, time });
    await this.#commit(state, { ended: time, claimedBy: null, claimedUntil: 0 }).catch((error: unknown) =>
      this.#warn(error),
    );
    this.#isClosed = true;
    onEnd(this.id);
  }

  /** True if all that the run waits for are answers of persons. */
  get isWaiting(): boolean {
    return this.#state === "waiting";
  }

  /** Records nothing from now on: another process may claim the run. */
  async leave(): Promise<void> {
    if (this.isWritten) this.#commitLater();
    await this.#queue.catch(() => {});
    this.#isClosed = true;
    this.#options.claims.remove(this.id);
    if (!this.isWritten) return;
    const { runs } = await this.#options.open();
    await runs.update(this.id, { claimedBy: null, claimedUntil: 0 });
  }

  #commitLater(changes: Partial<RunRow> = {}): void {
    this.#commit(this.#state, changes).catch((error: unknown) => this.#warn(error));
  }

  #commit(state: RunStatus, changes: Partial<RunRow> = {}): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const hasChanged = state !== this.#state || Object.keys(changes).length > 0;
    this.#state = state;
    const written = this.#queue.then(() => this.#write(hasChanged ? { state, ...changes } : {}));
    this.#queue = written.catch(() => {}); // each commit reports its own failure
    return written;
  }

  async #write(stateChanges: Partial<RunRow>): Promise<void> {
    if (this.#isClosed) throw createRecordError("the runtime is closing");
    const batch = this.#buffer;
    const isProgress = this.#isAttempt && batch.some(({ type }) => type === "end");
    const changes = { ...stateChanges, ...(isProgress && PROGRESS) };
    const hasChanges = Object.keys(changes).length > 0;
    if (batch.length === 0 && !hasChanges) return;
    this.#buffer = [];
    const seq = this.#seq;
    const events = JSON.stringify(this.#size > MAX_RECORD_UNITS ? batch.map(omitAnswer) : batch);
    const hash = hashEntry(this.#lastHash, this.id, seq, events);
    const entry = { run: this.id, seq, events, hash };
    this.#seq++;
    try {
      const { runs } = await this.#options.open();
      if (seq === 0) await runs.add({ ...this.#createRow(), ...changes }, entry);
      else if (!hasChanges) await runs.append(entry);
      else await runs.appendAndUpdate(entry, { ...this.#getCounts(), updated: Date.now(), ...changes });
      if (changes.attempts === 0) this.#isAttempt = false;
      this.#lastHash = hash;
      this.#size += events.length;
    } catch (error) {
      this.#seq = seq;
      this.#buffer = [...batch, ...this.#buffer];
      if (error instanceof SkillgateError && error.code === "STORE_CONFLICT")
        throw createRecordError("another process has claimed the run");
      throw error;
    }
  }

  #createRow(): RunRow {
    const { header, id } = this;
    const { claims } = this.#options;
    claims.add(id);
    return {
      id,
      caller: header.caller.id,
      state: "running",
      title: createTitle(header.source),
      created: header.continues === undefined ? header.time : Date.now(),
      updated: Date.now(),
      ended: null,
      continues: header.continues ?? null,
      ...this.#getCounts(),
      claimedBy: claims.by,
      claimedUntil: claims.getEnd(),
      ...PROGRESS,
    };
  }

  #getCounts(): Pick<RunRow, "calls" | "effects" | "size"> {
    const ended = [...this.#calls.values()].filter(({ state }) => state === "ended");
    const effects = ended.filter(({ isEffect, from }) => isEffect && from === undefined);
    return { calls: ended.length, effects: effects.length, size: this.#size };
  }

  #warn(error: unknown): void {
    if (!this.#isClosed) this.#options.warn(`Cannot record run ${this.id}: ${getMessage(error)}`);
  }
}

type MutableCall = { -readonly [Field in keyof StoredCall]: StoredCall[Field] };

/** The answer of a call whose result the record does not have. */
const OMITTED: SandboxAnswer = { ok: false, error: { name: "CallError", code: "RUN_TOO_LARGE" } };

function omitAnswer(event: RecordEvent): RecordEvent {
  return event.type === "end" ? { ...event, answer: OMITTED } : event;
}

/** True if the record does not have all results. */
export function isIncomplete({ calls }: Pick<RunRecord, "calls"> | Cassette): boolean {
  return [...calls.values()].some(({ answer }) => answer?.ok === false && answer.error["code"] === "RUN_TOO_LARGE");
}

function createRecordError(why: string): SkillgateError {
  return new SkillgateError("RECORD_FAILED", sentence("RECORD_FAILED", why));
}

const MAX_TITLE_UNITS = 120;

function createTitle(source: string): string {
  const line = source.split("\n").find((text) => text.trim() !== "" && !text.trim().startsWith("//")) ?? "";
  return line.trim().slice(0, MAX_TITLE_UNITS);
}

/** Returns the state of a run that has ended in this way. */
export function toRunStatus(outcome: Outcome): RunStatus {
  if (outcome.kind === "completed") return "completed";
  if (outcome.kind !== "failed") return "waiting";
  if (outcome.error.code === "CANCELLED") return "cancelled";
  return outcome.error.code === "CALL_END_UNKNOWN" ? "unknown" : "failed";
}
