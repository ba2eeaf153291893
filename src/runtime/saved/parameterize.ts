import type { VariableDeclarator } from "acorn";

import { createError, type SkillgateError } from "../../errors.ts";
import { isRecord, type Json, type JsonSchema } from "../../model/json.ts";
import { formatList, quote } from "../../shared/format-text.ts";
import { applyEdits, type TextEdit } from "../../shared/source-text.ts";
import { isMemberName } from "../../shared/names/skill-names.ts";
import {
  type Constant,
  findConstant,
  findLiterals,
  findName,
  formatPlace,
  type FoundLiteral,
  type ProgramTree,
} from "./literals.ts";
import { parseSource } from "./saved-program.ts";

/** A program that takes its parameters from `device.input()`. */
export interface ParameterizedProgram {
  readonly source: string;
  readonly parameters: Readonly<Record<string, JsonSchema>>;
  /** The values that the parameters had, by name. */
  readonly values: Readonly<Record<string, unknown>>;
}

/**
 * Makes parameters of literals. `city` names a constant at the top level, or the only literal that is the value of a
 * property `city`; `city=Berlin` the only literal with that value. Throws `SAVE_INVALID` with the lines and columns.
 */
export function parameterize(source: string, request: readonly string[]): ParameterizedProgram {
  const { tree } = parseSource(source);
  const slots = request.map((each) => findSlot(source, tree, each));
  requireDistinct(source, slots);
  const text = applyEdits(source, [...listReplacements(slots), ...listRemovals(source, slots)]);
  const names = slots.map(({ name }) => name);
  return {
    source: names.length === 0 ? text : `const { ${names.join(", ")} } = await device.input();\n${text}`,
    parameters: Object.fromEntries(slots.map(({ name, literal }) => [name, inferSchema(literal.value)])),
    values: Object.fromEntries(slots.map(({ name, literal }) => [name, literal.value])),
  };
}

interface ParameterSlot {
  readonly name: string;
  readonly literal: FoundLiteral;
  /** The constant that the program declares itself. */
  readonly constant: Constant | undefined;
}

function listReplacements(slots: readonly ParameterSlot[]): readonly TextEdit[] {
  const undeclared = slots.filter(({ constant }) => constant === undefined);
  return undeclared.map(({ name, literal: { start, end } }) => ({ start, end, text: name }));
}

/** Removes the constants that become parameters, and the line of a statement that has no other. */
function listRemovals(source: string, slots: readonly ParameterSlot[]): readonly TextEdit[] {
  const names = new Set(slots.flatMap(({ constant }) => constant?.name ?? []));
  const statements = new Set(slots.flatMap(({ constant }) => constant?.statement ?? []));
  return [...statements].flatMap((statement) => {
    const { declarations, start, end } = statement;
    const others = declarations.filter(({ id }) => id.type !== "Identifier" || !names.has(id.name));
    const [line = ""] = /^[ \t]*(?:\r?\n)?/.exec(source.slice(end)) ?? [];
    return others.length === 0 ? [{ start, end: end + line.length, text: "" }] : listGaps(declarations, others);
  });
}

/** Removes all declarations of a statement but some, which may contain literals that are replaced. */
function listGaps(all: readonly VariableDeclarator[], others: readonly VariableDeclarator[]): readonly TextEdit[] {
  const [first, last] = [others[0], others.at(-1)];
  const gaps = others.slice(1).map((next, at) => ({ start: others[at]?.end ?? 0, end: next.start, text: ", " }));
  return [
    { start: all[0]?.start ?? 0, end: first?.start ?? 0, text: "" },
    ...gaps,
    { start: last?.end ?? 0, end: all.at(-1)?.end ?? 0, text: "" },
  ];
}

function findSlot(source: string, tree: ProgramTree, request: string): ParameterSlot {
  const [, name, value] = /^([\p{ID_Start}$_][\p{ID_Continue}$]{0,63})(?:=([^]*))?$/u.exec(request) ?? [];
  if (name === undefined || name === "device")
    throw createSaveError(`${quote(request)} names no parameter: write --param city, or --param city=Berlin`);
  const constant = findConstant(tree, name);
  if (constant !== undefined && value === undefined) {
    const position = formatPlace(source, constant.start);
    if (constant.literal !== undefined) return { name, literal: constant.literal, constant };
    throw createSaveError(
      `${position}: the value of ${name} is computed; declare a literal instead: const ${name} = "…"`,
    );
  }
  const literal = findLiteral(source, tree, name, value);
  const otherUse = findName(tree, name);
  if (otherUse === undefined) return { name, literal, constant: undefined };
  throw createSaveError(
    `${formatPlace(source, otherUse)} uses the name ${name} already: choose another name for the parameter`,
  );
}

const MAX_LISTED = 6;

/** Finds the only literal of a property, or with a value. */
function findLiteral(source: string, tree: ProgramTree, name: string, value: string | undefined): FoundLiteral {
  const all = findLiterals(tree);
  const found = all.filter((literal) =>
    value === undefined ? literal.property === name : matches(literal.value, value),
  );
  const [first] = found;
  const list = (literals: readonly FoundLiteral[]): string =>
    formatList(
      literals.map(({ value: each, start }) => `${quote(JSON.stringify(each), 40)} at ${formatPlace(source, start)}`),
      MAX_LISTED,
    );
  if (first === undefined) {
    const what =
      value === undefined
        ? `no constant ${name} at its top level, and no literal for ${name}`
        : `no literal ${quote(value)}`;
    const there = all.length === 0 ? "it has no literals" : `its literals are ${list(all)}`;
    throw createSaveError(`the program has ${what}; ${there}: write --param ${name}=VALUE with one of them`);
  }
  if (found.length === 1) return first;
  const text = source.slice(first.start, first.end);
  throw createSaveError(
    `more than one literal can be ${name}: ${list(found)}. Declare one constant for them at the top level, as in const ${name} = ${text}, and run the program again`,
  );
}

function matches(literal: Json, text: string): boolean {
  return typeof literal === "string" ? literal === text : JSON.stringify(literal) === text;
}

function requireDistinct(source: string, slots: readonly ParameterSlot[]): void {
  for (const [at, { name, literal }] of slots.entries()) {
    const other = slots.slice(0, at).find((each) => each.name === name || overlap(each.literal, literal));
    if (other === undefined) continue;
    const position = formatPlace(source, literal.start);
    throw createSaveError(
      `the parameters ${other.name} and ${name} are the same or overlap, at ${position}: name each once`,
    );
  }
}

function overlap(a: FoundLiteral, b: FoundLiteral): boolean {
  return a.start < b.end && b.start < a.end;
}

/**
 * Makes parameters of all members of the input that a run had, for a program that takes them from `device.input()` already. Throws
 * `SAVE_INVALID`.
 */
export function parameterizeInput(source: string, input: unknown, request: readonly string[]): ParameterizedProgram {
  if (!isRecord(input))
    throw createSaveError("its input is not an object, and the arguments of a skill have names: pass an object");
  const names = Object.keys(input);
  if (names.length > MAX_PARAMETERS)
    throw createSaveError(
      `its input has ${names.length} members, and a saved program has at most ${MAX_PARAMETERS} parameters: put lists and tables into one member`,
    );
  const unknown = request.find((each) => !names.includes(each));
  if (unknown !== undefined) {
    const list = names.length === 0 ? "none" : names.join(", ");
    throw createSaveError(`${quote(unknown)} is no parameter: all members of its input are (${list})`);
  }
  const wrong = names.find((name) => !isMemberName(name));
  if (wrong !== undefined) throw createSaveError(`the member ${quote(wrong)} of its input cannot be a parameter`);
  const values = input as Readonly<Record<string, Json>>;
  return {
    source,
    parameters: Object.fromEntries(Object.entries(values).map(([name, value]) => [name, inferSchema(value)])),
    values,
  };
}

/** Members of the input of a run that becomes a skill. */
const MAX_PARAMETERS = 100;

/** Values of which a schema is inferred; members and items after them may be any. */
const MAX_VALUES = 10_000;

/** Infers the schema of a parameter from the value that it had. */
export function inferSchema(value: Json): JsonSchema {
  let left = MAX_VALUES;
  const infer = (each: Json): JsonSchema => {
    left -= 1;
    if (each === null || left < 0) return {};
    if (isList(each)) return { type: "array", items: inferItems(each) };
    if (typeof each !== "object") return { type: typeof each };
    const required = Object.keys(each);
    if (required.length > left) return { type: "object" };
    const properties = Object.fromEntries(Object.entries(each).map(([name, member]) => [name, infer(member)]));
    return { type: "object", properties, required, additionalProperties: false };
  };
  /** The schema that all items have; any value for items of several. */
  const inferItems = ([first, ...others]: readonly Json[]): JsonSchema => {
    if (first === undefined || others.length > left) return {};
    const schema = infer(first);
    if (others.length === 0) return schema;
    const text = JSON.stringify(schema);
    return others.every((item) => JSON.stringify(infer(item)) === text) ? schema : {};
  };
  return infer(value);
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

export function createSaveError(why: string): SkillgateError {
  return createError("SAVE_INVALID", why);
}
