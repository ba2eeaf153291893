import { randomBytes } from "node:crypto";
import type { Msg, NatsConnection } from "@nats-io/transport-node";

import { isDeviceName } from "../shared/names/method-paths.ts";
import { countDroppedMessage } from "../telemetry/index.ts";
import { type Network, openNetwork } from "./connection.ts";
import type { NetworkSettings } from "./settings.ts";
import { openStatements, type ReadStatement, type StatementKind, type Statements } from "./statements.ts";
import { type StartAddress, getInbox, type Group, parseInbox } from "./subjects.ts";

export interface EndpointOptions {
  readonly settings: NetworkSettings;
  readonly group: Group;
  /** The longest message in bytes. */
  readonly maxBytes: number;
  /** Returns what this process says about itself in each session, as JSON. */
  readonly describe: () => unknown;
  /** The connection is open: it is a new one, or the old one after an interruption. `where` are the servers, for people. */
  readonly onOpen?: (where: string) => void;
  /** The connection is interrupted. */
  readonly onLost?: (where: string) => void;
  /** The first attempt to connect has failed. */
  readonly onFailure?: (where: string, failure: string) => void;
  readonly warn: (text: string) => void;
}

/** Receives a message to this start of the process. `isAbsence`: the NATS server reports that it has no receiver. */
export type InboxListener = (
  message: { readonly from: string; readonly session: string; readonly isAbsence: boolean },
  bytes: Uint8Array,
) => void;

interface Listeners {
  readonly onInbox: InboxListener;
  /** Subjects of messages to all, with their receivers. */
  readonly topics: Readonly<Record<string, (message: Msg) => void>>;
  readonly onOpen: (connection: NatsConnection) => void;
  readonly onLost: () => void;
}

const MAX_WARNINGS = 100;

/** One start of this process in a network: its address, its statements and its subscriptions. */
export class NetworkEndpoint {
  readonly address: StartAddress;
  readonly statements: Statements;
  readonly #options: EndpointOptions;
  readonly #warned = new Set<string>();
  #network: Network | undefined;
  #subscribed: NatsConnection | undefined;

  static async open(options: EndpointOptions): Promise<NetworkEndpoint> {
    return new NetworkEndpoint(options, await openStatements(options.settings));
  }

  private constructor(options: EndpointOptions, statements: Statements) {
    this.#options = options;
    this.statements = statements;
    this.address = { device: options.settings.device, start: createId(16) };
  }

  /** Connects in the background, now and after each interruption. */
  connect({ onInbox, topics, onOpen, onLost }: Listeners): void {
    const subscribe = (connection: NatsConnection): void => {
      // The subscriptions of an interrupted connection are made again by themselves.
      if (this.#subscribed === connection) return;
      this.#subscribed = connection;
      const listeners = { ...topics, [getInbox(this.address)]: (message: Msg) => receive(message, onInbox) };
      for (const [subject, listener] of Object.entries(listeners))
        connection.subscribe(subject, {
          callback: (error, message) => {
            if (error === null) listener(message);
          },
        });
    };
    const { settings, onFailure } = this.#options;
    const where = settings.servers.map((url) => url.replace(/\/\/[^@/]*@/, "//")).join(", ");
    this.#network = openNetwork(settings, {
      onOpen: (connection) => {
        subscribe(connection);
        onOpen(connection);
        this.#options.onOpen?.(where);
      },
      onLost: () => {
        onLost();
        this.#options.onLost?.(where);
      },
    });
    void this.attempted.then(() => {
      if (this.failure !== undefined) onFailure?.(where, this.failure);
    });
  }

  /** `undefined` while there is no connection. */
  get connection(): NatsConnection | undefined {
    return this.#network?.connection;
  }

  /** Says why there is no connection; `undefined` while there is one. */
  get failure(): string | undefined {
    return this.#network?.failure;
  }

  /** Settles when the first attempt to connect has ended. */
  get attempted(): Promise<void> {
    return this.#network?.attempted ?? Promise.resolve();
  }

  /** Reads a statement of a machine. One that is not used is counted, and reported once for each machine and reason. */
  read(
    kind: StatementKind,
    device: string,
    bytes: Uint8Array,
  ): Exclude<ReadStatement, { readonly flaw: string }> | undefined {
    const statement = this.statements.read(kind, device, bytes);
    if (!("flaw" in statement)) return statement;
    countDroppedMessage("statement");
    this.warnOnce(`Cannot use the machine "${isDeviceName(device) ? device : "?"}": ${statement.flaw}`);
    return undefined;
  }

  warnOnce(text: string): void {
    if (this.#warned.has(text) || this.#warned.size >= MAX_WARNINGS) return;
    this.#warned.add(text);
    this.#options.warn(text);
  }

  /** Resolves when the NATS server has everything that was sent. */
  async flush(): Promise<void> {
    await this.connection?.flush().catch(() => {}); // the server is gone, and so are its clients
  }

  async close(): Promise<void> {
    await this.flush();
    await this.#network?.close();
  }
}

function receive(message: Msg, onInbox: InboxListener): void {
  const isAbsence = message.headers?.code === 503;
  onInbox({ ...parseInbox(message.subject), isAbsence }, message.data);
}

/** Returns a random id of this number of bytes. */
export function createId(bytes: number): string {
  return randomBytes(bytes).toString("hex");
}

/** True for a text that `createId` returns. */
export function isId(value: unknown): value is string {
  return typeof value === "string" && /^[0-9a-f]{16,32}$/.test(value);
}
