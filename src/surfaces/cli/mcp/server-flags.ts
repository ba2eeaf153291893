import { InvalidArgumentError, Option } from "commander";

import { withoutGaps } from "../../../shared/json/without-gaps.ts";
import type { CliCommand } from "../command.ts";
import { UsageError } from "../usage-error.ts";

/** The settings of a server on a command line, without its command or URL. */
export interface ServerFlags {
  readonly transport?: string;
  readonly env?: readonly string[];
  readonly header?: readonly string[];
  readonly cwd?: string;
  readonly timeout?: number;
  readonly text?: string;
  readonly description?: string;
  readonly skillName?: string;
}

export function takesServerFlags(command: CliCommand): CliCommand {
  return command
    .option("-t, --transport <transport>", "stdio, http or sse")
    .option("-e, --env <KEY=value>", "an environment variable for the server; repeatable", collected)
    .option(
      "-H, --header <header>",
      'an HTTP header for the server, such as "Authorization: Bearer …"; repeatable',
      collected,
    )
    .option("--cwd <folder>", "the working directory of the server")
    .option("--timeout <seconds>", "the time limit of each call", seconds)
    .addOption(
      new Option("--text <form>", "json: a result that is JSON text becomes its value; text: it stays text").choices([
        "json",
        "text",
      ]),
    )
    .option("--description <text>", "what the server is for")
    .option("--skill-name <name>", "the name of its skill, as in device.<name>");
}

/** Collects the values of a repeatable flag. */
export function collected(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

function seconds(text: string): number {
  const value = Number(text);
  if (value > 0 && Number.isFinite(value)) return value;
  throw new InvalidArgumentError("It must be a number above 0.");
}

/** The settings that the flags give, without unset ones. */
export function getSettings(flags: ServerFlags): Readonly<Record<string, unknown>> {
  const { cwd, timeout, text, description, skillName } = flags;
  return withoutGaps({ cwd, timeout, text, description, skillName });
}

/** Parses variables of the form `KEY=value`. */
export function parseVariables(pairs: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, name, value] = /^([^=\s]+)=(.*)$/s.exec(pair) ?? [];
      if (name === undefined || value === undefined)
        throw new UsageError(`Cannot read the variable ${JSON.stringify(nameIn(pair))}: write -e KEY=value`);
      return [name, value];
    }),
  );
}

/** Parses headers of the form `Name: value` or `Name=value`. */
export function parseHeaders(lines: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    lines.map((line) => {
      const [, name, value] = /^([^:=\s]+)\s*[:=]\s*(.+)$/s.exec(line) ?? [];
      if (name === undefined || value === undefined)
        throw new UsageError(`Cannot read the header ${JSON.stringify(nameIn(line))}: write -H "Name: value"`);
      return [name, value];
    }),
  );
}

/** The name at the start of a text, or an empty one: the rest may be a secret, so messages leave it out. */
function nameIn(text: string): string {
  return /^[\w-]{1,40}/.exec(text)?.[0] ?? "";
}

/** Creates the entry of a server from the words of a command line: a command with its arguments, or a URL. */
export function createEntry(
  commandOrUrl: string,
  args: readonly string[],
  flags: ServerFlags,
): Readonly<Record<string, unknown>> {
  const isAddress = /^https?:\/\//i.test(commandOrUrl);
  const transport = flags.transport ?? (isAddress ? "http" : "stdio");
  const { env = [], header = [] } = flags;
  if (transport === "stdio") {
    if (header.length > 0) throw new UsageError("Cannot give headers to a stdio server: use -e KEY=value");
    const variables = env.length > 0 ? parseVariables(env) : undefined;
    return withoutGaps({ command: commandOrUrl, args, env: variables, ...getSettings(flags) });
  }
  if (env.length > 0)
    throw new UsageError('Cannot give environment variables to a remote server: use -H "Name: value"');
  if (args.length > 0) throw new UsageError(`Too many arguments for a remote server: ${args.length} after the URL`);
  const headers = header.length > 0 ? parseHeaders(header) : undefined;
  return withoutGaps({ type: transport, url: commandOrUrl, headers, ...getSettings(flags) });
}
