import { SkillgateError } from "../errors.ts";
import { isRecord, toRecord } from "../model/json.ts";
import { describeUnknownName } from "../shared/suggest.ts";
import { changeByHand } from "./by-hand.ts";
import { type Config, toServerConfig } from "./load-config.ts";
import type { ConfigOptions, ConfigScope } from "./locations.ts";
import { changeServers, findEntryLocation } from "./servers/edit-servers.ts";
import type { DeclaredServer } from "./servers/read-servers.ts";
import { isSelfEntry } from "./servers/self-entry.ts";
import { maskEntry } from "./shown.ts";

type NewEntry = Readonly<Record<string, unknown>>;

/** The scopes that a person can choose for a new server. */
export type WritableScope = Extract<ConfigScope, "project" | "local" | "user">;

/** A new server, and the file in which it is. */
export interface WrittenServer {
  readonly name: string;
  readonly file: string;
  readonly scope: WritableScope;
  /** Without secrets. */
  readonly entry: unknown;
}

/** A configuration, and the options that loaded it. */
export interface LoadedConfig extends Pick<Config, "declared"> {
  readonly options: ConfigOptions;
}

/** Finds the server in effect, or the one of a scope. Throws `SKILL_UNKNOWN` with the nearest names. */
export function findDeclaredServer(
  name: string,
  { declared }: Pick<Config, "declared">,
  scope?: ConfigScope,
): DeclaredServer {
  const inScope = declared.filter(({ file }) => scope === undefined || file.scope === scope);
  const found = inScope.find((server) => server.name === name && (scope !== undefined || !server.isOverruled));
  if (found !== undefined) return found;
  throw createUnknownServerError(
    name,
    inScope.map((server) => server.name),
  );
}

const MAX_NAMED = 10;

/** Creates an error such as `MCP server not found: filesytem; did you mean filesystem?`. */
export function createUnknownServerError(name: string, names: readonly string[]): SkillgateError {
  const configured = [...new Set(names)];
  const otherwise = configured.length === 0 ? "none is configured" : `use ${configured.slice(0, MAX_NAMED).join(", ")}`;
  const { detail, suggestions } = describeUnknownName("MCP server", name, configured, { otherwise });
  return new SkillgateError("SKILL_UNKNOWN", `MCP server not found: ${detail}`, { server: name, suggestions });
}

/**
 * Writes a new server into the file of a scope. Throws `OPTION_INVALID` if the name cannot be used or is taken in that file, and
 * `CONFIG_INVALID` if the entry is invalid. `approves` is true if the owner wrote the entry, which approves it to start.
 */
export async function addDeclaredServer(
  { name, entry }: { readonly name: string; readonly entry: NewEntry },
  scope: WritableScope,
  { config, approves = true }: { readonly config: LoadedConfig; readonly approves?: boolean },
): Promise<WrittenServer> {
  const { options, declared } = config;
  refuseName(name);
  refuseSelf(entry);
  toServerConfig(name, entry, options);
  const location = await findEntryLocation(scope, options);
  const refuseTaken = (at: string): never => {
    throw invalidServer(`MCP server ${name} already exists in ${at}; change it with skillgate mcp edit ${name}`);
  };
  const existing = declared.find((server) => server.name === name && server.file.path === location.path);
  if (existing !== undefined) refuseTaken(`${location.label}:${existing.location.line}`);
  const path = [...location.serversPath, name];
  const write = (): Promise<void> =>
    changeServers(location, [{ path, value: entry }], (findValue) => {
      // Another program may have added it meanwhile.
      if (findValue(path) !== undefined) refuseTaken(location.label);
    });
  await (approves ? changeByHand(options, { files: [location.path], servers: [name] }, write) : write());
  return { name, file: location.label, scope, entry: maskEntry(entry) };
}

/** A new value at a path in the entry of a server; `undefined` removes it. */
export interface ServerChange {
  readonly path: readonly (string | number)[];
  readonly value: unknown;
}

/** Changes an existing server. Throws `SKILL_UNKNOWN` if it is gone. A held server stays held: a change to one part does not approve the rest. */
export async function changeDeclaredServer(
  { name, file, path, isHeld }: DeclaredServer,
  changes: readonly ServerChange[],
  { options }: Pick<LoadedConfig, "options">,
): Promise<void> {
  const inFile = changes.map(({ path: inside, value }) => ({ path: [...path, ...inside], value }));
  await changeByHand(options, { files: [file.path], servers: isHeld ? [] : [name] }, () =>
    changeServers({ ...file, isPrivate: false }, inFile, (findValue) => {
      const entry = findValue(path);
      // In a list, another server may be at its place by now.
      const isOther = typeof path.at(-1) === "number" && toRecord(entry)["name"] !== name;
      if (entry === undefined || isOther) throw createUnknownServerError(name, []);
    }),
  );
}

/** Returns the changes that enable or disable a server: of the key that the entry has (`enabled` or `disabled`), else `enabled`. */
export function createSwitchChanges({ entry }: DeclaredServer, enabled: boolean): readonly ServerChange[] {
  const has = (key: string): boolean => isRecord(entry) && Object.hasOwn(entry, key);
  const at = (key: string, value: unknown): ServerChange => ({ path: [key], value });
  if (has("enabled")) return [at("enabled", enabled), ...(has("disabled") ? [at("disabled", undefined)] : [])];
  if (has("disabled")) return [at("disabled", !enabled)];
  return enabled ? [] : [at("enabled", false)];
}

function refuseName(name: string): void {
  if (name.trim() === "") throw invalidServer("MCP server name is required");
  if (/[\p{C}=]/u.test(name)) {
    const example = "skillgate mcp add filesystem -- npx -y @modelcontextprotocol/server-filesystem .";
    throw invalidServer(`Cannot use ${JSON.stringify(name)} as the name of a server; for example: ${example}`);
  }
}

function refuseSelf(entry: NewEntry): void {
  if (isSelfEntry(entry))
    throw invalidServer("Cannot add Skillgate to itself; to add it to another client, run: skillgate connect <client>");
}

/** The message contains the fix. */
function invalidServer(message: string): SkillgateError {
  return new SkillgateError("OPTION_INVALID", message, { fix: "" });
}
