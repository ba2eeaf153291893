import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { type RawData, type WebSocket, WebSocketServer } from "ws";

import { parseJson } from "../../model/json.ts";
import { extractContext, getActiveContext, runInContext } from "../../telemetry/index.ts";
import { createRequestValues } from "../../model/requests/request-values.ts";
import type { CredentialLife } from "../../model/credential.ts";
import { type Authentication, getCaller } from "./auth/authenticate.ts";
import { reportFault } from "../../shared/errors/faults.ts";
import { rpcError } from "../../shared/rpc-errors.ts";
import {
  answerRpc,
  createParseError,
  ownFaultAnswer,
  RpcFailure,
  type RpcHandler,
} from "../../shared/json/json-rpc.ts";
import { findShapeExcess } from "../../shared/json/json-shape.ts";
import type { BodyShare } from "../../shared/http/body-memory.ts";
import { MANY_BODIES } from "./body.ts";
import { emitAnswer, createObserver } from "./chunking.ts";
import { createRpcHandler, type RpcContext } from "./rpc-methods.ts";
import { createHealthReport, type HttpServices } from "./services.ts";
import {
  createUnauthenticatedSockets,
  MAX_UNAUTHENTICATED_BYTES,
  type UnauthenticatedSockets,
} from "./auth/unauthenticated.ts";

/** Calls in progress per connection; at this limit, reading pauses until one ends. */
const MAX_CALLS = 64;

/** Milliseconds that the calls of a socket have to be answered after the end of its key. */
const ANSWER_MS = 1_000;

/** Interval between pings; a connection that misses one is closed. */
const PING_MS = 30_000;

/** The open WebSockets of a server. */
export interface Sockets {
  close(): void;
}

/** Serves the JSON-RPC of `/rpc` over WebSockets at `/ws`, with the same checks and with notifications of calls. */
export function serveSockets(server: Server, services: HttpServices): Sockets {
  const { bodyBytes } = services.settings;
  const unauthenticated = createUnauthenticatedSockets(services.authenticationMs);
  const openSockets = (maxPayload: number): WebSocketServer =>
    // Each message has a turn of its own, however many come in one packet.
    new WebSocketServer({ noServer: true, maxPayload, allowSynchronousEvents: false });
  const authenticatedSockets = openSockets(bodyBytes);
  const unknown = openSockets(Math.min(MAX_UNAUTHENTICATED_BYTES, bodyBytes));
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (request.headers.upgrade?.toLowerCase() !== "websocket") return carryOn(server, request, socket, head);
    services.connections.watch(request.socket);
    void accept(request, socket, head);
  });

  async function accept(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const ignore = (): void => {};
    socket.on("error", ignore); // Node's HTTP server no longer handles its errors
    const sender = await services.authenticator.authenticate(request.headers).catch((thrown: unknown) => {
      reportFault({ thrown });
      return undefined;
    });
    socket.off("error", ignore);
    if (socket.destroyed) return;
    const isStranger = sender?.kind !== "caller";
    const status =
      sender === undefined
        ? "500 Internal Server Error"
        : findRefusal(request, services, isStranger && unauthenticated.isFull);
    if (status !== undefined) return refuseUpgrade(socket, status);
    // A script in a browser cannot set headers: it sends its token in each message.
    (isStranger ? unknown : authenticatedSockets).handleUpgrade(request, socket, head, (client) => {
      if (isStranger) unauthenticated.add(client);
      runInContext(extractContext(request.headers), () =>
        converse(client, { request, isStranger }, services, unauthenticated),
      );
      if (isStranger) return;
      closeAfterCredential(client, sender.life);
      const reason = services.connections.claim(request.socket, sender.caller.id);
      if (reason !== undefined) client.close(1013, reason);
      limitLargeMessages(client, request.socket, (giveUp) => services.bodies.open(sender.caller.id, giveUp));
    });
  }
  return {
    close() {
      for (const sockets of [authenticatedSockets, unknown]) {
        for (const client of sockets.clients) client.close(1001, "the server ends");
        sockets.close();
      }
    },
  };
}

/** Closes a socket in the middle of a large message if other requests need its memory. */
function limitLargeMessages(client: WebSocket, socket: Duplex, open: (giveUp: () => void) => BodyShare): void {
  let bytes = 0;
  const close = (): void => {
    share.release();
    client.close(1013, MANY_BODIES);
    client.terminate();
  };
  const share = open(close);
  socket.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (!share.resize(bytes)) close();
  });
  client.on("message", () => {
    bytes = 0;
    share.release();
  });
  client.on("close", () => share.release());
}

function findRefusal(
  request: IncomingMessage,
  { origins, inFlight }: HttpServices,
  isFull: boolean,
): string | undefined {
  const { url = "" } = request;
  if (origins.refusal(request) !== undefined) return "403 Forbidden";
  if (url.split("?")[0] !== "/ws") return "404 Not Found";
  return isFull || inFlight.isStopping ? "503 Service Unavailable" : undefined;
}

/** Rejects an upgrade. Node's HTTP server no longer handles errors of the socket. */
function refuseUpgrade(socket: Duplex, status: string): void {
  socket.on("error", () => {}); // the client reset the connection; there is nothing left to answer
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () => socket.destroy());
}

/** Ignores an upgrade to another protocol: Java's HTTP client offers HTTP/2 with each first request. */
function carryOn(server: Server, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const { method, url, httpVersion, rawHeaders } = request;
  const lines = rawHeaders.flatMap((name, at) =>
    at % 2 === 1 || OFFER.has(name.toLowerCase()) ? [] : [`${name}: ${rawHeaders[at + 1]}\r\n`],
  );
  const start = Buffer.from(`${method} ${url} HTTP/${httpVersion}\r\n${lines.join("")}\r\n`, "latin1");
  socket.unshift(Buffer.concat([start, head]));
  server.emit("connection", socket); // parse it again, without the upgrade
}

/** Headers that offer an upgrade. */
const OFFER: ReadonlySet<string> = new Set(["connection", "upgrade", "http2-settings"]);

function converse(
  client: WebSocket,
  { request, isStranger }: { readonly request: IncomingMessage; readonly isStranger: boolean },
  services: HttpServices,
  unauthenticated: UnauthenticatedSockets,
): void {
  const controller = new AbortController();
  const upgradeRequest = isStranger ? undefined : request;
  const requestValues = createRequestValues(toHeaders(request));
  const trace = getActiveContext();
  let calls = 0;
  const send = (message: unknown): void => {
    if (unauthenticated.has(client) && client.bufferedAmount > MAX_UNAUTHENTICATED_BYTES) client.terminate();
    if (client.readyState !== client.OPEN) return;
    client.send(JSON.stringify(message));
  };
  const closeAfterAnswer = (code: number, reason: string): void => void setImmediate(() => client.close(code, reason));
  // Each message is authenticated again, because a key can be revoked and a token expires.
  const identify = async (message: unknown): Promise<Authentication> => {
    const { authenticator } = services;
    const sender = await (upgradeRequest === undefined
      ? authenticator.authenticateMessage(message)
      : authenticator.authenticate(upgradeRequest.headers));
    const caller = getCaller(sender);
    if (caller !== undefined) {
      unauthenticated.remove(client);
      const reason = services.connections.claim(request.socket, caller.id);
      if (reason !== undefined) closeAfterAnswer(1013, reason);
    } else if (upgradeRequest !== undefined) closeAfterAnswer(1008, "the token is no longer valid");
    return sender;
  };
  const { runtime, mcp } = services;
  const programs = { runtime, records: mcp.records, features: mcp.features, requestValues };
  keepAlive(client);
  client.on("close", () => controller.abort());
  client.on("error", () => {}); // ws closes the connection of an invalid or too large frame with the matching code
  client.on("message", (data, isBinary) => {
    const text = isBinary ? "" : decodeText(data);
    const excess = findShapeExcess(text);
    if (excess !== undefined) return send(createParseError(`The message has ${excess}`));
    const value = parseJson(text);
    if (value === undefined) return send(createParseError());
    if (++calls === MAX_CALLS) client.pause();
    const handler = services.inFlight.isStopping
      ? refuseCall
      : createRpcHandler({ ...createRpcContext(services, identify, controller.signal, send), programs });
    const answered = runInContext(trace, () => answerRpc(value, handler)).then((answer) => {
      if (calls-- === MAX_CALLS) client.resume();
      services.counters.count("/ws", 200);
      if (answer !== undefined) emitAnswer(answer, send);
    });
    services.inFlight.trackWork(answered.catch((thrown: unknown) => send(ownFaultAnswer(thrown))));
  });
}

/** Refuses a call that arrives while the server stops, before it begins. */
const refuseCall: RpcHandler = async ({ traceId }) => {
  const suggestions = ["Send the call again, to a server that runs"];
  throw new RpcFailure(rpcError("InternalError", "The server is stopping", { trace_id: traceId, suggestions }));
};

/** Closes a socket whose key has ended, after the answers of the calls that this cancels. */
function closeAfterCredential(client: WebSocket, life: CredentialLife | undefined): void {
  const stop = life?.onEnd((why) => setTimeout(() => client.close(1008, why), ANSWER_MS).unref());
  if (stop !== undefined) client.on("close", stop);
}

/** The headers of the request that opened the connection, which count for all of its messages. */
function toHeaders({ headers }: IncomingMessage): Headers {
  const pairs = Object.entries(headers).map(([name, value]): [string, string] => [
    name,
    [value ?? ""].flat().join(", "),
  ]);
  return new Headers(pairs);
}

function createRpcContext(
  services: HttpServices,
  identify: (message: unknown) => Promise<Authentication>,
  signal: AbortSignal,
  send: (message: unknown) => void,
): Omit<RpcContext, "programs"> {
  return {
    authenticate: ({ message }) => identify(message),
    challenge: services.challenge,
    signal,
    health: (caller) => createHealthReport(services, caller),
    createObserver: ({ id }) => createObserver(id, send),
  };
}

function decodeText(data: RawData): string {
  if (data instanceof ArrayBuffer) return Buffer.from(data).toString();
  return (Array.isArray(data) ? Buffer.concat(data) : data).toString();
}

function keepAlive(client: WebSocket): void {
  let isAlive = true;
  const timer = setInterval(() => {
    if (client.isPaused) return; // a paused socket does not receive pongs
    if (!isAlive) client.terminate();
    isAlive = false;
    client.ping();
  }, PING_MS).unref();
  client.on("pong", () => (isAlive = true));
  client.on("close", () => clearInterval(timer));
}
