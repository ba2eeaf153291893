import type { Catalog } from "../../model/catalog.ts";
import { isRecord } from "../../model/json.ts";
import { openapiExport } from "../../registry/index.ts";

/** The OpenAPI document of a server (T8): the catalog's own, with where it is, how to come in, and its other endpoints. */
export function openapiOf(catalog: Catalog, url: string, needsToken: boolean): Readonly<Record<string, unknown>> {
  const document = openapiExport(catalog);
  const { paths, components } = document;
  const toolPaths = isRecord(paths) ? paths : {};
  return {
    ...document,
    servers: [{ url }],
    ...(needsToken && { security: [{ bearer: [] }] }),
    paths: { ...withFaults(toolPaths), ...OTHER_PATHS },
    components: {
      ...(isRecord(components) && components),
      ...(needsToken && { securitySchemes: { bearer: { type: "http", scheme: "bearer" } } }),
    },
  };
}

/** What every call may be answered with besides. */
const FAULT_RESPONSES = {
  "401": { description: "A valid bearer token is missing" },
  default: { description: "The tool failed, or may not be called" },
};

function withFaults(paths: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(paths).map(([path, item]) => {
      const post = isRecord(item) && isRecord(item["post"]) ? item["post"] : {};
      const responses = isRecord(post["responses"]) ? post["responses"] : {};
      return [
        path,
        { ...(isRecord(item) && item), post: { ...post, responses: { ...responses, ...FAULT_RESPONSES } } },
      ];
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
