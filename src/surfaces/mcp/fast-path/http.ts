import { type StartedCall, FastPathCalls, type LegacyConnection } from "./calls.ts";
import { getOfferedTools } from "../tools/tool-exposure.ts";
import type { ListedTool } from "../tools/method-tool.ts";
import type { Principal, ConnectedClient, GatewayContext } from "../sessions/client-session.ts";
import { MODERN_VERSION, type RegularCall } from "./regular-call.ts";
import { openHttpReply, type StreamLog, toEventStream } from "./http-reply.ts";
import type { SentEvent, SentEvents } from "../sessions/sent-events.ts";
import type { Exchange } from "../sessions/session.ts";

/** Answers a call that comes with all that the protocol of 2026 wants; `undefined` for any other request. */
export function answerModernCall(
  shared: GatewayContext,
  exchange: Exchange,
  asker: Principal,
): Promise<Response> | undefined {
  const { headers } = exchange.request;
  if (headers.get("mcp-protocol-version") !== MODERN_VERSION) return undefined;
  const calls = new FastPathCalls(shared, { ...asker, era: "modern" });
  const call = calls.read(exchange.body);
  if (call === undefined || !isWellAddressed(call, headers) || wantsHeaders(call, shared, asker)) return undefined;
  let begun: StartedCall | undefined;
  const giveUp = (): void => begun?.cancel();
  const reply = openHttpReply({ respond: exchange.respond, onGone: giveUp });
  begun = calls.start(call, reply);
  exchange.onEnd(giveUp);
  return reply.response;
}

/** The calls of one session of an old client, which can come back to them when its connection was lost. */
export class SessionCalls extends FastPathCalls {
  readonly #headers: Readonly<Record<string, string>>;
  readonly #sent: SentEvents;
  /** By the names of their streams, calls that are under way. */
  readonly #live = new Map<string, (missed: readonly SentEvent[], exchange: Exchange) => Response>();
  #last = 0;

  constructor(
    shared: GatewayContext,
    peer: ConnectedClient,
    connection: LegacyConnection,
    session: { readonly id: string; readonly sent: SentEvents },
  ) {
    super(shared, peer, connection);
    this.#headers = { "mcp-session-id": session.id };
    this.#sent = session.sent;
  }

  /** `undefined` for any request but a plain call. */
  answer(exchange: Exchange): Promise<Response> | undefined {
    const { headers } = exchange.request;
    const version = headers.get("mcp-protocol-version");
    if (!takesBoth(headers) || (version !== null && !OLD_VERSIONS.has(version))) return undefined;
    const call = this.read(exchange.body);
    return call && this.#answer(call, exchange, version !== null && version >= SINCE_MARKS);
  }

  /** Goes on with a stream of calls after an event; `undefined` if it is no such stream. */
  resume(lastEventId: string, exchange: Exchange): Response | undefined {
    const { stream = "", events = [] } = this.#sent.since(lastEventId) ?? {};
    if (!stream.startsWith(STREAM)) return undefined;
    const live = this.#live.get(stream);
    if (live !== undefined) return live(events, exchange);
    const ended = toEventStream(events, this.#headers, () => {});
    ended.end();
    return ended.response;
  }

  #answer(call: RegularCall, exchange: Exchange, takesMarks: boolean): Promise<Response> {
    const stream = `${STREAM}${++this.#last}`;
    const log: StreamLog = {
      keep: (json) => this.#sent.keep(stream, json),
      here: takesMarks ? () => this.#sent.here(stream) : undefined,
    };
    let begun: StartedCall | undefined;
    let timer: NodeJS.Timeout | undefined;
    let carrier: Exchange | undefined = exchange;
    const gone = (lost: Exchange): void => {
      if (lost !== carrier) return;
      clearTimeout(timer);
      if (reply.isResumable) timer = setTimeout(() => begun?.cancel(), RESUME_MS);
      else begun?.cancel();
    };
    const { respond } = exchange;
    const options = { respond, headers: this.#headers, silenceMs: SILENCE_MS, log };
    const reply = openHttpReply({ ...options, onGone: () => gone(exchange) });
    this.#live.set(stream, (missed, next) => {
      clearTimeout(timer);
      carrier = next;
      next.onEnd(() => gone(next));
      return reply.resume(missed, () => gone(next));
    });
    begun = this.start(call, {
      say: reply.say,
      answer: (message) => {
        clearTimeout(timer);
        carrier = undefined;
        this.#live.delete(stream);
        reply.answer(message);
      },
    });
    exchange.onEnd(() => gone(exchange));
    return reply.response;
  }
}

const STREAM = "call-";

/** How long a call goes on whose client has lost its connection and may come back. */
export const RESUME_MS = 5_000;

/** Clients of older versions do not know an event that is nothing but an id. */
const SINCE_MARKS = "2025-11-25";

/** Some proxies give up a request of which nothing is heard. */
const SILENCE_MS = 1_000;

const OLD_VERSIONS: ReadonlySet<string> = new Set(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]);

function isWellAddressed({ name }: RegularCall, headers: Headers): boolean {
  return takesBoth(headers) && headers.get("mcp-method") === "tools/call" && headers.get("mcp-name") === name;
}

function takesBoth(headers: Headers): boolean {
  const accept = headers.get("accept") ?? "";
  return accept.includes("application/json") && accept.includes("text/event-stream");
}

/** Some tools want arguments in headers as well; the SDK compares them. */
function wantsHeaders({ name }: RegularCall, { runtime }: GatewayContext, { caller, exposure }: Principal): boolean {
  const tool = getOfferedTools(runtime.catalogFor(caller), exposure).find(name)?.tool;
  if (tool === undefined) return false;
  const known = wanting.get(tool) ?? JSON.stringify(tool.inputSchema).includes('"x-mcp-header"');
  wanting.set(tool, known);
  return known;
}

const wanting = new WeakMap<ListedTool, boolean>();
