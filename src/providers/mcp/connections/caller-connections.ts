import type { Client } from "../../../model/client-requests.ts";
import type { RequestContext } from "../../../model/skill.ts";
import { serverGoneError } from "../call-operation.ts";
import { formatAbilities, ActiveCallers } from "./active-callers.ts";
import type { ManagedConnection } from "./managed-connection.ts";

/** How long the connection of one caller stays open after its last call. */
const IDLE_MS = 60_000;

/** Maximum number of connections for single callers; further callers use the shared connection. */
const MAX_CONNECTIONS = 16;

/** A connection for some values of requests, which no other values may use. */
export interface SeparateConnection {
  /** Identifies the values. */
  readonly key: string;
  readonly open: (callers: ActiveCallers, context: RequestContext) => ManagedConnection;
}

/** A connection to a server, and the callers that use it. */
export interface CallerConnection {
  readonly managed: ManagedConnection;
  readonly callers: ActiveCallers;
}

interface OwnConnection extends CallerConnection {
  calls: number;
  /** In milliseconds of the monotonic clock. */
  lastUsed: number;
  idle: NodeJS.Timeout | undefined;
}

export interface CallerConnectionsOptions {
  /** The name of the server. */
  readonly server: string;
  /** False if the shared connection cannot have requests for several clients. Otherwise, its state shows it. */
  readonly mayShare: () => boolean;
  readonly shared: CallerConnection;
  /** The client that answers requests on the shared connection. */
  readonly client: Client | undefined;
  /** Opens a connection on which the server may request what these callers can answer. */
  readonly open: (callers: ActiveCallers, context: RequestContext) => ManagedConnection;
}

/**
 * The connections to one server. Most calls share one. Before 2026-07-28, a caller that can answer requests has a
 * connection of its own: a request of a server does not name a caller, so on a shared connection it could reach the
 * wrong one.
 */
export class CallerConnections {
  readonly #options: CallerConnectionsOptions;
  readonly #own = new Map<string, OwnConnection>();

  constructor(options: CallerConnectionsOptions) {
    this.#options = options;
  }

  /** Makes a call on the connection of its caller. */
  async use<Result>(context: RequestContext, call: (line: CallerConnection) => Promise<Result>): Promise<Result> {
    const line = (await this.#canShare(context)) ? undefined : this.#findOwnConnection(context);
    if (line === undefined) return callOnConnection(this.#options.shared, context, call);
    return this.#callOn(line, context, call);
  }

  /** Makes a call on a connection for the values of its request. Rejects if there are too many of them in use. */
  async useSeparate<Result>(
    context: RequestContext,
    separate: SeparateConnection,
    call: (line: CallerConnection) => Promise<Result>,
  ): Promise<Result> {
    return this.#callOn(this.#findSeparateConnection(context, separate), context, call);
  }

  async #callOn<Result>(
    line: OwnConnection,
    context: RequestContext,
    call: (line: CallerConnection) => Promise<Result>,
  ): Promise<Result> {
    line.calls += 1;
    clearTimeout(line.idle);
    try {
      return await callOnConnection(line, context, call);
    } finally {
      line.calls -= 1;
      line.lastUsed = performance.now();
      if (line.calls === 0) this.#closeLater(line);
    }
  }

  async close(): Promise<void> {
    const own = [...this.#own.values()];
    this.#own.clear();
    for (const { idle } of own) clearTimeout(idle);
    await Promise.all(own.map(({ managed }) => managed.close()));
  }

  /** True if the shared connection keeps callers apart, and speaks the generation of the caller. */
  async #canShare({ client }: RequestContext): Promise<boolean> {
    const { mayShare, shared } = this.#options;
    if (client?.era === "legacy" || !mayShare()) return false;
    await shared.managed.wakeForCall();
    const { state } = shared.managed;
    return state.kind === "connected" && state.connection.isStateless;
  }

  #findOwnConnection(context: RequestContext): OwnConnection | undefined {
    const asker = this.#formatAsker(context);
    if (asker === "") return undefined;
    const existing = this.#own.get(asker);
    if (existing !== undefined) return existing;
    return this.#own.size >= MAX_CONNECTIONS ? undefined : this.#add(asker, context, this.#options.open);
  }

  /** Callers with the same values share a connection, unless the server could ask the wrong one of them. */
  #findSeparateConnection(context: RequestContext, { key, open }: SeparateConnection): OwnConnection {
    const mayShare = this.#options.mayShare() && context.client?.era !== "legacy";
    const name = JSON.stringify([key, mayShare ? "" : this.#formatAsker(context)]);
    const existing = this.#own.get(name);
    if (existing !== undefined) return existing;
    if (this.#own.size >= MAX_CONNECTIONS && !this.#closeIdle())
      throw serverGoneError(
        { server: this.#options.server },
        `has ${MAX_CONNECTIONS} connections for callers, all in use`,
      );
    return this.#add(name, context, open);
  }

  /** Identifies the caller and the requests that its client answers; empty for a client that answers none of its own. */
  #formatAsker({ caller, client }: RequestContext): string {
    const abilities = formatAbilities(client);
    if (abilities === "" || client === this.#options.client) return "";
    return `${caller.id} ${client?.era ?? ""} ${abilities}`;
  }

  #add(key: string, context: RequestContext, open: SeparateConnection["open"]): OwnConnection {
    const callers = new ActiveCallers(context.client);
    const line: OwnConnection = { callers, managed: open(callers, context), calls: 0, idle: undefined, lastUsed: 0 };
    this.#own.set(key, line);
    return line;
  }

  /** Closes the connection that is idle for longest; false if all are in use. */
  #closeIdle(): boolean {
    const [oldest] = [...this.#own]
      .filter(([, { calls }]) => calls === 0)
      .toSorted(([, a], [, b]) => a.lastUsed - b.lastUsed);
    if (oldest === undefined) return false;
    const [key, line] = oldest;
    this.#own.delete(key);
    clearTimeout(line.idle);
    void line.managed.close();
    return true;
  }

  #closeLater(line: OwnConnection): void {
    line.idle = setTimeout(() => {
      for (const [key, each] of this.#own) if (each === line) this.#own.delete(key);
      void line.managed.close();
    }, IDLE_MS).unref();
  }
}

function callOnConnection<Result>(
  line: CallerConnection,
  context: RequestContext,
  call: (line: CallerConnection) => Promise<Result>,
): Promise<Result> {
  return line.callers.trackDuring(context, async () => {
    await line.managed.wakeForCall();
    return call(line);
  });
}
