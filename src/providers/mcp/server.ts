import type { Implementation, PriorDiscovery, Progress } from "@modelcontextprotocol/client";

import { messageOf, sentence, SkillgateError } from "../../errors.ts";
import type { Problem } from "../../model/provider.ts";
import type { CallContext, ProvidedSkill } from "../../model/skill.ts";
import { type Backoff, createBackoff, type RestartPolicy } from "./backoff.ts";
import { explainFailure, howItEnded } from "./call-failure.ts";
import { connect } from "./connect.ts";
import type { Connection, LogLevel } from "./connection.ts";
import { startFailure } from "./failure.ts";
import { listTools } from "./list-tools.ts";
import { type Offer, offerOf } from "./offer.ts";
import { type CallFacts, valueOf } from "./results.ts";
import type { ServerConfig } from "./server-config.ts";
import type { Environment } from "./stdio/environment.ts";
import type { ProcessReport } from "./stdio/transport.ts";
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

export interface ServerOptions {
  readonly env: Environment;
  readonly clientInfo: Implementation;
  readonly connectTimeoutMs: number;
  readonly maxMessageBytes: number;
  readonly restart: RestartPolicy;
  readonly log: (server: string, level: LogLevel, text: string) => void;
  /** Called after anything of the server has changed. */
  readonly onChange: () => void;
}

type State =
  | { readonly kind: "connecting" | "disabled" }
  | { readonly kind: "connected"; readonly connection: Connection }
  | { readonly kind: "disconnected" | "error"; readonly error: string };

/** The life of one server: started, called, started again when it was lost, and stopped. */
export class Server {
  readonly config: ServerConfig;
  readonly skillName: string;
  /** Settles when the server is connected or has failed. */
  readonly ready: Promise<void>;
  readonly #options: ServerOptions;
  readonly #backoff: Backoff;
  readonly #closing = new AbortController();
  #state: State = { kind: "connecting" };
  #offer: Offer | undefined;
  /** What the last connection found out about the protocol. */
  #era: PriorDiscovery | undefined;
  #opening: Promise<void> = Promise.resolve();
  #restart: NodeJS.Timeout | undefined;
  #isStale = false;
  #isRefreshing = false;
  /** Settles when nothing is left of the connections that were lost. */
  #swept: Promise<unknown> = Promise.resolve();
  #report: () => ProcessReport | undefined = () => undefined;

  /** `obstacle` says why the server is not to be started at all. */
  constructor(config: ServerConfig, skillName: string, obstacle: string | undefined, options: ServerOptions) {
    this.config = config;
    this.skillName = skillName;
    this.#options = options;
    this.#backoff = createBackoff(options.restart);
    if (!config.enabled) this.#state = { kind: "disabled" };
    else if (obstacle !== undefined) this.#state = { kind: "error", error: obstacle };
    else this.#opening = this.#open((error) => this.#become({ kind: "error", error }));
    this.ready = this.#opening;
  }

  get skill(): ProvidedSkill | undefined {
    return this.#state.kind === "error" ? undefined : this.#offer?.skill;
  }

  get problems(): readonly Problem[] {
    const down = "error" in this.#state ? [{ source: this.config.name, error: this.#state.error }] : [];
    return [...down, ...(this.#offer?.problems ?? [])];
  }

  get status(): ServerStatus {
    const tools = [...(this.#offer?.tools.values() ?? [])];
    return {
      name: this.config.name,
      skill: this.skillName,
      status: this.#state.kind,
      ...("error" in this.#state && { error: this.#state.error }),
      transport: this.config.transport,
      ...(this.#offer && { protocolVersion: this.#offer.protocolVersion }),
      toolCount: tools.length,
      tools: tools.map(({ name, method, digest }) => ({ name, method: method.name, digest })),
      quarantined: this.#offer?.quarantined ?? [],
      stderrTail: this.#report()?.stderrTail ?? "",
    };
  }

  /** Calls a tool by its name on the wire. Rejects with a `SkillgateError`, or with the reason of the signal. */
  async call(name: string, input: Input, context: CallContext): Promise<unknown> {
    await this.#opening;
    const tool = this.#tool(name);
    const facts = { server: this.config.name, tool: name, skill: this.skillName, method: tool.method.name };
    const answer = await this.#send(tool, input, context, facts);
    if (answer !== "session expired") return valueOf(answer.result, tool, facts);
    // The server did not look at the call; even so it is made again only where that cannot do harm.
    await this.#opening;
    const again = isRepeatable(tool) ? await this.#send(tool, input, context, facts) : "session expired";
    if (again !== "session expired") return valueOf(again.result, tool, facts);
    throw gone(facts, "had forgotten the session; it has a new one, call again");
  }

  /** Stops the server for good; settles when nothing of it is left. */
  async close(): Promise<void> {
    this.#closing.abort(new Error("closed"));
    clearTimeout(this.#restart);
    await this.#opening;
    const connection = this.#state.kind === "connected" ? this.#state.connection : undefined;
    if (this.#state.kind !== "error") this.#state = { kind: "disconnected", error: "is closed" };
    await Promise.all([connection?.close(), this.#swept]);
  }

  #become(state: State): void {
    this.#state = state;
    this.#options.onChange();
  }

  #tool(name: string): Tool {
    const tool = this.#offer?.tools.get(name);
    if (tool !== undefined) return tool;
    const server = this.config.name;
    throw new SkillgateError("METHOD_UNKNOWN", `Tool not found: ${server}.${name}`, { server, tool: name });
  }

  async #send(tool: Tool, input: Input, context: CallContext, facts: CallFacts): Promise<Answer> {
    const connection = this.#connected(facts);
    const { signal, progress } = context;
    const onProgress = ({ progress: done, total, message }: Progress): void => progress(done, total, message);
    try {
      const call = { name: tool.name, input, inputSchema: tool.inputSchema, signal, onProgress };
      return { result: await connection.callTool(call) };
    } catch (thrown) {
      if (signal.aborted) throw signal.reason;
      const failure = await explainFailure(thrown, connection, facts);
      if (failure.kind === "answered") throw failure.error;
      if (failure.kind === "gone") {
        this.#lost(connection, failure.why);
        throw gone(facts, failure.why);
      }
      this.#renew(connection);
      return "session expired";
    } finally {
      if (Date.now() > (this.#offer?.staleAt ?? Infinity)) this.#refresh();
    }
  }

  /** Why it is not connected is for people: it may hold what the server printed. */
  #connected(facts: CallFacts): Connection {
    if (this.#state.kind === "connected") return this.#state.connection;
    throw gone(facts, `is ${this.#state.kind === "error" ? "down" : this.#state.kind}`);
  }

  async #open(onFailure: (error: string) => void): Promise<void> {
    this.#become({ kind: "connecting" });
    try {
      await this.#swept;
      const connection = await this.#connect();
      this.#era = connection.era;
      this.#become({ kind: "connected", connection });
      void connection.closed.then(async () => this.#lost(connection, await howItEnded(connection)));
    } catch (thrown) {
      this.#era = undefined;
      onFailure(messageOf(thrown));
    }
  }

  async #connect(): Promise<Connection> {
    const { connectTimeoutMs: timeoutMs } = this.#options;
    const connection = await connect(this.config, {
      ...this.#options,
      timeoutMs,
      signal: this.#closing.signal,
      ...(this.#era && { era: this.#era }),
      onToolsChanged: () => this.#refresh(),
      onProcess: (report) => (this.#report = report),
      log: (level, text) => this.#options.log(this.config.name, level, text),
    });
    try {
      await this.#ask(connection);
      return connection;
    } catch (thrown) {
      const step = "did not list its tools";
      const report = connection.report();
      await connection.close();
      throw startFailure(this.config, { thrown, timeoutMs, report, step });
    }
  }

  /** Asks the server for its tools. */
  async #ask(connection: Connection): Promise<void> {
    const timeout = AbortSignal.timeout(this.#options.connectTimeoutMs);
    const listed = await listTools(connection, AbortSignal.any([this.#closing.signal, timeout]));
    this.#offer = offerOf(this.config, connection, listed, {
      name: this.skillName,
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
    await this.#opening;
    while (this.#isStale && this.#state.kind === "connected") {
      const { connection } = this.#state;
      this.#isStale = false;
      await this.#ask(connection).then(this.#options.onChange, (thrown: unknown) => {
        this.#options.log(this.config.name, "warn", `tools/list failed: ${messageOf(thrown)}`);
      });
      await within(REFRESH_PAUSE_MS, connection.closed);
    }
    this.#isRefreshing = false;
  }

  #lost(connection: Connection, why: string): void {
    if (this.#closing.signal.aborted || !this.#isCurrent(connection)) return;
    this.#swept = Promise.all([this.#swept, connection.close()]);
    this.#openLater(why);
  }

  #openLater(why: string): void {
    if (this.#closing.signal.aborted) return;
    const delayMs = this.#backoff.next();
    if (delayMs === undefined) return this.#become({ kind: "error", error: `${why}, after too many restarts` });
    this.#become({ kind: "disconnected", error: why });
    this.#restart = setTimeout(() => {
      this.#opening = this.#open((error) => this.#openLater(error));
    }, delayMs).unref();
  }

  /** Makes a new session at once: the server is well, it only has forgotten us. */
  #renew(connection: Connection): void {
    if (this.#closing.signal.aborted || !this.#isCurrent(connection)) return;
    this.#swept = Promise.all([this.#swept, connection.close()]);
    this.#opening = this.#open((error) => this.#openLater(error));
  }

  #isCurrent(connection: Connection): boolean {
    return this.#state.kind === "connected" && this.#state.connection === connection;
  }
}

type Input = Readonly<Record<string, unknown>>;

/** The result as the server sent it; or it did not look at the call, and a new session is under way. */
type Answer = { readonly result: unknown } | "session expired";

function isRepeatable({ method: { metadata } }: Tool): boolean {
  return metadata?.readOnly === true || metadata?.idempotent === true;
}

function gone(facts: CallFacts, why: string): SkillgateError {
  return new SkillgateError("SERVER_GONE", sentence("SERVER_GONE", `"${facts.server}" ${why}`), {
    ...facts,
    error: why,
  });
}
