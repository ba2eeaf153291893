import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Limits on what connections may occupy. */
export interface ConnectionLimits {
  /** Unread bytes of one connection. */
  readonly unreadBytes: number;
  /** Unread bytes of all connections together. */
  readonly totalUnreadBytes: number;
  /** Connections of one caller. */
  readonly connections: number;
  /** Requests of one connection that are not answered, which a client can pipeline. */
  readonly requests: number;
}

/** One caller may have half of the connections of a server. */
export const CONNECTION_LIMITS: ConnectionLimits = {
  unreadBytes: 64 << 20,
  totalUnreadBytes: 256 << 20,
  connections: 2_048,
  requests: 256,
};

/** The bytes that clients have not read, and the connections of each caller. */
export interface Connections {
  /**
   * Counts bytes until the returned function is called. Destroys a connection with too many; if all together have too many, the one
   * with the most.
   */
  addUnread(socket: Socket, bytes: number): () => void;
  /** Counts a request until its answer is sent. Destroys a connection with too many, and then returns false. */
  addRequest(socket: Socket, answer: ServerResponse): boolean;
  /** Returns why the caller may not use a further connection; `undefined` if it may. A connection counts for its last caller. */
  claim(socket: Socket, caller: string): string | undefined;
}

/** `log` receives a sentence about each connection that is destroyed. */
export function createConnections(limits: ConnectionLimits, log: (text: string) => void): Connections {
  const unread = new Map<Socket, number>();
  const callers = new Map<Socket, string>();
  const counts = new Map<string, number>();
  const countRequest = createRequestCounter();
  let total = 0;

  function addBytes(socket: Socket, bytes: number): void {
    const sum = (unread.get(socket) ?? 0) + bytes;
    total += bytes;
    if (sum === 0) unread.delete(socket);
    else unread.set(socket, sum);
  }

  function destroy(socket: Socket, reason: string): void {
    const bytes = unread.get(socket) ?? 0;
    const caller = callers.get(socket);
    log(`Closed a connection${caller === undefined ? "" : ` of ${caller}`}: it has not read ${toMb(bytes)}; ${reason}`);
    addBytes(socket, -bytes); // what is freed later counts no more
    socket.destroy();
  }

  function count(caller: string, change: number): void {
    const next = (counts.get(caller) ?? 0) + change;
    if (next === 0) counts.delete(caller);
    else counts.set(caller, next);
  }

  function release(socket: Socket): void {
    const caller = callers.get(socket);
    if (caller !== undefined) count(caller, -1);
    callers.delete(socket);
  }

  return {
    addUnread(socket, bytes) {
      if (socket.destroyed) return () => {};
      addBytes(socket, bytes);
      let isCounted = true;
      if ((unread.get(socket) ?? 0) > limits.unreadBytes)
        destroy(socket, `the limit of one connection is ${toMb(limits.unreadBytes)}`);
      const largest = total > limits.totalUnreadBytes ? findLargest(unread) : undefined;
      if (largest !== undefined) destroy(largest, `the limit of all connections is ${toMb(limits.totalUnreadBytes)}`);
      return () => {
        if (isCounted && unread.has(socket)) addBytes(socket, -bytes);
        isCounted = false;
      };
    },
    addRequest(socket, answer) {
      const sum = countRequest(socket, answer);
      if (sum <= limits.requests) return true;
      if (!socket.destroyed)
        destroy(
          socket,
          `${sum} of its requests are not answered, and the limit of one connection is ${limits.requests}`,
        );
      return false;
    },
    claim(socket, caller) {
      const previous = callers.get(socket);
      if (previous === caller) return undefined;
      if ((counts.get(caller) ?? 0) >= limits.connections)
        return `${caller} has ${limits.connections} connections already`;
      release(socket);
      if (previous === undefined) socket.once("close", () => release(socket));
      callers.set(socket, caller);
      count(caller, 1);
      return undefined;
    },
  };
}

function findLargest(unread: ReadonlyMap<Socket, number>): Socket | undefined {
  return [...unread].toSorted(([, one], [, other]) => other - one)[0]?.[0];
}

/** Returns the function that counts a request until its answer is sent, and returns how many its connection has. */
function createRequestCounter(): (socket: Socket, answer: ServerResponse) => number {
  const unanswered = new WeakMap<Socket, number>();
  return (socket, answer) => {
    const sum = (unanswered.get(socket) ?? 0) + 1;
    unanswered.set(socket, sum);
    answer.once("close", () => unanswered.set(socket, (unanswered.get(socket) ?? 1) - 1));
    return sum;
  };
}

function toMb(bytes: number): string {
  return `${(bytes / (1 << 20)).toFixed(1)} MB`;
}
