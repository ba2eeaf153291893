import type { Program as Tree } from "acorn";
import type { Finding } from "../model/frame.ts";
import type { Edit } from "../model/snippet.ts";
import { eraseTypes } from "./erase.ts";
import { endLines } from "./line-starts.ts";
import { readObjectAtEnd } from "./object-at-end.ts";
import { ParseFailure } from "./bounded-parser.ts";
import { attempt, parseJavaScript } from "./parser.ts";
import { explainFailure } from "./syntax.ts";

export interface ReadProgram {
  readonly kind: "read";
  readonly text: string;
  readonly tree: Tree;
  readonly edits: readonly Edit[];
  /** Corrections that were made. */
  readonly notes: readonly string[];
}

/** A program in JavaScript, or why the text is none. */
export type Reading = ReadProgram | { readonly kind: "refused"; readonly findings: readonly Finding[] };

/** Reads a text as JavaScript or TypeScript, and as what its author must have meant where that is neither. */
export function readProgram(text: string): Reading {
  const reading = readCode(text);
  if (reading.kind === "read") return endLines(reading);
  return readObjectAtEnd(text, readCode) ?? reading;
}

/** Reads a text as JavaScript and, only if it is none, as TypeScript. */
function readCode(text: string): Reading {
  const tree = attempt(() => parseJavaScript(text));
  if (!(tree instanceof ParseFailure) && !callsWithTypes(text))
    return { kind: "read", text, tree, edits: [], notes: [] };
  if (tree instanceof ParseFailure && tree.code !== "SYNTAX") return refused(text, tree);
  const typed = attempt(() => readTypeScript(text));
  if (!(typed instanceof ParseFailure)) return typed;
  if (!(tree instanceof ParseFailure)) return { kind: "read", text, tree, edits: [], notes: [] };
  // The reading that got further knew better what it read.
  return refused(text, typed.code !== "SYNTAX" || typed.at > tree.at ? typed : tree);
}

function refused(text: string, failure: ParseFailure): Reading {
  return { kind: "refused", findings: [explainFailure(text, failure)] };
}

function readTypeScript(text: string): Reading {
  const erased = eraseTypes(text);
  if (erased.refused.length > 0) return { kind: "refused", findings: erased.refused };
  return { kind: "read", text: erased.text, tree: parseJavaScript(erased.text), edits: erased.edits, notes: [] };
}

const TYPE_WORDS: ReadonlySet<string> = new Set(
  "string number boolean any unknown void never object bigint symbol".split(" "),
);

/**
 * True for `f<T>(x)` where T can only be a type. JavaScript reads two comparisons there, which nobody means if the name is
 * no variable of the text.
 */
function callsWithTypes(text: string): boolean {
  if (!text.includes(">(")) return false;
  let looks = 0;
  for (const [, inner = ""] of text.matchAll(/[\w$\])]<([\w$.,[\]| ]{1,80})>\(/g)) {
    const names = inner.match(/[A-Za-z_$][\w$]*/g) ?? [];
    if (names.length > 0 && names.every((name) => TYPE_WORDS.has(name) || isTypeName(name, text))) return true;
    if (++looks === 10) break;
  }
  return false;
}

function isTypeName(name: string, text: string): boolean {
  if (!/^[A-Z]\w*$/.test(name)) return false;
  return !new RegExp(`\\b(?:const|let|var|function|class)\\s+${name}\\b`).test(text);
}
