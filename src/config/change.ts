import { isRecord } from "../model/json.ts";
import { changeFile } from "./atomic.ts";
import { type Edit, editText } from "./document/edit.ts";
import { formatOf, parseDocument, type Path } from "./document/index.ts";
import { CLIENT_FILE_BYTES, readConfigFile } from "./file.ts";
import { type ConfigFile, configFiles, type ConfigOptions, foldersOf, type Scope } from "./files.ts";
import { homeOf, parseMcpFile } from "./mcp-file.ts";

/** A file, and where in it the servers are. */
export interface ServerPlace extends Pick<ConfigFile, "path" | "label"> {
  readonly home: Path;
  /** A new file is for its owner alone. */
  readonly isPrivate: boolean;
}

/** Where a new server of a scope is written: the file of that scope that is there, else the usual one. */
export async function writtenAt(scope: Scope, options: ConfigOptions): Promise<ServerPlace> {
  const { mcpConfigFile: _named, ...usual } = options;
  const ofScope = configFiles(usual, foldersOf(options)).mcp.filter((file) => file.scope === scope);
  const texts = await Promise.all(ofScope.map(({ path, label }) => readConfigFile(path, label)));
  const existing = texts.findLastIndex((text) => text !== undefined);
  const file = ofScope[existing] ?? ofScope.at(-1);
  if (file === undefined) throw new RangeError(`there is no file of the scope "${scope}"`);
  return { ...file, home: homeOf(texts[existing] ?? "", file.label), isPrivate: scope === "user" || scope === "local" };
}

/** Changes servers of a file: `undefined` removes one. Everything else in the file stays as it was written. */
export async function changeServers(
  { path, label, isPrivate }: Omit<ServerPlace, "home">,
  changes: readonly { readonly path: Path; readonly value: unknown }[],
): Promise<void> {
  const edits = changes.map(({ path, value }): Edit =>
    value === undefined ? { kind: "remove", path } : { kind: "set", path, value },
  );
  await changeFile(path, { label, isPrivate }, (text = "") => editText(text, edits, { label, format: formatOf(path) }));
}

/** The servers of any file, as it has them. Throws a `CONFIG_INVALID` for one that cannot be read. */
export async function serversInFile(path: string, label: string): Promise<readonly (readonly [string, unknown])[]> {
  const text = await readConfigFile(path, label, { maxBytes: CLIENT_FILE_BYTES });
  return parseMcpFile(text ?? "", label).entries.map(({ name, entry }) => [String(name), entry]);
}

/** A value at a path, as a new file would have it. */
export function textOf({ path, label }: Pick<ServerPlace, "path" | "label">, at: Path, value: unknown): string {
  return editText("", [{ kind: "set", path: at, value }], { label, format: formatOf(path) });
}

/** What is at a path of a file; `undefined` if nothing is, or there is no file. */
export async function valueIn(path: string, label: string, at: Path): Promise<unknown> {
  const text = await readConfigFile(path, label, { maxBytes: CLIENT_FILE_BYTES });
  if (text === undefined || text.trim() === "") return undefined;
  const { value } = parseDocument(text, label, formatOf(path));
  return at.reduce<unknown>(
    (value, key) => (isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined),
    value,
  );
}
