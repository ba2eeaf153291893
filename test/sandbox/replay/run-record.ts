import type {
  Delivery,
  RunUsage,
  Sandbox,
  SandboxAnswer,
  SandboxCall,
  SandboxOutcome,
  SandboxRunOptions,
} from "../../../sandbox/index.ts";
import { LIMITS } from "../../support/sandbox.ts";
import type { RecordableProgram } from "./programs.ts";

/** What a recorder writes down of a run, in order. An interrupted run has the first entries only. */
export type Entry =
  | ({ readonly kind: "begun" } & RecordedCall)
  | { readonly kind: "ended"; readonly id: number; readonly answer: SandboxAnswer }
  | { readonly kind: "delivered"; readonly delivery: Delivery; readonly used: RunUsage };

export interface RecordedCall {
  readonly id: number;
  readonly path: string;
  readonly arguments: string;
}

/** One execution of a program, complete or not. */
export interface Execution {
  /** Those of the earlier execution, and its own. */
  readonly entries: readonly Entry[];
  /** The calls of this execution, by their numbers. */
  readonly calls: readonly RecordedCall[];
  /** Calls that did not repeat a recorded one. */
  readonly diverged: readonly RecordedCall[];
  /** Ids of the calls that reached the provider in this execution. */
  readonly performed: readonly number[];
  readonly prints: readonly string[];
  readonly outcome: SandboxOutcome;
}

export interface Provider {
  /** Passes some time before an answer, also before a recorded one. */
  readonly pause: () => Promise<void>;
  readonly answer: (call: SandboxCall) => Promise<SandboxAnswer>;
}

/** Executes a program after the entries of an earlier execution. */
export async function execute(
  sandbox: Sandbox,
  program: RecordableProgram,
  provider: Provider,
  before: readonly Entry[] = [],
  options: SandboxRunOptions = {},
): Promise<Execution> {
  const entries = [...before];
  const begun = new Map(before.flatMap((entry) => (entry.kind === "begun" ? [[entry.id, entry]] : [])));
  const ended = new Map(before.flatMap((entry) => (entry.kind === "ended" ? [[entry.id, entry.answer]] : [])));
  const calls: RecordedCall[] = [];
  const diverged: RecordedCall[] = [];
  const performed: number[] = [];
  const prints: string[] = [];
  const answer = async (call: SandboxCall): Promise<SandboxAnswer> => {
    const { id, path, arguments: json } = call;
    const entry = begun.get(id);
    const recorded = ended.get(id);
    const isSame = entry?.path === path && entry.arguments === json;
    calls.push({ id, path, arguments: json });
    if ((entry !== undefined && !isSame) || (call.replayed && recorded === undefined))
      diverged.push({ id, path, arguments: json });
    if (recorded === undefined && entry === undefined) entries.push({ kind: "begun", id, path, arguments: json });
    if (recorded === undefined) performed.push(id);
    await provider.pause();
    if (recorded !== undefined) return recorded;
    const result = await provider.answer(call);
    entries.push({ kind: "ended", id, answer: result });
    return result;
  };
  const outcome = await sandbox.run({ ...program, ...resumeFrom(before) }, answer, {
    limits: LIMITS,
    print: (text) => prints.push(text),
    onDelivery: (delivery, used) => entries.push({ kind: "delivered", delivery, used }),
    ...options,
  });
  calls.sort((a, b) => a.id - b.id);
  return { entries: [...entries], calls, diverged, performed: [...performed], prints, outcome };
}

/** The parts of a program that continue an earlier execution. */
function resumeFrom(entries: readonly Entry[]): Partial<RecordableProgram> {
  if (entries.length === 0) return {};
  const delivered = entries.filter((entry) => entry.kind === "delivered");
  const used = delivered.at(-1)?.used;
  return { deliveries: delivered.map(({ delivery }) => delivery), ...(used && { used }) };
}

/**
 * What must be the same in two executions: end, output, and the calls whose answers reached the guest, with their numbers. A
 * call without an answer may still wait for another one in one of the executions, and have ended in the other.
 */
export function describeExecution({ outcome, calls, entries }: Execution): object {
  const { end, output, queued } = outcome;
  const answered = new Set(entries.flatMap((entry) => (entry.kind === "delivered" ? entry.delivery.ids : [])));
  const others = calls.filter(({ id }) => !answered.has(id)).map(({ path }) => path);
  const unanswered = [...others, ...queued].sort();
  return {
    end,
    output,
    count: outcome.calls + queued.length,
    unanswered,
    calls: calls.filter(({ id }) => answered.has(id)),
  };
}

/** Lists the calls that some entries contain. */
export function listCalls(entries: readonly Entry[]): readonly RecordedCall[] {
  return entries
    .flatMap((entry) => (entry.kind === "begun" ? [entry] : []))
    .map(({ id, path, arguments: json }) => ({ id, path, arguments: json }));
}

/** Returns a provider that answers after some turns of the event loop, in an order that `seed` decides. */
export function createProvider(seed: number): Provider {
  const random = createRandom(seed);
  return {
    pause: async () => {
      for (let turns = Math.floor(random() * 5); turns > 0; turns--) await new Promise((done) => setImmediate(done));
    },
    answer: async ({ path, arguments: json }) => {
      const [first = null] = JSON.parse(json) as unknown[];
      if (path !== "T.fail") return { ok: true, json: JSON.stringify(first) };
      return { ok: false, error: { name: "CallError", code: "REFUSED", message: `Cannot do ${json}` } };
    },
  };
}

/** Returns a provider that never answers: all answers come from the record, in another order. */
export function createReplayProvider(seed: number): Provider {
  return { ...createProvider(seed), answer: () => new Promise(() => {}) };
}

/** Returns a generator of numbers from 0 to 1 (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
