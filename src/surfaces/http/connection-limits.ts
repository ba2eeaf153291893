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
   * Counts all that is written to a connection until its client has read it. Destroys a connection with too much; if all together
   * have too much, the one with the most. `unreadBytes` replaces the limit of one connection.
   */
  watch(socket: Socket, unreadBytes?: number): void;
  /**
   * Watches the connection of a request, and counts the request until its answer is sent. Destroys a connection with too many, and
   * then returns false.
   */
  addRequest(socket: Socket, answer: ServerResponse): boolean;
  /** Returns why the caller may not use a further connection; `undefined` if it may. A connection counts for its last caller. */
  claim(socket: Socket, caller: string): string | undefined;
}

/** The memory of a buffered write beside its bytes. */
const WRITE_BYTES = 256;

/** A connection that is watched. */
interface WatchedConnection {
  readonly mostBytes: number;
  unread: number;
}

/** `log` receives a sentence about each connection that is destroyed. */
export function createConnections(limits: ConnectionLimits, log: (text: string) => void): Connections {
  const peers = new Map<Socket, WatchedConnection>();
  const shares = createShares(limits.connections);
  const countRequest = createRequestCounter();
  let total = 0;

  /** Counts bytes until the returned function is called. */
  function addUnread(socket: Socket, bytes: number): () => void {
    const peer = peers.get(socket);
    if (peer === undefined) return () => {}; // it is closed
    peer.unread += bytes;
    total += bytes;
    if (peer.unread > peer.mostBytes) destroy(socket, `the limit of one connection is ${toMb(peer.mostBytes)}`);
    const largest = total > limits.totalUnreadBytes ? findLargest(peers) : undefined;
    if (largest !== undefined) destroy(largest, `the limit of all connections is ${toMb(limits.totalUnreadBytes)}`);
    return () => {
      if (!peers.has(socket)) return;
      peer.unread -= bytes;
      total -= bytes;
    };
  }

  function destroy(socket: Socket, reason: string): void {
    const bytes = peers.get(socket)?.unread ?? 0;
    const caller = shares.callers.get(socket);
    log(`Closed a connection${caller === undefined ? "" : ` of ${caller}`}: it has not read ${toMb(bytes)}; ${reason}`);
    forget(socket);
    socket.destroy();
  }

  function forget(socket: Socket): void {
    total -= peers.get(socket)?.unread ?? 0;
    peers.delete(socket);
  }

  function watch(socket: Socket, mostBytes = limits.unreadBytes): void {
    if (peers.has(socket) || socket.destroyed) return;
    peers.set(socket, { mostBytes, unread: 0 });
    socket.once("close", () => forget(socket));
    countWrites(socket, (bytes) => addUnread(socket, bytes));
  }

  return {
    watch,
    addRequest(socket, answer) {
      watch(socket);
      if (answer.socket === null) countUntilTurn(answer, (bytes) => addUnread(socket, bytes));
      const sum = countRequest(socket, answer);
      if (sum <= limits.requests) return true;
      if (!socket.destroyed)
        destroy(
          socket,
          `${sum} of its requests are not answered, and the limit of one connection is ${limits.requests}`,
        );
      return false;
    },
    claim: shares.claim,
  };
}

/** Counts the connections of each caller. */
function createShares(most: number): Pick<Connections, "claim"> & { readonly callers: ReadonlyMap<Socket, string> } {
  const callers = new Map<Socket, string>();
  const counts = new Map<string, number>();

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
    callers,
    claim(socket, caller) {
      const previous = callers.get(socket);
      if (previous === caller) return undefined;
      if ((counts.get(caller) ?? 0) >= most) return `${caller} has ${most} connections already`;
      release(socket);
      if (previous === undefined) socket.once("close", () => release(socket));
      callers.set(socket, caller);
      count(caller, 1);
      return undefined;
    },
  };
}

/** Counts the bytes of a write, and returns the function to call when the client has received them. */
type CountBytes = (bytes: number) => () => void;

/** Counts each write of a socket: answers, event streams and WebSockets all end here. */
function countWrites(socket: Socket, count: CountBytes): void {
  const write = socket.write.bind(socket) as (...args: readonly unknown[]) => boolean;
  socket.write = (chunk: unknown, ...rest: readonly unknown[]): boolean => {
    let wasRead = (): void => {};
    const [encoding, callback] = typeof rest[0] === "function" ? [undefined, rest[0]] : rest;
    const before = socket.writableLength;
    const isFree = write(chunk, encoding, (...results: readonly unknown[]) => {
      wasRead();
      if (typeof callback === "function") callback(...results);
    });
    wasRead = count(socket.writableLength - before + WRITE_BYTES);
    return isFree;
  };
}

/** Counts the writes of an answer that waits for those to earlier requests of its connection; then they are written to the socket. */
function countUntilTurn(answer: ServerResponse, count: CountBytes): void {
  const releases: (() => void)[] = [];
  const release = (): void => releases.splice(0).forEach((each) => each());
  answer.once("socket", release).once("close", release);
  for (const name of ["write", "end"] as const) {
    const original = answer[name].bind(answer) as (...args: readonly unknown[]) => never;
    answer[name] = (...args: readonly unknown[]) => {
      const before = answer.writableLength;
      const result = original(...args);
      if (answer.socket === null) releases.push(count(answer.writableLength - before + WRITE_BYTES));
      return result;
    };
  }
}

function findLargest(peers: ReadonlyMap<Socket, WatchedConnection>): Socket | undefined {
  return [...peers].toSorted(([, one], [, other]) => other.unread - one.unread)[0]?.[0];
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
