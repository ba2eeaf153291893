import { existsSync } from "node:fs";

import type { InputField } from "../../../config/index.ts";
import { getMessage } from "../../../errors.ts";
import { MCP_CLIENT_IDS } from "../../../shared/mcp-clients.ts";
import type { CliCommand } from "../command.ts";
import type { CliSession } from "../session.ts";
import { indented, lines } from "../text/layout.ts";
import { createUnknownValueError } from "../usage-error.ts";
import { scopeHelp } from "./add.ts";
import {
  type CommandConfig,
  type McpClient,
  openConfig,
  parseScope,
  SCOPE_OPTION,
  type ScopeFlag,
  type WrittenServer,
} from "./files.ts";

interface ImportFlags extends ScopeFlag {
  readonly dryRun?: true;
}

export function addMcpImport(mcp: CliCommand): void {
  mcp
    .command("import")
    .description("import the servers of other clients from their files")
    .argument("[clients...]", `a file, or ${MCP_CLIENT_IDS.join(", ")} (default: all)`)
    .option(
      SCOPE_OPTION,
      "where to write a client's user servers (default: user); its project servers stay in the project",
      parseScope,
    )
    .option("-n, --dry-run", "only show what would be imported")
    .addHelpText("after", `\nExample:\n  skillgate mcp import cursor --dry-run\n\n${scopeHelp()}`)
    .run(async (session, names: readonly string[], flags: ImportFlags) => {
      const files = await openConfig(session);
      const found = await findServers(names, files);
      const results: ImportResult[] = [];
      for (const server of found.servers) results.push(await take(server, flags, session));
      return {
        json: createResult(results, found.problems, flags),
        text: lines(results.map((each) => takenText(each, flags))) || "Nothing to import",
        remarks: lines(found.problems),
      };
    });
}

/** A server in another client's file. */
interface FoundServer {
  readonly name: string;
  readonly entry: unknown;
  /** `undefined` if the user named the file. */
  readonly client: McpClient | undefined;
  readonly from: string;
  readonly scope: "user" | "project";
  /** True for a file of the project: importing the server does not approve it. */
  readonly isForeign: boolean;
}

type ImportResult = FoundServer &
  (
    | { readonly kind: "added"; readonly written: WrittenServer; readonly inputs: readonly InputField[] }
    | { readonly kind: "skipped"; readonly why: string }
  );

interface ServerSearch {
  readonly servers: readonly FoundServer[];
  /** Files that cannot be read. */
  readonly problems: readonly string[];
}

async function findServers(names: readonly string[], files: CommandConfig): Promise<ServerSearch> {
  const { configModule } = files;
  const searches =
    names.length === 0
      ? configModule.CLIENTS.map((client) => inClient(client, files))
      : names.map((name) => (existsSync(name) ? inFile(name, files) : inClient(clientFrom(name, configModule), files)));
  const found = await Promise.all(searches);
  return { servers: found.flatMap(({ servers }) => servers), problems: found.flatMap(({ problems }) => problems) };
}

async function inFile(path: string, { configModule }: CommandConfig): Promise<ServerSearch> {
  return searched(configModule.readServersInFile(path, path), {
    client: undefined,
    from: path,
    scope: "project",
    isForeign: false,
  });
}

async function inClient(client: McpClient, { configModule, options }: CommandConfig): Promise<ServerSearch> {
  const found = (["user", "project"] as const).map(async (scope): Promise<ServerSearch> => {
    const file = configModule.clientFile(client, scope, options);
    // Claude Code's project file is also one of Skillgate's.
    if (file?.exists !== true || (scope === "project" && client.project === ".mcp.json")) return NOTHING;
    return searched(configModule.readClientServers(client, file, options), {
      client,
      from: file.label,
      scope,
      isForeign: scope === "project",
    });
  });
  const [user = NOTHING, project = NOTHING] = await Promise.all(found);
  return { servers: [...user.servers, ...project.servers], problems: [...user.problems, ...project.problems] };
}

const NOTHING: ServerSearch = { servers: [], problems: [] };

async function searched(
  pending: Promise<readonly (readonly [name: string, entry: unknown])[]>,
  source: Omit<FoundServer, "name" | "entry">,
): Promise<ServerSearch> {
  try {
    return { servers: (await pending).map(([name, entry]) => ({ name, entry, ...source })), problems: [] };
  } catch (thrown) {
    return { servers: [], problems: [getMessage(thrown)] };
  }
}

export function clientFrom(name: string, { CLIENTS, findClient }: CommandConfig["configModule"]): McpClient {
  const client = findClient(name);
  if (client !== undefined) return client;
  const ids = CLIENTS.map(({ id }) => id);
  const aliases = CLIENTS.flatMap((each) => each.aliases);
  throw createUnknownValueError("client", name, ids, aliases);
}

async function take(found: FoundServer, { scope, dryRun }: ImportFlags, session: CliSession): Promise<ImportResult> {
  const files = await openConfig(session); // includes the servers imported before this one
  const { configModule } = files;
  const { name, client } = found;
  const entry = configModule.normalizeEntry(found.entry, client?.id);
  if (entry === undefined) return { ...found, kind: "skipped", why: "it has neither a command nor a URL" };
  if (configModule.isSelfEntry(entry)) return { ...found, kind: "skipped", why: "it is Skillgate itself" };
  const objection = configModule.findToolObjection(name, found.entry);
  if (objection !== undefined) return { ...found, kind: "skipped", why: objection };
  const existing = files.declared.find((server) => server.name === name);
  if (existing !== undefined)
    return { ...found, kind: "skipped", why: `${existing.file.label} already has a server of this name` };
  const target = scope === undefined || found.isForeign ? found.scope : scope;
  try {
    const written =
      dryRun === true
        ? {
            name,
            file: (await configModule.findEntryLocation(target, files.options)).label,
            scope: target,
            entry: configModule.maskEntry(entry),
          }
        : await configModule.addDeclaredServer({ name, entry }, target, { config: files, approves: !found.isForeign });
    return { ...found, kind: "added", written, inputs: configModule.findInputFields(entry) };
  } catch (thrown) {
    return { ...found, kind: "skipped", why: getMessage(thrown) };
  }
}

function createResult(
  results: readonly ImportResult[],
  problems: readonly string[],
  { dryRun = false }: { readonly dryRun?: boolean },
) {
  const from = ({ client, from }: FoundServer) => ({ client: client?.id ?? null, from });
  return {
    dryRun,
    imported: results.flatMap((each) =>
      each.kind === "added" ? [{ ...each.written, inputs: each.inputs, ...from(each) }] : [],
    ),
    skipped: results.flatMap((each) =>
      each.kind === "skipped" ? [{ name: each.name, why: each.why, ...from(each) }] : [],
    ),
    problems,
  };
}

function takenText(result: ImportResult, { dryRun }: ImportFlags): string {
  const { name, client, from: file } = result;
  const from = `${name} from ${client === undefined ? file : `${client.title} (${file})`}`;
  switch (result.kind) {
    case "added":
      return lines([
        `${dryRun === true ? "Would import" : "Imported"} ${from} to ${result.written.file}`,
        ...result.inputs.map((input) => indented(describeInput(input))),
      ]);
    case "skipped":
      return `Skipped ${from}: ${result.why}`;
  }
}

/** Clients ask for these values, and their answers are in none of their files. */
function describeInput({ id, field, variable }: InputField): string {
  const name = field.startsWith("env.") ? field.slice("env.".length) : variable;
  return `${field} needs a value in place of \${input:${id}}: write \${env:${name}} or a command, as in \${cmd:pass show ${id}}. Until then each start asks for it at a terminal, and elsewhere reads ${variable}`;
}
