import { findCodeBlocks } from "./fences.ts";
import { ParseFailure } from "./limits/bounded-parser.ts";
import { attempt, parseJavaScript, parseTypeScript } from "./limits/parser.ts";

/** Tests whether a text ends inside a fence, a bracket, a template, a comment or a statement, so that more lines must follow. */
export function isIncomplete(text: string): boolean {
  const blocks = findCodeBlocks(text);
  if (blocks.length > 0) return blocks.some(({ isClosed }) => !isClosed);
  const code = text.trimEnd();
  // An object at the start is a block for the parser.
  return endsEarly(code, code.length) || (/^\s*\{/.test(code) && endsEarly(`(${code})`, code.length + 1));
}

/** Tests whether the parser fails because the text ends at `end`. */
function endsEarly(code: string, end: number): boolean {
  const failure = findFailure(code, parseJavaScript);
  if (failure === undefined) return false;
  if (failsAtEnd(failure, end)) return true;
  const typed = findFailure(code, parseTypeScript);
  return typed !== undefined && failsAtEnd(typed, end);
}

function findFailure(code: string, parse: (text: string) => unknown): ParseFailure | undefined {
  const result = attempt(() => parse(code));
  return result instanceof ParseFailure ? result : undefined;
}

function failsAtEnd({ code, at, message }: ParseFailure, end: number): boolean {
  return code === "SYNTAX" && (at >= end || /^Unterminated (?:template|comment)/.test(message));
}
