import { type Parsed, post } from "../serving.ts";

/** A client without an SDK: it neither drops nor checks what a server sends. */
export interface RawClient {
  /** The result of a request; throws its error. */
  request(method: string, params?: Readonly<Record<string, unknown>>): Promise<Parsed>;
  /** The text of the answer to a request, whose parameters are JSON; `meta` are further members of its `_meta`. */
  requestText(method: string, params: string, meta?: object): Promise<string>;
  /** The whole text that answers a request, with its notifications. */
  requestAll(method: string, params: string, meta?: object): Promise<string>;
  readonly capabilities: Parsed;
}

/** An error of the protocol. */
export class RawError extends Error {
  readonly code: unknown;
  readonly data: unknown;

  constructor({ code, message, data }: { readonly code: unknown; readonly message: string; readonly data?: unknown }) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** Opens a session of the protocol of 2025. */
export async function openLegacy(
  url: string,
  capabilities: Readonly<Record<string, unknown>> = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<RawClient> {
  const params = { protocolVersion: "2025-11-25", capabilities, clientInfo: { name: "raw", version: "1" } };
  const opened = await post(url, { jsonrpc: "2.0", id: 0, method: "initialize", params }, headers);
  const session = { ...headers, "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
  await post(url, { jsonrpc: "2.0", method: "notifications/initialized" }, session);
  return createRawClient(opened.json.result.capabilities, (method, json) => ({
    headers: session,
    body: `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${json}}`,
    url,
  }));
}

/** Speaks the protocol of 2026, whose requests carry the capabilities. */
export async function openModern(
  url: string,
  capabilities: Readonly<Record<string, unknown>> = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<RawClient> {
  const own = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": capabilities,
    "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
  };
  const create = (method: string, json: string, more: object = {}): RawRequest => {
    const meta = JSON.stringify({ ...more, ...own });
    const { name, uri } = JSON.parse(json) as { readonly name?: string; readonly uri?: string };
    const params = json === "{}" ? `{"_meta":${meta}}` : `${json.slice(0, -1)},"_meta":${meta}}`;
    const target = name ?? uri;
    return {
      url,
      headers: {
        ...headers,
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": method,
        ...(target !== undefined && { "mcp-name": target }),
      },
      body: `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`,
    };
  };
  const client = createRawClient({}, create);
  const { capabilities: offered } = await client.request("server/discover");
  return createRawClient(offered, create);
}

interface RawRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

function createRawClient(
  capabilities: Parsed,
  create: (method: string, json: string, meta?: object) => RawRequest,
): RawClient {
  const requestAll = async (method: string, json: string, meta?: object): Promise<string> => {
    const { url, headers, body } = create(method, json, meta);
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
      body,
    });
    return response.text();
  };
  const requestText = async (method: string, json: string, meta?: object): Promise<string> => {
    const text = await requestAll(method, json, meta);
    return /^data: (\{.*"(?:result|error)".*)$/m.exec(text)?.[1] ?? text;
  };
  return {
    capabilities,
    requestAll,
    requestText,
    async request(method, params = {}) {
      const { result, error } = JSON.parse(await requestText(method, JSON.stringify(params)));
      if (error !== undefined) throw new RawError(error);
      return result;
    },
  };
}

export const ERAS = [
  ["2025", openLegacy],
  ["2026", openModern],
] as const;
