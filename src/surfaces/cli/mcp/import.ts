import { existsSync } from "node:fs";

import type { FoundServer, ImportResult, InputField, ServerSearch } from "../../../config/index.ts";
import { MCP_CLIENT_IDS } from "../../../shared/mcp-clients.ts";
import type { CliCommand } from "../command.ts";
import { indented, lines } from "../text/layout.ts";
import { createUnknownValueError } from "../usage-error.ts";
import { scopeHelp } from "./add.ts";
import { type CommandConfig, type McpClient, openConfig, parseScope, SCOPE_OPTION, type ScopeFlag } from "./files.ts";

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
      for (const server of found.servers) {
        const config = await openConfig(session); // includes the servers imported before this one
        results.push(await config.configModule.importServer(server, flags, config));
      }
      return {
        json: createResult(results, found.problems, flags),
        text: lines(results.map((each) => takenText(each, flags))) || "Nothing to import",
        remarks: lines(found.problems),
      };
    });
}

async function findServers(names: readonly string[], { configModule, options }: CommandConfig): Promise<ServerSearch> {
  const { CLIENTS, findServersOfClient, findServersInFile } = configModule;
  const searches =
    names.length === 0
      ? CLIENTS.map((client) => findServersOfClient(client, options))
      : names.map((name) =>
          existsSync(name) ? findServersInFile(name) : findServersOfClient(clientFrom(name, configModule), options),
        );
  const found = await Promise.all(searches);
  return { servers: found.flatMap(({ servers }) => servers), problems: found.flatMap(({ problems }) => problems) };
}

export function clientFrom(name: string, { CLIENTS, findClient }: CommandConfig["configModule"]): McpClient {
  const client = findClient(name);
  if (client !== undefined) return client;
  const ids = CLIENTS.map(({ id }) => id);
  const aliases = CLIENTS.flatMap((each) => each.aliases);
  throw createUnknownValueError("client", name, ids, aliases);
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
