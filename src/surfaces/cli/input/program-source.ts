import { addAbortSignal } from "node:stream";
import type { Command } from "commander";

import { readText, readTextFile } from "./read-text.ts";
import { UsageError } from "../usage-error.ts";

/** The flags that give a program. */
export interface ProgramFlags {
  readonly eval?: string;
}

/** Adds the argument and the option that give a program. */
export function takesProgram(command: Command): Command {
  return command
    .argument("[file]", "the program's file; - for standard input, which is the default unless it is a terminal")
    .option("-e, --eval <code>", "the program itself");
}

/** Reads the text of the program. */
export async function readSource(
  file: string | undefined,
  { eval: code }: ProgramFlags,
  signal: AbortSignal,
): Promise<string> {
  if (code !== undefined && file !== undefined)
    throw new UsageError("Cannot take two programs: give either a file or -e, not both");
  if (code !== undefined) return code;
  if (file !== undefined && file !== "-") return readFromFile(file, signal);
  if (file === undefined && process.stdin.isTTY)
    throw new UsageError("A program is missing: give a file, - for standard input, or -e with the code");
  return readText(addAbortSignal(signal, process.stdin), "standard input");
}

async function readFromFile(file: string, signal: AbortSignal): Promise<string> {
  try {
    return await readTextFile(file, signal);
  } catch (thrown) {
    const isCode = thrown instanceof UsageError && /[\s(;]/.test(file);
    throw isCode ? new UsageError(`${thrown.message}; to run code itself, put -e before it`) : thrown;
  }
}
