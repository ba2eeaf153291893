import type { Command, CommanderError } from "commander";

import { formatChoices } from "../../shared/format-text.ts";
import { describeUnknownName } from "../../shared/suggest.ts";

/** The command line cannot be understood, or names a file that cannot be read. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  /** Likely intended names, best first. */
  readonly suggestions: readonly string[];

  constructor(message: string, suggestions: readonly string[] = []) {
    super(message);
    this.suggestions = suggestions;
  }
}

/** Creates the error of an option or an argument whose value is unknown; `aliases` are valid too. */
export function createUnknownValueError(
  kind: string,
  value: string,
  values: readonly string[],
  aliases: readonly string[] = [],
): UsageError {
  const otherwise = `use ${formatChoices(values)}`;
  const { message, suggestions } = describeUnknownName(kind, value, [...values, ...aliases], { otherwise });
  return new UsageError(message, suggestions);
}

/** Adds the nearest names to commander's error; commander's own suggestions miss words in another order. */
export function toUsageError({ code, message }: CommanderError, command: Command): UsageError {
  const help = `see ${getCommandPath(command)} --help`;
  if (code === "commander.help") return new UsageError(`A command is missing; ${help}`);
  const says = message.replace(/^error: /, "").replace(/\.$/, "");
  const [, kind, word = ""] = UNKNOWN_WORD.exec(says) ?? [];
  if (kind === undefined) return new UsageError(`${says.slice(0, 1).toUpperCase()}${says.slice(1)}; ${help}`);
  const otherwise =
    kind === "option" && takesCommand(command)
      ? "if it is for the command, write -- before the command"
      : command.parent === null && PROGRAM.test(word)
        ? "to run a program, write skillgate run file.js, or skillgate run -e with the code"
        : help;
  const names = kind === "option" ? collectFlags(command) : collectCommands(command);
  const unknown = describeUnknownName(kind, word, names, { otherwise });
  return new UsageError(unknown.message, unknown.suggestions);
}

const UNKNOWN_WORD = /^unknown (option|command) '([^'=]*)/;

/** Matches a program in the place of a command or an option. */
const PROGRAM = /[\s(;]|\.(?:[cm]?[jt]s|md)$|^(?:-e|--eval)$/;

/** True if the command's arguments are another program's command line. */
function takesCommand(command: Command): boolean {
  return command.registeredArguments.some(
    (argument) => argument.variadic && /^(?:args|command)$/.test(argument.name()),
  );
}

/** The full path of a command, such as `skillgate mcp list`. */
function getCommandPath(command: Command): string {
  return command.parent === null ? command.name() : `${getCommandPath(command.parent)} ${command.name()}`;
}

/** Collects the long options of a command and of its parents. */
function collectFlags(command: Command): readonly string[] {
  const own = command.options.flatMap(({ long }) => long ?? []);
  return command.parent === null ? own : [...own, ...collectFlags(command.parent)];
}

/** Returns the commands below a command, without the earlier names of commands, which are hidden. */
export function getShownCommands(command: Command): readonly Command[] {
  const visible = command.createHelp().visibleCommands(command);
  return command.commands.filter((child) => visible.includes(child));
}

/** Collects the commands below a command, each as it is typed: `run`, `mcp`, `mcp list`. */
function collectCommands(command: Command): readonly string[] {
  return getShownCommands(command).flatMap((child) => [
    child.name(),
    ...collectCommands(child).map((grandchild) => `${child.name()} ${grandchild}`),
  ]);
}
