import { sentence, SkillgateError } from "../errors.ts";
import type { Caller } from "../model/caller.ts";
import { isRecord } from "../model/json.ts";
import type { KeptResults } from "../model/kept-results.ts";
import { type HandledResult, MAX_HANDLES, type ResultHandles } from "./outcome/result-handles.ts";
import type { RunRequest, RunServices } from "../run-snippet.ts";
import { formatList, quote, truncateText } from "../shared/format-text.ts";

/** Characters that one read returns by default, and at most. */
const DEFAULT_PART_CHARACTERS = 64 << 10;
const MAX_PART_CHARACTERS = 256 << 10;

/** True for a function of `device` that asks about skills or results. */
export function isBuiltin(path: string): boolean {
  return path === "search_skills" || path === "describe" || path === "read_result" || path === "result";
}

/** `device.result(handle)`: the value of an earlier result of the caller. */
export function getResult([handle]: readonly unknown[], handles: ResultHandles, caller: Caller): HandledResult {
  const name = typeof handle === "string" ? handle : "";
  const found = handles.get(caller, name);
  if (found !== undefined) return found;
  const known = handles.list(caller).map((each) => `${each.handle} (${each.summary})`);
  const hint = known.length === 0 ? "no result is at hand" : `there are ${formatList(known, MAX_HANDLES)}`;
  throw new SkillgateError("CALL_FAILED", sentence("CALL_FAILED", `there is no result ${quote(name)}; ${hint}`));
}

/** `device.search_skills(query, limit, offset)`, `device.describe(path)`, `device.read_result(uri, offset, length)`. */
export async function callBuiltin(
  path: string,
  args: readonly unknown[],
  { caller, catalog }: RunRequest,
  { discovery, results }: Pick<RunServices, "discovery" | "results">,
): Promise<string> {
  if (path === "read_result") return readResult(args, results, caller);
  const [first, limit, offset] = args;
  const named = isRecord(first) ? first : { query: first, path: first, limit, offset };
  if (path === "describe") return discovery.describe(catalog, caller, toText(named["path"])).text;
  await discovery.index(catalog);
  const page = { ...pickNumber(named, "limit"), ...pickNumber(named, "offset") };
  return discovery.search(catalog, caller, toText(named["query"]), { ...page, readMs: 0 }).text;
}

function toText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function pickNumber(values: Readonly<Record<string, unknown>>, name: string): Readonly<Record<string, number>> {
  const value = values[name];
  return typeof value === "number" ? { [name]: value } : {};
}

/** Returns a part of a result that was too large to return whole. */
function readResult([uri, offset, length]: readonly unknown[], results: KeptResults, caller: Caller): string {
  const name = typeof uri === "string" ? uri : "";
  const most = Math.min(toWholeNumber(length, DEFAULT_PART_CHARACTERS), MAX_PART_CHARACTERS);
  const part = results.read(name, toWholeNumber(offset, 0), most, caller);
  if (part !== undefined) return part.text;
  const values = `there is no result "${truncateText(name, 100)}" any more; run the program again`;
  throw new SkillgateError("CALL_FAILED", sentence("CALL_FAILED", values));
}

function toWholeNumber(value: unknown, otherwise: number): number {
  return typeof value === "number" && value >= 0 ? Math.trunc(value) : otherwise;
}
