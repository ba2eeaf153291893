/**
 * The memory for bodies that have not arrived yet. Most arrive in milliseconds, so a body that has been arriving for the longest time
 * gives its memory to others.
 */
export interface BodyMemory {
  /** Adds a body. `giveUp` must release its memory at once. `sender` is the address that it comes from, or the id of its caller. */
  open(sender: string, giveUp: () => void): BodyShare;
}

/** The memory of one body. */
export interface BodyShare {
  /** Changes its bytes; returns false if others need the memory. */
  resize(bytes: number): boolean;
  /** Says that the body has arrived: from now on, it does not give its memory to others. */
  finish(): void;
  release(): void;
}

/** In bytes. */
export interface BodyMemoryLimits {
  /** A body with more is large. Nearly all deliveries are small. */
  readonly smallBytes: number;
  /** The memory for small bodies alone. */
  readonly totalSmallBytes: number;
  /** The memory for large bodies, and for small ones beyond their own. */
  readonly totalLargeBytes: number;
}

/** The share of the memory for the bodies of one sender that have not arrived yet. */
const SENDER_SHARE = 0.25;

export function createBodyMemory({ smallBytes, totalSmallBytes, totalLargeBytes }: BodyMemoryLimits): BodyMemory {
  const small = createPool(totalSmallBytes);
  const large = createPool(totalLargeBytes);
  return {
    open(sender, giveUp) {
      const body: StoredBody = { sender, giveUp, bytes: 0 };
      let pool = small;
      return {
        resize(bytes) {
          if (pool === small) {
            if (bytes <= smallBytes && small.resize(body, bytes)) return true;
            small.release(body);
            pool = large;
          }
          return large.resize(body, bytes);
        },
        finish: () => pool.finish(body),
        release: () => pool.release(body),
      };
    },
  };
}

interface StoredBody {
  readonly sender: string;
  readonly giveUp: () => void;
  bytes: number;
}

/** Bodies that have not arrived yet, the oldest first, and their bytes. */
interface OpenBodies {
  readonly bodies: Set<StoredBody>;
  bytes: number;
}

interface MemoryPool {
  resize(body: StoredBody, bytes: number): boolean;
  finish(body: StoredBody): void;
  release(body: StoredBody): void;
}

function createPool(most: number): MemoryPool {
  const open = new Set<StoredBody>();
  const senders = new Map<string, OpenBodies>();
  let total = 0;

  function finish(body: StoredBody): void {
    if (!open.delete(body)) return;
    const own = senders.get(body.sender);
    own?.bodies.delete(body);
    if (own !== undefined) own.bytes -= body.bytes;
    if (own?.bodies.size === 0) senders.delete(body.sender);
  }

  function add(body: StoredBody, bytes: number): void {
    const own = senders.get(body.sender) ?? { bodies: new Set(), bytes: 0 };
    senders.set(body.sender, own);
    own.bodies.add(body);
    open.add(body);
    own.bytes += bytes;
    body.bytes += bytes;
    total += bytes;
  }

  /** Returns the body that must give up before another one has more bytes; `undefined` if these are left. */
  function findOldest({ sender }: StoredBody, bytes: number): StoredBody | undefined {
    const own = senders.get(sender);
    if (own !== undefined && own.bytes + bytes > most * SENDER_SHARE) return first(own.bodies);
    return total + bytes > most ? first(open) : undefined;
  }

  return {
    resize(body, bytes) {
      const more = bytes - body.bytes;
      for (let oldest = findOldest(body, more); oldest !== undefined; oldest = findOldest(body, more)) {
        if (oldest === body) return false;
        oldest.giveUp();
      }
      if (total + more > most) return false;
      add(body, more);
      return true;
    },
    finish,
    release(body) {
      finish(body);
      total -= body.bytes;
      body.bytes = 0;
    },
  };
}

function first(bodies: ReadonlySet<StoredBody>): StoredBody | undefined {
  const [oldest] = bodies;
  return oldest;
}
