import { isSpecType } from "@modelcontextprotocol/server";

import type { Method } from "../../../model/catalog.ts";
import { isRecord, type JsonSchema } from "../../../model/json.ts";
import { TOOL_FIELDS, type ToolAnnotations, type ToolDefinition } from "../../../model/tools/tool-definition.ts";
import { GUIDANCE_UNITS, sanitizeText, sanitizeWholeText } from "../../../registry/index.ts";
import { withoutGaps } from "../../../shared/json/without-gaps.ts";

/** Creates the tool of a method, with the schemas of its provider and the other fields of its MCP server. */
export function methodTool(method: Method, name: string): ToolDefinition {
  const { input, metadata, skill, definition } = method;
  const own = sanitizeWholeText(definition.description, GUIDANCE_UNITS);
  const { annotations: serverAnnotations, ...fields } = readToolFields(definition.toolFields ?? {});
  const outputSchema = objectSchema(method.output);
  const annotations = { ...serverAnnotations, ...getAnnotations(method) };
  const deprecated = metadata.deprecated === false ? "" : ` (deprecated: ${metadata.deprecated})`;
  const description = `${own}${deprecated}`;
  return {
    name,
    ...fields,
    description: description.trim() === "" ? `${skill}.${method.name}` : description,
    inputSchema: { ...input, type: "object" },
    ...(outputSchema !== undefined && { outputSchema }),
    ...(Object.keys(annotations).length > 0 && { annotations }),
  };
}

/**
 * Returns the fields of a server's tool that its clients get: title, icons, annotations, execution and `_meta`. A field that
 * is not as the protocol has it is left out, because a client may reject the whole list for it.
 */
function readToolFields(fields: Readonly<Record<string, unknown>>): Partial<ToolDefinition> {
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

/** Returns only the hints that the author set; the client decides the default of a missing one. */
function getAnnotations({ definition }: Method): ToolAnnotations {
  const { readOnly, destructive, idempotent, openWorld } = definition.metadata ?? {};
  return withoutGaps({
    readOnlyHint: readOnly,
    destructiveHint: destructive,
    idempotentHint: idempotent,
    openWorldHint: openWorld,
  });
}

/** Returns an output schema if it describes an object: older clients accept no other. */
function objectSchema(schema: JsonSchema | undefined): ToolDefinition["outputSchema"] {
  return schema?.["type"] === "object" ? { ...schema, type: "object" } : undefined;
}
