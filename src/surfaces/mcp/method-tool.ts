import type { Method } from "../../model/catalog.ts";
import type { JsonSchema } from "../../model/json.ts";

/** A tool as it is listed. */
export interface Tool {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: JsonSchema & { readonly type: "object" };
  readonly outputSchema?: JsonSchema & { readonly type: "object" };
  readonly annotations?: ToolAnnotations;
}

/** MCP's hints, under its names. */
interface ToolAnnotations {
  readonly title?: string;
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
}

/** A method as a tool of its own. Its schemas are as its provider gave them. */
export function methodTool(method: Method, name: string): Tool {
  const { description, input, metadata, skill } = method;
  const outputSchema = objectSchema(method.output);
  const deprecated = metadata.deprecated === false ? "" : ` (deprecated: ${metadata.deprecated})`;
  return {
    name,
    description: `${description}${deprecated}` || `${skill}.${method.name}`,
    inputSchema: { ...input, type: "object" },
    ...(outputSchema !== undefined && { outputSchema }),
    annotations: {
      readOnlyHint: metadata.readOnly,
      destructiveHint: metadata.destructive,
      idempotentHint: metadata.idempotent,
      openWorldHint: metadata.openWorld,
    },
  };
}

/** Clients check results against it, and older ones take only objects. */
function objectSchema(schema: JsonSchema | undefined): Tool["outputSchema"] {
  return schema?.["type"] === "object" ? { ...schema, type: "object" } : undefined;
}
