import { dirname, join } from "node:path";
import { Option } from "commander";

import { getMessage } from "../../../errors.ts";
import { isRecord } from "../../../model/json.ts";
import { quoteForShell } from "../../../shared/format-text.ts";
import { withoutGaps } from "../../../shared/json/without-gaps.ts";
import type { CliCommand, CommandResult } from "../command.ts";
import type { CliSession } from "../session.ts";
import { wholeNumber } from "../input/option-values.ts";
import { readTextFile } from "../input/read-text.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { lines } from "../text/layout.ts";
import { UsageError } from "../usage-error.ts";
import {
  type CommandConfig,
  type ConfigModule,
  openConfig,
  parseScope,
  SCOPE_OPTION,
  type ScopeFlag,
  SCOPES,
  type WrittenServer,
} from "./files.ts";
import { findPackageForm, PACKAGE_KINDS, type PackageKind } from "./package/forms.ts";
import { collected, createEntry, getSettings, type ServerFlags, takesServerFlags } from "./server-flags.ts";

interface AddFlags extends ServerFlags, Required<ScopeFlag> {
  readonly clientId?: string;
  readonly callbackPort?: number;
  readonly input?: readonly string[];
  readonly package?: PackageKind;
  readonly sha256?: string;
  readonly yes?: true;
}

export function addMcpAdd(mcp: CliCommand): void {
  takesServerFlags(mcp.command("add"))
    .description("add a server")
    .argument("<name>", "name of the server; may be missing before a server.json or a bundle")
    .argument("[commandOrUrl]", "the command that starts it, its URL, or the path or URL of a server.json or .mcpb")
    .argument("[args...]", "arguments of the command; write -- before a command whose arguments begin with -")
    .option(SCOPE_OPTION, "where to write it: project, local or user", parseScope, "project")
    .option("--client-id <id>", "the OAuth client id of Skillgate")
    .option("--callback-port <port>", "the local port of the OAuth redirect", wholeNumber)
    .option("--input <name=value>", "a value that a server.json or bundle asks for; repeatable", collected)
    .addOption(new Option("--package <kind>", "which package of a server.json to use").choices(PACKAGE_KINDS))
    .option("--sha256 <digest>", "the SHA-256 that a bundle must have")
    .option("--yes", "add a server.json or bundle without a question")
    .addHelpText("after", `${EXAMPLES}\n${scopeHelp()}`)
    .run(async (session, name: string, commandOrUrl: string | undefined, args: readonly string[], flags: AddFlags) => {
      const files = await openConfig(session);
      const words = [name, ...(commandOrUrl === undefined ? [] : [commandOrUrl]), ...args];
      if (flags.transport === undefined && words.length <= 2 && findPackageForm(words.at(-1) ?? "") !== undefined)
        return addPackage(words, flags, files, session);
      const server = describeServer(words, flags);
      const entry = { ...createEntry(server.commandOrUrl, server.args, server.flags), ...getOAuthFlags(flags) };
      const written = await files.configModule.addDeclaredServer({ name: server.name, entry }, flags.scope, {
        config: files,
      });
      return createAddedResult(written, session.paint, files);
    });
}

const EXAMPLES = `
Examples:
  skillgate mcp add filesystem -- npx -y @modelcontextprotocol/server-filesystem .
  skillgate mcp add github -e GITHUB_TOKEN='\${GITHUB_TOKEN}' -- npx -y @modelcontextprotocol/server-github
  skillgate mcp add --transport http context7 https://mcp.context7.com/mcp -H "Authorization: Bearer \${KEY}"
  skillgate mcp add weather ./server.json --input WEATHER_KEY=…
  skillgate mcp add https://example.com/notes.mcpb --sha256 fe33…
`;

/** Adds the server of a `server.json` or of a bundle. */
async function addPackage(
  words: readonly string[],
  flags: AddFlags,
  files: CommandConfig,
  { paint, signal }: CliSession,
): Promise<CommandResult> {
  const { configModule, options } = files;
  const source = words.at(-1) ?? "";
  refuseFlags(flags);
  const { scope, yes = false, package: kind, sha256 } = flags;
  const { preparePackage, parseInputFlags } = await import("./package/index.ts");
  const found = await preparePackage({
    source,
    form: findPackageForm(source) ?? "entry",
    kind,
    sha256,
    given: parseInputFlags(flags.input ?? []),
    scope,
    existing: [process.env, configModule.readEnvFile(join(options.cwd, ".env")) ?? {}],
    bundles: join(dirname(configModule.getProjectStateDir(options.cwd)), "bundles"),
    isSure: yes,
    signal,
    configModule,
  });
  const name = words.length === 2 ? (words[0] ?? "") : found.name;
  const entry = { ...found.entry, ...getSettings(flags) };
  const written = await configModule.addDeclaredServer({ name, entry }, scope, { config: files });
  const { variables } = found;
  if (variables.length > 0)
    await configModule.editSettingsByHand(options, join(options.cwd, "settings.yaml"), { values: [], variables });
  const result = createAddedResult(written, paint, files);
  const notes = variables.map(({ name: variable }) => `${variable} is stored in .env`);
  return { ...result, remarks: lines([...notes, result.remarks ?? ""]) };
}

/** Refuses the flags of a command or an address: a package says itself what it takes. */
function refuseFlags({ env, header, clientId, callbackPort }: AddFlags): void {
  const flags = Object.entries({
    "--env": env,
    "--header": header,
    "--client-id": clientId,
    "--callback-port": callbackPort,
  });
  const [flag] = flags.find(([, value]) => value !== undefined && String(value) !== "") ?? [];
  if (flag === undefined) return;
  throw new UsageError(`Cannot use ${flag} for a server.json or a bundle: give its values by --input name=value`);
}

function getOAuthFlags({ clientId, callbackPort }: AddFlags): { readonly oauth?: unknown } {
  const oauth = withoutGaps({ clientId, callbackPort });
  return Object.keys(oauth).length === 0 ? {} : { oauth };
}

interface GivenFlags {
  readonly name: string;
  readonly commandOrUrl: string;
  readonly args: readonly string[];
  readonly flags: ServerFlags;
}

/** Other clients accept several values after one `-e`: `-e A=1 B=2 name …`. Takes them from the words. */
function describeServer(words: readonly string[], flags: ServerFlags): GivenFlags {
  const { env = [], header = [] } = flags;
  const isValue = (word: string): boolean =>
    (env.length > 0 && /^[A-Za-z_]\w*=/.test(word)) || (header.length > 0 && /^[\w-]+: /.test(word));
  const first = words.findIndex((word) => !isValue(word));
  const values = words.slice(0, Math.max(first, 0));
  const [name, commandOrUrl, ...args] = words.slice(values.length);
  if (name === undefined || commandOrUrl === undefined)
    throw new UsageError("Missing required argument 'commandOrUrl'; see skillgate mcp add --help");
  const more = {
    ...(env.length > 0 && { env: [...env, ...values.filter((value) => !/^[\w-]+: /.test(value))] }),
    ...(header.length > 0 && { header: [...header, ...values.filter((value) => /^[\w-]+: /.test(value))] }),
  };
  return { name, commandOrUrl, args, flags: { ...flags, ...more } };
}

export function addMcpAddJson(mcp: CliCommand): void {
  mcp
    .command("add-json")
    .description("add a server from JSON, in the format of any client")
    .argument("<name>", "name of the server")
    .argument("<json>", "its entry, or @file to read it from a file")
    .option(SCOPE_OPTION, "where to write it: project, local or user", parseScope, "project")
    .addHelpText("after", `${EXAMPLE}\n${scopeHelp()}`)
    .run(async (session, name: string, json: string, { scope }: Required<ScopeFlag>) => {
      const files = await openConfig(session);
      const text = json.startsWith("@") ? await readTextFile(json.slice(1), session.signal) : json;
      const entry = entryIn(text, name);
      const written = await files.configModule.addDeclaredServer({ name, entry }, scope, {
        config: files,
      });
      return createAddedResult(written, session.paint, files);
    });
}

const EXAMPLE = `
Example:
  skillgate mcp add-json weather '{ "command": "npx", "args": ["-y", "weather-mcp"] }'
`;

/** Reads an entry, or the only entry of a whole configuration that was copied from documentation. */
function entryIn(text: string, name: string): Readonly<Record<string, unknown>> {
  const value = parsed(text);
  const servers = isRecord(value) ? (value["mcpServers"] ?? value["servers"]) : undefined;
  if (!isRecord(servers)) return asEntry(value);
  const candidates = Object.hasOwn(servers, name) ? [servers[name]] : Object.values(servers);
  if (candidates.length === 1) return asEntry(candidates[0]);
  throw new UsageError(
    `Cannot tell which server is meant: there are ${candidates.length}; give the entry of one`,
    Object.keys(servers),
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (thrown) {
    // The message of JSON.parse quotes the text, which may contain a secret.
    const [, position] = /at (?:position )?(\d+|line \d+ column \d+)/.exec(getMessage(thrown)) ?? [];
    const at =
      position === undefined ? "" : `, at ${/^\d+$/.test(position) ? `character ${Number(position) + 1}` : position}`;
    throw new UsageError(`Cannot read the entry as a JSON object${at}; write '{ "command": "npx", "args": ["…"] }'`);
  }
}

function asEntry(value: unknown): Readonly<Record<string, unknown>> {
  if (isRecord(value)) return value;
  throw new UsageError(`Cannot read the entry as a JSON object; write '{ "command": "npx", "args": ["…"] }'`);
}

/** The result of adding a server: its entry, warnings, and the next command. */
export function createAddedResult(
  written: WrittenServer,
  paint: Terminal["paint"],
  { configModule }: Pick<CommandConfig, "configModule">,
): CommandResult {
  const { name, file, entry } = written;
  return {
    json: { added: written },
    text: `Added ${name} to ${file}: ${configModule.shownServer(entry)}`,
    remarks: lines([
      ...plainSecrets(written, configModule).map((note) => paint.err.yellow(note)),
      paint.err.dim(`Try it: skillgate mcp test ${quoteForShell(name)}`),
    ]),
  };
}

/** Warns of each value that is stored as plain text in the project's file, which others read. */
function plainSecrets({ file, scope, entry }: WrittenServer, configModule: ConfigModule): readonly string[] {
  if (scope !== "project" || !isRecord(entry)) return [];
  const values = [entry["env"], entry["headers"]].flatMap((record) => (isRecord(record) ? Object.entries(record) : []));
  const names = values.filter(([, value]) => value === configModule.MASK).map(([name]) => name);
  return names.map(
    (name) => `Note: ${name} is stored in ${file} as plain text; use \${VARIABLE} to take it from the environment`,
  );
}

export function scopeHelp(): string {
  return `Scopes:\n${[...SCOPES].map(([name, says]) => `  ${name.padEnd(8)} ${says}`).join("\n")}`;
}
