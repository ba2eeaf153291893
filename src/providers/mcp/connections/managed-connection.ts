import type { Implementation, PriorDiscovery } from "@modelcontextprotocol/client";

import { getMessage } from "../../../errors.ts";
import type { Client } from "../../../model/client-requests.ts";
import { type Backoff, createBackoff, type RestartPolicy } from "./backoff.ts";
import type { Connection, McpLogLevel } from "./connection.ts";
import type { Authorize } from "../oauth/session.ts";
import type { TokenStore } from "../oauth/token-file.ts";
import type { KeyValueCache } from "../../../shared/file-cache.ts";
import type { ServerConfig } from "../server-config.ts";
import type { ProcessEnvironment } from "../stdio/environment.ts";
import type { KnownSecrets } from "../../../shared/secrets.ts";
import type { ProcessReport } from "../stdio/transport.ts";

export interface ConnectionOptions {
  readonly env: ProcessEnvironment;
  readonly clientInfo: Implementation;
  readonly connectTimeoutMs: number;
  readonly maxMessageBytes: number;
  readonly restart: RestartPolicy;
  /** Where programs were found that `npx` would start. */
  readonly programs: KeyValueCache;
  /** Where `npx` looks up what the user's own servers need. */
  readonly npxFolder: string;
  readonly tokens: TokenStore;
  readonly caller: string;
  readonly authorize: Authorize | undefined;
  /** Answers what the server asks. */
  readonly client: Client | undefined;
  readonly log: (server: string, level: McpLogLevel, text: string) => void;
  /** Masked in whatever the server says. */
  readonly secrets: KnownSecrets;
}

/** What the owner of a link does when something happens to it. */
export interface ConnectionEvents {
  /** Has to succeed before the link counts as connected. */
  readonly prepare: (connection: Connection) => Promise<void>;
  readonly onToolsChanged: () => void;
  readonly onChange: () => void;
  /** Gets what the server says to whom it works for. */
  readonly onLog: (level: McpLogLevel, text: string) => void;
}

/** What is known of a server from an earlier time. */
export interface PreviousState {
  readonly era: PriorDiscovery | undefined;
  /** It has worked before: if it does not now, it is tried again. */
  readonly wasConnected: boolean;
}

export type ConnectionState =
  /** Asleep: it can be connected, and will be when it is needed. */
  | { readonly kind: "asleep" | "connecting" }
  | { readonly kind: "connected"; readonly connection: Connection }
  /** Disconnected: it was lost, and will be connected again. */
  | { readonly kind: "disconnected" | "error"; readonly error: string };

/** The way to one server: connected when it is needed, and again when it was lost. */
export class ManagedConnection {
  readonly #config: ServerConfig;
  readonly #options: ConnectionOptions;
  readonly #events: ConnectionEvents;
  readonly #backoff: Backoff;
  readonly #closing = new AbortController();
  #state: ConnectionState = { kind: "asleep" };
  /** What is known of the protocol that the server speaks. */
  #era: PriorDiscovery | undefined;
  #wasConnected: boolean;
  #opening: Promise<void> = Promise.resolve();
  #restart: NodeJS.Timeout | undefined;
  /** Settles when nothing is left of the connections that were lost. */
  #swept: Promise<unknown> = Promise.resolve();
  #report: () => ProcessReport | undefined = () => undefined;

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

  /** Fires when the link is closed for good. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** The last that the server's process printed on stderr. */
  get stderrTail(): string {
    return this.#report()?.stderrTail ?? "";
  }

  /** Connects if it sleeps, and waits while it connects. What came of it is the state. */
  async wake(): Promise<void> {
    if (this.#state.kind === "asleep") this.#open();
    await this.#opening;
  }

  /** Lets go of the server until it is needed again. */
  sleep(): void {
    if (this.#state.kind === "connected" && this.#drop(this.#state.connection)) this.#become({ kind: "asleep" });
  }

  /** Says that a connection is of no use any more. */
  lost(connection: Connection, why: string): void {
    if (this.#drop(connection)) this.#openLater(why);
  }

  /** Connects anew at once: the server is well, it only has forgotten us. */
  renew(connection: Connection): void {
    if (this.#drop(connection)) this.#open();
  }

  /** Settles when nothing of the server is left. */
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

  /** False if the connection was dropped before. */
  #drop(connection: Connection): boolean {
    const isCurrent = this.#state.kind === "connected" && this.#state.connection === connection;
    if (!isCurrent || this.closing.aborted) return false;
    this.#swept = Promise.allSettled([this.#swept, connection.close()]);
    return true;
  }

  /** What has never worked is not tried again: it is the configuration that is wrong. */
  #notOpened(error: string): void {
    if (this.#wasConnected) this.#openLater(error);
    else this.#become({ kind: "error", error });
  }

  #openLater(why: string): void {
    if (this.closing.aborted) return;
    const delayMs = this.#backoff.next();
    if (delayMs === undefined) return this.#become({ kind: "error", error: `${why}, after too many restarts` });
    this.#become({ kind: "disconnected", error: why });
    this.#restart = setTimeout(() => this.#open(), delayMs).unref();
  }

  #open(): void {
    this.#opening = this.#connect().then(
      (connection) => {
        this.#era = connection.era;
        this.#wasConnected = true;
        this.#become({ kind: "connected", connection });
        void connection.closed.then(() => this.#ended(connection));
      },
      (thrown: unknown) => {
        this.#era = undefined;
        this.#notOpened(this.#options.secrets.maskText(getMessage(thrown)));
      },
    );
    this.#become({ kind: "connecting" });
  }

  async #ended(connection: Connection): Promise<void> {
    const { describeEnd } = await import("../call-failure.ts");
    this.lost(connection, await describeEnd(connection));
  }

  async #connect(): Promise<Connection> {
    await this.#swept;
    // What speaks the protocol is loaded when a server is first spoken to: known servers need not be.
    const { openConnection } = await import("./open-connection.ts");
    const { log, secrets } = this.#options;
    const { name } = this.#config;
    return openConnection(this.#config, {
      ...this.#options,
      timeoutMs: this.#options.connectTimeoutMs,
      signal: this.closing,
      prepare: this.#events.prepare,
      ...(this.#era && { era: this.#era }),
      onToolsChanged: this.#events.onToolsChanged,
      onLog: (level, text) => {
        const masked = secrets.maskText(text);
        log(name, level, masked);
        this.#events.onLog(level, masked);
      },
      onProcess: (report) => (this.#report = report),
      log: (level, text) => log(name, level, secrets.maskText(text)),
    });
  }
}
