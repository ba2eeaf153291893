import type { Program as Tree } from "acorn";
import type { SourceFinding } from "../shared/source-text.ts";
import type { Edit } from "../model/program.ts";
import { stripTypes } from "./strip-types/index.ts";
import { insertMissingSemicolons, repairTrailingObject } from "./repair-syntax.ts";
import { dropQueryTags } from "./drop-query-tags.ts";
import { ParseFailure } from "./limits/bounded-parser.ts";
import { attempt, parseJavaScript } from "./limits/parser.ts";
import { explainFailure } from "./explain-syntax-error.ts";

export interface ParsedProgram {
  readonly kind: "read";
  readonly text: string;
  readonly tree: Tree;
  readonly edits: readonly Edit[];
  /** Corrections that were made. */
  readonly notes: readonly string[];
}

/** A JavaScript program, or the reasons why the text is not one. */
export type ParseResult = ParsedProgram | { readonly kind: "refused"; readonly findings: readonly SourceFinding[] };

/** Parses a text as JavaScript or TypeScript, and repairs missing semicolons and a trailing object. */
export function parseProgram(text: string): ParseResult {
  const result = parseCode(text);
  if (result.kind === "read") return insertMissingSemicolons(result);
  return repairTrailingObject(text, parseCode) ?? result;
}

function parseCode(text: string): ParseResult {
  const result = parseLanguage(text);
  return result.kind === "read" ? dropQueryTags(result) : result;
}

/** Parses a text as JavaScript, and as TypeScript if that fails or if it calls functions with type arguments. */
function parseLanguage(text: string): ParseResult {
  const tree = attempt(() => parseJavaScript(text));
  if (!(tree instanceof ParseFailure) && !callsWithTypes(text))
    return { kind: "read", text, tree, edits: [], notes: [] };
  if (tree instanceof ParseFailure && tree.code !== "SYNTAX") return refused(text, tree);
  const typed = attempt(() => parseTypeScriptProgram(text));
  if (!(typed instanceof ParseFailure)) return typed;
  if (!(tree instanceof ParseFailure)) return { kind: "read", text, tree, edits: [], notes: [] };
  // The parser that got further explains the error better.
  return refused(text, typed.code !== "SYNTAX" || typed.at > tree.at ? typed : tree);
}

function refused(text: string, failure: ParseFailure): ParseResult {
  return { kind: "refused", findings: [explainFailure(text, failure)] };
}

function parseTypeScriptProgram(text: string): ParseResult {
  const erased = stripTypes(text);
  if (erased.refused.length > 0) return { kind: "refused", findings: erased.refused };
  return { kind: "read", text: erased.text, tree: parseJavaScript(erased.text), edits: erased.edits, notes: [] };
}

const TYPE_WORDS: ReadonlySet<string> = new Set(
  "string number boolean any unknown void never object bigint symbol".split(" "),
);

/**
 * True for `f<T>(x)` where T can only be a type. JavaScript parses two comparisons there; they are not meant if T is not a
 * variable of the text.
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
