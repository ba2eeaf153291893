import { sentence, SkillgateError } from "../../errors.ts";
import { readProgramSource } from "../../frontend/index.ts";
import type { ProgramSource } from "../../model/program.ts";
import { quote } from "../../shared/format-text.ts";
import { findConstants, type FoundLiteral, formatPlace, type LiteralValue } from "./constants.ts";

/** The program of a saved skill. */
export interface SavedProgram {
  /** Returns the text with the values of a call in place of those of the recorded run. Throws `ARGUMENTS_INVALID`. */
  fillIn(input: Readonly<Record<string, unknown>>): string;
}

/** A larger program is not read. */
const MAX_SOURCE_BYTES = 256 << 10;

/** Reads the program of a saved skill. Throws `SKILL_INVALID` with the line and column of the program. */
export function readSavedProgram(source: string, parameters: readonly string[]): SavedProgram {
  const slots = findSlots(source, parameters);
  return { fillIn: (input) => fillIn(source, slots, input) };
}

/** Returns the values that a program has for its parameters. Throws `SKILL_INVALID`. */
export function readParameterValues(
  source: string,
  parameters: readonly string[],
): Readonly<Record<string, LiteralValue>> {
  return Object.fromEntries(findSlots(source, parameters).map(({ name, literal }) => [name, literal.value]));
}

interface ProgramSlot {
  readonly name: string;
  readonly literal: FoundLiteral;
}

function findSlots(source: string, parameters: readonly string[]): readonly ProgramSlot[] {
  const constants = findConstants(parseSource(source).tree);
  return parameters.map((name) => {
    const [first, second] = constants.filter((constant) => constant.name === name);
    const write = `write const ${name} = … with a literal at the top level`;
    if (first === undefined)
      throw createProgramError(`the program has no constant ${name} for its parameter: ${write}`);
    if (second !== undefined)
      throw createProgramError(`${formatPlace(source, second.start)} of the program declares ${name} again: rename it`);
    if (first.literal !== undefined) return { name, literal: first.literal };
    const position = formatPlace(source, first.start);
    throw createProgramError(`${position} of the program: the value of ${name} is computed; ${write}`);
  });
}

/** Parses the text of a program. Throws `SKILL_INVALID` with the line and column of the first mistake. */
export function parseSource(source: string): Extract<ProgramSource, { readonly kind: "program" }> {
  const program = readProgramSource(source, { sourceBytes: MAX_SOURCE_BYTES });
  if (program.kind === "program") return program;
  if (program.kind === "toolCalls") throw createProgramError("the program is no JavaScript");
  const [violation] = program.violations;
  const where =
    violation === undefined ? "" : `line ${violation.line}, column ${violation.column + 1} of the program: `;
  throw createProgramError(`${where}${violation?.message ?? "it cannot be read"}`);
}

function fillIn(source: string, slots: readonly ProgramSlot[], input: Readonly<Record<string, unknown>>): string {
  const parts: string[] = [];
  let end = 0;
  for (const { name, literal } of slots.toSorted((a, b) => a.literal.start - b.literal.start)) {
    parts.push(source.slice(end, literal.start), toLiteral(input[name], name));
    end = literal.end;
  }
  return parts.join("") + source.slice(end);
}

/**
 * Writes a value as a literal of printable ASCII, which nothing outside of a string can be mistaken for. Throws
 * `ARGUMENTS_INVALID` for a value that is no JSON.
 */
function toLiteral(value: unknown, name: string): string {
  const json = JSON.stringify(value, (key, member: unknown) => {
    if (key !== "__proto__") return member;
    throw createArgumentError(`${quote(name)} must not have a member "__proto__"`);
  }) as string | undefined;
  if (json === undefined) throw createArgumentError(`${quote(name)} must be plain data`);
  return json.replaceAll(UNSAFE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Beyond ASCII, and signs of fences and tags. In JSON, they occur only in strings. */
const UNSAFE = /[^ -~]|[`<>]/g;

function createArgumentError(values: string): SkillgateError {
  return new SkillgateError("ARGUMENTS_INVALID", sentence("ARGUMENTS_INVALID", values));
}

function createProgramError(why: string): SkillgateError {
  return new SkillgateError("SKILL_INVALID", sentence("SKILL_INVALID", why));
}
