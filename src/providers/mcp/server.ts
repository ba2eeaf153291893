import type { Progress } from "@modelcontextprotocol/client";

import { messageOf, sentence, SkillgateError } from "../../errors.ts";
import type { Problem } from "../../model/provider.ts";
import type { CallContext, ProvidedSkill } from "../../model/skill.ts";
import { explainFailure } from "./call-failure.ts";
import type { Connection } from "./connection.ts";
import { Link, type LinkOptions } from "./link.ts";
import { listTools } from "./list-tools.ts";
import { type Listing, type ListingCache, listingKey, parseListing } from "./listing.ts";
import { type Offer, offerOf } from "./offer.ts";
import { type CallFacts, valueOf } from "./results.ts";
import type { ServerConfig } from "./server-config.ts";
import { within } from "./stdio/within.ts";
import type { QuarantinedTool, Tool } from "./tools.ts";

/** The least time between two questions for the tools: some servers announce a change whenever they are asked. */
const REFRESH_PAUSE_MS = 1_000;

/** How a server is, for people. */
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
  /** The last that it printed on stderr. */
  readonly stderrTail: string;
}

export interface ServerOptions extends LinkOptions {
  /** After so long without a call a server is put to sleep; its next call wakes it. */
  readonly idleMs: number | undefined;
  readonly cache: ListingCache | undefined;
  /** Called after anything of the server has changed. */
  readonly onChange: () => void;
}

/** One server: what it offers, and the calls to it. */
export class Server {
  readonly config: ServerConfig;
  /** Settles when the server is connected or has failed. */
  readonly ready: Promise<void>;
  readonly #skillName: string;
  /** Why it is not to be started at all. */
  readonly #obstacle: string | undefined;
  readonly #options: ServerOptions;
  readonly #link: Link;
  #offer: Offer | undefined;
  #callsUnderWay = 0;
  #idle: NodeJS.Timeout | undefined;
  #isStale = false;
  #isRefreshing = false;

  constructor(config: ServerConfig, skillName: string, obstacle: string | undefined, options: ServerOptions) {
    this.config = config;
    this.#skillName = skillName;
    this.#obstacle = obstacle;
    this.#options = options;
    const kept = this.#mayStart ? parseListing(options.cache?.get(listingKey(config))) : undefined;
    if (kept !== undefined) this.#take(kept);
    this.#link = new Link(config, kept?.era, options, {
      prepare: (connection) => this.#ask(connection),
      onToolsChanged: () => this.#refresh(),
      onChange: options.onChange,
    });
    this.ready = this.#mayStart && kept === undefined ? this.#link.wake() : Promise.resolve();
  }

  get skill(): ProvidedSkill | undefined {
    return this.#link.state.kind === "error" ? undefined : this.#offer?.skill;
  }

  get problems(): readonly Problem[] {
    const { error } = this.#condition();
    const down = error === undefined ? [] : [{ source: this.config.name, error }];
    return [...down, ...(this.#offer?.problems ?? [])];
  }

  get status(): ServerStatus {
    const tools = [...(this.#offer?.tools.values() ?? [])];
    return {
      name: this.config.name,
      skill: this.#skillName,
      ...this.#condition(),
      transport: this.config.transport,
      ...(this.#offer && { protocolVersion: this.#offer.protocolVersion }),
      toolCount: tools.length,
      tools: tools.map(({ name, method, digest }) => ({ name, method: method.name, digest })),
      quarantined: this.#offer?.quarantined ?? [],
      stderrTail: this.#link.stderrTail,
    };
  }

  /** Calls a tool by its name on the wire. Rejects with a `SkillgateError`, or with the reason of the signal. */
  async call(name: string, input: Input, context: CallContext): Promise<unknown> {
    clearTimeout(this.#idle);
    this.#callsUnderWay += 1;
    try {
      if (this.#mayStart) await this.#link.wake();
      return await this.#call(name, input, context);
    } finally {
      this.#callsUnderWay -= 1;
      if (Date.now() > (this.#offer?.staleAt ?? Infinity)) this.#refresh();
      if (this.#callsUnderWay === 0) this.#sleepLater();
    }
  }

  /** Stops the server for good; settles when nothing of it is left. */
  async close(): Promise<void> {
    clearTimeout(this.#idle);
    await this.#link.close();
  }

  get #mayStart(): boolean {
    return this.config.enabled && this.#obstacle === undefined;
  }

  #condition(): Pick<ServerStatus, "status" | "error"> {
    if (!this.config.enabled) return { status: "disabled" };
    if (this.#obstacle !== undefined) return { status: "error", error: this.#obstacle };
    const { state } = this.#link;
    if (state.kind === "asleep") return { status: "disconnected" };
    return "error" in state ? { status: state.kind, error: state.error } : { status: state.kind };
  }

  async #call(name: string, input: Input, context: CallContext): Promise<unknown> {
    const tool = this.#tool(name);
    const facts = { server: this.config.name, tool: name, skill: this.#skillName, method: tool.method.name };
    const answer = await this.#send(tool, input, context, facts);
    if (answer !== "session expired") return valueOf(answer.result, tool, facts);
    // The server did not look at the call; even so it is made again only where that cannot do harm.
    await this.#link.wake();
    const again = isRepeatable(tool) ? await this.#send(tool, input, context, facts) : "session expired";
    if (again !== "session expired") return valueOf(again.result, tool, facts);
    throw gone(facts, "had forgotten the session; it has a new one, call again");
  }

  async #send(tool: Tool, input: Input, context: CallContext, facts: CallFacts): Promise<Answer> {
    const { state } = this.#link;
    if (state.kind !== "connected") throw gone(facts, this.#absence());
    const { connection } = state;
    const { signal, progress } = context;
    const onProgress = ({ progress: done, total, message }: Progress): void => progress(done, total, message);
    try {
      const call = { name: tool.name, input, inputSchema: tool.inputSchema, signal, onProgress };
      const result = await connection.callTool(call);
      context.wire?.(result);
      return { result };
    } catch (thrown) {
      if (signal.aborted) throw signal.reason;
      const failure = await explainFailure(thrown, connection, facts);
      if (failure.kind === "answered") throw failure.error;
      if (failure.kind === "session expired") {
        this.#link.renew(connection);
        return "session expired";
      }
      this.#link.lost(connection, failure.why);
      throw gone(facts, failure.why);
    }
  }

  /** No more than that: why a server is down is for people, and may hold what it has printed. */
  #absence(): string {
    const { status } = this.#condition();
    return `is ${status === "error" ? "down" : status}`;
  }

  #tool(name: string): Tool {
    const facts = { server: this.config.name, tool: name };
    if (this.#offer === undefined) throw gone(facts, this.#absence());
    const tool = this.#offer.tools.get(name);
    if (tool !== undefined) return tool;
    throw new SkillgateError("METHOD_UNKNOWN", `Tool not found: ${this.config.name}.${name}`, facts);
  }

  /** Asks the server for its tools. */
  async #ask(connection: Connection): Promise<void> {
    const timeout = AbortSignal.timeout(this.#options.connectTimeoutMs);
    const listed = await listTools(connection, AbortSignal.any([this.#link.closing, timeout]));
    const { protocolVersion, server, instructions, era } = connection;
    const listing = { ...listed, protocolVersion, server, instructions, era };
    this.#take(listing);
    this.#options.cache?.set(listingKey(this.config), listing);
  }

  #take(listing: Listing): void {
    this.#offer = offerOf(this.config, listing, {
      name: this.#skillName,
      invoke: (method, input, context) => this.call(method.wireName ?? method.name, input, context),
      last: this.#offer,
    });
  }

  #refresh(): void {
    this.#isStale = true;
    if (!this.#isRefreshing) void this.#keepFresh();
  }

  async #keepFresh(): Promise<void> {
    this.#isRefreshing = true;
    if (this.#link.state.kind === "connecting") await this.#link.wake();
    while (this.#isStale) {
      const { state } = this.#link;
      if (state.kind !== "connected") break;
      this.#isStale = false;
      await this.#ask(state.connection).then(this.#options.onChange, (thrown: unknown) => {
        this.#options.log(this.config.name, "warn", `tools/list failed: ${messageOf(thrown)}`);
      });
      await within(REFRESH_PAUSE_MS, state.connection.closed);
    }
    this.#isRefreshing = false;
  }

  #sleepLater(): void {
    const { idleMs } = this.#options;
    if (idleMs !== undefined) this.#idle = setTimeout(() => this.#link.sleep(), idleMs).unref();
  }
}

type Input = Readonly<Record<string, unknown>>;

/** The result as the server sent it; or it did not look at the call, and a new session is under way. */
type Answer = { readonly result: unknown } | "session expired";

function isRepeatable({ method: { metadata } }: Tool): boolean {
  return metadata?.readOnly === true || metadata?.idempotent === true;
}

function gone(facts: Partial<CallFacts>, why: string): SkillgateError {
  const message = sentence("SERVER_GONE", `"${facts.server}" ${why}`);
  return new SkillgateError("SERVER_GONE", message, { ...facts, error: why });
}
