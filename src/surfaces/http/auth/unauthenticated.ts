import type { WebSocket } from "ws";

/** Largest body or WebSocket message that is read before the client is authenticated. */
export const MAX_UNAUTHENTICATED_BYTES = 64 << 10;

/** Milliseconds that a WebSocket may stay open without a valid token. */
export const AUTHENTICATION_MS = 10_000;

/** Each socket buffers at most one incomplete message and as many bytes of unread answers: 16 MB in total. */
export const MAX_UNAUTHENTICATED_SOCKETS = 128;

/** Milliseconds that a client has to receive the reason why it is closed. */
const CLOSE_GRACE_MS = 1_000;

/** The WebSockets of clients that are not authenticated yet. */
export interface UnauthenticatedSockets {
  readonly isFull: boolean;
  has(client: WebSocket): boolean;
  /** Closes the socket if it is not removed in time. */
  add(client: WebSocket): void;
  /** Keeps the socket open: its client is authenticated. */
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
        setTimeout(() => client.terminate(), CLOSE_GRACE_MS).unref();
      }, authenticationMs).unref();
      timers.set(client, timer);
      client.on("close", () => remove(client));
    },
    remove,
  };
}
