import { sentence } from "../../errors.ts";
import { getValueAt, isRecord } from "../../model/json.ts";
import { suggestNames } from "../../shared/suggest.ts";
import type { Problem } from "../../model/provider.ts";
import { type ConfigDocument, detectFormat, parseDocument, type Path } from "../documents/index.ts";
import { configError, type FileLocation } from "../read-file.ts";
import { type ConfigInput, parseInputs, NO_INPUTS } from "./inputs.ts";
import type { ServerEntry } from "./parse-entry.ts";
import { URL_KEYS } from "./entry-keys.ts";

/** The servers that one file declares, in its order, and the problems of the file. */
export interface FileContent {
  readonly entries: readonly ServerEntry[];
  /** The inputs that the user is asked for, by id. */
  readonly inputs: ReadonlyMap<string, ConfigInput>;
  readonly warnings: readonly Problem[];
}

export const NO_CONTENT: FileContent = { entries: [], inputs: NO_INPUTS, warnings: [] };

/** The keys under which the dialects keep their servers. */
const SERVER_KEYS: readonly Path[] = [
  ["mcpServers"], // Claude, Cursor, Windsurf, Gemini, and most others
  ["servers"], // VS Code
  ["mcp", "servers"], // the settings of VS Code, and newer opencode
  ["mcp", "mcpServers"],
  ["context_servers"], // Zed
  ["mcp_servers"], // Codex
];

/** opencode keeps its servers among other MCP settings. */
const OPENCODE_KEYS: Path = ["mcp"];

/** Reads a file like `.mcp.json`, `mcp.json` of VS Code, or `config.toml` of Codex. A malformed one throws a `CONFIG_INVALID`. */
export function parseMcpFile(text: string, label: string): FileContent {
  return text.trim() === "" ? NO_CONTENT : readContent(parseDocument(text, label), label);
}

function readContent(document: ConfigDocument, label: string): FileContent {
  const paths = SERVER_KEYS.filter((serversPath) => getValueAt(document.value, serversPath) !== undefined);
  const stray = paths.find((serversPath) => !isRecord(getValueAt(document.value, serversPath)));
  if (stray !== undefined) {
    const wrong = `the servers must be an object, write "${stray.at(-1)}": { "name": { … } }`;
    throw configError(label, wrong, document.locate(stray));
  }
  const entries = [
    ...paths.flatMap((serversPath) => readEntries(document, serversPath, label)),
    ...readEntries(document, OPENCODE_KEYS, label).filter(({ entry }) => isServer(entry)),
  ];
  const bare = paths.length > 0 || entries.length > 0 ? [] : bareEntries(document, label);
  const isWithout = paths.length === 0 && entries.length === 0 && bare.length === 0;
  return {
    entries: [...entries, ...bare],
    inputs: parseInputs(document.value),
    warnings: [...repeatedNames(document, paths, label), ...(isWithout ? withoutServers(document, label) : [])],
  };
}

/** Finds the path at which a file has its servers, or the default for its format. */
export function findServersPath(text: string, label: string): Path {
  const usual: Path = detectFormat(label) === "toml" ? ["mcp_servers"] : ["mcpServers"];
  if (text.trim() === "") return usual;
  const document = parseDocument(text, label);
  const isBare =
    SERVER_KEYS.every((serversPath) => getValueAt(document.value, serversPath) === undefined) &&
    bareEntries(document, label).length > 0;
  return isBare ? [] : (SERVER_KEYS.find((serversPath) => isRecord(getValueAt(document.value, serversPath))) ?? usual);
}

/** Returns the members of the object at a path, in their order; empty if the value is not an object. */
export function readEntries(document: ConfigDocument, serversPath: Path, label: string): readonly ServerEntry[] {
  const servers = getValueAt(document.value, serversPath);
  if (!isRecord(servers)) return [];
  return Object.entries(servers).map(([name, entry]) =>
    findEntry(document, [...serversPath, name], { name, entry, label }),
  );
}

export function findEntry(
  document: Pick<ConfigDocument, "locate">,
  path: Path,
  written: Pick<ServerEntry, "name" | "entry" | "label">,
): ServerEntry {
  return { ...written, path, locate: (inside: Path): FileLocation => document.locate([...path, ...inside]) };
}

/** Distinguishes a server from other values of an object. */
function isServer(entry: unknown): boolean {
  return isRecord(entry) && ["command", ...URL_KEYS].some((key) => Object.hasOwn(entry, key));
}

/** Some files consist of servers and nothing else. */
function bareEntries(document: ConfigDocument, label: string): readonly ServerEntry[] {
  const entries = readEntries(document, [], label);
  return entries.every(({ entry }) => isServer(entry)) ? entries : [];
}

function repeatedNames({ repeated }: ConfigDocument, paths: readonly Path[], label: string): readonly Problem[] {
  return repeated
    .filter(({ path }) => paths.some((serversPath) => serversPath.every((key, index) => path[index] === key)))
    .map(({ path, location }) => ({
      ...createProblem(label, location, sentence("CONFIG_INVALID", `${label}: "${path.at(-1)}" appears twice`)),
      fix: "remove one of them, the first counts",
    }));
}

function withoutServers({ value, locate }: ConfigDocument, label: string): readonly Problem[] {
  const keys = Object.keys(value).filter((key) => key !== "inputs");
  const [first] = keys;
  if (first === undefined) return [];
  const [near] = suggestNames("mcpServers", keys, 1);
  const written = near === undefined ? "" : `, only "${near}"`;
  const error = sentence("CONFIG_INVALID", `${label}: it has no "mcpServers"${written}`);
  return [{ ...createProblem(label, locate([near ?? first]), error), fix: 'write "mcpServers": { "name": { … } }' }];
}

/** Creates a problem with its position in the file: `.mcp.json:3:5`. */
export function createProblem(label: string, { line, column }: FileLocation, error: string): Problem {
  return { source: `${label}:${line}:${column}`, error };
}
