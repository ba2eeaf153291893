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
  if (!isRecord(written)) throw overrideError(server, "toolOverrides must be an object");
  const overrides = Object.entries(written).map(
    ([tool, override]) => [tool, parseOverride(server, tool, override)] as const,
  );
  const names = overrides.flatMap(([, { name }]) => name ?? []);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw overrideError(server, `toolOverrides gives two tools the name ${quote(twice)}`);
  return Object.fromEntries(overrides);
}

function parseOverride(server: string, tool: string, written: unknown): ToolOverride {
  const label = `toolOverrides of ${quote(tool)}`;
  if (!isRecord(written)) throw overrideError(server, `${label} must be an object`);
  for (const [key, value] of Object.entries(written)) {
    if (!KEYS.has(key)) throw overrideError(server, `${label} has the key ${quote(key)}, which is not known`);
    if (typeof value !== "string" || value.trim() === "")
      throw overrideError(server, `${label} must have a text as its ${key}`);
  }
  const { name } = written;
  if (typeof name === "string" && !isMemberName(name))
    throw overrideError(server, `${label}: ${quote(name)} cannot be the name of a method`);
  return written;
}

const KEYS: ReadonlySet<string> = new Set(["name", "title", "description"]);

function overrideError(server: string, what: string): Error {
  return entryError(server, what, {
    key: "toolOverrides",
    fix: 'write "toolOverrides": { "read_file": { "name": "read", "description": "Reads a file" } }',
  });
}

function quote(text: string): string {
  return JSON.stringify(text);
}
