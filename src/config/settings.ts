import { sentence } from "../errors.ts";
import { isRecord } from "../model/json.ts";
import { DEFAULT_LIMITS, type Limits } from "../model/limits.ts";
import { nearest } from "../model/nearest.ts";
import type { Problem } from "../model/provider.ts";
import type { ConfigDocument, Path } from "./document/index.ts";
import { parseYaml } from "./document/yaml.ts";
import { invalid } from "./file.ts";
import { inputsOf } from "./inputs.ts";
import { entriesAt, entryAt, type FileContent, NO_CONTENT } from "./mcp-file.ts";
import type { ServerEntry } from "./server-entry.ts";

/** What settings.yaml says, as far as it is understood here. */
export interface Settings extends FileContent {
  /** Every section as it was written. */
  readonly sections: Readonly<Record<string, unknown>>;
  /** `mcp.enabled`: false switches all servers off, wherever they are declared. */
  readonly mcpEnabled: boolean;
  /** `skills.dir` */
  readonly skillsDir?: string;
  readonly limits?: Partial<Limits>;
}

const SECTIONS = ["skills", "mcp", "mcpServers", "limits", "policy", "server", "agent", "store", "nodes"];

export const NO_SETTINGS: Settings = { ...NO_CONTENT, sections: {}, mcpEnabled: true };

/** Reads settings.yaml. A malformed one throws a `CONFIG_INVALID`; what is not understood in it is a warning. */
export function parseSettings(text: string, label: string): Settings {
  try {
    return settingsOf(parseYaml(text, label), label);
  } catch (thrown) {
    if (thrown instanceof RangeError) throw invalid(label, "it nests too deeply");
    throw thrown;
  }
}

function settingsOf(document: ConfigDocument, label: string): Settings {
  const { mcp, skills, limits: wanted } = document.value;
  const skillsDir = isRecord(skills) ? skills["dir"] : skills;
  const { limits, warnings } = parseLimits(wanted, label);
  return {
    sections: document.value,
    entries: [...serversAt(document, ["mcp", "servers"], label), ...serversAt(document, ["mcpServers"], label)],
    inputs: inputsOf(isRecord(mcp) ? mcp : {}),
    warnings: [...unknownSections(document.value, label), ...warnings],
    mcpEnabled: !(isRecord(mcp) && mcp["enabled"] === false),
    ...(typeof skillsDir === "string" && { skillsDir }),
    ...(limits !== undefined && { limits }),
  };
}

/** The servers at a path: a list of entries that say their names, or a map from names to entries. */
function serversAt(document: ConfigDocument, path: Path, label: string): readonly ServerEntry[] {
  const servers = path.reduce<unknown>((value, key) => (isRecord(value) ? value[key] : undefined), document.value);
  if (!Array.isArray(servers)) return entriesAt(document, path, label);
  return servers.map((entry: unknown, index) => {
    const name = isRecord(entry) ? entry["name"] : undefined;
    return entryAt(document, [...path, index], { name, entry, label });
  });
}

function unknownSections(sections: Readonly<Record<string, unknown>>, label: string): readonly Problem[] {
  return Object.keys(sections)
    .filter((name) => !SECTIONS.includes(name))
    .map((name) => unknownName(label, `there is no section "${name}"`, name, SECTIONS));
}

function unknownName(label: string, what: string, name: string, names: readonly string[]): Problem {
  const [meant] = nearest(name, names, 1);
  const hint = meant === undefined ? "" : `, did you mean "${meant}"`;
  return { source: label, error: sentence("CONFIG_INVALID", `${label}: ${what}${hint}`) };
}

/** Each limit has to be a whole number above 0; one that is not keeps its default. */
function parseLimits(section: unknown, label: string): { limits?: Partial<Limits>; warnings: readonly Problem[] } {
  if (section == null) return { warnings: [] };
  const names = Object.keys(DEFAULT_LIMITS);
  const warnings: Problem[] = [];
  const limits: Partial<Record<string, number>> = {};
  for (const [name, value] of Object.entries(isRecord(section) ? section : {})) {
    if (!names.includes(name)) warnings.push(unknownName(label, `there is no limit "${name}"`, name, names));
    else if (typeof value === "number" && Number.isSafeInteger(value) && value > 0) limits[name] = value;
    else
      warnings.push({
        source: label,
        error: sentence("CONFIG_INVALID", `${label}: the limit "${name}" must be a whole number above 0`),
      });
  }
  return { limits, warnings };
}
