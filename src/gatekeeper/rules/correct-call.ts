import type { CallExpression } from "acorn";
import { type ArgumentProblem, bindArguments, schemaBehind } from "../../model/arguments.ts";
import type { Method } from "../../model/catalog.ts";
import { isRecord, type JsonSchema } from "../../model/json.ts";
import { UNKNOWN } from "../../model/plan.ts";
import { suggestNames } from "../../shared/suggest.ts";
import type { CheckContext, Host } from "../context.ts";
import {
  findWritten,
  formatWritten,
  readWritten,
  renameWritten,
  replaceWritten,
  toValue,
  toWritten,
  type ValuePath,
  type WrittenValue,
} from "./written-values.ts";
import { formatMethodAccess } from "../../shared/names/method-paths.ts";

/** A correction can reveal further mistakes: a renamed argument can have a wrong type. */
const MAX_ROUNDS = 6;

/** A call with more problems is not corrected: each takes time in proportion to all of them. */
const MAX_PROBLEMS = 32;

/** A longer call is not written out. */
const MAX_CALL_UNITS = 400;

/** A call with more arguments names those that a correction adds. */
const MAX_POSITIONAL = 2;

/** The values of an enumeration that a correction offers after the first. */
const MAX_OTHER_VALUES = 4;

/** The arguments of a call, by name. */
interface WrittenCall {
  /** The names of the arguments that are given by position. */
  readonly placed: readonly string[];
  readonly input: WrittenValue;
}

/**
 * Writes a call again with valid arguments. Keeps every argument that is valid, renames misspelled arguments, converts values
 * where only one conversion is valid, and adds examples of missing arguments. `undefined` if that does not succeed.
 */
export function correctCall(
  call: CallExpression,
  keywords: readonly { readonly name: string; readonly value: CallExpression["arguments"][number] }[],
  method: Method,
  context: CheckContext,
): string | undefined {
  const { host } = context;
  const before = readCall(call, keywords, method, context);
  const input = before && correctInput(before.input, method, host);
  if (before === undefined || input?.kind !== "object") return undefined;
  const text = `await ${formatMethodAccess(method.path)}(${formatArguments(before.placed, input.members, method)})`;
  return text.length > MAX_CALL_UNITS ? undefined : text;
}

function readCall(
  call: CallExpression,
  keywords: Parameters<typeof correctCall>[1],
  method: Method,
  context: CheckContext,
): WrittenCall | undefined {
  const positional = call.arguments
    .slice(0, call.arguments.length - keywords.length)
    .map((argument) => readWritten(argument, context));
  const members = new Map(keywords.map(({ name, value }) => [name, readWritten(value, context)]));
  const all: readonly WrittenValue[] = members.size === 0 ? positional : [...positional, { kind: "object", members }];
  const values = all.map(toValue);
  const binding = bindArguments(method, values);
  const last = all.at(-1);
  if (binding.kind === "unfit" || !binding.complete) return undefined;
  const lastName = method.parameters[all.length - 1]?.name;
  const isNamed = last?.kind === "object" && (lastName === undefined || binding.input[lastName] !== values.at(-1));
  if (
    last !== undefined &&
    last.kind !== "object" &&
    isRecord(values.at(-1)) &&
    binding.input[lastName ?? ""] !== values.at(-1)
  )
    return undefined; // a constant holds the arguments
  const placed = isNamed ? all.slice(0, -1) : all;
  const names = method.parameters.slice(0, placed.length).map(({ name }) => name);
  const written = new Map<string, WrittenValue>(placed.map((value, at) => [names[at] ?? "", value]));
  if (isNamed) for (const [name, member] of last.members) written.set(name, member);
  for (const [name, { kind, ...leaf }] of written)
    if (kind === "leaf" && "value" in leaf && leaf.value === undefined) written.delete(name);
  return { placed: names, input: { kind: "object", members: written } };
}

function correctInput(before: WrittenValue, method: Method, host: Host): WrittenValue | undefined {
  let input = before;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const problems = host.problems(method, [toValue(input)]);
    if (problems.length === 0) return input;
    if (problems.length > MAX_PROBLEMS) return undefined;
    const unknown = problems.filter(({ type }) => type === "unknown_field");
    for (const problem of unknown) input = renameOrRemove(problem, problems, input);
    if (unknown.length > 0) continue;
    for (const problem of problems) input = correctValue(problem, input, method, host);
  }
  return undefined;
}

function renameOrRemove(
  { field, suggestions }: ArgumentProblem,
  problems: readonly ArgumentProblem[],
  input: WrittenValue,
): WrittenValue {
  const path = parseField(field);
  const holder = findWritten(path.slice(0, -1), input);
  if (holder?.kind !== "object") return input;
  const open = suggestions.find((name) => !holder.members.has(name));
  const name = open ?? findOnlyMissing(path, problems);
  return name === undefined ? replaceWritten(path, input, undefined) : renameWritten(path, input, name);
}

/** The missing member that an unknown one stands for: the only one of its object, where only one is unknown. */
function findOnlyMissing(path: ValuePath, problems: readonly ArgumentProblem[]): string | undefined {
  const siblings = problems
    .map(({ field, type }) => ({ type, path: parseField(field) }))
    .filter((other) => other.path.slice(0, -1).join("\0") === path.slice(0, -1).join("\0"));
  const missing = siblings.filter(({ type }) => type === "field_missing");
  const isOnly = siblings.filter(({ type }) => type === "unknown_field").length === 1 && missing.length === 1;
  return isOnly ? String(missing[0]?.path.at(-1)) : undefined;
}

function correctValue(problem: ArgumentProblem, input: WrittenValue, method: Method, host: Host): WrittenValue {
  const path = parseField(problem.field);
  if (path.length === 0) return input;
  const schema = findSchema(path, method.input);
  const current = findWritten(path, input);
  const candidates = current === undefined || problem.type === "null_value" ? [] : listCandidates(current, schema);
  const isValid = (candidate: WrittenValue): boolean =>
    host
      .problems(method, [toValue(replaceWritten(path, input, candidate))])
      .every(({ field }) => !isAtOrIn(field, problem.field));
  const chosen = candidates.find(isValid) ?? createPlaceholder(path, schema, method, host);
  return replaceWritten(path, input, chosen);
}

function isAtOrIn(field: string, outer: string): boolean {
  return field === outer || field.startsWith(`${outer}.`) || field.startsWith(`${outer}[`);
}

/** The values that may be meant by a value of the wrong type or out of bounds, the likeliest first. */
function listCandidates(written: WrittenValue, schema: JsonSchema): readonly WrittenValue[] {
  const value = toValue(written);
  if (value === UNKNOWN) return [];
  const list: WrittenValue = { kind: "list", items: [written] };
  if (written.kind === "list") {
    const most = schema["maxItems"];
    const first: WrittenValue = { kind: "list", items: written.items.slice(0, typeof most === "number" ? most : 0) };
    return written.items.length === 1 ? [...written.items, first] : [first];
  }
  if (typeof value === "string") return [...listReadings(value, schema).map(toWritten), list];
  if (typeof value === "number") return [...[...listBounds(value, schema), String(value)].map(toWritten), list];
  return typeof value === "boolean" ? [toWritten(String(value)), list] : [list];
}

/** The values that a text may stand for: a number, a truth value, JSON, a similar value of an enumeration. */
function listReadings(text: string, schema: JsonSchema): readonly unknown[] {
  const trimmed = text.trim();
  const values = [schema["enum"]].flat().filter((value) => typeof value === "string");
  return [
    ...(trimmed !== "" && Math.abs(Number(trimmed)) <= Number.MAX_SAFE_INTEGER ? [Number(trimmed)] : []),
    ...(/^(?:true|false)$/i.test(trimmed) ? [trimmed.toLowerCase() === "true"] : []),
    ...(/^[[{]/.test(trimmed) ? parseJson(trimmed) : []),
    ...suggestNames(text, values, 1),
  ];
}

function parseJson(text: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(text);
    return [value];
  } catch {
    return []; // it is not JSON
  }
}

/** The nearest numbers within the bounds of a schema. */
function listBounds(value: number, schema: JsonSchema): readonly number[] {
  const number = (keyword: string, add = 0): readonly number[] => {
    const bound = schema[keyword];
    return typeof bound === "number" ? [bound + add] : [];
  };
  const step = number("multipleOf")[0] ?? (Number.isInteger(value) ? 1 : 0);
  const above = value > (number("minimum")[0] ?? number("exclusiveMinimum")[0] ?? -Infinity);
  const bounds = [...number("maximum"), ...number("exclusiveMaximum", -step)];
  const least = [...number("minimum"), ...number("exclusiveMinimum", step)];
  // In binary, 35 times 0.01 is 0.35000000000000003.
  const rounded = number("multipleOf").map((factor) => Number((Math.round(value / factor) * factor).toPrecision(15)));
  return [...rounded, ...(above ? bounds : least)];
}

/** An example of a value that no correction was found for. */
function createPlaceholder(path: ValuePath, schema: JsonSchema, method: Method, host: Host): WrittenValue {
  const [first, ...others] = Array.isArray(schema["enum"]) ? (schema["enum"] as readonly unknown[]) : [];
  if (first !== undefined && others.length > 0) {
    const more = others.slice(0, MAX_OTHER_VALUES).map((value) => JSON.stringify(value));
    const end = others.length > more.length ? ", …" : "";
    return { kind: "leaf", value: first, text: `${JSON.stringify(first)} /* or ${more.join(", ")}${end} */` };
  }
  const example = path.reduce<unknown>(
    (value, key) => (isRecord(value) || Array.isArray(value) ? Reflect.get(value, key) : undefined),
    host.exampleArguments?.(method),
  );
  const [type] = [schema["type"]].flat();
  return toWritten(example ?? PLACEHOLDERS.get(type) ?? OTHERWISE);
}

const OTHERWISE = "…";

const PLACEHOLDERS: ReadonlyMap<unknown, unknown> = new Map<unknown, unknown>([
  ["number", 1],
  ["integer", 1],
  ["boolean", true],
  ["array", []],
  ["object", {}],
]);

/** The schema of a member; `{}` if it is unknown. */
function findSchema(path: ValuePath, root: JsonSchema): JsonSchema {
  let schema: unknown = root;
  for (const key of path) {
    const outer: unknown = schemaBehind(schema, root);
    if (!isRecord(outer)) return {};
    const properties = outer["properties"];
    schema = typeof key === "number" ? outer["items"] : isRecord(properties) ? properties[key] : undefined;
  }
  const found = schemaBehind(schema, root);
  return isRecord(found) ? found : {};
}

/** `filters[0].name` → `["filters", 0, "name"]`; empty for `_root`. */
function parseField(field: string): ValuePath {
  if (field === "_root") return [];
  const keys: (string | number)[] = [];
  for (const [, index, quoted, name] of field.matchAll(/\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|\.?([^.[\]]+)/g))
    keys.push(index !== undefined ? Number(index) : quoted !== undefined ? String(JSON.parse(quoted)) : (name ?? ""));
  return keys;
}

/** Writes the arguments as the program does: by position or by name. */
function formatArguments(
  placed: readonly string[],
  members: ReadonlyMap<string, WrittenValue>,
  { parameters }: Method,
): string {
  const byPosition = placed.findIndex((name) => !members.has(name));
  const positional = [...(byPosition < 0 ? placed : placed.slice(0, byPosition))];
  const rest = new Map([...members].filter(([name]) => !positional.includes(name)));
  // Arguments that were added continue the positional ones, if these are few.
  if (placed.length > 0 && placed.length + rest.size <= MAX_POSITIONAL) {
    for (const { name } of parameters.slice(positional.length)) {
      if (!rest.delete(name)) break;
      positional.push(name);
    }
  }
  const texts = positional.map((name) => members.get(name)).flatMap((value) => (value ? [formatWritten(value)] : []));
  return [...texts, ...(rest.size > 0 ? [formatWritten({ kind: "object", members: rest })] : [])].join(", ");
}
