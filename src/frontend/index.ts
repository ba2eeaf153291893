import { type Finding, placesOf, violationAt } from "../model/frame.ts";
import type { Snippet } from "../model/snippet.ts";
import { blankedAround } from "./blank.ts";
import { forbiddenCharacters } from "./characters.ts";
import { takeOffFences } from "./fences.ts";
import { findProgram } from "./prose.ts";
import { readProgram, type ReadProgram } from "./read.ts";
import { toolCallsOf } from "./tool-calls.ts";

/** Of a text that is too long, the frame shows the beginning. */
const SHOWN_CHARACTERS = 400;

/**
 * Reads what a model wrote: takes off fences and tags, refuses what cannot be seen, and parses the rest as JavaScript or
 * TypeScript. Every character keeps its place, so that all that follows can speak of lines and columns of the source.
 */
export function readSnippet(source: string, limits: { readonly sourceBytes: number }): Snippet {
  if (source.length > limits.sourceBytes || Buffer.byteLength(source) > limits.sourceBytes)
    return tooLong(source, limits.sourceBytes);
  const unfenced = takeOffFences(source);
  if (unfenced.kind === "unclear") return unreadable(source, [unfenced.finding]);
  const text = withoutShebang(unfenced.text);
  const characters = forbiddenCharacters(text);
  if (characters.length > 0) return unreadable(source, characters);
  const calls = toolCallsOf(text);
  if (calls !== undefined) return { kind: "toolCalls", source, calls };
  const reading = readProgram(text);
  if (reading.kind === "read") return programOf(source, reading, unfenced.notes);
  const found = reading.findings.every(({ code }) => code === "SYNTAX") ? findProgram(text) : undefined;
  if (found === undefined) return unreadable(source, reading.findings);
  return programOf(source, found.reading, [...unfenced.notes, found.note]);
}

function programOf(source: string, { text, tree, edits, notes }: ReadProgram, before: readonly string[]): Snippet {
  return { kind: "program", source, text, tree, edits, notes: [...before, ...notes] };
}

function tooLong(source: string, sourceBytes: number): Snippet {
  const values = `at most ${sourceBytes} bytes are read`;
  return unreadable(source.slice(0, SHOWN_CHARACTERS), [{ code: "SOURCE_LIMIT", values, start: 0, end: 0 }]);
}

function unreadable(source: string, findings: readonly Finding[]): Snippet {
  const places = placesOf(source);
  const ordered = [...findings].sort((a, b) => a.start - b.start);
  return { kind: "unreadable", source, violations: ordered.map((finding) => violationAt(places, finding)) };
}

function withoutShebang(text: string): string {
  const first = /^\s*#![^\n]*/.exec(text);
  return first === null ? text : blankedAround(text, { start: first[0].length, end: text.length });
}
