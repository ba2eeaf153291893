import { getMessage } from "../../../errors.ts";
import type { Parameter } from "../../../model/catalog.ts";
import { isRecord } from "../../../model/json.ts";
import { readTextFile } from "./read-text.ts";
import { UsageError } from "../usage-error.ts";

/**
 * Reads the input of one call from the command line: either one JSON object, or words of the form `key=value`. A value
 * is parsed as JSON, else taken as text; `key=@file` takes the value from a file. A parameter of type string gets `5`
 * as text, so that users need not quote it twice.
 */
export async function readInput(
  words: readonly string[],
  parameters: readonly Parameter[],
  signal: AbortSignal,
): Promise<Readonly<Record<string, unknown>>> {
  const [first = ""] = words;
  if (words.length === 1 && first.trimStart().startsWith("{")) return parseObject(first);
  const values = new Map<string, unknown>();
  for (const word of words) {
    const [key, text] = splitWord(word);
    if (values.has(key)) throw new UsageError(`Argument given twice: "${key}"`);
    const schema = parameters.find(({ name }) => name === key)?.schema;
    const written = text.startsWith("@") ? await readTextFile(text.slice(1), signal) : text;
    values.set(key, parseValue(written, schema?.["type"] === "string"));
  }
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
  try {
    const value: unknown = JSON.parse(written);
    return isText && typeof value !== "string" ? written : value;
  } catch {
    return written; // not JSON: taken as text
  }
}
