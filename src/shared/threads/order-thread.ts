import { type ResourceLimits, Worker } from "node:worker_threads";

/** How a thread is started. */
export interface ThreadOptions {
  /** A compiled file: Node 20 cannot start TypeScript. It posts `{ kind: "ready" }` first, and then one answer for each order. */
  readonly entry: URL;
  readonly name: string;
  /** Milliseconds that it may take to load. */
  readonly startMs: number;
  readonly limits: ResourceLimits;
}

export interface ThreadEvents {
  /** It can take the next order. */
  readonly idle: () => void;
  /** It has ended on its own: it could not be loaded, or an order took too long or too much memory. */
  readonly over: () => void;
}

/** Why a thread gives no answer to an order: its time was over, the thread has ended, or it was closed. */
export type OrderFailure = "late" | "crashed" | "closed";

type Settle<Answer> = (answer: Answer | OrderFailure) => void;

/** One worker thread, from its start to its end. It answers one order at a time, and keeps no process alive. */
export class OrderThread<Order, Answer extends object> {
  /** Resolves with whether it could be loaded. */
  readonly warm: Promise<boolean>;
  readonly #worker: Worker;
  readonly #events: ThreadEvents;
  #state: "starting" | "idle" | "busy" | "over" = "starting";
  /** Ends the thread when the time is up for what it does now. */
  #watch: NodeJS.Timeout | undefined;
  #settle: Settle<Answer> | undefined;
  #markWarm: (isWarm: boolean) => void = () => undefined;

  constructor({ entry, name, startMs, limits }: ThreadOptions, events: ThreadEvents) {
    this.#events = events;
    this.warm = new Promise((resolve) => (this.#markWarm = resolve));
    this.#worker = new Worker(entry, {
      name,
      env: {},
      execArgv: [],
      stdout: true,
      stderr: true,
      resourceLimits: limits,
    });
    this.#worker.unref();
    this.#worker.on("message", (message: { readonly kind: "ready" } | Answer) => this.#onMessage(message));
    this.#worker.on("error", () => this.#end("crashed"));
    this.#worker.on("exit", () => this.#end("crashed"));
    this.#endAfter(startMs);
  }

  get state(): "starting" | "idle" | "busy" | "over" {
    return this.#state;
  }

  /** Keeps the process alive until the thread is idle. */
  hold(): void {
    if (this.#state === "starting" || this.#state === "busy") this.#worker.ref();
  }

  /** Sends an order, only while the thread is idle. The thread is ended if the answer takes longer than the limit. */
  ask(order: Order, limitMs: number, settle: Settle<Answer>): void {
    this.#state = "busy";
    this.#settle = settle;
    this.#endAfter(limitMs);
    this.#worker.postMessage(order);
  }

  async close(): Promise<void> {
    this.#leave("closed");
    await this.#worker.terminate();
  }

  #onMessage(message: { readonly kind: "ready" } | Answer): void {
    if (this.#state === "over") return;
    this.#unwatch();
    const isReady = this.#state === "starting";
    this.#state = "idle";
    this.#worker.unref();
    if (isReady) this.#markWarm(true);
    else this.#settle?.(message as Answer);
    this.#events.idle();
  }

  #end(why: OrderFailure): void {
    if (this.#state === "over") return;
    this.#leave(why);
    void this.#worker.terminate();
    this.#events.over();
  }

  #leave(why: OrderFailure): void {
    const wasBusy = this.#state === "busy";
    this.#state = "over";
    this.#unwatch();
    this.#markWarm(false);
    if (wasBusy) this.#settle?.(why);
  }

  #endAfter(milliseconds: number): void {
    // When the host was busy, the answer may be waiting to be read: let it be read first.
    const check = (): NodeJS.Immediate => setImmediate(() => this.#watch === timer && this.#end("late"));
    const timer = setTimeout(check, milliseconds).unref();
    this.#watch = timer;
  }

  #unwatch(): void {
    clearTimeout(this.#watch);
    this.#watch = undefined;
  }
}

/** Bounds how often something starts within a period. */
export class StartBudget {
  readonly #starts: number[] = [];
  readonly #most: number;
  readonly #withinMs: number;

  constructor(most: number, withinMs: number) {
    this.#most = most;
    this.#withinMs = withinMs;
  }

  /** True if it may start once more now; counts it then. */
  take(): boolean {
    if (this.getWaitMs() > 0) return false;
    this.#starts.push(performance.now());
    return true;
  }

  /** Returns the milliseconds until it may start once more; 0 if it may now. */
  getWaitMs(): number {
    const over = performance.now() - this.#withinMs;
    while ((this.#starts[0] ?? over) < over) this.#starts.shift();
    const [first] = this.#starts;
    return this.#starts.length < this.#most || first === undefined ? 0 : Math.max(1, first - over);
  }

  /** Gives back the last start: what it started has not failed. */
  giveBack(): void {
    this.#starts.pop();
  }
}
