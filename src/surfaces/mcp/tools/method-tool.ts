import type { Method } from "../../../model/catalog.ts";
import type { JsonSchema } from "../../../model/json.ts";

/** A tool as it is listed. */
export interface ListedTool {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: JsonSchema & { readonly type: "object" };
  readonly outputSchema?: JsonSchema & { readonly type: "object" };
  readonly annotations?: ToolAnnotations;
}

/** MCP's hints, under its names. */
interface ToolAnnotations {
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
}

/** A method as a tool of its own. Its schemas are as its provider gave them. */
export function methodTool(method: Method, name: string): ListedTool {
  const { description, input, metadata, skill } = method;
  const outputSchema = objectSchema(method.output);
  const annotations = getAnnotations(method);
  const deprecated = metadata.deprecated === false ? "" : ` (deprecated: ${metadata.deprecated})`;
  return {
    name,
    description: `${description}${deprecated}` || `${skill}.${method.name}`,
    inputSchema: { ...input, type: "object" },
    ...(outputSchema !== undefined && { outputSchema }),
    ...(Object.keys(annotations).length > 0 && { annotations }),
  };
}

/** Only what the author said: what a hint means where it is missing is the client's business. */
function getAnnotations({ definition }: Method): ToolAnnotations {
  const { readOnly, destructive, idempotent, openWorld } = definition.metadata ?? {};
  return {
    ...(readOnly !== undefined && { readOnlyHint: readOnly }),
    ...(destructive !== undefined && { destructiveHint: destructive }),
    ...(idempotent !== undefined && { idempotentHint: idempotent }),
    ...(openWorld !== undefined && { openWorldHint: openWorld }),
  };
}

/** Clients check results against it, and older ones take only objects. */
function objectSchema(schema: JsonSchema | undefined): ListedTool["outputSchema"] {
  return schema?.["type"] === "object" ? { ...schema, type: "object" } : undefined;
}
