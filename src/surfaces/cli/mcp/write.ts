import { UsageError } from "../usage-error.ts";
import type { DeclaredServer, Files } from "./files.ts";

type Entry = Readonly<Record<string, unknown>>;

/** Where a new server was written to. */
export interface Written {
  readonly name: string;
  readonly file: string;
  readonly scope: "project" | "local" | "user";
  /** Without secrets. */
  readonly entry: unknown;
}

interface WriteOptions {
  readonly files: Files;
  /** Whoever writes it knows what it starts, and means it to start. By default, true. */
  readonly approves?: boolean;
}

/** Writes a new server into the file of a scope. Throws if it cannot be used, or if there is one of its name already. */
export async function writeServer(
  { name, entry }: { readonly name: string; readonly entry: Entry },
  scope: Written["scope"],
  { files, approves = true }: WriteOptions,
): Promise<Written> {
  const { room, options, declared } = files;
  refuseName(name);
  refuseSelf(entry, files);
  room.serverConfigOf(name, entry, options);
  const place = await room.writtenAt(scope, options);
  const existing = declared.find((server) => server.name === name && server.file.path === place.path);
  if (existing !== undefined) {
    const at = `${place.label}:${existing.place.line}`;
    throw new UsageError(`There is an MCP server ${name} already, in ${at}; change it with skillgate mcp edit ${name}`);
  }
  const write = (): Promise<void> => room.changeServers(place, [{ path: [...place.home, name], value: entry }]);
  await (approves ? room.changeByHand(options, { files: [place.path], servers: [name] }, write) : write());
  return { name, file: place.label, scope, entry: room.maskedEntry(entry) };
}

/** Changes a server that is there. One that is held stays so: who changes a part of it has not looked at the rest. */
export async function changeServer(
  { name, file, path, isHeld }: DeclaredServer,
  changes: readonly { readonly path: readonly (string | number)[]; readonly value: unknown }[],
  { room, options }: Files,
): Promise<void> {
  const inFile = changes.map(({ path: inside, value }) => ({ path: [...path, ...inside], value }));
  await room.changeByHand(options, { files: [file.path], servers: isHeld ? [] : [name] }, () =>
    room.changeServers({ ...file, isPrivate: false }, inFile),
  );
}

function refuseName(name: string): void {
  if (name.trim() === "") throw new UsageError("MCP server name is required");
  if (/[\p{C}=]/u.test(name)) {
    const example = "skillgate mcp add filesystem -- npx -y @modelcontextprotocol/server-filesystem .";
    throw new UsageError(`Cannot use ${JSON.stringify(name)} as the name of a server; as in ${example}`);
  }
}

function refuseSelf(entry: Entry, { room }: Files): void {
  if (room.isSkillgate(entry))
    throw new UsageError(
      "Cannot add Skillgate to itself; to add it to another client, run: skillgate connect <client>",
    );
}
