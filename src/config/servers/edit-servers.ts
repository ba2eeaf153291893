import { getValueAt } from "../../model/json.ts";
import { changeFile } from "../write-atomic.ts";
import { type DocumentEdit, editText } from "../documents/edit.ts";
import { detectFormat, parseDocument, type Path } from "../documents/index.ts";
import { CLIENT_FILE_BYTES, readConfigFile } from "../read-file.ts";
import { type ConfigFile, configFiles, type ConfigOptions, resolveFolders, type ConfigScope } from "../locations.ts";
import { findServersPath, parseMcpFile } from "./mcp-file.ts";

/** A file, and where in it the servers are. */
export interface ServerPlace extends Pick<ConfigFile, "path" | "label"> {
  readonly serversPath: Path;
  /** A new file is readable only by its owner. */
  readonly isPrivate: boolean;
}

/** Finds the file for a new server of a scope: the existing file of that scope, else the default one. */
export async function findEntryLocation(scope: ConfigScope, options: ConfigOptions): Promise<ServerPlace> {
  const { mcpConfigFile: _named, ...usual } = options;
  const ofScope = configFiles(usual, resolveFolders(options)).mcp.filter((file) => file.scope === scope);
  const texts = await Promise.all(ofScope.map(({ path, label }) => readConfigFile(path, label)));
  const existing = texts.findLastIndex((text) => text !== undefined);
  const file = ofScope[existing] ?? ofScope.at(-1);
  if (file === undefined) throw new RangeError(`the scope has no file: ${scope}`);
  return {
    ...file,
    serversPath: findServersPath(texts[existing] ?? "", file.label),
    isPrivate: scope === "user" || scope === "local",
  };
}

/**
 * Changes servers of a file: `undefined` removes one. Everything else in the file stays as it was written. `check` receives what is at
 * a path of the file before the change, which no other program changes meanwhile; what it throws leaves the file as it is.
 */
export async function changeServers(
  { path, label, isPrivate }: Omit<ServerPlace, "serversPath">,
  changes: readonly { readonly path: Path; readonly value: unknown }[],
  check: (findValue: (at: Path) => unknown) => void = () => {},
): Promise<void> {
  const edits = changes.map(({ path, value }): DocumentEdit =>
    value === undefined ? { kind: "remove", path } : { kind: "set", path, value },
  );
  const format = detectFormat(path);
  await changeFile(path, { label, isPrivate }, (text = "") => {
    const unmarked = text.replace(/^\uFEFF/, "");
    check((at) => (unmarked.trim() === "" ? undefined : getValueAt(parseDocument(unmarked, label, format).value, at)));
    return editText(text, edits, { label, format });
  });
}

/** Returns the servers of a file as written. Throws a `CONFIG_INVALID` if the file cannot be read. */
export async function readServersInFile(path: string, label: string): Promise<readonly (readonly [string, unknown])[]> {
  const text = await readConfigFile(path, label, { maxBytes: CLIENT_FILE_BYTES });
  return parseMcpFile(text ?? "", label).entries.map(({ name, entry }) => [String(name), entry]);
}

/** A value at a path, as a new file would have it. */
export function formatEntryText(
  { path, label }: Pick<ServerPlace, "path" | "label">,
  at: Path,
  value: unknown,
): string {
  return editText("", [{ kind: "set", path: at, value }], { label, format: detectFormat(path) });
}

/** Returns the value at a path of a file; `undefined` if the path or the file does not exist. */
export async function getValueIn(path: string, label: string, at: Path): Promise<unknown> {
  const text = await readConfigFile(path, label, { maxBytes: CLIENT_FILE_BYTES });
  if (text === undefined || text.trim() === "") return undefined;
  return getValueAt(parseDocument(text, label, detectFormat(path)).value, at);
}
