import { hash } from "node:crypto";

import { type Delivery, type RunUsage, type SandboxAnswer, waitForTurn } from "../../sandbox/index.ts";
import { createError, type SkillgateError } from "../errors.ts";
import { isRecord, parseJson } from "../model/json.ts";
import type { CallRecord } from "../model/outcome.ts";
import type { ServerTask } from "../model/skill.ts";
import type { RunEntryRow } from "../store/index.ts";
import type { RunHeader, StoredOutcome } from "./header.ts";

/** Something that happened in a run, in the order of the record. */
export type RecordEvent =
  | { readonly type: "start"; readonly header: RunHeader }
  /** A process has claimed the run, and executes it from here on. */
  | { readonly type: "claim"; readonly by: string; readonly version: string; readonly time: number }
  /** The program has made a call. */
  | CallEvent
  | BeginEvent
  | EndEvent
  | DeliveryEvent
  | { readonly type: "outcome"; readonly outcome: StoredOutcome; readonly time: number };

export interface CallEvent {
  readonly type: "call";
  readonly id: number;
  readonly path: string;
  /** JSON of the list of arguments as the program passed them; the digest of a long one. */
  readonly args: string;
  /** The place of the call in the code of the program; missing if it is not known. */
  readonly site?: string;
  /** False for a method that changes nothing, and for questions about methods. */
  readonly isEffect: boolean;
  /** When the program made the call, in milliseconds since 1970. */
  readonly time: number;
}

/** The provider is about to be invoked. A second event with a task says that the call waits for that. */
export interface BeginEvent {
  readonly type: "begin";
  readonly id: number;
  readonly digest: string;
  readonly time: number;
  readonly task?: ServerTask;
  /** The connections that calls until now have used, and that no earlier event or header has. */
  readonly accounts?: Readonly<Record<string, string>>;
}

export interface EndEvent {
  readonly type: "end";
  readonly id: number;
  readonly answer: SandboxAnswer;
  /** Digest of the validated arguments by name; of the arguments as passed if they are not valid. */
  readonly digest: string;
  readonly durationMs: number;
  /** Missing for a question about methods, which is no call of one. */
  readonly outcome?: CallRecord["outcome"];
  /** Remarks of the call for the outcome of the run. */
  readonly notes: readonly string[];
  /** In milliseconds since 1970. */
  readonly time: number;
  /** The number of the call in the history of the continued run that answered this one. */
  readonly from?: number;
}

export interface DeliveryEvent extends Delivery {
  readonly type: "delivery";
  readonly used: RunUsage;
}

/**
 * How far a call came. `made`: its provider was not invoked. `begun`: the provider was invoked, and the end is not known unless
 * the process still runs.
 */
export type CallState = "made" | "begun" | "ended";

/** A call of the record. */
export interface StoredCall extends Omit<CallEvent, "type"> {
  readonly state: CallState;
  readonly digest: string | undefined;
  readonly answer: SandboxAnswer | undefined;
  readonly durationMs: number;
  readonly outcome: CallRecord["outcome"] | undefined;
  readonly notes: readonly string[];
  /** When the provider was invoked, and when the call had its answer, in milliseconds since 1970. */
  readonly beginTime: number | undefined;
  readonly endTime: number | undefined;
  /** The number of the call of the continued run that answered it. */
  readonly from?: number;
  /** The task of a server that the call waits for. */
  readonly task?: ServerTask;
}

/** Longer arguments are recorded as their digest, in UTF-16 units. */
const MAX_ARGUMENT_UNITS = 65_536;

/** Returns arguments as a record has them. `json` is JSON of a list. */
export function toRecordedArguments(json: string): string {
  return json.length <= MAX_ARGUMENT_UNITS ? json : `sha256:${hash("sha256", json)}`;
}

/** A record that was read: what an execution of the program has to repeat. */
export interface RunRecord {
  readonly header: RunHeader;
  readonly calls: ReadonlyMap<number, StoredCall>;
  /** The ids of the connections that the run has used, or would have used when it began, by the names of their accounts. */
  readonly accounts: Readonly<Record<string, string>>;
  readonly deliveries: readonly Delivery[];
  /** Usage until the last delivery. */
  readonly used: RunUsage;
  readonly outcome: StoredOutcome | undefined;
  readonly events: readonly RecordEvent[];
  /** The number of the next entry, and the hash of the last one. */
  readonly nextSeq: number;
  readonly lastHash: string;
}

/** The hash before the first entry. */
export const FIRST_HASH = "";

const NOT_USED: RunUsage = { cpuMs: 0, wallMs: 0, prints: 0 };

/** Returns the hash of an entry; it covers all entries before it. */
export function hashEntry(lastHash: string, run: string, seq: number, events: string): string {
  return hash("sha256", `${lastHash}\n${run}\n${seq}\n${events}`);
}

/**
 * Reads a record, which can have 64 MiB, in several turns of the event loop. Throws `RUN_DAMAGED` for entries that were changed, are
 * missing, or cannot be parsed.
 */
export async function readRunRecord(run: string, entries: readonly RunEntryRow[]): Promise<RunRecord> {
  const events: RecordEvent[] = [];
  let lastHash = FIRST_HASH;
  for (const [at, entry] of entries.entries()) {
    await waitForTurn();
    if (entry.seq !== at) throw createDamageError(run, `entry ${at} is missing`);
    if (entry.hash !== hashEntry(lastHash, run, at, entry.events))
      throw createDamageError(run, `entry ${at} was changed`);
    events.push(...parseEvents(run, entry));
    lastHash = entry.hash;
  }
  const [start] = events;
  if (start?.type !== "start") throw createDamageError(run, "its beginning is missing");
  const last = events.findLast((event) => event.type === "delivery");
  return {
    header: start.header,
    calls: collectCalls(run, events),
    accounts: Object.assign(
      {},
      start.header.accounts,
      ...events.map((event) => "accounts" in event && event.accounts),
    ) as RunRecord["accounts"],
    deliveries: events.flatMap((event) => (event.type === "delivery" ? [{ ids: event.ids, time: event.time }] : [])),
    used: last?.used ?? NOT_USED,
    outcome: events.findLast((event) => event.type === "outcome")?.outcome,
    events,
    nextSeq: entries.length,
    lastHash,
  };
}

/** The hash has been checked, so only the shape that every reader relies on is checked here. */
function parseEvents(run: string, { seq, events }: RunEntryRow): readonly RecordEvent[] {
  const parsed = parseJson(events);
  const isList = Array.isArray(parsed) && parsed.every((event) => isRecord(event) && TYPES.has(String(event["type"])));
  if (!isList) throw createDamageError(run, `entry ${seq} cannot be read`);
  return parsed as readonly RecordEvent[];
}

const TYPES: ReadonlySet<string> = new Set<RecordEvent["type"]>([
  "start",
  "claim",
  "call",
  "begin",
  "end",
  "delivery",
  "outcome",
]);

function collectCalls(run: string, events: readonly RecordEvent[]): ReadonlyMap<number, StoredCall> {
  const calls = new Map<number, StoredCall>();
  const change = (id: number, changes: Partial<StoredCall>): void => {
    const call = calls.get(id);
    if (call === undefined) throw createDamageError(run, `call ${id} has an end, but no beginning`);
    calls.set(id, { ...call, ...changes });
  };
  for (const event of events) {
    if (event.type === "call") {
      calls.set(event.id, createStoredCall(event));
    } else if (event.type === "begin") {
      const { id, digest, time: beginTime, task } = event;
      change(id, { state: "begun", digest, beginTime, ...(task && { task }) });
    } else if (event.type === "end") {
      const { type: _type, id, time: endTime, ...end } = event;
      change(id, { ...end, state: "ended", endTime });
    }
  }
  return calls;
}

/** A call that the program has just made. */
export function createStoredCall({ id, path, args, site, isEffect, time }: Omit<CallEvent, "type">): StoredCall {
  const none = { digest: undefined, answer: undefined, outcome: undefined, beginTime: undefined, endTime: undefined };
  return {
    id,
    path,
    args,
    ...(site !== undefined && { site }),
    isEffect,
    time,
    state: "made",
    durationMs: 0,
    notes: [],
    ...none,
  };
}

function createDamageError(run: string, why: string): SkillgateError {
  return createError("RUN_DAMAGED", `run ${run}: ${why}`, { run });
}
