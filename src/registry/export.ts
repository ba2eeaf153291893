import type { Catalog, Method } from "../model/catalog.ts";
import type { JsonSchema } from "../model/json.ts";
import { exampleArguments } from "./examples/index.ts";

export interface ExportedTool {
  /** `Skill.method`. */
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
  readonly tags: readonly string[];
}

/** A catalog in the format for other programs. */
export interface ExportedCatalog {
  readonly tools: readonly ExportedTool[];
  /** The last part increases with every change of the catalog. */
  readonly version: string;
  /** RFC 3339, UTC. */
  readonly generated_at: string;
}

export interface ExportedMethod {
  readonly schema: Omit<ExportedTool, "tags">;
  readonly examples: readonly Readonly<Record<string, unknown>>[];
  readonly metadata: Readonly<Pick<Method["metadata"], "category" | "version" | "deprecated" | "author">>;
}

export function catalogExport(catalog: Catalog, now = new Date()): ExportedCatalog {
  return { tools: catalog.methods.map(exportedTool), version: getVersion(catalog), generated_at: now.toISOString() };
}

export function methodExport(method: Method): ExportedMethod {
  const { category, version, deprecated, author } = method.metadata;
  const { tags: _tags, ...schema } = exportedTool(method);
  return { schema, examples: [exampleArguments(method)], metadata: { category, version, deprecated, author } };
}

/**
 * Returns an OpenAPI 3.0.0 document of the catalog with one operation for all methods. It names the methods without their
 * schemas, which use a newer JSON Schema than OpenAPI 3.0 supports; `catalogExport` has the schemas.
 */
export function openapiExport(catalog: Catalog): Readonly<Record<string, unknown>> {
  const names = catalog.methods.map((method) => method.path);
  return {
    openapi: "3.0.0",
    info: { title: "Skillgate", version: getVersion(catalog), description: "Calls one method of a skill" },
    paths: { "/tools/{tool_name}": { post: callOperation(names) } },
    components: { schemas: COMPONENTS },
    "x-tools": catalog.methods.map(({ path, description, metadata }) => ({
      name: path,
      description,
      tags: metadata.tags,
    })),
  };
}

function exportedTool(method: Method): ExportedTool {
  return {
    name: method.path,
    description: method.description,
    inputSchema: method.input,
    ...(method.output !== undefined && { outputSchema: method.output }),
    tags: method.metadata.tags,
  };
}

function getVersion(catalog: Catalog): string {
  return `1.0.${catalog.version}`;
}

function callOperation(names: readonly string[]): Readonly<Record<string, unknown>> {
  const schema = names.length === 0 ? { type: "string" } : { type: "string", enum: names };
  return {
    operationId: "callTool",
    summary: "Call a tool with named arguments",
    parameters: [{ name: "tool_name", in: "path", required: true, description: "Skill.method", schema }],
    requestBody: { required: true, content: jsonContent("ToolInput") },
    responses: {
      "200": { description: "Tool execution successful", content: jsonContent("ToolOutput") },
      "400": { description: "Validation error", content: jsonContent("ValidationError") },
      "404": { description: "Tool not found", content: jsonContent("NotFound") },
    },
  };
}

function jsonContent(component: string): Readonly<Record<string, unknown>> {
  return { "application/json": { schema: { $ref: `#/components/schemas/${component}` } } };
}

const TEXT = { type: "string" } as const;
const TEXTS = { type: "array", items: TEXT } as const;

const COMPONENTS = {
  ToolInput: { type: "object", description: "The arguments of the tool by name", additionalProperties: true },
  ToolOutput: {
    type: "object",
    required: ["success"],
    properties: {
      success: { type: "boolean" },
      data: { description: "What the tool returned" },
      error: TEXT,
      execution_time: { type: "number", description: "Seconds" },
      tool_name: TEXT,
      cached: { type: "boolean", description: "True if the result was kept from an earlier call" },
      notes: { ...TEXTS, description: "What the caller should know, such as that the tool is deprecated" },
    },
  },
  ValidationError: {
    type: "object",
    required: ["errors"],
    properties: {
      errors: {
        type: "array",
        items: {
          type: "object",
          required: ["field", "type", "reason"],
          properties: { field: TEXT, type: TEXT, reason: TEXT, suggestions: TEXTS },
        },
      },
    },
  },
  NotFound: { type: "object", required: ["error"], properties: { error: TEXT, suggestions: TEXTS } },
} as const;
