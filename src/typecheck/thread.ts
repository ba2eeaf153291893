import { Worker } from "node:worker_threads";

import { findPackageFile } from "../../sandbox/package-files.ts";
import type { CheckRequest, CheckReport, FromThread } from "./protocol.ts";

/** How long the compiler may take to load. */
const START_MS = 60_000;

/** Threads start from compiled files, also when this file itself runs from its source. */
function findEntry(): URL {
  return findPackageFile("src/typecheck/worker.js", () => new URL("./worker.js", import.meta.url));
}

export interface ThreadEvents {
  /** It can take the next order. */
  readonly idle: () => void;
  /** The thread has ended on its own: the compiler could not be loaded, or a request was too large for it. */
  readonly over: () => void;
}

/** One worker thread, from its start to its end. */
export class CheckThread {
  /** Resolves with whether the compiler could be loaded. */
  readonly warm: Promise<boolean>;
  readonly #worker: Worker;
  readonly #events: ThreadEvents;
  readonly #limitMs: number;
  #state: "starting" | "idle" | "busy" | "over" = "starting";
  /** Ends the thread when the time is up for what it does now. */
  #watch: NodeJS.Timeout | undefined;
  #answer: ((report: CheckReport) => void) | undefined;
  #markWarm: (isWarm: boolean) => void = () => undefined;

  constructor(limitMs: number, events: ThreadEvents) {
    this.#limitMs = limitMs;
    this.#events = events;
    this.warm = new Promise((resolve) => (this.#markWarm = resolve));
    this.#worker = new Worker(findEntry(), {
      name: "skillgate-typecheck",
      env: {},
      execArgv: [],
      stdout: true,
      stderr: true,
      resourceLimits: { stackSizeMb: 8, maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 8 },
    });
    this.#worker.unref();
    this.#worker.on("message", (message: FromThread) => this.#onMessage(message));
    this.#worker.on("error", () => this.#end());
    this.#worker.on("exit", () => this.#end());
    this.#endAfter(START_MS);
  }

  get state(): "starting" | "idle" | "busy" | "over" {
    return this.#state;
  }

  /** Keeps the process alive until the compiler is loaded. */
  hold(): void {
    if (this.#state === "starting") this.#worker.ref();
  }

  /** Only while it is idle. */
  check(order: CheckRequest, answer: (report: CheckReport) => void): void {
    this.#state = "busy";
    this.#answer = answer;
    this.#endAfter(this.#limitMs);
    this.#worker.postMessage(order);
  }

  async close(): Promise<void> {
    this.#leave({ kind: "failed" });
    await this.#worker.terminate();
  }

  #onMessage(message: FromThread): void {
    if (this.#state === "over") return;
    this.#unwatch();
    this.#state = "idle";
    if (message.kind === "ready") {
      this.#worker.unref();
      this.#markWarm(true);
    } else this.#answer?.(message);
    this.#events.idle();
  }

  #end(): void {
    if (this.#state === "over") return;
    this.#leave({ kind: "failed" });
    void this.#worker.terminate();
    this.#events.over();
  }

  #leave(report: CheckReport): void {
    const wasBusy = this.#state === "busy";
    this.#state = "over";
    this.#unwatch();
    this.#markWarm(false);
    if (wasBusy) this.#answer?.(report);
  }

  #endAfter(milliseconds: number): void {
    // When the host was busy, the answer may be waiting to be read: let it be read first.
    const check = (): NodeJS.Immediate => setImmediate(() => this.#watch === timer && this.#end());
    const timer = setTimeout(check, milliseconds).unref();
    this.#watch = timer;
  }

  #unwatch(): void {
    clearTimeout(this.#watch);
    this.#watch = undefined;
  }
}
