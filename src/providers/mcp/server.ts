import { SkillgateError } from "../../errors.ts";
import type { UsableAccounts } from "../../model/account.ts";
import { OWNER } from "../../model/caller.ts";
import type { Problem } from "../../model/provider.ts";
import type { ListName, ReadContext } from "../../model/mcp-features.ts";
import type { ProvidedSkill, RequestContext } from "../../model/skill.ts";
import { type Client, CLIENT_REQUESTS } from "../../model/client-requests.ts";
import { ActiveCallers } from "./connections/active-callers.ts";
import { type CallerConnection, CallerConnections } from "./connections/caller-connections.ts";
import { fillInDefaults, formatNeeds } from "./connections/request-config.ts";
import {
  type CallerConfig,
  createCallerKey,
  findAccountFlaw,
  mayOpenForCaller,
  openForCaller,
} from "./http/server-account.ts";
import { ManagedConnection, type ConnectionOptions } from "./connections/managed-connection.ts";
import type { KeyValueCache } from "../../shared/file-cache.ts";
import { setBounded } from "../../shared/lru.ts";
import type { ServerListing } from "./catalog/server-listing.ts";
import type { OperationInput, Operation } from "./catalog/operations.ts";
import { COMPLETION } from "./catalog/resource-operations.ts";
import { describeState, serverGoneError, callOperation } from "./call-operation.ts";
import { callMasked } from "./masked-call.ts";
import { subscribe } from "./subscribe.ts";
import { withSender } from "./questions.ts";
import type { ChangePolicy } from "../../shared/changes/definition-changes.ts";
import type { ToolChange } from "./catalog/accepted-tools.ts";
import { parseEra, ServerTools } from "./server-tools.ts";
import { dependsOnCaller, getAccountName, type ServerConfig } from "./server-config.ts";
import type { QuarantinedTool } from "./catalog/import-tools.ts";

/** The status of a server, for display. */
export interface ServerStatus {
  readonly name: string;
  /** The name of its skill. */
  readonly skill: string;
  readonly status: "connecting" | "connected" | "disconnected" | "error" | "disabled";
  /** Why it is not connected. */
  readonly error?: string;
  readonly transport: ServerConfig["transport"];
  readonly protocolVersion?: string;
  readonly toolCount: number;
  readonly tools: readonly { readonly name: string; readonly method: string; readonly digest: string }[];
  /** Tools that cannot be offered, and why. */
  readonly quarantined: readonly QuarantinedTool[];
  /** Tools that the entry of the server leaves out. */
  readonly disabledTools: readonly string[];
  /** Tools that differ from the accepted definitions. */
  readonly changes: readonly ToolChange[];
  /** The end of its stderr output. */
  readonly stderrTail: string;
}

export interface ServerOptions extends ConnectionOptions {
  readonly accounts: UsableAccounts;
  /** A server without a call for this time is stopped; its next call starts it. */
  readonly idleMs: number | undefined;
  /** Listings of earlier runs. */
  readonly cache: KeyValueCache | undefined;
  /** The accepted tool definitions. */
  readonly pins: KeyValueCache;
  readonly changePolicy: ChangePolicy;
  /** A server with a stored listing is started by its first call. */
  readonly isLazy: boolean;
  /** Called after each change of the server. */
  readonly onChange: () => void;
  /** Called with the skill of a server that has announced a change of its resources or prompts. */
  readonly onListChanged: (skill: string, list: ListName) => void;
}

/** A listing of the tools for one caller. */
interface CallerListing {
  isUnderWay: boolean;
  /** When the tools may be listed again for this caller, after a failure. */
  readonly againAt: number;
  readonly ended: Promise<void>;
}

/** Callers whose last listing is known. */
const MAX_LISTINGS = 1_000;

/** One server: its skill, its status, and the calls to it. */
export class Server {
  readonly config: ServerConfig;
  /** Settles when the server has a listing, or has failed. */
  readonly known: Promise<void>;
  readonly #skillName: string;
  /** Why it must not be started. */
  readonly #obstacle: string | undefined;
  readonly #options: ServerOptions;
  readonly #managed: ManagedConnection;
  readonly #callers: CallerConnections;
  /** Answers requests of the server for calls without a client. */
  readonly #client: Client | undefined;
  readonly #tools: ServerTools;
  #callsUnderWay = 0;
  #idle: NodeJS.Timeout | undefined;
  /** False if the shared connection needs what only the request of a caller has. */
  readonly #hasShared: boolean;
  /** Listings with the values of requests and the accounts of callers, by their keys: the one of another does not stand for them. */
  readonly #listings = new Map<string, CallerListing>();
  #listingCapable: Promise<void> | undefined;

  constructor(config: ServerConfig, skillName: string, obstacle: string | undefined, options: ServerOptions) {
    this.config = config;
    this.#skillName = skillName;
    this.#obstacle = obstacle;
    this.#options = options;
    this.#tools = new ServerTools(config, skillName, options, {
      getConnection: () => this.#managed,
      invoke: (method, input, context) => this.call(method.wireName ?? method.name, input, context),
      subscribe: (uri, listener, context) => this.#subscribe(uri, listener, context),
      complete: (params, context) => this.#perform(COMPLETION.name, params, context, () => COMPLETION),
    });
    const stored = this.#mayStart ? this.#tools.takeStored() : undefined;
    this.#client = options.client && withSender(options.client, config.name, options.secrets);
    const client = this.#client;
    const sharedConfig = fillInDefaults(config);
    this.#hasShared = sharedConfig !== undefined;
    const callers = new ActiveCallers(client, client);
    const earlier = { era: stored && parseEra(stored), wasConnected: stored !== undefined };
    this.#managed = new ManagedConnection(
      sharedConfig ?? config,
      earlier,
      { ...options, client: client && callers },
      {
        prepare: (connection) => this.#tools.list(connection),
        onListChanged: (list) => (list === "tools" ? this.#tools.refresh() : options.onListChanged(skillName, list)),
        onChange: options.onChange,
        onLog: (...words) => callers.log(...words),
      },
    );
    this.#callers = new CallerConnections({
      server: config.name,
      // Over HTTP, a caller may have a login of its own.
      mayShare: () => config.transport === "stdio" && this.#tools.listing?.era.kind !== "legacy",
      shared: { managed: this.#managed, callers },
      client,
      open: (callers, context) => this.#openOwn(callers, context),
    });
    const woken =
      this.#mayStart && this.#hasShared && !(options.isLazy && stored !== undefined) ? this.#managed.wake() : undefined;
    this.known = stored === undefined ? (woken ?? this.#listForOwner()) : Promise.resolve();
  }

  /** Starts the server if it is asleep; settles when it is connected or has failed. */
  async connect(): Promise<void> {
    if (this.#mayStart && this.#hasShared) await this.#managed.wake();
  }

  /** Connects at once to a server that could not be reached, if a text names its skill; `undefined` if there is nothing to connect. */
  reach(text: string): Promise<void> | undefined {
    return this.#managed.isAwaited && text.includes(this.#skillName) ? this.#managed.wakeForCall() : undefined;
  }

  /** True if the tools for the client of a request are not listed yet, and can be listed for it. */
  needsListing(asker: Pick<RequestContext, "caller" | "requestValues" | "client">): boolean {
    return this.#needsCaller(asker) || this.#needsClient(asker);
  }

  /** True for the first client with capabilities of a server before 2026-07-28. */
  #needsClient({ client }: Pick<RequestContext, "client">): boolean {
    if (this.#listingCapable !== undefined) return true;
    const { era, capable } = this.#tools.listing ?? {};
    const isUnknown = era?.kind === "legacy" && capable === undefined && !dependsOnCaller(this.config);
    return this.#mayStart && isUnknown && CLIENT_REQUESTS.some((request) => client?.can(request) === true);
  }

  /**
   * True if the tools can be listed only with the values of a request or with an account, and this caller may have them. After a
   * failure with these, it is false for a while.
   */
  #needsCaller(asker: Pick<RequestContext, "caller" | "requestValues">): boolean {
    if (!dependsOnCaller(this.config) || !this.#mayStart || this.#tools.offer !== undefined) return false;
    if (!mayOpenForCaller(this.config, asker, this.#options.accounts.find)) return false;
    const listing = this.#listings.get(this.#createListingKey(asker));
    return listing === undefined || listing.isUnderWay || Date.now() >= listing.againAt;
  }

  #createListingKey({ caller, requestValues }: Pick<RequestContext, "caller" | "requestValues">): string {
    return createCallerKey(this.config, requestValues, { caller, find: this.#options.accounts.find }) ?? "";
  }

  /** Lists the tools for the client of a request. Never rejects: a failure is in the log. */
  async listWith(context: RequestContext): Promise<void> {
    if (this.#needsClient(context)) {
      this.#listingCapable ??= this.#tools.listCapable().finally(() => (this.#listingCapable = undefined));
      await this.#listingCapable;
    }
    if (!this.#needsCaller(context)) return;
    const key = this.#createListingKey(context);
    const underWay = this.#listings.get(key);
    if (underWay?.isUnderWay === true) return underWay.ended;
    const ended = this.#listForCaller(context).catch(() => {});
    const listing: CallerListing = { isUnderWay: true, againAt: Date.now() + LIST_AGAIN_MS, ended };
    setBounded(this.#listings, [key, listing], MAX_LISTINGS);
    await ended;
    listing.isUnderWay = false;
  }

  async #listForCaller(context: RequestContext): Promise<void> {
    const separate = await this.#openForCaller(context);
    if (separate !== undefined) await this.#useSeparate(context, separate, async () => {});
  }

  /** Lists the tools with the account of everyone, or with that of the owner, if it is connected. */
  async #listForOwner(): Promise<void> {
    if (!this.#mayStart || getAccountName(this.config) === undefined) return;
    await this.#options.accounts.refresh().catch(() => {}); // a call says why the connections cannot be read
    await this.listWith({ caller: OWNER, signal: this.#managed.closing, log: () => {}, progress: () => {} });
  }

  #openForCaller(context: RequestContext): Promise<CallerConfig | undefined> {
    return openForCaller(this.config, context, this.#options.accounts.find);
  }

  /** Accepts the tools as the server lists them now. */
  accept(): void {
    this.#tools.accept();
  }

  get skill(): ProvidedSkill | undefined {
    const isDown = this.#managed.state.kind === "error" && !dependsOnCaller(this.config);
    return isDown ? undefined : this.#tools.offer?.skill;
  }

  get problems(): readonly Problem[] {
    const { status, error } = this.#condition();
    const isWaiting = dependsOnCaller(this.config) && status === "disconnected";
    const down = error === undefined || isWaiting ? [] : [{ source: this.config.name, error }];
    return [...down, ...(this.#tools.offer?.problems ?? [])];
  }

  get status(): ServerStatus {
    const tools = [...(this.#tools.offer?.tools.values() ?? [])];
    return {
      name: this.config.name,
      skill: this.#skillName,
      ...this.#condition(),
      transport: this.config.transport,
      ...(this.#tools.offer && { protocolVersion: this.#tools.offer.protocolVersion }),
      toolCount: tools.length,
      tools: tools.map(({ name, method, digest }) => ({ name, method: method.name, digest })),
      quarantined: this.#tools.offer?.quarantined ?? [],
      disabledTools: this.#tools.offer?.disabled ?? [],
      changes: this.#tools.offer?.changes ?? [],
      stderrTail: this.#managed.stderrTail,
    };
  }

  /** Calls a tool by its protocol name. Rejects with a `SkillgateError`, or with the reason of the signal. */
  async call(name: string, input: OperationInput, context: RequestContext): Promise<unknown> {
    return this.#perform(name, input, context, () => this.#findOperation(name));
  }

  async #perform(
    name: string,
    input: OperationInput,
    context: RequestContext,
    findOperation: () => Operation,
  ): Promise<unknown> {
    clearTimeout(this.#idle);
    this.#callsUnderWay += 1;
    try {
      if (!this.#mayStart) throw serverGoneError({ server: this.config.name, tool: name }, "is down");
      const separate = await this.#openForCaller(context);
      if (separate === undefined && this.#tools.offer === undefined) await this.#managed.wakeForCall();
      const isOwn = context.client !== undefined && context.client !== this.#options.client;
      const client = isOwn ? withSender(context.client, this.config.name, this.#options.secrets) : this.#client;
      const callContext = client === undefined ? context : { ...context, client };
      const call = ({ managed }: CallerConnection, context: RequestContext): Promise<unknown> => {
        const operation = findOperation();
        const facts = { server: this.config.name, tool: name, skill: this.#skillName, method: operation.method.name };
        const perform = (context: RequestContext): Promise<unknown> =>
          callOperation(managed, { operation, input, context, facts });
        const { account } = managed;
        return account === undefined
          ? perform(context)
          : callMasked(context, { headerSecrets: account.secrets, values: [] }, perform);
      };
      if (separate === undefined) return await this.#callers.use(callContext, (line) => call(line, callContext));
      return await callMasked(callContext, separate, (context) =>
        this.#useSeparate(context, separate, (line) => call(line, context)),
      );
    } finally {
      this.#callsUnderWay -= 1;
      if (Date.now() > (this.#tools.offer?.staleAt ?? Infinity)) this.#tools.refresh();
      if (this.#callsUnderWay === 0) this.#sleepLater();
    }
  }

  #subscribe(uri: string, listener: (uri: string) => void, context: ReadContext): Promise<() => void> {
    const facts = {
      server: this.config.name,
      tool: "resources/subscribe",
      skill: this.#skillName,
      method: "subscribe",
    };
    const perform = async (operation: Operation, context: RequestContext): Promise<unknown> => {
      const call = (managed: ManagedConnection): Promise<unknown> =>
        callOperation(managed, { operation, input: {}, context, facts });
      const separate = await this.#openForCaller(context);
      if (separate !== undefined) return this.#useSeparate(context, separate, ({ managed }) => call(managed));
      await this.#managed.wakeForCall();
      return call(this.#managed);
    };
    this.#callsUnderWay += 1; // it does not sleep meanwhile
    const onEnd = (): void => {
      this.#callsUnderWay -= 1;
      if (this.#callsUnderWay === 0) this.#sleepLater();
    };
    return subscribe(uri, listener, context, { perform, closing: this.#managed.closing, onEnd });
  }

  #useSeparate<Result>(
    context: RequestContext,
    separate: CallerConfig,
    call: (line: CallerConnection) => Promise<Result>,
  ): Promise<Result> {
    // Over HTTP, a caller may have a login of its own.
    const mayHaveLogin = this.config.transport !== "stdio" && separate.account === undefined;
    const key = mayHaveLogin ? JSON.stringify([separate.key, context.caller.id]) : separate.key;
    const open = (callers: ActiveCallers): ManagedConnection => this.#openOwn(callers, context, separate);
    return this.#callers.useSeparate(context, { key, open }, call);
  }

  /** Stops the server permanently; settles when it is stopped. */
  async close(): Promise<void> {
    clearTimeout(this.#idle);
    await Promise.all([this.#managed.close(), this.#callers.close()]);
  }

  get #mayStart(): boolean {
    return this.config.enabled && this.#obstacle === undefined;
  }

  #condition(): Pick<ServerStatus, "status" | "error"> {
    if (!this.config.enabled) return { status: "disabled" };
    if (this.#obstacle !== undefined) return { status: "error", error: this.#obstacle };
    const flaw = findAccountFlaw(this.config, this.#options.accounts.find);
    if (flaw !== undefined) return { status: "error", error: flaw };
    const { state } = this.#managed;
    if (dependsOnCaller(this.config) && state.kind !== "connected" && state.kind !== "connecting") {
      const error = `waits for ${formatNeeds(this.config)}`;
      return this.#tools.isListed ? { status: "connected" } : { status: "disconnected", error };
    }
    if (state.kind === "asleep") return { status: "disconnected" };
    return "error" in state ? { status: state.kind, error: state.error } : { status: state.kind };
  }

  /** Opens a connection for one caller. It uses the tool listing of the shared connection. Throws `SERVER_GONE` after `close`. */
  #openOwn(callers: ActiveCallers, { caller, client }: RequestContext, separate?: CallerConfig): ManagedConnection {
    if (this.#managed.closing.aborted) throw serverGoneError({ server: this.config.name }, "is closed");
    const { config, values, account } = separate ?? { config: this.config, values: [] };
    const secrets = values.length === 0 ? this.#options.secrets : this.#options.secrets.with(values);
    // To a client of the older protocol, a server that speaks both sends its requests only over the older one.
    const era = client?.era === "legacy" ? LEGACY : this.#tools.listing && parseEra(this.#tools.listing);
    const isLister = separate !== undefined && this.#managed.state.kind !== "connected";
    const managed = new ManagedConnection(
      config,
      { era, wasConnected: false },
      { ...this.#options, secrets, client: callers, caller: caller.id, ...(account && { account }) },
      {
        prepare: async (connection) => {
          if (isLister && !this.#tools.isListed)
            await this.#tools.list(connection, secrets).then(this.#options.onChange);
        },
        onListChanged: () => {},
        onChange: () => {},
        onLog: (...words) => callers.log(...words),
      },
    );
    const stop = account?.onEnd(() => void managed.close());
    if (stop !== undefined) managed.closing.addEventListener("abort", stop, { once: true });
    return managed;
  }

  #findOperation(name: string): Operation {
    const facts = { server: this.config.name, tool: name };
    if (this.#tools.offer === undefined) throw serverGoneError(facts, describeState(this.#managed.state));
    const operation = this.#tools.offer.operations.get(name);
    if (operation !== undefined) return operation;
    throw new SkillgateError("METHOD_UNKNOWN", `Tool not found: ${this.config.name}.${name}`, facts);
  }

  #sleepLater(): void {
    const { idleMs } = this.#options;
    if (idleMs !== undefined) this.#idle = setTimeout(() => this.#managed.sleep(), idleMs).unref();
  }
}

/** How long a failure to list tools with the values of a request is remembered. */
const LIST_AGAIN_MS = 10_000;

const LEGACY: ServerListing["era"] = { kind: "legacy" };
