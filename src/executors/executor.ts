import type { NatsConnection, Subscription } from "@nats-io/transport-node";

import { getMessage } from "../errors.ts";
import { addService, loadNats, openNetwork, openSignatures, parseMessage, type Signatures } from "../network/index.ts";
import { getProcessName } from "../store/index.ts";
import { type ExecutingRuntime, JobServer } from "./job-server.ts";
import {
  type ExecutorNews,
  EXECUTOR_NEWS,
  FRONT_NEWS,
  getExecutorSubject,
  getOfferSubject,
  QUEUE,
  SERVICE_NAME,
} from "./protocol.ts";
import type { ExecutorSettings } from "./settings.ts";
import { describeDifference, getVersionToken, parseVersion, type RuntimeVersion } from "./version.ts";

export interface StartExecutorOptions {
  readonly settings: ExecutorSettings;
  readonly runtime: ExecutingRuntime;
  readonly readVersion: () => RuntimeVersion;
  /** Gets a sentence about the connection each time that it changes. */
  readonly onState: (text: string) => void;
  readonly warn: (text: string) => void;
}

/** An executor that takes runs. */
export interface StartedExecutor {
  /** The number of runs that fronts wait for. */
  readonly jobs: number;
  /**
   * Takes no more runs, and resolves when each run has ended or waits for a person, or after `timeoutMs`. Then close the
   * runtime, which leaves runs that wait to others, and call `close`.
   */
  drain(timeoutMs: number): Promise<void>;
  /** Waits until the ends of all runs are sent, and closes the connection. The runtime must be closed before. */
  close(): Promise<void>;
}

/** Executes the runs that fronts hand out, until `close`. Throws `OPTION_INVALID` for a key that cannot be read. */
export async function startExecutor(options: StartExecutorOptions): Promise<StartedExecutor> {
  await loadNats();
  const executor = new ExecutorProcess(options, await openSignatures(options.settings));
  executor.open();
  return executor;
}

class ExecutorProcess implements StartedExecutor {
  readonly #options: StartExecutorOptions;
  readonly #server: JobServer;
  readonly #where: string;
  #network: ReturnType<typeof openNetwork> | undefined;
  #session: Session | undefined;
  #offers: { readonly token: string; readonly subscription: Subscription } | undefined;
  #isDraining = false;
  #beat: NodeJS.Timeout | undefined;
  #stopFollowing = (): void => {};
  /** The difference to a front that was reported last. */
  #difference: string | undefined;

  constructor(options: StartExecutorOptions, signatures: Signatures) {
    this.#options = options;
    this.#server = new JobServer({ ...options, signatures, describe: () => this.#describe("here") });
    this.#where = options.settings.servers.map((url) => url.replace(/\/\/[^@/]*@/, "//")).join(", ");
  }

  open(): void {
    const { settings, runtime, onState, warn } = this.#options;
    this.#network = openNetwork(settings, {
      onOpen: (connection) => {
        // The subscriptions of an interrupted connection are made again by themselves.
        if (this.#session?.connection === connection) this.#update();
        else this.#openSession(connection).catch((error: unknown) => warn(`Cannot take runs: ${getMessage(error)}`));
        onState(`connected to ${this.#where}`);
      },
      onLost: () => {
        this.#server.cancelAll("the connection to the NATS server is interrupted");
        onState(`the connection to ${this.#where} is interrupted`);
      },
    });
    this.#stopFollowing = runtime.on("catalog", () => this.#update());
    this.#beat = setInterval(() => this.#update(), Math.max(100, settings.silenceMs / 3));
    void this.#network.attempted.then(() => {
      const failure = this.#network?.failure;
      if (failure !== undefined) onState(`cannot connect to ${this.#where}: ${failure}`);
    });
  }

  get jobs(): number {
    return this.#server.size;
  }

  async drain(timeoutMs: number): Promise<void> {
    this.#isDraining = true;
    this.#stopFollowing();
    clearInterval(this.#beat);
    const offers = this.#offers;
    this.#offers = undefined;
    // Offers that the server has sent already are answered.
    await offers?.subscription.drain().catch(() => {}); // the connection is interrupted, and offers nothing
    this.#server.stopTaking();
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, timeoutMs);
    });
    const work = this.#server.settle().then(() => this.#options.runtime.runs.settle());
    await Promise.race([work, timeout]);
    clearTimeout(timer);
    this.#server.leaveWaiting();
  }

  async close(): Promise<void> {
    clearInterval(this.#beat);
    this.#stopFollowing();
    await this.#server.whenEmpty();
    const { connection } = this.#network ?? {};
    connection?.publish(EXECUTOR_NEWS, JSON.stringify(this.#describe("gone")));
    await connection?.flush().catch(() => {}); // the server is gone, and needs no farewell
    await this.#network?.close();
  }

  async #openSession(connection: NatsConnection): Promise<void> {
    const { device, title } = this.#options.settings;
    const description = "Executes the runs of Skillgate servers";
    const process = getProcessName();
    const service = await addService(connection, {
      name: SERVICE_NAME,
      description,
      metadata: { device, title, process },
    });
    const { id } = service.info();
    this.#offers = undefined;
    this.#session = { connection, id };
    connection.subscribe(getExecutorSubject({ device, id }), {
      callback: (error, message) => {
        if (error === null) this.#server.receive(connection, message);
      },
    });
    connection.subscribe(FRONT_NEWS, {
      callback: (error, message) => {
        if (error === null) this.#meet(parseMessage(message.data));
      },
    });
    this.#update();
  }

  /** Takes runs of the present version from now on, and says so. */
  #update(): void {
    const { connection } = this.#session ?? {};
    if (connection === undefined || connection.isClosed() || this.#isDraining) return;
    const token = getVersionToken(this.#options.readVersion());
    if (this.#offers?.token !== token) {
      void this.#offers?.subscription.drain();
      const subscription = connection.subscribe(getOfferSubject(token), {
        queue: QUEUE,
        callback: (error, { reply }) => {
          if (error === null && reply !== undefined && reply !== "") this.#server.answerOffer(connection, reply);
        },
      });
      this.#offers = { token, subscription };
    }
    connection.publish(EXECUTOR_NEWS, JSON.stringify(this.#describe("here")));
  }

  /** Answers a front that has come, and reports why it hands over no runs. */
  #meet(body: unknown): void {
    const version = parseVersion(body);
    if (version === undefined) return;
    this.#update();
    const difference = describeDifference(this.#options.readVersion(), version);
    if (difference !== undefined && difference !== this.#difference)
      this.#options.warn(`A server hands over no runs: it has ${difference}`);
    this.#difference = difference;
  }

  #describe(kind: ExecutorNews["kind"]): ExecutorNews {
    const { device } = this.#options.settings;
    const id = this.#session?.id ?? "";
    return { kind, id, device, process: getProcessName(), version: this.#options.readVersion() };
  }
}

interface Session {
  readonly connection: NatsConnection;
  readonly id: string;
}
