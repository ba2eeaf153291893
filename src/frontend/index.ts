import { type SourceFinding, createSourceText, createViolation } from "../shared/source-text.ts";
import type { ProgramSource } from "../model/program.ts";
import { blankOutAround } from "./blank-out.ts";
import { findForbiddenCharacters } from "./forbidden-characters.ts";
import { removeFences } from "./fences.ts";
import { extractProgram } from "./extract-program.ts";
import { parseProgram, type ParsedProgram } from "./parse-program.ts";
import { parseToolCalls } from "./tool-calls.ts";

export { type CodeBlock, findCodeBlocks, mayBeProgram } from "./fences.ts";
export { isIncomplete } from "./is-incomplete.ts";
export { stripTypes } from "./strip-types/index.ts";
export { parseToolCalls } from "./tool-calls.ts";

/** How many characters of a text over the size limit the frame shows. */
const SHOWN_CHARACTERS = 400;

/**
 * Reads a program as a model wrote it: removes fences and tags, refuses invisible characters, and parses the rest as
 * JavaScript or TypeScript. Every character keeps its offset, so that later steps report lines and columns of the source.
 */
export function readProgramSource(source: string, limits: { readonly sourceBytes: number }): ProgramSource {
  if (source.length > limits.sourceBytes || Buffer.byteLength(source) > limits.sourceBytes)
    return tooLong(source, limits.sourceBytes);
  const unfenced = removeFences(source);
  if (unfenced.kind === "unclear") return unreadable(source, [unfenced.finding]);
  const text = withoutShebang(unfenced.text);
  const characters = findForbiddenCharacters(text);
  if (characters.length > 0) return unreadable(source, characters);
  const calls = parseToolCalls(text);
  if (calls !== undefined) return { kind: "toolCalls", source, calls };
  const result = parseProgram(text);
  if (result.kind === "read") return createProgram(source, result, unfenced.notes);
  const found = result.findings.every(({ code }) => code === "SYNTAX") ? extractProgram(text) : undefined;
  if (found === undefined) return unreadable(source, result.findings);
  return createProgram(source, found.result, [...unfenced.notes, found.note]);
}

function createProgram(
  source: string,
  { text, tree, edits, notes }: ParsedProgram,
  before: readonly string[],
): ProgramSource {
  return { kind: "program", source, text, tree, edits, notes: [...before, ...notes] };
}

function tooLong(source: string, sourceBytes: number): ProgramSource {
  const values = `at most ${sourceBytes} bytes are read`;
  return unreadable(source.slice(0, SHOWN_CHARACTERS), [{ code: "SOURCE_LIMIT", values, start: 0, end: 0 }]);
}

function unreadable(source: string, findings: readonly SourceFinding[]): ProgramSource {
  const sourceText = createSourceText(source);
  const ordered = [...findings].sort((a, b) => a.start - b.start);
  return { kind: "unreadable", source, violations: ordered.map((finding) => createViolation(sourceText, finding)) };
}

function withoutShebang(text: string): string {
  const first = /^\s*#![^\n]*/.exec(text);
  return first === null ? text : blankOutAround(text, { start: first[0].length, end: text.length });
}
