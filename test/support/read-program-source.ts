import { readProgramSource } from "../../src/frontend/index.ts";
import type { Violation } from "../../src/model/outcome.ts";
import type { ProgramSource } from "../../src/model/program.ts";

const LIMITS = { sourceBytes: 256 << 10 };

export function read(source: string): ProgramSource {
  return readProgramSource(source, LIMITS);
}

/** Returns a text with everything blanked that is not part of the program. */
export function readText(source: string): string {
  const program = read(source);
  if (program.kind !== "program")
    throw new Error(
      readViolations(source)
        .map(({ message }) => message)
        .join("\n") || program.kind,
    );
  return program.text;
}

export function readViolations(source: string): readonly Violation[] {
  const program = read(source);
  return program.kind === "unreadable" ? program.violations : [];
}

/** `CODE line:column` of everything that is wrong. */
export function sourceText(source: string): readonly string[] {
  return readViolations(source).map(({ code, line, column }) => `${code} ${line}:${column}`);
}
