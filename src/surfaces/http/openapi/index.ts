import { APPROVAL_SCOPES } from "../../../model/approval.ts";
import { isRecord } from "../../../model/json.ts";
import type { RuntimeView } from "../../../runtime/api/view.ts";
import { openapiExport } from "../../../registry/index.ts";
import { VERSION } from "../../../shared/version.ts";
import { describeMethods } from "./methods.ts";
import { listBuiltinTools } from "../../../runtime/builtin-tools/index.ts";

/**
 * Creates the OpenAPI 3.1 document of a server: that of the catalog plus a path and schemas for each method, the URL, the
 * security scheme and the other endpoints.
 */
export function createOpenapi(view: RuntimeView, url: string, needsToken: boolean): Readonly<Record<string, unknown>> {
  const builtinTools = listBuiltinTools(view.runs.canWait(), view.automations.acceptsProposals).map(({ name }) => name);
  const { catalog } = view;
  const { paths, components, info } = openapiExport(catalog);
  const methods = describeMethods(catalog.methods);
  const schemas = isRecord(components) && isRecord(components["schemas"]) ? components["schemas"] : {};
  const toolPaths = isRecord(paths) ? paths : {};
  return {
    openapi: "3.1.0",
    info: { ...(isRecord(info) && info), version: VERSION, description: "Calls methods of skills" },
    servers: [{ url }],
    ...(needsToken && { security: [{ bearer: [] }] }),
    paths: {
      ...withErrors({ ...withBuiltinTools(toolPaths, builtinTools), ...methods.paths }),
      ...OTHER_PATHS,
    },
    components: {
      schemas: { ...schemas, ...methods.schemas, Problem: PROBLEM },
      ...(needsToken && { securitySchemes: { bearer: { type: "http", scheme: "bearer" } } }),
    },
  };
}

/** Errors as RFC 9457 defines them. */
const PROBLEM = {
  type: "object",
  required: ["type", "title", "status", "detail"],
  properties: {
    type: { type: "string" },
    title: { type: "string" },
    status: { type: "integer" },
    detail: { type: "string" },
    suggestions: { type: "array", items: { type: "string" } },
    fault: { type: "object", description: "The same error as JSON-RPC has it" },
  },
};

const FAILED = { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } };

function problemWith(component: string): object {
  const both = ["Problem", component].map((name) => ({ $ref: `#/components/schemas/${name}` }));
  return { "application/problem+json": { schema: { allOf: both } } };
}

/** Error responses that every call can have. */
const ERROR_RESPONSES = {
  "400": { description: "Validation error", content: problemWith("ValidationError") },
  "401": { description: "A valid bearer token is missing", content: FAILED },
  "403": { description: "The caller may not call the tool", content: FAILED },
  "404": { description: "Tool not found", content: problemWith("NotFound") },
  "429": { description: "Rate limit exceeded; Retry-After gives the seconds to wait", content: FAILED },
  "500": { description: "The server failed", content: FAILED },
  "502": { description: "The tool failed", content: FAILED },
  "504": { description: "The tool timed out", content: FAILED },
};

/** Adds the built-in tools to the tool names. */
function withBuiltinTools(paths: Paths, builtinTools: readonly string[]): Paths {
  return overCalls(paths, (post) => ({
    ...post,
    parameters: [post["parameters"]].flat().map((parameter: unknown) => {
      const schema = isRecord(parameter) && isRecord(parameter["schema"]) ? parameter["schema"] : {};
      const names = Array.isArray(schema["enum"]) ? (schema["enum"] as readonly unknown[]) : [];
      return { ...(isRecord(parameter) && parameter), schema: { type: "string", enum: [...builtinTools, ...names] } };
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

function jsonResponse(description: string, schema: object): object {
  return { description, content: { "application/json": { schema } } };
}

const HEALTH = {
  "application/json": {
    schema: {
      type: "object",
      required: ["status", "uptime_seconds", "tools_count", "request_count"],
      properties: {
        status: { enum: ["healthy", "degraded"] },
        reason: { type: "string", description: "Why it is degraded" },
        uptime_seconds: { type: "number" },
        tools_count: { type: "integer" },
        request_count: { type: "integer" },
      },
    },
  },
};

const OTHER_PATHS = {
  "/health": {
    get: {
      operationId: "health",
      summary: "Report the health of the server",
      security: [],
      parameters: [
        {
          name: "ready",
          in: "query",
          description: "Answer 503 if the server cannot serve requests as it should",
          schema: { type: "string" },
        },
      ],
      responses: {
        "200": { description: "The health of the server", content: HEALTH },
        "503": { description: "With `ready`: the store of the server fails, or all skills are held", content: HEALTH },
      },
    },
  },
  "/rpc": {
    post: {
      operationId: "rpc",
      summary: "Process a JSON-RPC 2.0 message or batch",
      requestBody: { required: true, content: { "application/json": { schema: {} } } },
      responses: {
        "200": { description: "A JSON-RPC response or batch", content: { "application/json": { schema: {} } } },
        "204": { description: "The message contained only notifications" },
        "401": { description: "A valid bearer token is missing" },
      },
    },
  },
  "/approvals": {
    get: {
      operationId: "listApprovals",
      summary: "List the calls that wait for an approval; requires the right to administer",
      responses: {
        "200": jsonResponse("The questions", { type: "object", properties: { approvals: { type: "array" } } }),
        "403": { description: "The caller may not administer", content: FAILED },
      },
    },
  },
  "/approvals/{id}": {
    parameters: [{ name: "id", in: "path", required: true, schema: { type: "string" } }],
    get: {
      operationId: "getApproval",
      summary: "Show a call that waits for an approval, with its arguments",
      responses: {
        "200": jsonResponse("The question", { type: "object" }),
        "404": { description: "The question does not exist", content: FAILED },
      },
    },
    post: {
      operationId: "answerApproval",
      summary: "Approve or deny a call",
      requestBody: {
        required: true,
        content: {
          "application/json": {
            schema: {
              type: "object",
              required: ["answer"],
              properties: {
                answer: { enum: ["approve", "deny"] },
                for: { enum: APPROVAL_SCOPES, default: "once" },
              },
            },
          },
        },
      },
      responses: {
        "200": jsonResponse("The question with its answer", { type: "object" }),
        "403": { description: "The caller may not answer", content: FAILED },
        "404": { description: "The question does not exist", content: FAILED },
        "409": { description: "The question has been answered, or its run has ended", content: FAILED },
      },
    },
  },
  "/hooks/{id}": {
    parameters: [{ name: "id", in: "path", required: true, schema: { type: "string" } }],
    post: {
      operationId: "receiveDelivery",
      summary: "Deliver an event to the webhook of an automation, signed as its settings say",
      security: [],
      requestBody: { required: true, content: { "*/*": { schema: {} } } },
      responses: {
        "200": jsonResponse("The delivery was stored before, or only tests the webhook", { type: "object" }),
        "202": jsonResponse("The delivery is stored, and its run follows", {
          type: "object",
          required: ["delivery"],
          properties: { delivery: { type: "string" } },
        }),
        "400": { description: "The body cannot be read", content: FAILED },
        "401": { description: "The id of the webhook or the signature is wrong", content: FAILED },
        "408": { description: "The body took too long to arrive", content: FAILED },
        "413": { description: "The body has more than 1 MB", content: FAILED },
        "429": { description: "Too many requests; Retry-After gives the seconds to wait", content: FAILED },
        "503": { description: "The delivery is not stored, and must be sent again", content: FAILED },
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
