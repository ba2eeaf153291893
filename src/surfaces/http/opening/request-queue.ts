import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

import { refuseRequest } from "./refuse-request.ts";
import { waitAtMost } from "../../../shared/run-with-timeout.ts";

/** Maximum number of requests in the queue, by kind. A caller is the owner; other senders are not identified yet. */
const MAX_REQUESTS = { caller: 1_024, stranger: 128, upgrade: 128 } as const;

/** Milliseconds that clients have to receive a refusal. */
const REFUSAL_MS = 500;

const AGAIN = ["Send the request again when the server has started"];

type QueuedRequest =
  | {
      readonly kind: "caller" | "stranger";
      readonly incoming: IncomingMessage;
      readonly outgoing: ServerResponse;
    }
  | { readonly kind: "upgrade"; readonly incoming: IncomingMessage; readonly socket: Duplex; readonly head: Buffer };

/** Requests that wait for the complete server, in the order in which they arrived. Their bodies wait at the clients. */
export class RequestQueue {
  readonly #requests = new Set<QueuedRequest>();

  /** Adds a request; refuses it if the queue is full. */
  add(kind: "caller" | "stranger", incoming: IncomingMessage, outgoing: ServerResponse): void {
    if (this.#isFull(kind))
      void refuseRequest(incoming, outgoing, {
        reason: "The server is starting, and too many requests wait for it",
        suggestions: AGAIN,
      });
    else this.#add({ kind, incoming, outgoing }, outgoing);
  }

  /** Adds an upgrade; drops its connection if the queue is full. */
  addUpgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on("error", ignoreReset);
    if (this.#isFull("upgrade")) socket.destroy();
    else this.#add({ kind: "upgrade", incoming, socket, head }, socket);
  }

  /** Passes every request to the listeners of a server. */
  release(server: Server): void {
    for (const request of this.#takeAll()) {
      if (request.kind !== "upgrade") server.emit("request", request.incoming, request.outgoing);
      else {
        request.socket.off("error", ignoreReset);
        server.emit("upgrade", request.incoming, request.socket, request.head);
      }
    }
  }

  /** Refuses every request; settles when the refusals are sent, or after some time. */
  async refuse(reason: string): Promise<void> {
    const refusals = this.#takeAll().map(async (request) => {
      if (request.kind === "upgrade") request.socket.destroy();
      else await refuseRequest(request.incoming, request.outgoing, { reason, suggestions: AGAIN });
    });
    await waitAtMost(REFUSAL_MS, Promise.all(refusals));
  }

  #isFull(kind: QueuedRequest["kind"]): boolean {
    return [...this.#requests].filter((request) => request.kind === kind).length >= MAX_REQUESTS[kind];
  }

  /** Adds a request until its connection is lost. */
  #add(request: QueuedRequest, connection: Duplex | ServerResponse): void {
    this.#requests.add(request);
    connection.once("close", () => this.#requests.delete(request));
  }

  #takeAll(): readonly QueuedRequest[] {
    const requests = [...this.#requests];
    this.#requests.clear();
    return requests;
  }
}

/** Node's HTTP server does not handle errors of a socket after its upgrade. */
function ignoreReset(): void {}
