import type { WebSocket } from "ws";

/** The largest body, and the largest message of a WebSocket, that is read before a valid token was seen. */
export const MAX_UNAUTHENTICATED_BYTES = 64 << 10;

/** How long a WebSocket may stay open without a valid token. */
export const AUTHENTICATION_MS = 10_000;

/** Each of them holds at most one message that is not complete and as many bytes of unread answers: 16 MB together. */
export const MAX_UNAUTHENTICATED_SOCKETS = 128;

/** How long a client may take to read why it is closed. */
const FAREWELL_MS = 1_000;

/** The WebSockets of clients that have not shown a valid token yet. */
export interface UnauthenticatedSockets {
  readonly isFull: boolean;
  has(client: WebSocket): boolean;
  /** Closes the socket if it is not removed in time. */
  add(client: WebSocket): void;
  /** The client has shown a valid token. */
  remove(client: WebSocket): void;
}

export function createUnauthenticatedSockets(authenticationMs: number): UnauthenticatedSockets {
  const timers = new Map<WebSocket, NodeJS.Timeout>();
  const remove = (client: WebSocket): void => {
    clearTimeout(timers.get(client));
    timers.delete(client);
  };
  return {
    get isFull() {
      return timers.size >= MAX_UNAUTHENTICATED_SOCKETS;
    },
    has: (client) => timers.has(client),
    add(client) {
      const timer = setTimeout(() => {
        client.close(1008, `no valid token within ${authenticationMs / 1_000} s`);
        setTimeout(() => client.terminate(), FAREWELL_MS).unref();
      }, authenticationMs).unref();
      timers.set(client, timer);
      client.on("close", () => remove(client));
    },
    remove,
  };
}
