import { isSpecType } from "@modelcontextprotocol/server";

import { isRecord } from "../../../model/json.ts";
import { TOOL_FIELDS, type ToolDefinition } from "../../../model/tools/tool-definition.ts";
import { sanitizeText } from "../../../registry/index.ts";

/**
 * Returns the fields of a server's tool that its clients get: title, icons, annotations, execution and `_meta`. A field that
 * is not as the protocol has it is left out, because a client may reject the whole list for it.
 */
export function readToolFields(fields: Readonly<Record<string, unknown>>): Partial<ToolDefinition> {
  const valid = TOOL_FIELDS.filter((key) => isSpecType.Tool({ ...BARE_TOOL, [key]: fields[key] }));
  return Object.fromEntries(
    valid.filter((key) => fields[key] !== undefined).map((key) => [key, sanitizeTitle(key, fields[key])]),
  );
}

const BARE_TOOL = { name: "tool", inputSchema: { type: "object" } };

/** A title is read by people: its invisible characters are removed, also in annotations. */
function sanitizeTitle(key: (typeof TOOL_FIELDS)[number], value: unknown): unknown {
  if (key === "title") return sanitizeText(value);
  if (key !== "annotations" || !isRecord(value) || value["title"] === undefined) return value;
  return { ...value, title: sanitizeText(value["title"]) };
}
