import { isRecord } from "../../../model/json.ts";
import { withoutGaps } from "../../../shared/json/without-gaps.ts";
import type { CliCommand } from "../command.ts";
import { UsageError } from "../usage-error.ts";
import { type DeclaredServer, openServer, parseScope, SCOPE_OPTION, type ScopeFlag } from "./files.ts";
import {
  collected,
  getSettings,
  parseHeaders,
  parseVariables,
  type ServerFlags,
  takesServerFlags,
} from "./server-flags.ts";

interface EditFlags extends ServerFlags, ScopeFlag {
  readonly url?: string;
  readonly removeEnv?: readonly string[];
  readonly removeHeader?: readonly string[];
}

export function addMcpEdit(mcp: CliCommand): void {
  takesServerFlags(mcp.command("edit"))
    .description("change parts of a server; the rest of its file stays, with its comments")
    .argument("<name>", "name of the server")
    .argument("[command...]", "after --: the new command with its arguments")
    .option(SCOPE_OPTION, "the server's scope: project, local or user", parseScope)
    .option("--url <url>", "its new address")
    .option("--remove-env <KEY>", "an environment variable to remove; repeatable", collected)
    .option("--remove-header <name>", "a header to remove; repeatable", collected)
    .addHelpText("after", EXAMPLES)
    .run(async (session, name: string, command: readonly string[], flags: EditFlags) => {
      const { server, ...files } = await openServer(session, name, flags);
      const { configModule, options } = files;
      const changes = changesTo(server, command, flags);
      const { file, location } = server;
      if (changes.length === 0)
        throw new UsageError(
          `No change given; for example: skillgate mcp edit ${name} -e KEY=value; the server is at ${file.label}:${location.line}`,
        );
      const entry = after(server, changes);
      configModule.toServerConfig(name, entry, options);
      await configModule.changeDeclaredServer(
        server,
        changes.map(({ inside, value }) => ({ path: inside, value })),
        files,
      );
      const masked = configModule.maskEntry(entry);
      return {
        json: { edited: { name, file: file.label, entry: masked } },
        text: `Changed ${name} in ${file.label}: ${configModule.shownServer(entry)}`,
      };
    });
}

const EXAMPLES = `
Examples:
  skillgate mcp edit filesystem -- npx -y @modelcontextprotocol/server-filesystem src
  skillgate mcp edit github -e GITHUB_TOKEN='\${GITHUB_TOKEN}' --timeout 120`;

/** A new value at a path in an entry; `undefined` removes it. */
interface EntryChange {
  readonly inside: readonly string[];
  readonly value: unknown;
}

function changesTo({ entry }: DeclaredServer, command: readonly string[], flags: EditFlags): readonly EntryChange[] {
  const { env = [], header = [], removeEnv = [], removeHeader = [], transport, url } = flags;
  const record = isRecord(entry) ? entry : {};
  const variables = "environment" in record && !("env" in record) ? "environment" : "env";
  const headers = "http_headers" in record && !("headers" in record) ? "http_headers" : "headers";
  const changed = Object.entries(withoutGaps({ url, ...getSettings(flags) }));
  return [
    ...commandChanges(record, command),
    ...(transport === undefined ? [] : [{ inside: ["transport" in record ? "transport" : "type"], value: transport }]),
    ...changed.map(([key, value]) => ({ inside: [key], value })),
    ...Object.entries(parseVariables(env)).map(([name, value]) => ({ inside: [variables, name], value })),
    ...Object.entries(parseHeaders(header)).map(([name, value]) => ({ inside: [headers, name], value })),
    ...removals(record, variables, removeEnv),
    ...removals(record, headers, removeHeader),
  ];
}

/** Changes the command in the form that the entry has: one list, or a command and its arguments. */
function commandChanges(record: Readonly<Record<string, unknown>>, words: readonly string[]): readonly EntryChange[] {
  const [command, ...args] = words;
  if (command === undefined) return [];
  if (Array.isArray(record["command"])) return [{ inside: ["command"], value: words }];
  return [
    { inside: ["command"], value: command },
    { inside: ["args"], value: args },
  ];
}

function removals(
  record: Readonly<Record<string, unknown>>,
  key: string,
  names: readonly string[],
): readonly EntryChange[] {
  const there = record[key];
  return names.map((name) => {
    if (isRecord(there) && Object.hasOwn(there, name)) return { inside: [key, name], value: undefined };
    throw new UsageError(`Cannot remove ${name}: it is not in ${key}`, isRecord(there) ? Object.keys(there) : []);
  });
}

/** Applies the changes to a copy of the entry, which is then validated. */
function after({ entry }: DeclaredServer, changes: readonly EntryChange[]): Readonly<Record<string, unknown>> {
  const result = structuredClone(isRecord(entry) ? entry : {});
  for (const { inside, value } of changes) {
    const [key = "", member] = inside;
    const inner = isRecord(result[key]) ? result[key] : {};
    const written = member === undefined ? value : { ...inner, [member]: value };
    result[key] = isRecord(written) ? withoutGaps(written) : written;
  }
  return result;
}
