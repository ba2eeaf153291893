import { hash } from "node:crypto";

import { waitForTurn } from "../../sandbox/index.ts";
import { createError, SkillgateError } from "../errors.ts";
import type { Database, RunEntryRow, RunRow } from "../store/index.ts";
import type { Claims } from "./claims.ts";
import { encodeEntry } from "./encode-entry.ts";
import type { RunHeader } from "./header.ts";
import { FIRST_HASH, hashEntry, type RecordEvent, type RunRecord } from "./run-record.ts";

export interface RecordWriterOptions {
  readonly id: string;
  readonly header: RunHeader;
  readonly claims: Claims;
  readonly open: () => Promise<Pick<Database, "runs">>;
  /** The record of an earlier execution, which has been claimed. */
  readonly record?: RunRecord;
  /** When the run began. */
  readonly created: number;
}

/** The facts about a run that its calls change. */
export type CallCounts = Pick<RunRow, "calls" | "effects">;

/** An entry with the changes of the facts that are committed together with it. */
interface Write {
  readonly entry: RunEntryRow;
  readonly changes: Partial<RunRow>;
}

/** Entries of more UTF-16 units are not written: the run continues, but it cannot be resumed or replayed. */
const MAX_RECORD_UNITS = 64 << 20;

/** The change of a run that has made progress: the claims before do not count any more. */
export const PROGRESS = { attempts: 0 } as const;

/** Writes the events of one run to the store, as a chain of entries: each has the hash of the one before. */
export class RecordWriter {
  /** Resolves when the store has the run, so that other processes find it. */
  readonly whenStored: Promise<void>;
  readonly #options: RecordWriterOptions;
  readonly #getCounts: () => CallCounts;
  #markStored = (): void => {};
  #failStored = (_error: unknown): void => {};
  #buffer: RecordEvent[] = [];
  /** Changes of the facts that are not written. */
  #changes: Partial<RunRow> = {};
  /** The last write if it has failed: it may be in the store nevertheless. */
  #unsure: Write | undefined;
  #queue: Promise<void> = Promise.resolve();
  #seq: number;
  #lastHash: string;
  #size = 0;
  #isAttempt: boolean;
  #isLost = false;

  /** `getCounts` counts the calls that are recorded so far. */
  constructor(options: RecordWriterOptions, getCounts: () => CallCounts) {
    const { record } = options;
    this.#options = options;
    this.#getCounts = getCounts;
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
  }

  /** True if the store has the record. */
  get isStored(): boolean {
    return this.#seq > 0;
  }

  /** True if the record is in the store, or may be. */
  get isWritten(): boolean {
    return this.isStored || this.#unsure !== undefined;
  }

  /** True if the claim of this process is committed as one without progress. */
  get isAttempt(): boolean {
    return this.#isAttempt;
  }

  /** True if another process has claimed the run. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Adds an event to the next commit. */
  add(event: RecordEvent): void {
    this.#buffer.push(event);
  }

  /** Adds changes of the facts to the next commit. */
  change(changes: Partial<RunRow>): void {
    this.#changes = { ...this.#changes, ...changes };
  }

  /** Commits everything so far, after the commits that have begun. */
  commit(): Promise<void> {
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
    const { id } = this.#options;
    const seq = this.#seq;
    const hash = hashEntry(this.#lastHash, id, seq, events);
    return { entry: { run: id, seq, events, hash }, changes };
  }

  async #write({ entry, changes }: Write): Promise<void> {
    const { id, header, claims, open } = this.#options;
    const { runs } = await open();
    const size = this.#size + entry.events.length;
    try {
      if (entry.seq === 0) await claims.hold(id);
      if (entry.seq === 0) await runs.add({ ...this.#createRow(), ...changes, size }, entry, header.program.paths);
      else if (Object.keys(changes).length === 0) await runs.append(entry);
      else await runs.appendAndUpdate(entry, { ...this.#getCounts(), size, updated: Date.now(), ...changes });
    } catch (error) {
      if (!(error instanceof SkillgateError && error.code === "STORE_CONFLICT")) throw error;
      const stored = (await runs.entries(id)).find(({ seq }) => seq === entry.seq);
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
    const { header, id, created, claims } = this.#options;
    return {
      id,
      caller: header.caller.id,
      state: "running",
      title: createTitle(header.source),
      program: hashProgram(header.source),
      created,
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
