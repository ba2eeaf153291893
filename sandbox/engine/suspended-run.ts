import { createHash } from "node:crypto";

import type { RunState } from "../contract.ts";

/** Offsets of: digest of all that follows, key of the version, length of the state's JSON, that JSON. The pages follow it. */
const PLACE = { digest: 0, key: 32, length: 64, json: 68 } as const;

/** Returns the bytes of a suspended run. `key` identifies the version, in hexadecimal digits. */
export function serializeRun({ parked, ...rest }: RunState, key: string): Uint8Array {
  // JSON has no infinity; this number is never reached either.
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
 * Parses the bytes of a suspended run. The digest detects damage and is not a signature: an author of forged bytes can
 * choose the limits, and send whatever a guest that has taken over its isolate could. Nothing beyond that is possible.
 */
export function deserializeRun(serialized: Uint8Array, key: string): RunState {
  const bytes = Buffer.from(serialized.buffer, serialized.byteOffset, serialized.byteLength);
  if (bytes.length < PLACE.json || !hashBody(bytes).equals(bytes.subarray(PLACE.digest, PLACE.key)))
    throw new Error("Cannot resume a run from these bytes: they are damaged, or do not hold a parked run");
  if (bytes.toString("hex", PLACE.key, PLACE.length) !== key)
    throw new Error("Cannot resume a run that was parked by another version");
  const pages = PLACE.json + bytes.readUInt32LE(PLACE.length);
  const state = parse(bytes.toString("utf8", PLACE.json, pages));
  if (!fits(state, STATE)) throw new Error("Cannot resume a run from these bytes: they do not describe a run");
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

/** Expected type of a part of the state: a number, a number from 0, a text, or a list or an object of these. */
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
  queued: [{ id: "number", path: "text", arguments: "text", stack: "text" }],
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
