import type { SandboxAnswer } from "../../sandbox/index.ts";
import { sentence } from "../errors.ts";
import type { Caller } from "../model/caller.ts";
import type { KeptResults } from "../model/kept-results.ts";

/** Characters that one read returns by default, and at most. */
const DEFAULT_PART_CHARACTERS = 64 << 10;
const MAX_PART_CHARACTERS = 256 << 10;

/** `device.read_result(uri, offset, length)`: a part of a result that was too large to hand out whole (S11). */
export function readResult(
  [uri, offset, length]: readonly unknown[],
  results: KeptResults,
  caller: Caller,
): SandboxAnswer {
  const name = typeof uri === "string" ? uri : "";
  const most = Math.min(wholeNumber(length, DEFAULT_PART_CHARACTERS), MAX_PART_CHARACTERS);
  const part = results.read(name, wholeNumber(offset, 0), most, caller);
  if (part !== undefined) return { ok: true, json: JSON.stringify(part.text) };
  const values = `there is no result "${name.slice(0, 100)}" any more; run the program again`;
  return { ok: false, error: { name: "CallError", code: "CALL_FAILED", message: sentence("CALL_FAILED", values) } };
}

function wholeNumber(value: unknown, otherwise: number): number {
  return typeof value === "number" && value >= 0 ? Math.trunc(value) : otherwise;
}
