import type { Method } from "../../../model/catalog.ts";
import type { JsonSchema } from "../../../model/json.ts";
import type { ToolAnnotations, ToolDefinition } from "../../../model/tools/tool-definition.ts";
import { readToolFields } from "./tool-fields.ts";

/** Creates the tool of a method, with the schemas of its provider and the other fields of its MCP server. */
export function methodTool(method: Method, name: string): ToolDefinition {
  const { description, input, metadata, skill, definition } = method;
  const { annotations: serverAnnotations, ...fields } = readToolFields(definition.toolFields ?? {});
  const outputSchema = objectSchema(method.output);
  const annotations = { ...serverAnnotations, ...getAnnotations(method) };
  const deprecated = metadata.deprecated === false ? "" : ` (deprecated: ${metadata.deprecated})`;
  return {
    name,
    ...fields,
    description: `${description}${deprecated}` || `${skill}.${method.name}`,
    inputSchema: { ...input, type: "object" },
    ...(outputSchema !== undefined && { outputSchema }),
    ...(Object.keys(annotations).length > 0 && { annotations }),
  };
}

/** Returns only the hints that the author set; the client decides the default of a missing one. */
function getAnnotations({ definition }: Method): ToolAnnotations {
  const { readOnly, destructive, idempotent, openWorld } = definition.metadata ?? {};
  return {
    ...(readOnly !== undefined && { readOnlyHint: readOnly }),
    ...(destructive !== undefined && { destructiveHint: destructive }),
    ...(idempotent !== undefined && { idempotentHint: idempotent }),
    ...(openWorld !== undefined && { openWorldHint: openWorld }),
  };
}

/** Returns an output schema if it describes an object: older clients accept no other. */
function objectSchema(schema: JsonSchema | undefined): ToolDefinition["outputSchema"] {
  return schema?.["type"] === "object" ? { ...schema, type: "object" } : undefined;
}
