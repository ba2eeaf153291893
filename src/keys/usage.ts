import type { Caller, CallLimits } from "../model/caller.ts";
import { isRecord } from "../model/json.ts";
import { type Database, getCallerBucket, getPartMs, NOTED_PART_MS } from "../store/index.ts";

/** The periods of the counts, which end now, in milliseconds. */
const PERIODS = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;

type Period = keyof typeof PERIODS;

type AuditCover = "complete" | "partial" | "empty";

type Counts = Readonly<Record<Period, number>>;

/** The use of a key in the last minute, the last hour and the last day. */
export interface KeyUsage {
  /** The requests that count in each limit of the key. */
  readonly limits: readonly { readonly period: "minute" | "hour"; readonly used: number; readonly limit: number }[];
  readonly calls: Counts;
  /** Calls that were refused. */
  readonly refused: Counts;
  readonly runs: Counts;
  readonly replays: Counts;
  readonly checks: Counts;
  /** The methods that it called in the last day, the most used first. */
  readonly methods: readonly { readonly path: string; readonly calls: number }[];
  /** Calls are counted in the audit log. A `partial` one has more records of the last day than are read. */
  readonly audit: AuditCover;
}

type UsageStore = Pick<Database, "audit" | "counters" | "runs">;

const MAX_RECORDS = 100_000;
const PAGE_RECORDS = 1_000;

/** Reads what a key used: calls from the audit log, runs from their records, replays and checks from counters. */
export async function readKeyUsage(
  database: UsageStore,
  { id: caller, limits = {} }: Pick<Caller, "id" | "limits">,
  now = Date.now(),
): Promise<KeyUsage> {
  const { calls, audit } = await readCalls(database, caller, now);
  const countTimes = (times: readonly number[]): Counts =>
    countPeriods((length) => times.filter((time) => time > now - length).length);
  const countKind = async (kind: "replay" | "check"): Promise<Counts> => {
    const parts = await database.counters.list(getCallerBucket(kind, caller), now - PERIODS.day - NOTED_PART_MS);
    return countPeriods((length) => sum(parts.filter(({ start }) => start > now - length - NOTED_PART_MS)));
  };
  const runs = await database.runs.list({ caller, created: { gt: now - PERIODS.day } }, { limit: MAX_RECORDS });
  const acceptedCalls = calls.filter(({ isRefused }) => !isRefused);
  return {
    limits: await readLimits(database, { caller, limits }, now),
    calls: countTimes(acceptedCalls.map(({ time }) => time)),
    refused: countTimes(calls.filter(({ isRefused }) => isRefused).map(({ time }) => time)),
    runs: countTimes(runs.filter(({ state }) => state !== "refused").map(({ created }) => created)),
    replays: await countKind("replay"),
    checks: await countKind("check"),
    methods: countMethods(acceptedCalls),
    audit,
  };
}

function countPeriods(count: (lengthMs: number) => number): Counts {
  return { minute: count(PERIODS.minute), hour: count(PERIODS.hour), day: count(PERIODS.day) };
}

async function readLimits(
  { counters }: UsageStore,
  { caller, limits: { perMinute, perHour } }: { readonly caller: string; readonly limits: CallLimits },
  now: number,
): Promise<KeyUsage["limits"]> {
  const limitPeriods = [["minute", perMinute] as const, ["hour", perHour] as const];
  const read = async ([period, limit]: (typeof limitPeriods)[number]): Promise<KeyUsage["limits"]> => {
    if (limit === undefined) return [];
    const window = { lengthMs: PERIODS[period], maxCalls: limit };
    const parts = await counters.list(getCallerBucket(period, caller), now - window.lengthMs - getPartMs(window));
    return [{ period, used: sum(parts), limit }];
  };
  return (await Promise.all(limitPeriods.map(read))).flat();
}

interface UsedCall {
  readonly path: string;
  readonly time: number;
  readonly isRefused: boolean;
}

/** Reads the audit log from its end, as far as the day goes back. */
async function readCalls(
  { audit }: UsageStore,
  caller: string,
  now: number,
): Promise<{ readonly calls: readonly UsedCall[]; readonly audit: AuditCover }> {
  const calls: UsedCall[] = [];
  const mark = `"caller":${JSON.stringify(caller)}`;
  let before: number | undefined;
  for (let read = 0; read < MAX_RECORDS; read += PAGE_RECORDS) {
    const rows = await audit.tail(PAGE_RECORDS, before);
    for (const { record, time } of rows)
      if (record.includes(mark) && time > now - PERIODS.day) calls.push(...parseCall(record, time, caller));
    const [oldest] = rows;
    if (oldest === undefined || rows.length < PAGE_RECORDS || oldest.time <= now - PERIODS.day)
      return { calls, audit: oldest === undefined && before === undefined ? "empty" : "complete" };
    before = oldest.seq;
  }
  return { calls, audit: "partial" };
}

/** A call has one record of its end, or one of its refusal. */
function parseCall(text: string, time: number, id: string): readonly UsedCall[] {
  const record: unknown = JSON.parse(text);
  if (!isRecord(record)) return [];
  const { caller, method: path, event, decision } = record;
  const isRefused = decision === "refused";
  if (caller !== id || typeof path !== "string" || (event !== "end" && !isRefused)) return [];
  return [{ path, time, isRefused }];
}

function countMethods(calls: readonly UsedCall[]): KeyUsage["methods"] {
  const counts = new Map<string, number>();
  for (const { path } of calls) counts.set(path, (counts.get(path) ?? 0) + 1);
  return [...counts]
    .map(([path, count]) => ({ path, calls: count }))
    .toSorted((a, b) => b.calls - a.calls || (a.path < b.path ? -1 : 1));
}

function sum(parts: readonly { readonly count: number }[]): number {
  return parts.reduce((total, { count }) => total + count, 0);
}
