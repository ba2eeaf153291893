import { sentence, SkillgateError } from "../../errors.ts";
import { readProgramSource } from "../../frontend/index.ts";
import type { ProgramSource } from "../../model/program.ts";
import { findConstants, type FoundLiteral, formatPlace, type ProgramTree, readsInput } from "./constants.ts";

/** A larger program is not read. */
const MAX_SOURCE_BYTES = 256 << 10;

/**
 * Returns the program of a saved skill, which takes its arguments from `device.input()`. In a file of an earlier version, each
 * parameter is a constant at the top level with a literal: the argument takes its place. Throws `SKILL_INVALID` with the line and
 * column of the program.
 */
export function readSavedProgram(source: string, parameters: readonly string[]): string {
  const { tree } = parseSource(source);
  if (parameters.length === 0 || readsInput(tree)) return source;
  const parts: string[] = [];
  let end = 0;
  for (const { name, literal } of findSlots(source, tree, parameters)) {
    parts.push(source.slice(end, literal.start), `(await device.input()).${name}`);
    end = literal.end;
  }
  return parts.join("") + source.slice(end);
}

interface ProgramSlot {
  readonly name: string;
  readonly literal: FoundLiteral;
}

/** Finds the literals of the parameters, in the order of the text. */
function findSlots(source: string, tree: ProgramTree, parameters: readonly string[]): readonly ProgramSlot[] {
  const constants = findConstants(tree);
  const write = `write const { ${parameters.join(", ")} } = await device.input()`;
  const slots = parameters.map((name) => {
    const [first, second] = constants.filter((constant) => constant.name === name);
    if (first === undefined) throw createProgramError(`the program does not use its parameter ${name}: ${write}`);
    if (second !== undefined)
      throw createProgramError(`${formatPlace(source, second.start)} of the program declares ${name} again: rename it`);
    if (first.literal !== undefined) return { name, literal: first.literal };
    const position = formatPlace(source, first.start);
    throw createProgramError(`${position} of the program: the value of ${name} is computed; ${write}`);
  });
  return slots.toSorted((a, b) => a.literal.start - b.literal.start);
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

function createProgramError(why: string): SkillgateError {
  return new SkillgateError("SKILL_INVALID", sentence("SKILL_INVALID", why));
}
