import { setTimeout as pause } from "node:timers/promises";

import { createError, type SkillgateError } from "../errors.ts";
import { type NetworkClient, type Machine, openClient } from "../network/index.ts";
import { hasEnded } from "../store/index.ts";
import { type ExecutorFacts, type Job, MAX_BYTES, parseFacts } from "./protocol.ts";
import { type JobEnd, type JobListener, sendJob } from "./sent-job.ts";
import type { ExecutorSettings } from "./settings.ts";
import { describeDifference, getVersionToken, type RuntimeVersion } from "./version.ts";

/** The executors of a network, for a process that hands its runs to them. */
export interface ExecutorPool {
  /** Says why the network cannot be reached; `undefined` while it can. */
  readonly failure: string | undefined;
  /** Resolves when the executors of the network have said that they are there, or the first attempt to connect has failed. */
  readonly known: Promise<unknown>;
  /** The names of the processes that execute runs of this version. */
  readonly processes: readonly string[];
  /**
   * Hands a job to an executor of the present version. Rejects with `EXECUTORS_OFFLINE` or `EXECUTORS_MISSING` if none takes
   * it; from then on the answer says how it ended.
   */
  execute(job: Job, listener: JobListener): Promise<JobEnd>;
  /** Asks the executor with this process name to end a run; returns false if there is no such executor. */
  cancelRun(process: string, runId: string): boolean;
  /** Cancels the jobs, and closes the connection. */
  close(): Promise<void>;
}

export interface ExecutorPoolOptions {
  readonly settings: ExecutorSettings;
  /** Returns the version of this runtime as it is now. */
  readonly readVersion: () => RuntimeVersion;
  readonly warn: (text: string) => void;
  readonly inform: (text: string) => void;
}

/** Milliseconds between two offers of a run. */
const RETRY_MS = 50;

/** The time for which a run is offered to executors that are full, or that are about to have the version of this process. */
const PATIENCE_MS = { busy: 10_000, none: 2_000 } as const;

/** The time for which a run is offered while no executor is known: one that has just come says so in a moment. */
const EMPTY_MS = 300;

/** The time for which executors connect again after an interruption of the network; no run is refused for want of them. */
const RETURN_MS = 5_000;

/** Why no executor has taken a run. */
type OfferRefusal = keyof typeof PATIENCE_MS;

/** Connects to a network of executors in the background. Throws `OPTION_INVALID` for a key that cannot be read. */
export async function connectExecutors(options: ExecutorPoolOptions): Promise<ExecutorPool> {
  const pool = new NetworkPool(options);
  await pool.open();
  return pool;
}

/** An executor, as far as it is known. */
interface Executor extends ExecutorFacts {
  readonly machine: Machine;
  /** The parts in which its version differs from that of this process; `undefined` if in none. */
  readonly difference: string | undefined;
}

class NetworkPool implements ExecutorPool {
  readonly #options: ExecutorPoolOptions;
  readonly #executors = new Map<Machine, Executor>();
  #client: NetworkClient | undefined;
  /** The end of the time in which executors come back after an interruption, on the clock of `performance.now`. */
  #returnBy = 0;
  #hasTried = false;

  constructor(options: ExecutorPoolOptions) {
    this.#options = options;
  }

  async open(): Promise<void> {
    const { settings, readVersion, warn } = this.#options;
    this.#client = await openClient({
      settings,
      group: "executors",
      maxBytes: MAX_BYTES,
      describe: readVersion,
      warn,
      onFacts: (machine) => this.#hear(machine),
      onGone: (machine, why) => this.#remove(machine, why),
      hasEnded: ({ facts }) => hasEnded(parseFacts(facts)?.process ?? ""),
      onOpen: () => {
        if (this.#returnBy === Infinity) this.#returnBy = performance.now() + RETURN_MS;
      },
      onLost: () => {
        this.#returnBy = Infinity;
        warn("The connection to the executors is interrupted; it is tried again");
      },
    });
    void this.known.then(() => (this.#hasTried = true));
  }

  get known(): Promise<void> {
    return this.#client?.known ?? Promise.resolve();
  }

  get failure(): string | undefined {
    return this.#hasTried ? this.#client?.failure : undefined;
  }

  get processes(): readonly string[] {
    return this.#listSame().map(({ process }) => process);
  }

  async execute(job: Job, listener: JobListener): Promise<JobEnd> {
    await this.known;
    const startedAt = performance.now();
    for (;;) {
      if (listener.cancellable?.isCancelled === true) return { kind: "cancelled" };
      if (this.#client?.failure !== undefined) throw this.#createOfflineError();
      const end = await this.#offer(job, listener);
      if (typeof end !== "string") return end;
      const patience = end === "none" && this.#executors.size === 0 ? EMPTY_MS : PATIENCE_MS[end];
      if (performance.now() >= Math.max(startedAt + patience, this.#returnBy)) throw this.#createMissingError(end);
      await pause(RETRY_MS);
    }
  }

  cancelRun(process: string, runId: string): boolean {
    const executor = [...this.#executors.values()].find((each) => each.process === process);
    executor?.machine.request("cancelRun", runId);
    return executor !== undefined;
  }

  async close(): Promise<void> {
    const why = "the process that the run was sent from closes";
    for (const machine of this.#executors.keys()) machine.cancelAll(why);
    await this.#client?.flush();
    for (const machine of this.#executors.keys()) machine.endAll({ kind: "offline", isSent: true });
    await this.#client?.close();
  }

  /** Offers a run to the executors of this version, one after the other, and first to the least busy one. */
  async #offer(job: Job, listener: JobListener): Promise<JobEnd | OfferRefusal> {
    const token = getVersionToken(this.#options.readVersion());
    const executors = this.#listSame()
      .filter(({ isTaking }) => isTaking)
      .toSorted(({ machine: a }, { machine: b }) => Number(a.isAbsent) - Number(b.isAbsent) || a.size - b.size);
    for (const { machine } of executors) {
      const end = await sendJob(machine, { token, job, listener });
      if (end !== "refused") return end;
    }
    return executors.length === 0 ? "none" : "busy";
  }

  /** The executors that have the version of this process. */
  #listSame(): readonly Executor[] {
    const own = this.#options.readVersion();
    return [...this.#executors.values()].filter(({ version }) => describeDifference(own, version) === undefined);
  }

  /** Takes what an executor says about itself. Each difference is reported once. */
  #hear(machine: Machine): void {
    const facts = parseFacts(machine.facts);
    if (facts === undefined) return;
    const difference = describeDifference(this.#options.readVersion(), facts.version);
    const before = this.#executors.get(machine);
    this.#executors.set(machine, { ...facts, machine, difference });
    if (before !== undefined && before.difference === difference) return;
    if (difference === undefined) this.#options.inform(`The executor ${facts.process} is ready`);
    else this.#options.warn(`The executor ${facts.process} gets no runs: it has ${difference}`);
  }

  #remove(machine: Machine, why: string): void {
    const executor = this.#executors.get(machine);
    if (this.#executors.delete(machine)) this.#options.inform(`The executor ${executor?.process} ${why}`);
  }

  #createOfflineError(): SkillgateError {
    const says = `${this.#client?.failure ?? "there is no connection"}; it is tried again`;
    return createError("EXECUTORS_OFFLINE", says);
  }

  #createMissingError(refusal: OfferRefusal): SkillgateError {
    const differences = [...this.#executors.values()].flatMap(({ difference }) => difference ?? []);
    const others = differences.length === 0 ? "" : `, but ${differences.length} with ${differences[0]}`;
    const says = {
      none: `no executor of this version is connected${others}`,
      busy: `all ${this.#executors.size - differences.length} executors have as many runs as they may have`,
    };
    return createError("EXECUTORS_MISSING", says[refusal]);
  }
}
