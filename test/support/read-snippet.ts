import { readSnippet } from "../../src/frontend/index.ts";
import type { Violation } from "../../src/model/outcome.ts";
import type { Snippet } from "../../src/model/snippet.ts";

const LIMITS = { sourceBytes: 256 << 10 };

export function read(source: string): Snippet {
  return readSnippet(source, LIMITS);
}

/** Returns a text with everything blanked that is not part of the program. */
export function readText(source: string): string {
  const snippet = read(source);
  if (snippet.kind !== "program")
    throw new Error(
      readViolations(source)
        .map(({ message }) => message)
        .join("\n") || snippet.kind,
    );
  return snippet.text;
}

export function readViolations(source: string): readonly Violation[] {
  const snippet = read(source);
  return snippet.kind === "unreadable" ? snippet.violations : [];
}

/** `CODE line:column` of everything that is wrong. */
export function sourceText(source: string): readonly string[] {
  return readViolations(source).map(({ code, line, column }) => `${code} ${line}:${column}`);
}
