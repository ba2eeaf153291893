import type { Catalog, Method } from "../../model/catalog.ts";
import { isRecord, type JsonSchema } from "../../model/json.ts";
import { type CodeContext, type OpenBracket, readCallee, readCodeContext } from "./code-context.ts";

/** Candidates that may replace the end of the text. */
export type CodeCompletion = readonly [candidates: readonly string[], end: string];

const NONE: CodeCompletion = [[], ""];

/** The members of `device` beside the skills. */
const QUESTIONS = ["search_skills(", "describe(", "result(", "read_result(", "budget()", "input()"];

/** Completes the end of a program: skills, methods, names of parameters, and values that a parameter can have. */
export function completeCode(code: string, catalog: Catalog): CodeCompletion {
  const context = readCodeContext(code);
  if (context.string === undefined) {
    const members = completeMember(code, catalog);
    if (members !== undefined) return members;
  }
  return completeArgument(code, context, catalog) ?? completeDevice(code);
}

function completeDevice(code: string): CodeCompletion {
  const [word = ""] = /(?<![\w$.])[a-z]+$/.exec(code) ?? [];
  return word.length > 0 && "device.".startsWith(word) ? [["device."], word] : NONE;
}

/** Completes `device.Sk` and `device.Skill.me`. */
function completeMember(code: string, catalog: Catalog): CodeCompletion | undefined {
  const [, skill, word = ""] = /(?<![\w$.])device\s*\.\s*(?:(\w+)\s*\.\s*)?(\w*)$/.exec(code) ?? [];
  if (skill !== undefined) return filterCandidates(getMethodCandidates(catalog, skill), word);
  if (!/(?<![\w$.])device\s*\.\s*\w*$/.test(code)) return undefined;
  const skills = [...catalog.skills, ...catalog.unlisted];
  return filterCandidates([...skills.map(({ name }) => `${name}.`), ...QUESTIONS], word);
}

function getMethodCandidates(catalog: Catalog, skill: string): readonly string[] {
  return (catalog.skill(skill)?.methods ?? []).map(({ name }) => `${name}(`);
}

/** Completes an argument of the innermost call of a method. */
function completeArgument(code: string, { open, string }: CodeContext, catalog: Catalog): CodeCompletion | undefined {
  const at = open.findLastIndex(({ bracket }) => bracket === "(");
  const call = open[at];
  const method = call && catalog.method(readCallee(code, call).replace(/^device\./, ""));
  if (call === undefined || method === undefined) return undefined;
  const inside = open.slice(at + 1);
  const holder = inside.at(-1);
  const isKey = holder?.bracket === "{" && holder.key === undefined;
  if (string !== undefined) {
    if (isKey) return undefined;
    return filterCandidates(formatValues(findSchema(method, call, inside), string.quote), string.quote + string.text);
  }
  const [word = ""] = /(?<![\w$])[\w$]*$/.exec(code) ?? [];
  if (!isKey) return filterCandidates(formatValues(findSchema(method, call, inside), '"'), word);
  const names = Object.keys(getProperties(findSchema(method, call, inside)));
  const unused = names.filter((name) => !holder.keys.includes(name));
  return filterCandidates(
    unused.map((name) => `${/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)}: `),
    word,
  );
}

/** Finds the schema of the value, or of the object, at the end of the brackets inside of a call. */
function findSchema(method: Method, call: OpenBracket, inside: readonly OpenBracket[]): JsonSchema | undefined {
  const isNamed = inside[0]?.bracket === "{" && call.index === 0;
  let schema: unknown = isNamed ? method.input : method.parameters[call.index]?.schema;
  for (const { bracket, key } of inside) {
    if (!isRecord(schema)) return undefined;
    if (bracket === "[") schema = schema["items"];
    else if (key !== undefined) schema = Object.hasOwn(getProperties(schema), key) ? getProperties(schema)[key] : {};
  }
  return isRecord(schema) ? schema : undefined;
}

function getProperties(schema: JsonSchema | undefined): Readonly<Record<string, unknown>> {
  const properties = schema?.["properties"];
  return isRecord(properties) ? properties : {};
}

/** Formats the values of an enum as code, with texts in the quote that the program uses. */
function formatValues(schema: JsonSchema | undefined, quote: string): readonly string[] {
  return listValues(schema).flatMap((value) => {
    if (typeof value !== "string") return quote === '"' ? [JSON.stringify(value)] : [];
    const inner = JSON.stringify(value).slice(1, -1);
    return [quote + (quote === '"' ? inner : inner.replaceAll('\\"', '"').replaceAll(quote, `\\${quote}`)) + quote];
  });
}

function listValues(schema: JsonSchema | undefined): readonly unknown[] {
  if (schema === undefined) return [];
  if (Array.isArray(schema["enum"])) return schema["enum"];
  if ("const" in schema) return [schema["const"]];
  if (schema["type"] === "boolean") return [true, false];
  const choices = [schema["anyOf"], schema["oneOf"]].flatMap((list) => (Array.isArray(list) ? list : []));
  return choices.flatMap((choice) => (isRecord(choice) && !("anyOf" in choice) ? listValues(choice) : []));
}

function filterCandidates(candidates: readonly string[], start: string): CodeCompletion {
  return [candidates.filter((candidate) => candidate.startsWith(start)), start];
}
