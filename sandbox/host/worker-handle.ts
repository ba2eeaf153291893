import { canSpin } from "../processors.ts";
import { MessageChannel, Worker } from "node:worker_threads";

import { type WAKE_UP, WorkerChannel, createSharedChannel } from "../shared/message-channel.ts";
import { CONTROL, type FromWorker, type ToWorker, estimateToWorker, type WorkerStart } from "../shared/protocol.ts";
import type { Run } from "./run.ts";

/** Grace period after its deadline in which an interrupt may stop a guest, before its thread is ended. */
export const GRACE_MS = 120;

/** Time for the description of a result, in which the guest does not compute any more. */
const MAX_DESCRIBE_MS = 2_000;

export interface ThreadListener {
  readonly message: (message: FromWorker) => void;
  /** The thread has ended by itself. */
  readonly end: () => void;
}

/** One worker thread and its state in the pool. */
export class WorkerHandle {
  listener: ThreadListener;
  readonly #worker: Worker;
  readonly #channel: WorkerChannel<ToWorker, FromWorker>;
  readonly #words = new Int32Array(new SharedArrayBuffer(4 * Object.keys(CONTROL).length));
  state: "starting" | "idle" | "busy" | "blocked" | "dead" = "starting";
  /** The run that lies in the worker's isolate, computing or waiting. */
  resident: Run | undefined;
  /** Runs whose pages the worker is about to hand over. */
  readonly parking = new Map<number, Run>();
  /** When the guest must have given back control, in `performance.now()`. */
  killAt = Infinity;
  /** When the guest began to compute time that its worker has not reported yet. */
  computesSince = 0;
  /** Milliseconds of them that count as time of its caller already. */
  chargedMs = 0;
  #restsSince = Infinity;

  constructor(workerFile: URL, listener: ThreadListener) {
    this.listener = listener;
    const { port1, port2 } = new MessageChannel();
    const channel = createSharedChannel();
    this.#channel = new WorkerChannel("host", port1, channel, estimateToWorker);
    this.#worker = new Worker(workerFile, {
      workerData: { control: this.#words.buffer, port: port2, channel, canSpin: canSpin() } satisfies WorkerStart,
      transferList: [port2],
      name: "skillgate-sandbox",
      env: {},
      execArgv: [],
      stdout: true,
      stderr: true,
      resourceLimits: { stackSizeMb: 64, maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 4 },
    });
    port1.on("message", (arrived: FromWorker | typeof WAKE_UP) => {
      for (const message of this.#channel.readFrom(arrived)) this.listener.message(message);
    });
    port1.unref();
    this.#worker.on("error", () => this.listener.end());
    this.#worker.on("exit", () => this.listener.end());
  }

  post(message: ToWorker): void {
    this.#channel.send(message);
    this.#channel.wakeWorker();
  }

  wakeThread(): void {
    this.#channel.wakeWorker();
  }

  /** Starts a slice of work. The process stays alive until it is done. */
  work(message: Extract<ToWorker, { kind: "start" | "resume" }>): void {
    this.computes(message.allowance.computeMs + GRACE_MS);
    this.#worker.ref();
    this.post(message);
  }

  /** Marks the guest as computing from now on, for at most `maxMs` milliseconds. */
  computes(maxMs: number): void {
    this.state = "busy";
    this.computesSince = performance.now();
    this.chargedMs = 0;
    this.killAt = this.computesSince + maxMs;
  }

  /** Wakes a guest that stands still, because its answer has arrived; with `inCrowd`, its next wait sleeps without spinning. */
  wake(inCrowd = false): void {
    Atomics.store(this.#words, CONTROL.crowded, Number(inCrowd));
    Atomics.add(this.#words, CONTROL.answered, 1);
    Atomics.notify(this.#words, CONTROL.answered);
  }

  /** Asks the guest to stop; its thread is ended if it does not within `GRACE_MS`. */
  interrupt(run: Run): void {
    Atomics.store(this.#words, CONTROL.interrupted, run.id);
    this.state = "busy";
    this.killAt = Math.min(this.killAt, performance.now() + GRACE_MS);
    this.wake();
  }

  rest(): void {
    this.state = "idle";
    this.#restsSince = performance.now();
    this.#worker.unref();
  }

  /** True if the worker has been idle since that moment and holds no run. */
  isUnusedSince(moment: number): boolean {
    return this.isUnused && this.#restsSince <= moment;
  }

  /** True if the worker is idle and holds no run. */
  get isUnused(): boolean {
    return this.state === "idle" && this.resident === undefined && this.parking.size === 0;
  }

  /** True if the thread can begin at once, without being woken. */
  get isAwake(): boolean {
    return !this.#channel.workerSleeps;
  }

  get isOverdue(): boolean {
    if (this.state !== "busy" || performance.now() < this.killAt) return false;
    const describes = this.resident !== undefined && Atomics.load(this.#words, CONTROL.described) === this.resident.id;
    return !describes || performance.now() >= this.killAt + MAX_DESCRIBE_MS;
  }

  get hasMessage(): boolean {
    return this.#channel.hasMessage;
  }

  /** While the host polls for its messages, the worker need not wake the host. */
  set watched(isWatched: boolean) {
    this.#channel.isHostSpinning = isWatched;
  }

  /** Reads the worker's unread messages. */
  read(): Iterable<FromWorker> {
    return this.#channel.read();
  }

  /** Ends the thread. Its unread messages are dropped. */
  end(): Promise<unknown> {
    this.state = "dead";
    return this.#worker.terminate();
  }
}
