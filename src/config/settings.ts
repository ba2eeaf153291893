import { isRecord } from "../model/json.ts";
import { DEFAULT_LIMITS, type Limits } from "../model/limits.ts";
import { describeUnknownName, suggestNames } from "../shared/suggest.ts";
import type { Problem } from "../model/provider.ts";
import { DEFAULT_TIMEOUTS, type Timeouts } from "../model/timeouts.ts";
import { type ConfigDocument, parseDocument, type Path } from "./documents/index.ts";
import { configError } from "./read-file.ts";
import { parseInputs } from "./servers/inputs.ts";
import { readEntries, findEntry, type FileContent, NO_CONTENT } from "./servers/mcp-file.ts";
import type { ServerEntry } from "./servers/parse-entry.ts";

/** The parsed content of settings.yaml. */
export interface SettingsFile extends FileContent {
  /** Every section as it was written. */
  readonly sections: Readonly<Record<string, unknown>>;
  /** `mcp.enabled`: false switches all servers off, wherever they are declared. */
  readonly mcpEnabled: boolean;
  /** `skills.dir` */
  readonly skillsDir?: string;
  readonly limits?: Partial<Limits>;
  readonly timeouts?: Partial<Timeouts>;
}

export const SECTIONS: readonly string[] = [
  "skills",
  "mcp",
  "mcpServers",
  "limits",
  "timeouts",
  "typecheck",
  "observe",
  "catalogTokens",
  "server",
  "store",
  "audit",
  "approvals",
  "runs",
  "secrets",
  "agent",
  "nodes",
  "executors",
  "profiles",
];

export const NO_SETTINGS: SettingsFile = { ...NO_CONTENT, sections: {}, mcpEnabled: true };

/** Reads settings.yaml. A malformed one throws a `CONFIG_INVALID`; what is not understood in it is a warning. */
export function parseSettings(text: string, label: string): SettingsFile {
  return readSettings(parseDocument(text, label, "yaml"), label);
}

function readSettings(document: ConfigDocument, label: string): SettingsFile {
  const { mcp, skills } = document.value;
  const skillsDir = isRecord(skills) ? skills["dir"] : skills;
  const limits = parseNumbers(document, label, {
    section: "limits",
    what: "limit",
    names: Object.keys(DEFAULT_LIMITS),
  });
  const timeouts = parseNumbers(document, label, {
    section: "timeouts",
    what: "timeout",
    names: Object.keys(DEFAULT_TIMEOUTS),
  });
  return {
    sections: document.value,
    entries: [...serversAt(document, ["mcp", "servers"], label), ...serversAt(document, ["mcpServers"], label)],
    inputs: parseInputs(isRecord(mcp) ? mcp : {}),
    warnings: [
      ...wrongSections(document, label),
      ...unknownNames(document, label),
      ...limits.warnings,
      ...timeouts.warnings,
    ],
    mcpEnabled: !(isRecord(mcp) && mcp["enabled"] === false),
    ...(typeof skillsDir === "string" && { skillsDir }),
    ...(limits.numbers !== undefined && { limits: limits.numbers }),
    ...(timeouts.numbers !== undefined && { timeouts: timeouts.numbers }),
  };
}

/** The servers at a path: a list of entries that say their names, or a map from names to entries. */
function serversAt(document: ConfigDocument, path: Path, label: string): readonly ServerEntry[] {
  const servers = path.reduce<unknown>((value, key) => (isRecord(value) ? value[key] : undefined), document.value);
  if (!Array.isArray(servers)) return readEntries(document, path, label);
  return servers.map((entry: unknown, index) => {
    const name = isRecord(entry) ? entry["name"] : undefined;
    return findEntry(document, [...path, index], { name, entry, label });
  });
}

/** Reports sections of the wrong type, which would otherwise be ignored. */
function wrongSections(document: ConfigDocument, label: string): readonly Problem[] {
  const { mcp, mcpServers, skills, server, store, agent } = document.value;
  const isSection = (value: unknown): boolean => value == null || isRecord(value);
  const servers = isRecord(mcp) ? mcp["servers"] : undefined;
  const wrong = (path: Path, what: string): Problem => ({
    source: label,
    error: configError(label, `"${path.join(".")}" must be ${what}`, document.locate(path)).message,
  });
  const hasServers = (value: unknown): boolean => isSection(value) || Array.isArray(value);
  return [
    ...(isSection(mcp) ? [] : [wrong(["mcp"], "a section, as in mcp: { servers: [] }")]),
    ...(hasServers(servers) ? [] : [wrong(["mcp", "servers"], SERVERS_FORM)]),
    ...(hasServers(mcpServers) ? [] : [wrong(["mcpServers"], SERVERS_FORM)]),
    ...(isSection(skills) || typeof skills === "string"
      ? []
      : [wrong(["skills"], "a section, as in skills: { dir: skills }")]),
    ...(isSection(server) ? [] : [wrong(["server"], "a section, as in server: { port: 3333 }")]),
    ...(isSection(agent) ? [] : [wrong(["agent"], "a section, as in agent: { model: openai:gpt-5 }")]),
    ...(isSection(store) ? [] : [wrong(["store"], "a section, as in store: { dir: folder }")]),
  ];
}

const SERVERS_FORM = "a list of servers, as in [{ name: files, command: npx }], or a section with their names";

function unknownNames(document: ConfigDocument, label: string): readonly Problem[] {
  const { mcp } = document.value;
  const sections = Object.keys(document.value).filter((name) => !SECTIONS.includes(name));
  // Other modules have keys of their own in this section, so only a near miss of a known key is reported.
  const inMcp = Object.keys(isRecord(mcp) ? mcp : {}).filter((name) => !MCP_KEYS.includes(name));
  return [
    ...sections.map((name) => unknownName(document, label, { what: "section", path: [name], names: SECTIONS })),
    ...inMcp
      .filter((name) => suggestNames(name, MCP_KEYS, 1).length > 0)
      .map((name) => unknownName(document, label, { what: "setting", path: ["mcp", name], names: MCP_KEYS })),
  ];
}

const MCP_KEYS = ["servers", "enabled", "inputs"];

interface Unknown {
  readonly what: string;
  readonly path: readonly string[];
  readonly names: readonly string[];
}

function unknownName(document: ConfigDocument, label: string, { what, path, names }: Unknown): Problem {
  const name = path.at(-1) ?? "";
  const { detail } = describeUnknownName(what, name, names, { limit: 1 });
  const { message } = configError(label, `unknown ${what} ${detail}`, document.locate(path));
  return { source: label, error: message };
}

/** A section whose settings are all numbers. */
interface NumbersSection {
  readonly section: "limits" | "timeouts";
  /** One of its settings, in a message. */
  readonly what: string;
  readonly names: readonly string[];
}

/** Parses a section of whole numbers above 0; an invalid setting keeps its default. */
function parseNumbers(
  document: ConfigDocument,
  label: string,
  { section, what, names }: NumbersSection,
): { numbers?: Readonly<Partial<Record<string, number>>>; warnings: readonly Problem[] } {
  const written = document.value[section];
  if (written == null) return { warnings: [] };
  const warnings: Problem[] = [];
  const warn = (wrong: string, path: Path): unknown =>
    warnings.push({ source: label, error: configError(label, wrong, document.locate(path)).message });
  if (!isRecord(written)) {
    warn(`"${section}" must have names and numbers, as in ${section}: { ${names[0]}: 1000 }`, [section]);
    return { warnings };
  }
  const numbers: Partial<Record<string, number>> = {};
  for (const [name, value] of Object.entries(written)) {
    const path = [section, name];
    if (!names.includes(name)) warnings.push(unknownName(document, label, { what, path, names }));
    else if (typeof value === "number" && Number.isSafeInteger(value) && value > 0) numbers[name] = value;
    else warn(`the ${what} "${name}" must be a whole number above 0`, path);
  }
  return { numbers, warnings };
}
