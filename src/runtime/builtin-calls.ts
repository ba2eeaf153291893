import { createError } from "../errors.ts";
import type { Caller } from "../model/caller.ts";
import { isRecord } from "../model/json.ts";
import type { HandledResult, ResultHandles, RunResults } from "../model/kept-results.ts";
import type { Catalog } from "../model/catalog.ts";
import { firstSentence } from "../registry/index.ts";
import { getTokensOfEach, joinTexts, MAX_QUESTIONS } from "./builtin-tools/index.ts";
import { MAX_HANDLES } from "./outcome/result-handles.ts";
import type { CatalogAnswer, CallableMethod } from "../../sandbox/index.ts";
import type { RunRequest, RunServices } from "./execution/run-services.ts";
import { INPUT_PATH } from "../runs/index.ts";
import { formatList, quote, truncateText } from "../shared/format-text.ts";

/** Characters that one read returns by default, and at most. */
const DEFAULT_PART_CHARACTERS = 64 << 10;
const MAX_PART_CHARACTERS = 256 << 10;

/** True for a function of `device` that asks about skills, results or the run. */
export function isBuiltin(path: string): boolean {
  return BUILTIN_PATHS.has(path);
}

const BUILTIN_PATHS: ReadonlySet<string> = new Set([
  "search_skills",
  "describe",
  "read_result",
  "result",
  "budget",
  INPUT_PATH,
]);

/** `device.input()`: the value that the run was started with, as JSON. */
export function getInput({ input, automation }: Pick<RunRequest, "input" | "automation">): string {
  if (input !== undefined) return input.json;
  const flag = `--input '{"city": "Rome"}'`;
  const how =
    automation === undefined
      ? `the argument input of run_code, or skillgate run ${flag}`
      : `skillgate automation run ${automation} ${flag}, or schedule.input in its file`;
  throw createError("INPUT_MISSING", `start it with one: ${how}`);
}

/** `device.result(handle)`: the value of an earlier result of the caller. */
export async function getResult(
  [handle]: readonly unknown[],
  handles: ResultHandles,
  caller: Caller,
): Promise<HandledResult> {
  const name = typeof handle === "string" ? handle : "";
  const found = await handles.get(caller, name);
  if (found !== undefined) return found;
  const summaries = (await handles.list(caller)).map((each) => `${each.handle} (${each.summary})`);
  const hint = summaries.length === 0 ? "no result is at hand" : `there are ${formatList(summaries, MAX_HANDLES)}`;
  throw createError("CALL_FAILED", `there is no result ${quote(name)}; ${hint}`);
}

/**
 * `device.search_skills(query, limit, offset)`, `device.describe(path)`, `device.read_result(uri, offset, length)`. The first two
 * take a list as well, and then answer with a list.
 */
export async function callBuiltin(
  path: string,
  args: readonly unknown[],
  { caller, catalog }: RunRequest,
  { discovery, results }: Pick<RunServices, "discovery" | "results">,
): Promise<string | CatalogAnswer> {
  if (path === "read_result") return readResult(args, results, caller);
  const [first, limit, offset] = args;
  const input = isRecord(first) ? first : { query: first, path: first, limit, offset };
  if (path === "describe") {
    return answerEach("describe", input["path"] ?? input["paths"], (each) => {
      const { text, methods } = discovery.describe(catalog, caller, each);
      return { kind: "text", text, methods: methods.flatMap((method) => toFoundMethod(method, catalog)) };
    });
  }
  await discovery.index(catalog);
  const page = { ...pickNumber(input, "limit"), ...pickNumber(input, "offset") };
  return answerEach("search_skills", input["query"] ?? input["queries"], (each, count) => {
    const found = discovery.search(catalog, caller, each, { ...page, ...getTokensOfEach(count), readMs: 0 });
    const methods = found.results.flatMap((result) => toFoundMethod(result.path, catalog));
    return { kind: "list", text: found.text, methods };
  });
}

/** Answers one question, or each of a list. Throws `ARGUMENTS_INVALID` for a list that is too long. */
function answerEach(
  path: string,
  query: unknown,
  answer: (question: string, count: number) => Exclude<CatalogAnswer, { readonly kind: "several" }>,
): CatalogAnswer {
  if (!Array.isArray(query)) return answer(toText(query), 1);
  if (query.length > MAX_QUESTIONS) {
    const values = `${path} takes at most ${MAX_QUESTIONS} texts at once, and the list has ${query.length}`;
    throw createError("ARGUMENTS_INVALID", values);
  }
  const questions = query.map(toText);
  const answers = questions.map((question) => answer(question, questions.length));
  return { kind: "several", text: joinTexts(questions, answers), answers };
}

/** Longest signature of a method in an answer. */
const SIGNATURE_UNITS = 1_000;

function toFoundMethod(path: string, catalog: Catalog): readonly CallableMethod[] {
  const method = catalog.method(path);
  if (method === undefined) return [];
  const signature = truncateText(method.signature, SIGNATURE_UNITS);
  return [{ path, signature, summary: firstSentence(method.description) }];
}

function toText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function pickNumber(values: Readonly<Record<string, unknown>>, name: string): Readonly<Record<string, number>> {
  const value = values[name];
  return typeof value === "number" ? { [name]: value } : {};
}

/** Returns a part of a result that was too large to return whole. */
async function readResult(
  [uri, offset, length]: readonly unknown[],
  results: RunResults,
  caller: Caller,
): Promise<string> {
  const name = typeof uri === "string" ? uri : "";
  const maxCharacters = Math.min(toWholeNumber(length, DEFAULT_PART_CHARACTERS), MAX_PART_CHARACTERS);
  const part = await results.read(name, toWholeNumber(offset, 0), maxCharacters, caller);
  if (part !== undefined) return part.text;
  const values = `there is no result "${truncateText(name, 100)}" any more; run the program again`;
  throw createError("CALL_FAILED", values);
}

function toWholeNumber(value: unknown, otherwise: number): number {
  return typeof value === "number" && value >= 0 ? Math.trunc(value) : otherwise;
}
