import { createHash } from "node:crypto";

import type { RunState } from "../contract.ts";

/** In this order: digest of all that follows, key of the version, length of the state's JSON, that JSON, the pages. */
const PLACE = { digest: 0, key: 32, length: 64, json: 68 } as const;

/** Bytes of a parked run. `key` is that of the version, in hexadecimal digits. */
export function serializeRun({ parked, ...rest }: RunState, key: string): Uint8Array {
  // JSON has no infinity; this is as good as one.
  const finite = (_: string, value: unknown): unknown => (value === Infinity ? Number.MAX_VALUE : value);
  const json = Buffer.from(JSON.stringify({ ...rest, range: parked.range }, finite));
  const bytes = Buffer.alloc(PLACE.json + json.length + parked.bytes.length);
  bytes.write(key, PLACE.key, "hex");
  bytes.writeUInt32LE(json.length, PLACE.length);
  bytes.set(json, PLACE.json);
  bytes.set(parked.bytes, PLACE.json + json.length);
  bytes.set(hashBody(bytes), PLACE.digest);
  return bytes;
}

/**
 * Reads them again. The digest tells bytes that were damaged, and is no signature: who makes bytes of his own can say
 * with them what a guest could that has taken over its isolate, and can choose the limits. He gets no further than that.
 */
export function deserializeRun(given: Uint8Array, key: string): RunState {
  const bytes = Buffer.from(given.buffer, given.byteOffset, given.byteLength);
  if (bytes.length < PLACE.json || !hashBody(bytes).equals(bytes.subarray(PLACE.digest, PLACE.key)))
    throw new Error("Cannot resume a run from these bytes: they are damaged, or not those of a parked run");
  if (bytes.toString("hex", PLACE.key, PLACE.length) !== key)
    throw new Error("Cannot resume a run that another version has parked");
  const pages = PLACE.json + bytes.readUInt32LE(PLACE.length);
  const state = parse(bytes.toString("utf8", PLACE.json, pages));
  if (!fits(state, STATE)) throw new Error("Cannot resume a run from these bytes: they do not say what a run is");
  const { range, ...rest } = state as Stored;
  return { ...rest, parked: { range, bytes: bytes.subarray(pages) } };
}

type Stored = Omit<RunState, "parked"> & { readonly range: RunState["parked"]["range"] };

function hashBody(bytes: Buffer): Buffer {
  return createHash("sha256").update(bytes.subarray(PLACE.key)).digest();
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined; // fits nothing
  }
}

/** A number; one from 0; a text; a list or an object of these. */
type StateShape = "number" | "amount" | "text" | readonly [StateShape] | { readonly [name: string]: StateShape };

const STATE: StateShape = {
  limits: {
    cpuMs: "amount",
    wallMs: "amount",
    memoryBytes: "amount",
    calls: "amount",
    callsInFlight: "amount",
    argumentBytes: "amount",
    answerBytes: "amount",
    resultBytes: "amount",
    outputBytes: "amount",
  },
  range: { extra: "amount", end: "amount" },
  pending: [{ id: "number", path: "text", arguments: "text", stack: "text" }],
  answers: ["text"],
  timers: [{ id: "number", milliseconds: "amount" }],
  prints: [{ slot: "number", level: "number", text: "text" }],
  cpuMs: "amount",
  memoryBytes: "amount",
  calls: "amount",
};

function fits(value: unknown, shape: StateShape): boolean {
  if (shape === "text") return typeof value === "string";
  if (typeof shape === "string") return typeof value === "number" && (shape === "number" || value >= 0);
  if (typeof value !== "object" || value === null) return false;
  if (isList(shape)) return Array.isArray(value) && value.every((each) => fits(each, shape[0]));
  const members = value as Readonly<Record<string, unknown>>; // an object, by the line before the last
  return Object.entries(shape).every(([name, inner]) => fits(members[name], inner));
}

function isList(shape: StateShape): shape is readonly [StateShape] {
  return Array.isArray(shape);
}
