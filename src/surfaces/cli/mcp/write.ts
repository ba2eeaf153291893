import type { Session } from "../session.ts";
import { UsageError } from "../usage-error.ts";
import { type Files, openFiles } from "./files.ts";

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
  readonly session: Session;
  /** Whoever writes it knows what it starts, and means it to start. By default, true. */
  readonly approves?: boolean;
}

/** Writes a new server into the file of a scope. Throws if it cannot be used, or if there is one of its name already. */
export async function writeServer(
  { name, entry }: { readonly name: string; readonly entry: Entry },
  scope: Written["scope"],
  { files, session, approves = true }: WriteOptions,
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
  await room.changeServers(place, [{ path: [...place.home, name], value: entry }]);
  if (approves) await approveWritten(name, place.path, session);
  return { name, file: place.label, scope, entry: room.maskedEntry(entry) };
}

/** Whoever has just written a server need not be asked whether it may start. */
export async function approveWritten(name: string, path: string, session: Session): Promise<void> {
  const { room, options, declared } = await openFiles(session);
  const open = declared.filter(
    (server) => server.name === name && server.file.path === path && server.approval !== "approved",
  );
  await room.approveServers(options, open);
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
