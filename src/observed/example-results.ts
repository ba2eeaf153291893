import type { Method } from "../model/catalog.ts";
import { parseJson } from "../model/json.ts";
import { decidesMembers } from "./arguments.ts";

/** Characters of a description that are read, JSON texts in it that are tried, and characters before one that say what it is. */
const MAX_UNITS = 8 << 10;
const MAX_TRIED = 8;
const INTRODUCTION_UNITS = 120;

const RESULT_WORD = /\b(?:returns?|returned|responses?|results?|outputs?)\b/i;
const ARGUMENT_WORD = /\b(?:arguments?|args|calls?|inputs?|parameters?|params|requests?|send|body|payload)\b/i;

/** A name of a type in the place of a value: `{"id": "string"}`, also in a JSON Schema. */
const TYPE_WORD = /^<?(?:any|array|bool|boolean|date|dict|float|int|integer|list|null|number|object|str|string)>?$/i;

/**
 * Returns the value that a description gives as an example of the method's result, in strict JSON: `Returns: {"id": 1}`,
 * also in a code block or on the lines after these words.
 */
export function findExampleResult(method: Method): unknown {
  const text = method.description.slice(0, MAX_UNITS);
  if (!text.includes('"') || !/[{[]/.test(text) || decidesMembers(method, [])) return undefined;
  for (const { introduction, json } of listBracketed(text)) {
    const value = introducesResult(introduction) ? parseJson(json) : undefined;
    if (isExample(value)) return value;
  }
  return undefined;
}

/** Lists texts in brackets, each with the words before it on its line, or with the line before it. */
function* listBracketed(text: string): Generator<{ readonly introduction: string; readonly json: string }> {
  let lastLine = "";
  let tried = 0;
  let at = 0;
  while (at < text.length && tried < MAX_TRIED) {
    const end = findEndOfLine(text, at);
    const line = text.slice(at, end);
    const bracket = line.search(/[{[]/);
    const words = (bracket < 0 ? line : line.slice(0, bracket)).slice(-INTRODUCTION_UNITS).trim();
    const start = at + bracket;
    at = end + 1;
    if (bracket < 0) {
      if (words !== "" && !words.startsWith("```")) lastLine = words;
      continue;
    }
    tried += 1;
    const stop = findEndOfJson(text, start);
    if (stop === undefined) continue;
    yield { introduction: /^[`*]*$/.test(words) ? lastLine : words, json: text.slice(start, stop) };
    lastLine = "";
    at = stop;
  }
}

function findEndOfLine(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end < 0 ? text.length : end;
}

/** True for `Returns:` and `Example response`, false for `Example request` and `Returns up to`. */
function introducesResult(introduction: string): boolean {
  const words = introduction.split(/[.!?]\s/).at(-1) ?? "";
  const isAtEnd = /(?:[:`*]|\b(?:returns?|responses?|results?|outputs?))$/i.test(words);
  return isAtEnd && RESULT_WORD.test(words) && !ARGUMENT_WORD.test(words);
}

/** Returns the place after the bracket that closes the one at `start`; texts in quotes have none. */
function findEndOfJson(text: string, start: number): number | undefined {
  let depth = 0;
  let isQuoted = false;
  for (let at = start; at < text.length; at++) {
    const character = text[at];
    if (isQuoted && character === "\\") at += 1;
    else if (character === '"') isQuoted = !isQuoted;
    else if (isQuoted) continue;
    else if (character === "{" || character === "[") depth += 1;
    else if (character === "}" || character === "]") depth -= 1;
    if (depth === 0) return at + 1;
  }
  return undefined;
}

/** True for a value with names, or a list with texts, whose texts are not names of types. */
function isExample(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const open: unknown[] = [value];
  let hasNameOrText = false;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next === "string") {
      if (TYPE_WORD.test(next)) return false;
      hasNameOrText = true;
    } else if (typeof next === "object" && next !== null) {
      const members = Object.values(next);
      hasNameOrText ||= !Array.isArray(next) && members.length > 0;
      open.push(...members);
    }
  }
  return hasNameOrText;
}
