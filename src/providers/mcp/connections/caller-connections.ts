import type { Client } from "../../../model/client-requests.ts";
import type { RequestContext } from "../../../model/skill.ts";
import { formatAbilities, ActiveCallers } from "./active-callers.ts";
import type { ManagedConnection } from "./managed-connection.ts";

/** How long the connection of one caller stays open after its last call. */
const IDLE_MS = 60_000;

/** Maximum number of connections for single callers; further callers use the shared connection. */
const MAX_CONNECTIONS = 16;

/** A connection to a server, and the callers that use it. */
export interface CallerConnection {
  readonly managed: ManagedConnection;
  readonly callers: ActiveCallers;
}

interface OwnConnection extends CallerConnection {
  calls: number;
  idle: NodeJS.Timeout | undefined;
}

export interface CallerConnectionsOptions {
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
    line.calls += 1;
    clearTimeout(line.idle);
    try {
      return await callOnConnection(line, context, call);
    } finally {
      line.calls -= 1;
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
    await shared.managed.wake();
    const { state } = shared.managed;
    return state.kind === "connected" && state.connection.isStateless;
  }

  #findOwnConnection(context: RequestContext): OwnConnection | undefined {
    const abilities = formatAbilities(context.client);
    if (abilities === "" || context.client === this.#options.client) return undefined;
    const key = `${context.caller.id} ${context.client?.era ?? ""} ${abilities}`;
    const existing = this.#own.get(key);
    // A connection that failed to open is opened again: the cause may be temporary.
    if (existing !== undefined && existing.managed.state.kind !== "error") return existing;
    if (this.#own.size >= MAX_CONNECTIONS) return undefined;
    const callers = new ActiveCallers(context.client);
    const line: OwnConnection = {
      callers,
      managed: this.#options.open(callers, context),
      calls: 0,
      idle: undefined,
    };
    this.#own.set(key, line);
    return line;
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
    await line.managed.wake();
    return call(line);
  });
}
