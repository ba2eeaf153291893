import { getMessage } from "../../../errors.ts";
import type { Parameter } from "../../../model/catalog.ts";
import { isRecord, isTextList, parseJson } from "../../../model/json.ts";
import { readTextFile } from "./read-text.ts";
import { UsageError } from "../usage-error.ts";

/** The input of a call as the command line gives it: one JSON object, or texts by name. */
export type WrittenInput =
  | { readonly kind: "object"; readonly object: Readonly<Record<string, unknown>> }
  | { readonly kind: "texts"; readonly texts: readonly (readonly [name: string, text: string])[] };

/**
 * Reads the input of one call from the command line: either one JSON object, or words of the form `key=value`; `key=@file`
 * takes the value from a file.
 */
export async function readInput(words: readonly string[], signal: AbortSignal): Promise<WrittenInput> {
  const [first = ""] = words;
  if (words.length === 1 && first.trimStart().startsWith("{")) return { kind: "object", object: parseObject(first) };
  const texts = new Map<string, string>();
  for (const word of words) {
    const [key, text] = splitWord(word);
    if (texts.has(key)) throw new UsageError(`Argument given twice: "${key}"`);
    texts.set(key, text.startsWith("@") ? await readTextFile(text.slice(1), signal) : text);
  }
  return { kind: "texts", texts: [...texts] };
}

/**
 * Parses the values of an input: each one as JSON, else it is taken as text. A parameter of type string gets `5` as text, so
 * that users need not quote it twice.
 */
export function parseInput(input: WrittenInput, parameters: readonly Parameter[]): Readonly<Record<string, unknown>> {
  if (input.kind === "object") return input.object;
  const values = input.texts.map(([key, text]) => {
    const schema = parameters.find(({ name }) => name === key)?.schema;
    return [key, parseValue(text, schema?.["type"] === "string")] as const;
  });
  // Unlike assignment, `fromEntries` keeps a key `__proto__` as data.
  return Object.fromEntries(values);
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const input: unknown = JSON.parse(text);
    if (isRecord(input)) return input;
  } catch (thrown) {
    throw new UsageError(`Cannot read the arguments as a JSON object: ${getMessage(thrown)}`);
  }
  throw new UsageError("Cannot read the arguments as a JSON object");
}

function splitWord(word: string): readonly [key: string, text: string] {
  const at = word.indexOf("=");
  if (at > 0) return [word.slice(0, at), word.slice(at + 1)];
  throw new UsageError(
    `Cannot read the argument ${JSON.stringify(word)}: write key=value, key=@file, or all of them as one JSON object`,
  );
}

function parseValue(written: string, isText: boolean): unknown {
  const value = parseJson(written);
  return value === undefined || (isText && typeof value !== "string") ? written : value;
}

/** True for an input that another process has read. */
export function isWrittenInput(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { kind, object, texts } = value;
  if (kind === "object") return isRecord(object);
  return kind === "texts" && Array.isArray(texts) && texts.every((pair) => isTextList(pair) && pair.length === 2);
}
