import { randomBytes, randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { Msg, NatsConnection } from "@nats-io/transport-node";

import { getMessage, sentence, SkillgateError } from "../errors.ts";
import {
  createLivenessWatch,
  KIND,
  type LivenessWatch,
  MessageReader,
  loadNats,
  openNetwork,
  openSignatures,
  parseMessage,
  type Signatures,
  type WatchedPeer,
} from "../network/index.ts";
import {
  type ExecutorNews,
  EXECUTOR_NEWS,
  FRONT_NEWS,
  getOfferSubject,
  type Job,
  parseNews,
  SERVICE_NAME,
} from "./protocol.ts";
import { type JobEnd, type JobListener, sendCancel, sendJob, type SentJob } from "./sent-job.ts";
import type { ExecutorSettings } from "./settings.ts";
import { readSigned } from "./signed-messages.ts";
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

/** The time in which executors announce themselves after a connection, before a run is refused. */
const DISCOVERY_MS = 300;
/** The time in which an executor takes a run; then the run is offered again. */
const TAKE_MS = 1_000;
/** Milliseconds between two offers of a run. */
const RETRY_MS = 50;
/** The time for which a run is offered to executors that are full, or that are about to have the version of this process. */
const PATIENCE_MS = { busy: 10_000, none: 2_000, silent: 5_000 } as const;

/** The time for which executors connect again after an interruption of the network; no run is refused for want of them. */
const RETURN_MS = 5_000;

/** Why no executor has taken a run. */
type OfferRefusal = keyof typeof PATIENCE_MS;

/** Connects to a network of executors in the background. Throws `OPTION_INVALID` for a key that cannot be read. */
export async function connectExecutors(options: ExecutorPoolOptions): Promise<ExecutorPool> {
  await loadNats();
  const pool = new NetworkPool(options, await openSignatures(options.settings));
  pool.open();
  return pool;
}

/** An executor, as far as it is known. */
class ExecutorPeer implements WatchedPeer {
  readonly jobs = new Map<string, SentJob>();
  announcement: ExecutorNews;
  lastSeen = performance.now();
  /** The difference that was reported last. */
  difference: string | undefined;

  constructor(announcement: ExecutorNews) {
    this.announcement = announcement;
  }

  get id(): string {
    return this.announcement.id;
  }

  get isBusy(): boolean {
    return this.jobs.size > 0;
  }
}

class NetworkPool implements ExecutorPool {
  readonly #options: ExecutorPoolOptions;
  readonly #signatures: Signatures;
  readonly #executors = new Map<string, ExecutorPeer>();
  /** Receivers of replies, by the id of the job. */
  readonly #receivers = new Map<string, (message: Msg) => void>();
  readonly #liveness: LivenessWatch;
  #network: ReturnType<typeof openNetwork> | undefined;
  #inbox = "";
  #whenKnown: Promise<unknown> = Promise.resolve();
  /** The end of the time in which executors come back after an interruption, on the clock of `performance.now`. */
  #returnBy = 0;
  #hasTried = false;

  constructor(options: ExecutorPoolOptions, signatures: Signatures) {
    this.#options = options;
    this.#signatures = signatures;
    this.#liveness = createLivenessWatch({
      service: SERVICE_NAME,
      silenceMs: options.settings.silenceMs,
      getConnection: () => this.#network?.connection,
      getInbox: () => this.#inbox,
      peers: this.#executors,
      onGone: (id, why) => this.#remove(id, why),
    });
  }

  open(): void {
    this.#network = openNetwork(this.#options.settings, {
      onOpen: (connection) => this.#discover(connection),
      onLost: () => {
        this.#returnBy = Infinity;
        for (const { jobs } of this.#executors.values()) for (const job of jobs.values()) job.end({ kind: "offline" });
        this.#options.warn("The connection to the executors is interrupted; it is tried again");
      },
    });
    this.#whenKnown = this.#network.attempted.then(() => {
      this.#hasTried = true;
      return this.failure === undefined ? pause(DISCOVERY_MS, undefined, { ref: false }) : undefined;
    });
  }

  get known(): Promise<unknown> {
    return this.#whenKnown;
  }

  get failure(): string | undefined {
    return this.#hasTried ? this.#network?.failure : undefined;
  }

  get processes(): readonly string[] {
    const own = this.#options.readVersion();
    return [...this.#executors.values()].flatMap(({ announcement: { version, process } }) =>
      describeDifference(own, version) === undefined ? [process] : [],
    );
  }

  async execute(job: Job, listener: JobListener): Promise<JobEnd> {
    await this.#whenKnown;
    const startedAt = performance.now();
    for (;;) {
      if (listener.cancellable?.isCancelled === true) return { kind: "cancelled" };
      const connection = this.#network?.connection;
      if (connection === undefined) throw this.#createOfflineError();
      const id = randomBytes(16).toString("hex");
      const answer = await this.#offer(connection, id);
      if (typeof answer !== "string") return this.#send(connection, { id, job, listener, taker: answer });
      const patience = answer === "none" && this.#executors.size === 0 ? 0 : PATIENCE_MS[answer];
      if (performance.now() >= Math.max(startedAt + patience, this.#returnBy)) throw this.#createMissingError(answer);
      await pause(RETRY_MS);
    }
  }

  cancelRun(process: string, runId: string): boolean {
    const executor = [...this.#executors.values()].find(({ announcement }) => announcement.process === process);
    const connection = this.#network?.connection;
    if (executor === undefined || connection === undefined) return false;
    sendCancel(connection, this.#signatures, { executor: executor.announcement, runId });
    return true;
  }

  async close(): Promise<void> {
    this.#liveness.close();
    const jobs = [...this.#executors.values()].flatMap((executor) => [...executor.jobs.values()]);
    for (const job of jobs) job.cancel("the process that the run was sent from closes");
    await this.#network?.connection?.flush().catch(() => {}); // the server is gone, and so are its clients
    for (const job of jobs) job.end({ kind: "offline" });
    await this.#network?.close();
  }

  #discover(connection: NatsConnection): void {
    if (this.#returnBy === Infinity) this.#returnBy = performance.now() + RETURN_MS;
    if (this.#inbox === "") {
      this.#inbox = `_INBOX_${this.#options.settings.device}.${randomUUID()}`;
      this.#subscribe(connection);
    }
    this.#sayVersion();
    this.#liveness.pingAll();
  }

  #sayVersion(): void {
    this.#network?.connection?.publish(FRONT_NEWS, JSON.stringify(this.#options.readVersion()));
  }

  #subscribe(connection: NatsConnection): void {
    const prefix = `${this.#inbox}.`;
    connection.subscribe(`${prefix}>`, {
      callback: (error, message) => {
        if (error !== null) return;
        const token = message.subject.slice(prefix.length);
        if (!this.#liveness.receive(token, message)) this.#receivers.get(token)?.(message);
      },
    });
    connection.subscribe(EXECUTOR_NEWS, {
      callback: (error, message) => {
        const announcement = error === null ? parseNews(parseMessage(message.data)) : undefined;
        if (announcement?.kind === "gone") this.#remove(announcement.id, "has left the network");
        else if (announcement !== undefined) this.#hear(announcement);
      },
    });
    // A connection that has closed for good takes its subscriptions along.
    void connection.closed().then(() => (this.#inbox = ""));
  }

  /** Takes what an executor says about itself. Each difference is reported once. */
  #hear(announcement: ExecutorNews): ExecutorPeer {
    const executor = this.#executors.get(announcement.id) ?? new ExecutorPeer(announcement);
    const isNew = !this.#executors.has(executor.id);
    this.#executors.set(executor.id, executor);
    executor.announcement = announcement;
    executor.lastSeen = performance.now();
    const difference = describeDifference(this.#options.readVersion(), announcement.version);
    if (difference !== undefined && difference !== executor.difference) {
      this.#options.warn(`The executor ${announcement.process} gets no runs: it has ${difference}`);
      // An executor that has come after this process then reports it, too.
      this.#sayVersion();
    } else if (difference === undefined && (isNew || executor.difference !== undefined))
      this.#options.inform(`The executor ${announcement.process} is ready`);
    executor.difference = difference;
    return executor;
  }

  #remove(id: string, why: string): void {
    const executor = this.#executors.get(id);
    if (executor === undefined) return;
    this.#executors.delete(id);
    const { process } = executor.announcement;
    for (const job of executor.jobs.values()) job.end({ kind: "gone", process, why });
    this.#options.inform(`The executor ${process} ${why}`);
  }

  /** Offers a run to the queue group. Resolves to the executor that takes it, or to the reason for which none does. */
  async #offer(connection: NatsConnection, id: string): Promise<ExecutorNews | OfferRefusal> {
    const reader = new MessageReader();
    let timer: NodeJS.Timeout | undefined;
    try {
      return await new Promise<ExecutorNews | OfferRefusal>((resolve) => {
        timer = setTimeout(resolve, TAKE_MS, "silent");
        this.#receivers.set(id, (message) => {
          if (message.headers?.code === 503) return resolve("none");
          const whole = reader.add(message);
          if (whole === undefined) return;
          if (whole.headers.get(KIND) === "busy") return resolve("busy");
          const taker = parseNews(parseMessage(whole.bytes));
          if (whole.headers.get(KIND) !== "take" || taker === undefined) return;
          // Another executor may answer instead of one whose signature is wrong.
          readSigned(whole, this.#signatures, taker.device).then(
            () => resolve(taker),
            (error: unknown) => this.#options.warn(`Cannot use an executor: ${getMessage(error)}`),
          );
        });
        const subject = getOfferSubject(getVersionToken(this.#options.readVersion()));
        connection.publish(subject, "", { reply: `${this.#inbox}.${id}` });
      });
    } finally {
      clearTimeout(timer);
      this.#receivers.delete(id);
    }
  }

  async #send(
    connection: NatsConnection,
    {
      id,
      taker,
      job,
      listener,
    }: Pick<Parameters<typeof sendJob>[0], "id" | "job" | "listener"> & {
      readonly taker: ExecutorNews;
    },
  ): Promise<JobEnd> {
    const executor = this.#hear(taker);
    const reply = `${this.#inbox}.${id}`;
    const signatures = this.#signatures;
    const sent = sendJob({ connection, signatures, executor: taker, id, reply, job, listener });
    this.#receivers.set(id, (message) => {
      executor.lastSeen = performance.now();
      sent.receive(message);
    });
    executor.jobs.set(id, sent);
    this.#liveness.watch();
    try {
      return await sent.ended;
    } finally {
      executor.jobs.delete(id);
      this.#receivers.delete(id);
    }
  }

  #createOfflineError(): SkillgateError {
    const says = sentence("EXECUTORS_OFFLINE", `${this.failure ?? "there is no connection"}; it is tried again`);
    return new SkillgateError("EXECUTORS_OFFLINE", says);
  }

  #createMissingError(refusal: OfferRefusal): SkillgateError {
    const own = this.#options.readVersion();
    const differences = [...this.#executors.values()].flatMap(
      ({ announcement: { version } }) => describeDifference(own, version) ?? [],
    );
    const same = this.#executors.size - differences.length;
    const others = differences.length === 0 ? "" : `, but ${differences.length} with ${differences[0]}`;
    const says = {
      none: `no executor of this version is connected${others}`,
      busy: `all ${same} executors have as many runs as they may have`,
      silent: `none of ${same} executors answers`,
    };
    return new SkillgateError("EXECUTORS_MISSING", sentence("EXECUTORS_MISSING", says[refusal]));
  }
}
