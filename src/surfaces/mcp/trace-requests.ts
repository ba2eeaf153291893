import type { RequestId, Server, ServerContext } from "@modelcontextprotocol/server";

import { isRecord } from "../../model/json.ts";
import { cutText } from "../../shared/format-text.ts";
import { MAX_TOOL_NAME_UNITS } from "../../shared/names/skill-names.ts";
import { newTraceId } from "../../shared/rpc-errors.ts";
import {
  ATTRIBUTES,
  type Attributes,
  type Carrier,
  EXECUTE_TOOL,
  extractContext,
  getActiveContext,
  getErrorType,
  getTraceIds,
  hasSdk,
  recordDuration,
  startSpan,
  TOOL_ERROR,
} from "../../telemetry/index.ts";
import { MODERN_VERSION } from "./fast-path/regular-call.ts";
import type { ConnectedClient } from "./sessions/client-session.ts";

/** A request of a client. */
interface TracedRequest {
  readonly method: string;
  readonly id: RequestId;
  /** The name of the tool or the prompt. */
  readonly target?: string | undefined;
  /** The `_meta` of the request, which may have the trace of the client. */
  readonly meta: Carrier | undefined;
}

/** Returns the trace of the request that is answered as a detail of its error; without an SDK, a new one. */
export function inActiveTrace(): { readonly trace_id: string } {
  return { trace_id: getTraceIds()?.trace_id ?? newTraceId() };
}

/** Answers a request within a span, as the conventions for MCP describe it. The span continues the trace that `_meta` names. */
export function traceMcpRequest<Result>(
  request: TracedRequest,
  client: Pick<ConnectedClient, "era" | "transport">,
  answer: () => Promise<Result>,
): Promise<Result> {
  return hasSdk() ? answerWithSpan(request, client, answer) : answer();
}

async function answerWithSpan<Result>(
  request: TracedRequest,
  client: Pick<ConnectedClient, "era" | "transport">,
  answer: () => Promise<Result>,
): Promise<Result> {
  const startedAt = performance.now();
  const parent = extractContext(request.meta);
  const { method } = request;
  const target = request.target && cutText(request.target, MAX_TOOL_NAME_UNITS);
  const getAttributes = (): Attributes => describeRequest({ ...request, target }, client);
  const span = startSpan(target === undefined ? method : `${method} ${target}`, {
    kind: "SERVER",
    parent,
    link: parent && getActiveContext(),
    getAttributes: () => ({ ...getAttributes(), [ATTRIBUTES.jsonrpcId]: String(request.id) }),
  });
  let errorType: string | undefined;
  let hasProtocolError = false;
  try {
    const result = await (span === undefined ? answer() : span.run(answer));
    if (isRecord(result) && result["isError"] === true) errorType = TOOL_ERROR;
    return result;
  } catch (thrown) {
    errorType = getErrorType(thrown);
    hasProtocolError = /^-?\d+$/.test(errorType);
    if (hasProtocolError) span?.set({ [ATTRIBUTES.rpcStatus]: errorType });
    throw thrown;
  } finally {
    const outcome = errorType === undefined ? {} : { [ATTRIBUTES.errorType]: errorType };
    // The name of an unknown tool is the client's own text, of which there may be any number.
    const attributes = hasProtocolError ? describeRequest({ ...request, target: undefined }, client) : getAttributes();
    recordDuration("mcpServer", startedAt, { ...attributes, ...outcome });
    if (errorType !== undefined) span?.fail(errorType);
    span?.end();
  }
}

function describeRequest(
  { method, target }: TracedRequest,
  { era, transport = "tcp" }: Pick<ConnectedClient, "era" | "transport">,
): Attributes {
  return {
    [ATTRIBUTES.mcpMethod]: method,
    ...(era === "modern" && { [ATTRIBUTES.mcpVersion]: MODERN_VERSION }),
    ...(method === "tools/call" && { [ATTRIBUTES.operation]: EXECUTE_TOOL, [ATTRIBUTES.toolName]: target }),
    ...(method === "prompts/get" && { [ATTRIBUTES.promptName]: target }),
    [ATTRIBUTES.transport]: transport,
    ...(transport === "tcp" && { [ATTRIBUTES.protocol]: "http" }),
  };
}

type AnyHandler = (request: { readonly params?: unknown }, context: ServerContext) => unknown;

/** Makes a server answer within spans: all requests whose handlers are set from now on. */
export function traceHandlers(server: Server, client: Pick<ConnectedClient, "era" | "transport">): void {
  const setHandler = server.setRequestHandler.bind(server) as (method: string, ...how: unknown[]) => void;
  const trace =
    (method: string, handler: AnyHandler): AnyHandler =>
    (request, context) => {
      const { id, _meta: meta } = context.mcpReq;
      const name = isRecord(request.params) ? request.params["name"] : undefined;
      const target = HAS_TARGET.has(method) && typeof name === "string" ? name : undefined;
      return traceMcpRequest({ method, id, target, meta }, client, async () => handler(request, context));
    };
  const setTracedHandler = (method: string, ...how: readonly [AnyHandler] | readonly [object, AnyHandler]): void => {
    // Methods of extensions come with the schema of their params.
    if (how.length === 1) setHandler(method, trace(method, how[0]));
    else setHandler(method, how[0], trace(method, how[1]));
  };
  server.setRequestHandler = setTracedHandler;
}

const HAS_TARGET: ReadonlySet<string> = new Set(["tools/call", "prompts/get"]);
