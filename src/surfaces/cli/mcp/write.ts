import { UsageError } from "../usage-error.ts";
import type { CommandConfig } from "./files.ts";
import type { DeclaredServer } from "./load-config.ts";

type WrittenEntry = Readonly<Record<string, unknown>>;

/** A new server, and the file in which it is. */
export interface WrittenServer {
  readonly name: string;
  readonly file: string;
  readonly scope: "project" | "local" | "user";
  /** Without secrets. */
  readonly entry: unknown;
}

interface WriteOptions {
  readonly files: CommandConfig;
  /** True if the user wrote the entry, which approves it to start. Default: true. */
  readonly approves?: boolean;
}

/** Writes a new server into the file of a scope. Throws if the entry is invalid or the name is taken in that file. */
export async function writeServer(
  { name, entry }: { readonly name: string; readonly entry: WrittenEntry },
  scope: WrittenServer["scope"],
  { files, approves = true }: WriteOptions,
): Promise<WrittenServer> {
  const { configModule, options, declared } = files;
  refuseName(name);
  refuseSelf(entry, files);
  configModule.toServerConfig(name, entry, options);
  const location = await configModule.findEntryLocation(scope, options);
  const existing = declared.find((server) => server.name === name && server.file.path === location.path);
  if (existing !== undefined) {
    const at = `${location.label}:${existing.location.line}`;
    throw new UsageError(`MCP server ${name} already exists in ${at}; change it with skillgate mcp edit ${name}`);
  }
  const write = (): Promise<void> =>
    configModule.changeServers(location, [{ path: [...location.home, name], value: entry }]);
  await (approves ? configModule.changeByHand(options, { files: [location.path], servers: [name] }, write) : write());
  return { name, file: location.label, scope, entry: configModule.maskEntry(entry) };
}

/** Changes an existing server. A held server stays held: a change to one part does not approve the rest. */
export async function changeServer(
  { name, file, path, isHeld }: DeclaredServer,
  changes: readonly { readonly path: readonly (string | number)[]; readonly value: unknown }[],
  { configModule, options }: CommandConfig,
): Promise<void> {
  const inFile = changes.map(({ path: inside, value }) => ({ path: [...path, ...inside], value }));
  await configModule.changeByHand(options, { files: [file.path], servers: isHeld ? [] : [name] }, () =>
    configModule.changeServers({ ...file, isPrivate: false }, inFile),
  );
}

function refuseName(name: string): void {
  if (name.trim() === "") throw new UsageError("MCP server name is required");
  if (/[\p{C}=]/u.test(name)) {
    const example = "skillgate mcp add filesystem -- npx -y @modelcontextprotocol/server-filesystem .";
    throw new UsageError(`Cannot use ${JSON.stringify(name)} as the name of a server; for example: ${example}`);
  }
}

function refuseSelf(entry: WrittenEntry, { configModule }: CommandConfig): void {
  if (configModule.isSelfEntry(entry))
    throw new UsageError(
      "Cannot add Skillgate to itself; to add it to another client, run: skillgate connect <client>",
    );
}
