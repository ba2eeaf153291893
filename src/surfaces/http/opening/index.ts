import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

import { newTraceId } from "../../../shared/rpc-errors.ts";
import { type GetOpeningTexts, type OpeningTexts, parseExactMessages, Silence } from "../../mcp/opening/index.ts";
import { type Authenticator, createAuthenticator, createOwnTokenCheck } from "../auth/authenticate.ts";
import { readAhead, readJson } from "../body.ts";
import { createOriginCheck, type OriginCheck } from "../origin-check.ts";
import type { HttpServerSettings } from "../settings.ts";
import { type EarlyAnswer, type AnsweredClient, EarlyMcp } from "./early-mcp.ts";
import { RequestQueue } from "./request-queue.ts";
import { listen, type ListeningServer } from "./listen.ts";

export { findToken } from "../auth/token.ts";
export { CONNECTION_LIMITS, type Connections, createConnections } from "../connection-limits.ts";
export { parseServerSettings, type HttpServerSettings } from "../settings.ts";

/** Maximum size of a body that is read before the program is loaded. */
const MAX_BODY_BYTES = 64 << 10;

export interface EarlyServerOptions {
  /** Recognizes the token of the owner; absent if requests require none. */
  readonly isToken: ((token: string) => boolean) | undefined;
  /** Returns the texts that a client is sent. */
  readonly getTexts: GetOpeningTexts;
  /** Stores the texts for clients of a name, for the next start. */
  readonly store: (clientName: string, texts: OpeningTexts) => void;
}

/** Listens, and answers the first requests of the owner until the complete server takes the connections over. */
export async function openEarlyServer(settings: HttpServerSettings, options: EarlyServerOptions): Promise<EarlyServer> {
  return new EarlyServer(await listen(settings, options.isToken !== undefined), settings, options);
}

/**
 * A server that listens while the program is loaded. It answers only requests that the complete server would answer in
 * the same way; all others wait for it.
 */
export class EarlyServer implements ListeningServer, AsyncDisposable {
  readonly server: Server;
  readonly url: string;
  readonly settings: HttpServerSettings;
  readonly store: EarlyServerOptions["store"];
  readonly #silence = new Silence();
  readonly #mcp: EarlyMcp;
  readonly #origins: OriginCheck;
  readonly #authenticator: Authenticator;
  readonly #queue = new RequestQueue();
  #state: "answering" | "waiting" | "transferred" | "closed" = "answering";

  constructor({ server, url }: ListeningServer, settings: HttpServerSettings, options: EarlyServerOptions) {
    const { isToken, getTexts, store } = options;
    this.server = server;
    this.url = url;
    this.settings = settings;
    this.store = store;
    this.#mcp = new EarlyMcp(getTexts, settings.sessions);
    this.#origins = createOriginCheck({ ...settings, hasToken: isToken !== undefined });
    this.#authenticator = createAuthenticator(isToken && [createOwnTokenCheck(isToken)]);
    if (settings.port === 0) this.#silence.begin(); // the port is not known to clients yet
    server.on("request", this.#onRequest).on("upgrade", this.#onUpgrade);
  }

  /** Settles when a request has to wait for the program, when the tools are listed, and when clients are silent. */
  get quiet(): Promise<void> {
    return this.#silence.begun;
  }

  /** Stops answering, queues all requests that follow, and returns the clients that were answered. */
  takeClients(): readonly AnsweredClient[] {
    this.#state = "waiting";
    return this.#mcp.clients;
  }

  /** Leaves the server to other listeners. The returned function passes the queued requests to them. */
  transfer(): () => void {
    this.#state = "transferred";
    this.#stopListening();
    return () => this.#queue.release(this.server);
  }

  /** Refuses the queued requests and closes, unless the server was transferred. */
  async close(): Promise<void> {
    if (this.#state === "transferred" || this.#state === "closed") return;
    this.#state = "closed";
    this.#silence.begin();
    this.#stopListening();
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    await this.#queue.refuse("The server ends before its start is complete");
    this.server.closeAllConnections();
    await closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #stopListening(): void {
    this.server.off("request", this.#onRequest).off("upgrade", this.#onUpgrade);
  }

  readonly #onRequest = (incoming: IncomingMessage, outgoing: ServerResponse): void =>
    void this.#take(incoming, outgoing);

  readonly #onUpgrade = (incoming: IncomingMessage, socket: Duplex, head: Buffer): void =>
    this.#queue.addUpgrade(incoming, socket, head);

  async #take(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const isCaller = await this.#isCaller(incoming);
    const answer = isCaller ? await this.#findAnswer(incoming) : undefined;
    if (outgoing.destroyed) return; // the client has gone
    if (answer !== undefined) this.#send(answer, outgoing);
    else if (this.#state === "transferred") this.server.emit("request", incoming, outgoing);
    else if (this.#state === "closed") outgoing.destroy();
    else {
      this.#queue.add(isCaller ? "caller" : "stranger", incoming, outgoing);
      if (isCaller && incoming.method === "POST") this.#silence.begin(); // not for a stream for notifications
    }
  }

  /** True for a request of the owner from an allowed origin. Keys and access tokens wait for the complete server. */
  async #isCaller(incoming: IncomingMessage): Promise<boolean> {
    if (this.#origins.refusal(incoming) !== undefined) return false;
    return (await this.#authenticator.authenticate(incoming.headers)).kind === "caller";
  }

  async #findAnswer(incoming: IncomingMessage): Promise<EarlyAnswer | undefined> {
    const { bodyBytes } = this.settings;
    if (this.#state !== "answering" || !isUsual(incoming, Math.min(MAX_BODY_BYTES, bodyBytes))) return undefined;
    try {
      await readAhead(incoming);
    } catch {
      return undefined; // the connection is lost
    }
    const body = await readJson(incoming, { bytes: bodyBytes, fix: "" }, newTraceId, parseExactMessages);
    if (this.#state !== "answering" || body.kind !== "json") return undefined;
    return this.#mcp.answer(incoming.headers, body.value);
  }

  #send({ status, headers, json = "", isList }: EarlyAnswer, outgoing: ServerResponse): void {
    if (isList) this.#silence.begin();
    else this.#silence.delay();
    outgoing.writeHead(status, { ...headers, "content-length": Buffer.byteLength(json) }).end(json);
  }
}

/** True for a request of the usual form to `/mcp`. Pages of browsers, and choices of the tools, are not usual. */
function isUsual({ method, url, headers }: IncomingMessage, maxBytes: number): boolean {
  const { accept = "", "content-length": length = "", origin } = headers;
  if (method !== "POST" || url !== "/mcp" || origin !== undefined || headers["x-skillgate-expose"] !== undefined)
    return false;
  const acceptsBoth = accept.includes("application/json") && accept.includes("text/event-stream");
  return acceptsBoth && /^\d+$/.test(length) && Number(length) <= maxBytes;
}
