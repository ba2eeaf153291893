import { UsageError } from "../usage-error.ts";
import { headersOf, type ServerFlags, settingsOf, variablesOf, withoutGaps } from "./server-flags.ts";

/** A server from the words of a command line: a command with its arguments, or an address. */
export function entryOf(
  commandOrUrl: string,
  args: readonly string[],
  flags: ServerFlags,
): Readonly<Record<string, unknown>> {
  const isAddress = /^https?:\/\//i.test(commandOrUrl);
  const transport = flags.transport ?? (isAddress ? "http" : "stdio");
  const { env = [], header = [] } = flags;
  if (transport === "stdio") {
    if (header.length > 0) throw new UsageError("Cannot give headers to a server that is a process: use -e KEY=value");
    const variables = env.length > 0 ? variablesOf(env) : undefined;
    return withoutGaps({ command: commandOrUrl, args, env: variables, ...settingsOf(flags) });
  }
  if (env.length > 0) throw new UsageError('Cannot give variables to a server behind a URL: use -H "Name: value"');
  if (args.length > 0)
    throw new UsageError(`Too many arguments for a server behind a URL: ${args.length} after the URL`);
  const headers = header.length > 0 ? headersOf(header) : undefined;
  return withoutGaps({ type: transport, url: commandOrUrl, headers, ...settingsOf(flags) });
}
