import type { ListName } from "../../../model/mcp-features.ts";
import type { LogLevel, RequestContext } from "../../../model/skill.ts";
import type { Implementation, PriorDiscovery } from "@modelcontextprotocol/client";

import { getMessage, SkillgateError } from "../../../errors.ts";
import type { Client } from "../../../model/client-requests.ts";
import { type Backoff, createBackoff, type RestartPolicy, type ServerFailure } from "./backoff.ts";
import type { Connection } from "./connection.ts";
import type { ConnectionAccount } from "../http/server-account.ts";
import type { Authorize } from "../oauth/session.ts";
import type { TokenStore } from "../../../model/account.ts";
import type { KeyValueCache } from "../../../shared/file-cache.ts";
import type { ServerConfig } from "../server-config.ts";
import type { QueuedStart, StartQueue } from "./start-queue.ts";
import type { ProcessEnvironment } from "../../../shared/process/child-environment.ts";
import type { KnownSecrets } from "../../../shared/secrets.ts";
import type { ProcessReport } from "../stdio/transport.ts";

export interface ConnectionOptions {
  readonly env: ProcessEnvironment;
  readonly clientInfo: Implementation;
  readonly connectTimeoutMs: number;
  readonly maxMessageBytes: number;
  readonly restart: RestartPolicy;
  /** Limits how many processes start together. */
  readonly starts: StartQueue;
  /** Caches the programs that `npx` would start. */
  readonly programs: KeyValueCache;
  /** The folder in which `npx` resolves packages of the user's own servers. */
  readonly npxFolder: string;
  readonly tokens: TokenStore;
  readonly caller: string;
  /** The account with which requests are made. */
  readonly account?: ConnectionAccount;
  readonly authorize: Authorize | undefined;
  /** Answers requests of the server. */
  readonly client: Client | undefined;
  readonly log: (server: string, level: LogLevel, text: string) => void;
  /** Secrets to mask in the output of the server. */
  readonly secrets: KnownSecrets;
  /** Says why a server must not be started now; `undefined` if it may. */
  readonly findObstacle: (server: string) => Promise<string | undefined>;
}

/** Callbacks for the owner of a connection. */
export interface ConnectionEvents {
  /** Must succeed before the state becomes connected. */
  readonly prepare: (connection: Connection) => Promise<void>;
  readonly onListChanged: (list: ListName) => void;
  readonly onChange: () => void;
  /** Receives log messages of the server. */
  readonly onLog: RequestContext["log"];
}

/** Knowledge about a server from an earlier run. */
export interface PreviousState {
  readonly era: PriorDiscovery | undefined;
  /** It has connected before, so each failure to connect is retried. */
  readonly wasConnected: boolean;
}

export type ConnectionState =
  /** Asleep: it connects when it is needed. */
  | { readonly kind: "asleep" | "connecting" }
  | { readonly kind: "connected"; readonly connection: Connection }
  /** Disconnected: the connection was lost and is restored later. Error: it has never connected. */
  | { readonly kind: "disconnected" | "error"; readonly error: string };

/** Manages the connection to one server: connects on demand, and again after a loss. */
export class ManagedConnection {
  readonly #config: ServerConfig;
  readonly #options: ConnectionOptions;
  readonly #events: ConnectionEvents;
  readonly #backoff: Backoff;
  readonly #closing = new AbortController();
  #state: ConnectionState = { kind: "asleep" };
  /** The result of the protocol negotiation, if known. */
  #era: PriorDiscovery | undefined;
  #wasConnected: boolean;
  #opening: Promise<void> = Promise.resolve();
  #restart: NodeJS.Timeout | undefined;
  /** The place of the process that starts. */
  #start: QueuedStart | undefined;
  /** Settles when all lost connections are closed. */
  #swept: Promise<unknown> = Promise.resolve();
  #report: () => ProcessReport | undefined = () => undefined;
  #accountError: SkillgateError | undefined;

  constructor(config: ServerConfig, earlier: PreviousState, options: ConnectionOptions, events: ConnectionEvents) {
    this.#config = config;
    this.#era = earlier.era;
    this.#wasConnected = earlier.wasConnected;
    this.#options = options;
    this.#events = events;
    this.#backoff = createBackoff(options.restart);
  }

  get state(): ConnectionState {
    return this.#state;
  }

  get secrets(): KnownSecrets {
    return this.#options.secrets;
  }

  get account(): ConnectionAccount | undefined {
    return this.#options.account;
  }

  /** Why the account could not be used at the latest attempt to connect, in words for its caller. */
  get accountError(): SkillgateError | undefined {
    return this.#accountError;
  }

  /** Aborts when the connection is closed permanently. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** The end of the stderr output of the server's process. */
  get stderrTail(): string {
    return this.#report()?.stderrTail ?? "";
  }

  /** Connects if it is asleep, and waits until it has connected or failed. The result is in `state`. */
  async wake(): Promise<void> {
    if (this.#state.kind === "asleep") this.#open();
    await this.#opening;
  }

  /**
   * Connects at once for a call, without waiting for a place or for the next try, unless a try has just failed, or there were too
   * many crashes. The result is in `state`.
   */
  async wakeForCall(): Promise<void> {
    const { kind } = this.#state;
    const isOpen = kind === "connected" || kind === "connecting" || this.closing.aborted;
    if (!isOpen && this.#backoff.mayTryAtOnce) this.#open();
    this.#start?.hurry();
    await this.#opening;
  }

  /** True if it has never connected, and is tried again from time to time. */
  get isAwaited(): boolean {
    return this.#state.kind === "error" && this.#restart !== undefined;
  }

  /** Disconnects until the server is needed again. */
  sleep(): void {
    if (this.#state.kind === "connected" && this.#drop(this.#state.connection)) this.#become({ kind: "asleep" });
  }

  /** Drops a lost connection and schedules a new one. */
  lost(connection: Connection, why: string): void {
    if (this.#drop(connection)) this.#openLater(why, { isCrash: this.#isProcess, hasRun: true });
  }

  /** Reconnects at once: the server works, only its session expired. */
  renew(connection: Connection): void {
    if (this.#drop(connection)) this.#open();
  }

  /** Closes permanently; settles when the server is stopped. */
  async close(): Promise<void> {
    this.#closing.abort(new Error("closed"));
    clearTimeout(this.#restart);
    await this.#opening;
    const connection = this.#state.kind === "connected" ? this.#state.connection : undefined;
    if (this.#state.kind !== "error") this.#state = { kind: "disconnected", error: "is closed" };
    await Promise.allSettled([connection?.close(), this.#swept]);
  }

  #become(state: ConnectionState): void {
    this.#state = state;
    this.#events.onChange();
  }

  /** Drops a connection; false if it was dropped before. */
  #drop(connection: Connection): boolean {
    const isCurrent = this.#state.kind === "connected" && this.#state.connection === connection;
    if (!isCurrent || this.closing.aborted) return false;
    this.#swept = Promise.allSettled([this.#swept, connection.close()]);
    return true;
  }

  get #isProcess(): boolean {
    return this.#config.transport === "stdio";
  }

  /** A server that has never connected is tried again only where that may help: another failure is in its configuration. */
  #notOpened(thrown: unknown, isTemporary: boolean): void {
    const error = this.#options.secrets.maskText(getMessage(thrown));
    if (!this.#wasConnected && !isTemporary) return this.#become({ kind: "error", error });
    this.#openLater(error, { isCrash: this.#isProcess && !isTemporary, hasRun: false });
  }

  #openLater(error: string, failure: ServerFailure): void {
    if (this.closing.aborted) return;
    const delayMs = this.#backoff.next(failure);
    this.#restart = setTimeout(() => this.#open(), delayMs).unref();
    this.#become({ kind: this.#wasConnected ? "disconnected" : "error", error });
  }

  #open(): void {
    clearTimeout(this.#restart);
    this.#restart = undefined;
    this.#opening = this.#connect().then(
      (connection) => {
        this.#backoff.connected();
        this.#accountError = undefined;
        this.#era = connection.era;
        this.#wasConnected = true;
        this.#become({ kind: "connected", connection });
        void connection.closed.then(() => this.#ended(connection));
      },
      async (thrown: unknown) => {
        this.#era = undefined;
        this.#accountError = findAccountError(thrown);
        const { isTemporary } = await import("./start-failure.ts");
        this.#notOpened(thrown, isTemporary(thrown));
      },
    );
    this.#become({ kind: "connecting" });
  }

  async #ended(connection: Connection): Promise<void> {
    const { describeEnd } = await import("../call-failure.ts");
    this.lost(connection, await describeEnd(connection));
  }

  async #connect(): Promise<Connection> {
    const start = this.#isProcess ? this.#options.starts.request(this.closing) : undefined;
    this.#start = start;
    try {
      await Promise.all([this.#swept, start?.mayBegin]);
      return await this.#openConnection();
    } finally {
      start?.end();
    }
  }

  async #openConnection(): Promise<Connection> {
    // The SDK is loaded with the first connection; servers with a stored listing may never need one.
    const { openConnection } = await import("./open-connection.ts");
    const { log, secrets } = this.#options;
    const { name } = this.#config;
    const obstacle = await this.#options.findObstacle(name);
    if (obstacle !== undefined) throw new SkillgateError("SERVER_FAILED", obstacle, { server: name });
    return openConnection(this.#config, {
      ...this.#options,
      timeoutMs: this.#options.connectTimeoutMs,
      signal: this.closing,
      prepare: this.#events.prepare,
      ...(this.#era && { era: this.#era }),
      onListChanged: this.#events.onListChanged,
      onLog: (level, text, sent) => {
        const masked = secrets.maskMessage(text);
        log(name, level, masked);
        this.#events.onLog(level, masked, sent && secrets.maskTexts(sent));
      },
      onProcess: (report) => (this.#report = report),
      log: (level, text) => log(name, level, secrets.maskMessage(text)),
    });
  }
}

/** Returns the error of an account that is the cause of a failure. */
function findAccountError(thrown: unknown): SkillgateError | undefined {
  if (thrown instanceof SkillgateError && thrown.code.startsWith("ACCOUNT_")) return thrown;
  return thrown instanceof Error ? findAccountError(thrown.cause) : undefined;
}
