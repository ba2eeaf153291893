import { type MessagePort, receiveMessageOnPort } from "node:worker_threads";

/** Bytes of shared memory for one short message. */
const SLOT_BYTES = 256 << 10;
/** Messages with more text than this go through the port, which copies it only once. */
const MAX_SLOT_TEXT = 64 << 10;
/** Words at the start of a slot: the number of the message in it (0 if it is empty), and its length in bytes. */
const HEAD = { number: 0, length: 1 } as const;
const HEAD_BYTES = 8;

/** Memory that both ends share: one message slot for each direction, and the counters of messages. */
export interface SharedChannel {
  readonly toWorker: SharedArrayBuffer;
  readonly toHost: SharedArrayBuffer;
  readonly counts: SharedArrayBuffer;
}

/**
 * Words of `counts`: the number of messages in each direction; 1 if the host need not be woken, because it polls or was
 * woken already; 1 while the worker sleeps.
 */
const COUNT = { toWorker: 0, toHost: 1, hostCalled: 2, workerSleeps: 3 } as const;

export function createSharedChannel(): SharedChannel {
  const createSlot = (): SharedArrayBuffer => new SharedArrayBuffer(SLOT_BYTES);
  return { toWorker: createSlot(), toHost: createSlot(), counts: new SharedArrayBuffer(4 * Object.keys(COUNT).length) };
}

/** Estimates the size of a message: the length of its texts, or `Infinity` if JSON cannot hold the message. */
export type EstimateSize<Message> = (message: Message) => number;

/**
 * One end of the channel between the host's thread and a worker. A message through a port can take several times as long as
 * a whole slice of work; so a short message is written as JSON into shared memory, if the last one there was read. Each
 * message has a number, which keeps the order across both routes.
 */
export class WorkerChannel<Sent, Received> {
  readonly #port: MessagePort;
  readonly #counts: Int32Array;
  readonly #out: SharedSlot;
  readonly #in: SharedSlot;
  readonly #sentCount: number;
  readonly #receivedCount: number;
  readonly #weigh: EstimateSize<Sent>;
  #received = 0;

  constructor(end: "host" | "worker", port: MessagePort, shared: SharedChannel, weigh: EstimateSize<Sent>) {
    const isHost = end === "host";
    this.#port = port;
    this.#counts = new Int32Array(shared.counts);
    this.#out = new SharedSlot(isHost ? shared.toWorker : shared.toHost);
    this.#in = new SharedSlot(isHost ? shared.toHost : shared.toWorker);
    this.#sentCount = isHost ? COUNT.toWorker : COUNT.toHost;
    this.#receivedCount = isHost ? COUNT.toHost : COUNT.toWorker;
    this.#weigh = weigh;
  }

  /** Sends a message and transfers its buffers. Does not wake the receiver: call `wakeWorker` or `wakeHost` as well. */
  send(message: Sent, getTransferables: (message: Sent) => ArrayBuffer[] = () => []): void {
    const number = Atomics.load(this.#counts, this.#sentCount) + 1;
    const isShort = this.#weigh(message) <= MAX_SLOT_TEXT;
    if (!isShort || !this.#out.put(number, message)) this.#port.postMessage(message, getTransferables(message));
    Atomics.store(this.#counts, this.#sentCount, number);
  }

  get hasMessage(): boolean {
    // `>`: a message that the port has delivered by itself may not have been counted yet.
    return Atomics.load(this.#counts, this.#receivedCount) > this.#received;
  }

  /** Takes the next message; `undefined` if the channel is empty. */
  take(): Received | undefined {
    if (!this.hasMessage) return undefined;
    this.#received++;
    return (this.#in.take(this.#received) ?? this.#fromPort()) as Received;
  }

  /**
   * Reads all messages after the port has delivered one by itself. No earlier message is unread: the host was woken for
   * those before.
   */
  *readFrom(arrived: Received | typeof WAKE_UP): Iterable<Received> {
    Atomics.store(this.#counts, COUNT.hostCalled, 0);
    if (arrived !== WAKE_UP) {
      this.#received++;
      yield arrived;
    }
    yield* this.read();
  }

  /** Reads all messages that have arrived. */
  *read(): Iterable<Received> {
    for (let next = this.take(); next !== undefined; next = this.take()) yield next;
  }

  /** True while the worker sleeps and must be woken, which takes longer than most slices of work. */
  get workerSleeps(): boolean {
    return Atomics.load(this.#counts, COUNT.workerSleeps) === 1;
  }

  wakeWorker(): void {
    if (this.workerSleeps) Atomics.notify(this.#counts, COUNT.toWorker);
  }

  /** In the worker: blocks until there is a message. One sent in this moment is noticed, because senders count it first. */
  wait(): void {
    Atomics.store(this.#counts, COUNT.workerSleeps, 1);
    Atomics.wait(this.#counts, COUNT.toWorker, this.#received);
    Atomics.store(this.#counts, COUNT.workerSleeps, 0);
  }

  /** Wakes the host's event loop, unless the host polls or was woken already. */
  wakeHost(): void {
    if (Atomics.exchange(this.#counts, COUNT.hostCalled, 1) === 0) this.#port.postMessage(WAKE_UP);
  }

  /** While the host polls it need not be woken. */
  set isHostSpinning(isSpinning: boolean) {
    Atomics.store(this.#counts, COUNT.hostCalled, isSpinning ? 1 : 0);
  }

  #fromPort(): unknown {
    for (;;) {
      const received = receiveMessageOnPort(this.#port);
      if (received === undefined) throw new Error("Cannot find a message that was counted");
      if (received.message !== WAKE_UP) return received.message;
    }
  }
}

/** An empty wake-up message: check shared memory. */
export const WAKE_UP = null;

/** Shared memory for one message at a time. */
class SharedSlot {
  readonly #head: Int32Array;
  readonly #bytes: Buffer;

  constructor(shared: SharedArrayBuffer) {
    this.#head = new Int32Array(shared, 0, HEAD_BYTES / 4);
    this.#bytes = Buffer.from(shared, HEAD_BYTES);
  }

  /** Writes a message; false if the last one is still unread, or this one is too long. */
  put(number: number, message: unknown): boolean {
    if (Atomics.load(this.#head, HEAD.number) !== 0) return false;
    const json = JSON.stringify(message);
    if (json.length * 3 > this.#bytes.length) return false;
    this.#head[HEAD.length] = this.#bytes.write(json, 0);
    Atomics.store(this.#head, HEAD.number, number);
    return true;
  }

  take(number: number): unknown {
    if (Atomics.load(this.#head, HEAD.number) !== number) return undefined;
    const json = this.#bytes.toString("utf8", 0, this.#head[HEAD.length]);
    Atomics.store(this.#head, HEAD.number, 0);
    return JSON.parse(json);
  }
}
