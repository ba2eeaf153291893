import { type Begun, DirectCalls, type OldConnection } from "./direct-calls.ts";
import { offeredTo } from "./expose.ts";
import type { Tool } from "./method-tool.ts";
import type { Asker, Peer, Shared } from "./peer.ts";
import { MODERN_VERSION, type RegularCall } from "./regular-call.ts";
import { openReply } from "./reply.ts";
import type { Exchange } from "./sessions.ts";

/** Answers a call that comes with all that the protocol of 2026 wants; `undefined` for any other request. */
export function answerNewCall(shared: Shared, exchange: Exchange, asker: Asker): Promise<Response> | undefined {
  const { headers } = exchange.request;
  if (headers.get("mcp-protocol-version") !== MODERN_VERSION) return undefined;
  const calls = new DirectCalls(shared, { ...asker, era: "modern" });
  const call = calls.read(exchange.body);
  if (call === undefined || !isWellAddressed(call, headers) || wantsHeaders(call, shared, asker)) return undefined;
  return answerCall(calls, call, exchange, {});
}

/** The calls of one session of an old client. */
export class SessionCalls extends DirectCalls {
  readonly #headers: Readonly<Record<string, string>>;

  constructor(shared: Shared, peer: Peer, connection: OldConnection, sessionId: string) {
    super(shared, peer, connection);
    this.#headers = { "mcp-session-id": sessionId };
  }

  /** `undefined` for any request but a plain call. */
  answer(exchange: Exchange): Promise<Response> | undefined {
    const { headers } = exchange.request;
    const version = headers.get("mcp-protocol-version");
    if (!takesBoth(headers) || (version !== null && !OLD_VERSIONS.has(version))) return undefined;
    const call = this.read(exchange.body);
    return call && answerCall(this, call, exchange, { headers: this.#headers, silenceMs: SILENCE_MS });
  }
}

/** Some proxies give up a request of which nothing is heard. */
const SILENCE_MS = 1_000;

const OLD_VERSIONS: ReadonlySet<string> = new Set(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]);

function answerCall(
  calls: DirectCalls,
  call: RegularCall,
  exchange: Exchange,
  options: { readonly headers?: Readonly<Record<string, string>>; readonly silenceMs?: number },
): Promise<Response> {
  let begun: Begun | undefined;
  const giveUp = (): void => begun?.cancel();
  const reply = openReply({ ...options, respond: exchange.respond, onGone: giveUp });
  begun = calls.start(call, reply);
  exchange.onEnd(giveUp);
  return reply.response;
}

function isWellAddressed({ name }: RegularCall, headers: Headers): boolean {
  return takesBoth(headers) && headers.get("mcp-method") === "tools/call" && headers.get("mcp-name") === name;
}

function takesBoth(headers: Headers): boolean {
  const accept = headers.get("accept") ?? "";
  return accept.includes("application/json") && accept.includes("text/event-stream");
}

/** Some tools want arguments in headers as well; the SDK compares them. */
function wantsHeaders({ name }: RegularCall, { runtime }: Shared, { caller, exposure }: Asker): boolean {
  const tool = offeredTo(runtime.catalogFor(caller), exposure).find(name)?.tool;
  if (tool === undefined) return false;
  const known = wanting.get(tool) ?? JSON.stringify(tool.inputSchema).includes('"x-mcp-header"');
  wanting.set(tool, known);
  return known;
}

const wanting = new WeakMap<Tool, boolean>();
