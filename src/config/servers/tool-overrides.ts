import { isRecord } from "../../model/json.ts";
import { isMemberName } from "../../shared/names/skill-names.ts";
import type { ToolOverride } from "../../model/tools/tool-definition.ts";
import { entryError } from "./entry-fields.ts";

/** Parses `toolOverrides`: names, titles and descriptions in place of those of a server, by the name of its tool. */
export function parseToolOverrides(
  server: string,
  written: unknown,
): Readonly<Record<string, ToolOverride>> | undefined {
  if (written === undefined) return undefined;
  const flaw = findOverrideFlaw("toolOverrides", written);
  if (flaw === undefined) return written as Readonly<Record<string, ToolOverride>>;
  throw entryError(server, flaw, {
    key: "toolOverrides",
    fix: 'write "toolOverrides": { "read_file": { "name": "read", "description": "Reads a file" } }',
  });
}

/** Says what is wrong with a setting of names and texts in place of those of methods; `undefined` if nothing is. */
export function findOverrideFlaw(setting: string, written: unknown): string | undefined {
  if (!isRecord(written)) return `${setting} must be an object`;
  const flaws = Object.entries(written).flatMap(
    ([method, override]) => findFlaw(`${setting} of ${quote(method)}`, override) ?? [],
  );
  if (flaws.length > 0) return flaws[0];
  const names = Object.values(written).flatMap((override) => (override as ToolOverride).name ?? []);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  return twice === undefined ? undefined : `${setting} gives the name ${quote(twice)} twice`;
}

function findFlaw(label: string, override: unknown): string | undefined {
  if (!isRecord(override)) return `${label} must be an object`;
  for (const [key, value] of Object.entries(override)) {
    if (!KEYS.has(key)) return `${label} has the key ${quote(key)}, which is not known`;
    if (typeof value !== "string" || value.trim() === "") return `${label} must have a text as its ${key}`;
  }
  const { name } = override;
  if (typeof name !== "string" || isMemberName(name)) return undefined;
  return `${label}: ${quote(name)} cannot be the name of a method`;
}

const KEYS: ReadonlySet<string> = new Set(["name", "title", "description"]);

function quote(text: string): string {
  return JSON.stringify(text);
}
