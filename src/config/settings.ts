import { type Document, LineCounter, isMap, isNode, isScalar, isSeq, parseDocument, visit } from "yaml";

import { messageOf, sentence } from "../errors.ts";
import { isRecord } from "../model/json.ts";
import { DEFAULT_LIMITS, type Limits } from "../model/limits.ts";
import { nearest } from "../model/nearest.ts";
import type { Problem } from "../model/provider.ts";
import { invalid } from "./file.ts";
import { type FileContent, NO_CONTENT } from "./mcp-file.ts";
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

const SECTIONS = ["skills", "mcp", "mcpServers", "limits", "policy", "server", "agent", "store", "nodes", "learning"];

export const NO_SETTINGS: Settings = { ...NO_CONTENT, sections: {}, mcpEnabled: true };

/** Aliases of aliases of aliases must not grow beyond this. */
const MOST_ALIASES = 100;

/** Reads settings.yaml. A malformed one throws a `CONFIG_INVALID`; what is not understood in it is a warning. */
export function parseSettings(text: string, label: string): Settings {
  try {
    return settingsOf(parseYaml(text, label), label);
  } catch (thrown) {
    if (thrown instanceof RangeError) throw invalid(label, "it nests too deeply");
    throw thrown;
  }
}

/** A document without errors, and what it says as plain values. */
interface Yaml {
  readonly document: Document;
  readonly lines: LineCounter;
  readonly sections: Readonly<Record<string, unknown>>;
}

function parseYaml(text: string, label: string): Yaml {
  const lines = new LineCounter();
  // The parser compares every key of a map with every other one; that is done faster below.
  const document = parseDocument(text, { schema: "core", uniqueKeys: false, prettyErrors: false, lineCounter: lines });
  const wrong = document.errors[0] ?? document.warnings[0] ?? repeatedKey(document);
  if (wrong !== undefined) {
    const { line, col } = lines.linePos(wrong.pos[0]);
    throw invalid(label, wrong.message, { line, column: col });
  }
  const sections: unknown = plainValue(document, label) ?? {};
  if (!isRecord(sections)) throw invalid(label, "sections are expected", { line: 1, column: 1 });
  return { document, lines, sections };
}

interface Mistake {
  readonly message: string;
  readonly pos: readonly [start: number, end?: number];
}

function repeatedKey(document: Document): Mistake | undefined {
  let found: Mistake | undefined;
  visit(document, {
    Map(_key, map) {
      const keys = new Set<unknown>();
      for (const { key } of map.items) {
        const name = isScalar(key) ? key.value : key;
        if (keys.has(name)) found ??= { message: `the key "${String(name)}" is there twice`, pos: rangeOf(key) };
        keys.add(name);
      }
      return found === undefined ? undefined : visit.BREAK;
    },
  });
  return found;
}

function rangeOf(item: unknown): readonly [start: number] {
  return [isNode(item) ? (item.range?.[0] ?? 0) : 0];
}

function plainValue(document: Document, label: string): unknown {
  try {
    return document.toJS({ maxAliasCount: MOST_ALIASES });
  } catch (thrown) {
    if (thrown instanceof ReferenceError) throw invalid(label, messageOf(thrown));
    throw thrown;
  }
}

function settingsOf(yaml: Yaml, label: string): Settings {
  const { mcp, skills, limits: wanted } = yaml.sections;
  const skillsDir = isRecord(skills) ? skills["dir"] : skills;
  const { limits, warnings } = parseLimits(wanted, label);
  return {
    sections: yaml.sections,
    entries: [...entriesAt(yaml, ["mcp", "servers"], label), ...entriesAt(yaml, ["mcpServers"], label)],
    warnings: [...unknownSections(yaml.sections, label), ...warnings],
    mcpEnabled: !(isRecord(mcp) && mcp["enabled"] === false),
    ...(typeof skillsDir === "string" && { skillsDir }),
    ...(limits !== undefined && { limits }),
  };
}

/** The servers at a path: a list of entries that say their names, or a map from names to entries. */
function entriesAt({ document, lines, sections }: Yaml, path: readonly string[], label: string): ServerEntry[] {
  const node = document.getIn(path, true);
  const value = path.reduce<unknown>((value, key) => (isRecord(value) ? value[key] : undefined), sections);
  const sourceOf = (item: unknown): string => `${label}:${lineOf(item, lines)}`;
  if (isSeq(node) && Array.isArray(value)) {
    return value.map((entry, index) => ({
      name: isRecord(entry) ? entry["name"] : undefined,
      entry,
      source: sourceOf(node.items[index]),
    }));
  }
  if (isMap(node) && isRecord(value)) {
    return Object.entries(value).map(([name, entry], index) => ({
      name,
      entry,
      source: sourceOf(node.items[index]?.key),
    }));
  }
  return [];
}

function lineOf(item: unknown, lines: LineCounter): number {
  return lines.linePos(rangeOf(item)[0]).line;
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
