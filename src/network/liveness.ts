import type { Msg, NatsConnection } from "@nats-io/transport-node";

import { getPingSubject } from "./service.ts";

/** Another machine that is pinged. */
export interface WatchedPeer {
  /** The id of its service. */
  readonly id: string;
  /** Moment of its last message, on the clock of `performance.now`. */
  lastSeen: number;
  /** True while it has work of this machine. */
  readonly isBusy: boolean;
}

/** Finds out which machines have gone. */
export interface LivenessWatch {
  /** Must be called when a machine gets work: it is pinged often from then on. */
  watch(): void;
  /** Pings all machines at once, after an interruption. */
  pingAll(): void;
  /** Takes a message to the inbox; returns false if it is no answer to a ping. */
  receive(token: string, message: Msg): boolean;
  close(): void;
}

export interface LivenessOptions {
  /** The name of the service of the machines. */
  readonly service: string;
  /** The time without an answer after which a machine counts as gone. */
  readonly silenceMs: number;
  readonly getConnection: () => NatsConnection | undefined;
  readonly getInbox: () => string;
  /** The machines by their ids. */
  readonly peers: ReadonlyMap<string, WatchedPeer>;
  readonly onGone: (id: string, why: string) => void;
}

/** Milliseconds between pings of a machine with work: a crash is noticed after so long at most. */
const BUSY_MS = 200;

const TOKEN = "ping.";

/**
 * Pings machines: often while they have work, else now and then. The NATS server itself answers for a machine whose
 * connection has closed.
 */
export function createLivenessWatch(options: LivenessOptions): LivenessWatch {
  const { service, silenceMs, getConnection, getInbox, peers, onGone } = options;
  const idleMs = Math.max(50, silenceMs / 5);
  let timer: NodeJS.Timeout | undefined;
  let lastPing = 0;

  function watch(): void {
    clearTimeout(timer);
    const isBusy = [...peers.values()].some((peer) => peer.isBusy);
    const delay = Math.min(isBusy ? BUSY_MS : idleMs, Math.max(0, lastPing + idleMs - performance.now()));
    timer = setTimeout(ping, delay).unref();
  }

  function ping(): void {
    const connection = getConnection();
    const now = performance.now();
    if (connection === undefined) lastPing = now;
    else {
      const isFull = now - lastPing >= idleMs - 1;
      if (isFull) lastPing = now;
      for (const peer of peers.values()) {
        if (!isFull && !peer.isBusy) continue;
        if (now - peer.lastSeen > silenceMs) onGone(peer.id, "does not answer any more");
        else connection.publish(getPingSubject(service, peer.id), "", { reply: `${getInbox()}.${TOKEN}${peer.id}` });
      }
    }
    watch();
  }

  return {
    watch,
    pingAll() {
      lastPing = 0;
      watch();
    },
    receive(token, message) {
      if (!token.startsWith(TOKEN)) return false;
      const id = token.slice(TOKEN.length);
      const peer = peers.get(id);
      if (message.headers?.code === 503) onGone(id, "is not connected any more");
      else if (peer !== undefined) peer.lastSeen = performance.now();
      return true;
    },
    close: () => clearTimeout(timer),
  };
}
