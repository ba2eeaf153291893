import { createError, type SkillgateError } from "../../errors.ts";
import { readProgramSource } from "../../frontend/index.ts";
import type { ProgramSource } from "../../model/program.ts";
import { applyEdits } from "../../shared/source-text.ts";
import { findConstant, formatPlace, readsInput } from "./literals.ts";

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
  const write = `write const { ${parameters.join(", ")} } = await device.input()`;
  const edits = parameters.map((name) => {
    const constant = findConstant(tree, name);
    if (constant === undefined) throw createProgramError(`the program does not use its parameter ${name}: ${write}`);
    const { start, literal } = constant;
    if (literal !== undefined) return { ...literal, text: `(await device.input()).${name}` };
    const position = formatPlace(source, start);
    throw createProgramError(`${position} of the program: the value of ${name} is computed; ${write}`);
  });
  return applyEdits(source, edits);
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
  return createError("SKILL_INVALID", why);
}
