import type { Catalog } from "../../model/catalog.ts";
import { isRecord } from "../../model/json.ts";
import { openapiExport } from "../../registry/index.ts";
import { BUILTIN_TOOLS } from "../mcp/index.ts";

/** The OpenAPI document of a server (T8): the catalog's own, with where it is, how to come in, and its other endpoints. */
export function createOpenapi(catalog: Catalog, url: string, needsToken: boolean): Readonly<Record<string, unknown>> {
  const document = openapiExport(catalog);
  const { paths, components } = document;
  const toolPaths = isRecord(paths) ? paths : {};
  return {
    ...document,
    servers: [{ url }],
    ...(needsToken && { security: [{ bearer: [] }] }),
    paths: { ...withErrors(withBuiltinTools(toolPaths)), ...OTHER_PATHS },
    components: {
      ...(isRecord(components) && components),
      ...(needsToken && { securitySchemes: { bearer: { type: "http", scheme: "bearer" } } }),
    },
  };
}

/** A tool that has failed answers as one that has not, without data. */
const FAILED = { "application/json": { schema: { $ref: "#/components/schemas/ToolOutput" } } };

/** What every call may be answered with besides. */
const ERROR_RESPONSES = {
  "401": { description: "A valid bearer token is missing" },
  "403": { description: "The caller may not call the tool", content: FAILED },
  "429": { description: "The tool was called too often; Retry-After says when it may be", content: FAILED },
  "500": { description: "The server failed", content: FAILED },
  "502": { description: "The tool failed", content: FAILED },
  "504": { description: "The tool was too slow", content: FAILED },
};

/** The three tools can be called here as well. */
function withBuiltinTools(paths: Paths): Paths {
  return overCalls(paths, (post) => ({
    ...post,
    parameters: [post["parameters"]].flat().map((parameter: unknown) => {
      const schema = isRecord(parameter) && isRecord(parameter["schema"]) ? parameter["schema"] : {};
      const names = Array.isArray(schema["enum"]) ? (schema["enum"] as readonly unknown[]) : [];
      const own = BUILTIN_TOOLS.map(({ name }) => name);
      return { ...(isRecord(parameter) && parameter), schema: { type: "string", enum: [...own, ...names] } };
    }),
  }));
}

function withErrors(paths: Paths): Paths {
  return overCalls(paths, (post) => ({
    ...post,
    responses: { ...(isRecord(post["responses"]) && post["responses"]), ...ERROR_RESPONSES },
  }));
}

type Paths = Readonly<Record<string, unknown>>;

function overCalls(paths: Paths, change: (post: Readonly<Record<string, unknown>>) => object): Paths {
  return Object.fromEntries(
    Object.entries(paths).map(([path, item]) => {
      const post = isRecord(item) && isRecord(item["post"]) ? item["post"] : {};
      return [path, { ...(isRecord(item) && item), post: change(post) }];
    }),
  );
}

const OTHER_PATHS = {
  "/health": {
    get: {
      operationId: "health",
      summary: "Say how the server is",
      security: [],
      responses: {
        "200": {
          description: "The server is well",
          content: {
            "application/json": {
              schema: {
                type: "object",
                required: ["status", "uptime_seconds", "tools_count", "request_count"],
                properties: {
                  status: { type: "string" },
                  uptime_seconds: { type: "number" },
                  tools_count: { type: "integer" },
                  request_count: { type: "integer" },
                },
              },
            },
          },
        },
      },
    },
  },
  "/rpc": {
    post: {
      operationId: "rpc",
      summary: "Carry out a JSON-RPC 2.0 message or batch",
      requestBody: { required: true, content: { "application/json": { schema: {} } } },
      responses: {
        "200": { description: "A JSON-RPC response or batch", content: { "application/json": { schema: {} } } },
        "204": { description: "There were only notifications" },
        "401": { description: "A valid bearer token is missing" },
      },
    },
  },
  "/metrics": {
    get: {
      operationId: "metrics",
      summary: "Counters in the text format of Prometheus",
      responses: { "200": { description: "The counters", content: { "text/plain": { schema: { type: "string" } } } } },
    },
  },
} as const;
