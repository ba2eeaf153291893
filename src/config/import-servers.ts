import { getMessage } from "../errors.ts";
import { addDeclaredServer, type LoadedConfig, type WritableScope, type WrittenServer } from "./declared-servers.ts";
import type { ConfigOptions } from "./locations.ts";
import { findInputFields, type InputField } from "./reads.ts";
import { clientFile, type McpClient, readClientServers } from "./servers/clients.ts";
import { findEntryLocation, readServersInFile } from "./servers/edit-servers.ts";
import { normalizeEntry } from "./servers/normalize-entry.ts";
import { isSelfEntry } from "./servers/self-entry.ts";
import { findToolObjection } from "./servers/tool-selection.ts";
import { maskEntry } from "./shown.ts";

/** A server in another client's file. */
export interface FoundServer {
  readonly name: string;
  readonly entry: unknown;
  /** `undefined` if the user named the file. */
  readonly client: McpClient | undefined;
  readonly from: string;
  readonly scope: "user" | "project";
  /** True for a file of the project: importing the server does not approve it. */
  readonly isForeign: boolean;
}

export type ImportResult = FoundServer &
  (
    | { readonly kind: "added"; readonly written: WrittenServer; readonly inputs: readonly InputField[] }
    | { readonly kind: "skipped"; readonly why: string }
  );

export interface ServerSearch {
  readonly servers: readonly FoundServer[];
  /** Files that cannot be read. */
  readonly problems: readonly string[];
}

/** Finds the servers in a file that the user has named. */
export function findServersInFile(path: string): Promise<ServerSearch> {
  const source = { client: undefined, from: path, scope: "project", isForeign: false } as const;
  return search(readServersInFile(path, path), source);
}

/** Finds the servers in the files of a client: the user's, and that of the project. */
export async function findServersOfClient(client: McpClient, options: ConfigOptions): Promise<ServerSearch> {
  const found = (["user", "project"] as const).map(async (scope): Promise<ServerSearch> => {
    const file = clientFile(client, scope, options);
    // Claude Code's project file is also one of Skillgate's.
    if (file?.exists !== true || (scope === "project" && client.project === ".mcp.json")) return NOTHING;
    const source = { client, from: file.label, scope, isForeign: scope === "project" };
    return search(readClientServers(client, file, options), source);
  });
  const [user = NOTHING, project = NOTHING] = await Promise.all(found);
  return { servers: [...user.servers, ...project.servers], problems: [...user.problems, ...project.problems] };
}

const NOTHING: ServerSearch = { servers: [], problems: [] };

async function search(
  pending: Promise<readonly (readonly [name: string, entry: unknown])[]>,
  source: Omit<FoundServer, "name" | "entry">,
): Promise<ServerSearch> {
  try {
    return { servers: (await pending).map(([name, entry]) => ({ name, entry, ...source })), problems: [] };
  } catch (thrown) {
    return { servers: [], problems: [getMessage(thrown)] };
  }
}

interface ServerImportOptions {
  /** The scope of the user's servers; those of a project stay in the project. */
  readonly scope?: WritableScope;
  /** Reports what would be imported, and writes nothing. */
  readonly dryRun?: boolean;
}

/** Writes a server of another client into a file of Skillgate's, or says why not. */
export async function importServer(
  found: FoundServer,
  { scope, dryRun }: ServerImportOptions,
  config: LoadedConfig,
): Promise<ImportResult> {
  const { name, client } = found;
  const entry = normalizeEntry(found.entry, client?.id);
  if (entry === undefined) return { ...found, kind: "skipped", why: "it has neither a command nor a URL" };
  if (isSelfEntry(entry)) return { ...found, kind: "skipped", why: "it is Skillgate itself" };
  const objection = findToolObjection(name, found.entry);
  if (objection !== undefined) return { ...found, kind: "skipped", why: objection };
  const existing = config.declared.find((server) => server.name === name);
  if (existing !== undefined)
    return { ...found, kind: "skipped", why: `${existing.file.label} already has a server of this name` };
  const target = scope === undefined || found.isForeign ? found.scope : scope;
  try {
    const written =
      dryRun === true
        ? {
            name,
            file: (await findEntryLocation(target, config.options)).label,
            scope: target,
            entry: maskEntry(entry),
          }
        : await addDeclaredServer({ name, entry }, target, { config, approves: !found.isForeign });
    return { ...found, kind: "added", written, inputs: findInputFields(entry) };
  } catch (thrown) {
    return { ...found, kind: "skipped", why: getMessage(thrown) };
  }
}
