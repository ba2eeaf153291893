import { isIncomplete } from "../../../frontend/index.ts";

/** An input of the user: a program, or a command that begins with a point. */
export type TryInput =
  | { readonly kind: "program"; readonly code: string }
  | { readonly kind: "command"; readonly name: string; readonly rest: string };

/** Splits lines into programs and commands. */
export interface InputReader {
  /**
   * Adds a line, and returns the inputs that it ends. An empty line or a command ends a program whose syntax is complete; a
   * line `;;` ends every program.
   */
  add(line: string): readonly TryInput[];
  /** Returns the input that was begun, if its syntax is complete. */
  takeComplete(): readonly TryInput[];
  /** Returns the input that was begun. */
  takeRest(): readonly TryInput[];
  /** The lines of the input that was begun. */
  readonly text: string;
  clear(): void;
}

/** The commands that take a program. */
const TAKES_CODE = "plan";

export function createInputReader(commandNames: readonly string[]): InputReader {
  const pattern = new RegExp(`^\\s*\\.(${commandNames.join("|")})(?:\\s|$)`);
  let lines: string[] = [];
  let isChecked = false;

  function takeRest(): readonly TryInput[] {
    const text = lines.join("\n");
    lines = [];
    return text.trim() === "" ? [] : [parseInput(text)];
  }

  function takeComplete(): readonly TryInput[] {
    if (isChecked || isIncomplete(getCode(lines.join("\n")))) {
      isChecked = true; // empty lines add nothing to check
      return [];
    }
    return takeRest();
  }

  function add(line: string): readonly TryInput[] {
    if (line.trim() === ";;") return takeRest();
    if (line.trim() === "") {
      const inputs = lines.length === 0 ? [] : takeComplete();
      if (lines.length > 0) lines.push(line);
      return inputs;
    }
    isChecked = false;
    const isCommand = pattern.test(line) || (lines.length === 0 && UNKNOWN_COMMAND.test(line));
    const before = isCommand && lines.length > 0 ? takeComplete() : [];
    isChecked = false;
    const isNew = lines.length === 0;
    lines.push(line);
    const isDone = isCommand && isNew && parseCommand(line)?.name !== TAKES_CODE;
    return isDone ? [...before, ...takeRest()] : before;
  }

  return {
    add,
    takeComplete,
    takeRest,
    get text() {
      return lines.join("\n");
    },
    clear: () => void (lines = []),
  };
}

/** A line such as `.serch words`; a program may begin with a number such as `.5`. */
const UNKNOWN_COMMAND = /^\s*\.[a-z]+(?:\s|$)/i;

function parseInput(text: string): TryInput {
  const command = parseCommand(text);
  return command ?? { kind: "program", code: text };
}

function parseCommand(text: string): Extract<TryInput, { kind: "command" }> | undefined {
  const [, name, rest = ""] = /^\s*\.([a-z]+)(?:\s+([^]*))?$/i.exec(text) ?? [];
  return name === undefined ? undefined : { kind: "command", name, rest: rest.trim() };
}

/** The program in the text of an input. */
function getCode(text: string): string {
  return parseCommand(text)?.rest ?? text;
}
