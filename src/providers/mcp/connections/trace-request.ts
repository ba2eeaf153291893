import { isRecord } from "../../../model/json.ts";
import {
  ATTRIBUTES,
  type Attributes,
  EXECUTE_TOOL,
  getErrorType,
  hasSdk,
  injectContext,
  recordDuration,
  startSpan,
  TOOL_ERROR,
} from "../../../telemetry/index.ts";

/** The facts about a connection that its spans have. */
export interface ConnectionFacts {
  readonly protocolVersion: string;
  /** The URL of a remote server; absent for a process. */
  readonly url?: URL | undefined;
}

/** A request to a server. */
export interface McpRequest {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/**
 * Sends a request within a span, as the conventions for MCP describe it. `send` receives the fields for `_meta` that hand the
 * trace to the server.
 */
export function traceRequest(request: McpRequest, connection: ConnectionFacts, send: SendRequest): Promise<unknown> {
  return hasSdk() ? sendWithSpan(request, connection, send) : send({});
}

type SendRequest = (traceFields: Readonly<Record<string, string>>) => Promise<unknown>;

async function sendWithSpan(request: McpRequest, connection: ConnectionFacts, send: SendRequest): Promise<unknown> {
  const startedAt = performance.now();
  const target = getTarget(request);
  const getAttributes = (): Attributes => describeRequest(request, connection);
  const span = startSpan(target === undefined ? request.method : `${request.method} ${target}`, {
    kind: "CLIENT",
    getAttributes,
  });
  let errorType: string | undefined;
  try {
    const result = await (span === undefined ? send({}) : span.run(() => send(injectContext())));
    if (isRecord(result) && result["isError"] === true) errorType = TOOL_ERROR;
    return result;
  } catch (thrown) {
    errorType = getErrorType(thrown);
    if (/^-?\d+$/.test(errorType)) span?.set({ [ATTRIBUTES.rpcStatus]: errorType });
    throw thrown;
  } finally {
    const outcome = errorType === undefined ? {} : { [ATTRIBUTES.errorType]: errorType };
    recordDuration("mcpClient", startedAt, { ...getAttributes(), ...outcome });
    if (errorType !== undefined) span?.fail(errorType);
    span?.end();
  }
}

/** Returns the name of the tool or the prompt. Other targets have too many values for the name of a span. */
function getTarget({ method, params }: McpRequest): string | undefined {
  const { name } = params;
  return (method === "tools/call" || method === "prompts/get") && typeof name === "string" ? name : undefined;
}

function describeRequest(request: McpRequest, { protocolVersion, url }: ConnectionFacts): Attributes {
  const target = getTarget(request);
  return {
    [ATTRIBUTES.mcpMethod]: request.method,
    ...(protocolVersion !== "" && { [ATTRIBUTES.mcpVersion]: protocolVersion }),
    ...(request.method === "tools/call" && { [ATTRIBUTES.operation]: EXECUTE_TOOL, [ATTRIBUTES.toolName]: target }),
    ...(request.method === "prompts/get" && { [ATTRIBUTES.promptName]: target }),
    [ATTRIBUTES.transport]: url === undefined ? "pipe" : "tcp",
    ...(url !== undefined && {
      [ATTRIBUTES.protocol]: "http",
      [ATTRIBUTES.serverAddress]: url.hostname,
      [ATTRIBUTES.serverPort]: Number(url.port) || (url.protocol === "https:" ? 443 : 80),
    }),
  };
}
