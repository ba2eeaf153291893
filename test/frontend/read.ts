import { readSnippet } from "../../src/frontend/index.ts";
import type { Violation } from "../../src/model/outcome.ts";
import type { Snippet } from "../../src/model/snippet.ts";

const LIMITS = { sourceBytes: 256 << 10 };

export function read(source: string): Snippet {
  return readSnippet(source, LIMITS);
}

/** What is left of a text when everything that is no program is blanked. */
export function textOf(source: string): string {
  const snippet = read(source);
  if (snippet.kind !== "program")
    throw new Error(
      violationsOf(source)
        .map(({ message }) => message)
        .join("\n") || snippet.kind,
    );
  return snippet.text;
}

export function violationsOf(source: string): readonly Violation[] {
  const snippet = read(source);
  return snippet.kind === "unreadable" ? snippet.violations : [];
}

/** `CODE line:column` of everything that is wrong. */
export function places(source: string): readonly string[] {
  return violationsOf(source).map(({ code, line, column }) => `${code} ${line}:${column}`);
}
