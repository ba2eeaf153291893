/**
 * The names of spans, attributes and metrics. Those of `gen_ai` and `mcp` are from the OpenTelemetry semantic conventions for
 * generative AI, version 0.1.0 (docs/gen-ai/mcp.md, docs/gen-ai/execute-tool.md); those of HTTP, network and errors from the
 * semantic conventions, version 1.45.0. Names that begin with `skillgate` are of this project.
 */
export const ATTRIBUTES = {
  errorType: "error.type",
  operation: "gen_ai.operation.name",
  toolName: "gen_ai.tool.name",
  toolType: "gen_ai.tool.type",
  toolCallId: "gen_ai.tool.call.id",
  toolArguments: "gen_ai.tool.call.arguments",
  toolResult: "gen_ai.tool.call.result",
  promptName: "gen_ai.prompt.name",
  mcpMethod: "mcp.method.name",
  mcpVersion: "mcp.protocol.version",
  jsonrpcId: "jsonrpc.request.id",
  rpcStatus: "rpc.response.status_code",
  transport: "network.transport",
  protocol: "network.protocol.name",
  serverAddress: "server.address",
  serverPort: "server.port",
  httpMethod: "http.request.method",
  httpRoute: "http.route",
  httpStatus: "http.response.status_code",
  runId: "skillgate.run.id",
  runOutcome: "skillgate.run.outcome",
  callCached: "skillgate.call.cached",
  policyRow: "skillgate.policy.row",
  refusalKind: "skillgate.refusal.kind",
  dropReason: "skillgate.network.drop_reason",
  account: "skillgate.account",
  automationState: "skillgate.automation.state",
  workerState: "skillgate.worker.state",
} as const;

export const SPANS = {
  run: "skillgate.run",
  check: "skillgate.check",
  sandbox: "skillgate.sandbox",
} as const;

export const EVENTS = {
  refused: "skillgate.call.refused",
  violation: "skillgate.violation",
} as const;

/** The value of `gen_ai.operation.name` for calls of tools. */
export const EXECUTE_TOOL = "execute_tool";

/** The value of `error.type` for a result of a tool that says it is an error. */
export const TOOL_ERROR = "tool_error";

/** Upper bounds of the buckets of durations, in seconds. The conventions for MCP name them. */
export const MCP_BUCKETS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];

/** Upper bounds of the buckets of durations that are often below 10 ms, in seconds. */
export const SHORT_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Upper bounds of the buckets of durations of HTTP requests, in seconds. The conventions for HTTP name them. */
export const HTTP_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
