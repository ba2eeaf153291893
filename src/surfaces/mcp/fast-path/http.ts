import { createRequestValues } from "../../../model/requests/request-values.ts";
import { type StartedCall, FastPathCalls, type LegacyConnection, type Listener } from "./calls.ts";
import { getOfferedTools } from "../tools/tool-exposure.ts";
import type { ToolDefinition } from "../../../model/tools/tool-definition.ts";
import type { Principal, ConnectedClient, GatewayContext } from "../sessions/client-session.ts";
import { MODERN_VERSION, type RegularCall } from "./regular-call.ts";
import { openHttpReply, type StreamLog, toEventStream } from "./http-reply.ts";
import type { SentEvent, SentEvents } from "../sessions/sent-events.ts";
import type { Exchange } from "../sessions/session.ts";

/** Answers a regular call of the 2026 protocol; `undefined` for any other request. */
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
  const giveUp = (): void => begun?.lose();
  const reply = openHttpReply({ respond: exchange.respond, onGone: giveUp });
  begun = calls.start(call, reply);
  exchange.onEnd(giveUp);
  return reply.response;
}

/** Calls of one session of an older client, which can resume their streams after a lost connection. */
export class SessionCalls extends FastPathCalls {
  readonly #headers: Readonly<Record<string, string>>;
  readonly #sent: SentEvents;
  /** Resumes a call in progress, by the name of its stream. */
  readonly #live = new Map<string, (missed: readonly SentEvent[], exchange: Exchange) => Response>();
  #last = 0;

  constructor(
    shared: GatewayContext,
    mcpClient: ConnectedClient,
    connection: LegacyConnection,
    session: { readonly id: string; readonly sent: SentEvents },
  ) {
    super(shared, mcpClient, connection);
    this.#headers = { "mcp-session-id": session.id };
    this.#sent = session.sent;
  }

  /** Answers a regular call; `undefined` for any other request. */
  answer(exchange: Exchange): Promise<Response> | undefined {
    const { headers } = exchange.request;
    const version = headers.get("mcp-protocol-version");
    if (!takesBoth(headers) || (version !== null && !OLD_VERSIONS.has(version))) return undefined;
    const call = this.read(exchange.body);
    return call && this.#answer(call, exchange, version !== null && version >= SINCE_MARKS);
  }

  /** Resumes the stream of a call after an event; `undefined` if the event is not from such a stream. */
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
    const onLost = (lost: Exchange): void => {
      if (lost !== carrier) return;
      clearTimeout(timer);
      if (reply.isResumable) timer = setTimeout(() => begun?.lose(), RESUME_MS);
      else begun?.lose();
    };
    const { respond } = exchange;
    const options = { respond, headers: this.#headers, silenceMs: SILENCE_MS, log };
    const reply = openHttpReply({ ...options, onGone: () => onLost(exchange) });
    this.#live.set(stream, (missed, next) => {
      clearTimeout(timer);
      carrier = next;
      next.onEnd(() => onLost(next));
      return reply.resume(missed, () => onLost(next));
    });
    const listener: Listener = {
      say: reply.say,
      answer: (message) => {
        clearTimeout(timer);
        carrier = undefined;
        this.#live.delete(stream);
        reply.answer(message);
      },
    };
    begun = this.start(call, listener, createRequestValues(exchange.request.headers));
    exchange.onEnd(() => onLost(exchange));
    return reply.response;
  }
}

const STREAM = "call-";

/** Milliseconds that a call continues after its client lost the connection and may resume. */
export const RESUME_MS = 5_000;

/** First version whose clients understand an event with only an id. */
const SINCE_MARKS = "2025-11-25";

/** Milliseconds without a message before a stream is opened: some proxies close a silent request. */
const SILENCE_MS = 1_000;

const OLD_VERSIONS: ReadonlySet<string> = new Set(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]);

function isWellAddressed({ name }: RegularCall, headers: Headers): boolean {
  return takesBoth(headers) && headers.get("mcp-method") === "tools/call" && headers.get("mcp-name") === name;
}

function takesBoth(headers: Headers): boolean {
  const accept = headers.get("accept") ?? "";
  return accept.includes("application/json") && accept.includes("text/event-stream");
}

/** Whether a tool expects arguments in headers, too; the SDK compares those. */
function wantsHeaders({ name }: RegularCall, { runtime }: GatewayContext, { caller, exposure }: Principal): boolean {
  const tool = getOfferedTools(runtime.viewFor(caller), exposure).find(name)?.tool;
  if (tool === undefined) return false;
  const cached = wanting.get(tool) ?? JSON.stringify(tool.inputSchema).includes('"x-mcp-header"');
  wanting.set(tool, cached);
  return cached;
}

const wanting = new WeakMap<ToolDefinition, boolean>();
