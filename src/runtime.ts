import type { ListName } from "./model/mcp-features.ts";
import type { Cancellable } from "../sandbox/index.ts";
import type { EndedConnection } from "./accounts/index.ts";
import type { Approval } from "./approvals/index.ts";
import { createError, SkillgateError } from "./errors.ts";
import type { Approve } from "./model/approval.ts";
import type { Caller } from "./model/caller.ts";
import type { Catalog } from "./model/catalog.ts";
import type { JsonSchema } from "./model/json.ts";
import type { KeptResults, ResultSpace } from "./model/kept-results.ts";
import type { Limits } from "./model/limits.ts";
import type { Outcome } from "./model/outcome.ts";
import type { Problem } from "./model/provider.ts";
import type { Profiles } from "./model/tools/profile.ts";
import type { RunObserver } from "./model/run-observer.ts";
import type { LogLevel, ProvidedSkill } from "./model/skill.ts";
import type { Timeouts } from "./model/timeouts.ts";
import type { ExplainedPolicy } from "./policy/index.ts";
import type { ServerStatus } from "./providers/mcp/index.ts";
import type { ExecutorPool, FrontCall, Fronts } from "./executors/index.ts";
import type { NodeStatus } from "./providers/nodes/index.ts";
import type { AuditEntry } from "./router/index.ts";
import { createAutomationsApi } from "./runtime/api/automations.ts";
import { type CallApi, createCallApi } from "./runtime/api/calls.ts";
import { type DiscoveryApi, createDiscoveryApi } from "./runtime/api/discovery.ts";
import { followFiles } from "./runtime/api/follow-files.ts";
import { connectSavedCalls } from "./runtime/api/saved.ts";
import { type RuntimeParts, openParts } from "./runtime/api/parts.ts";
import { listProblems } from "./runtime/api/problems.ts";
import { createRequest } from "./runtime/api/request.ts";
import { type RunApi, createRunApi } from "./runtime/api/run.ts";
import { type RunsApi, createRunsApi } from "./runtime/api/runs.ts";
import { type ServerApi, createServerAdmin } from "./runtime/api/servers.ts";
import { closeServices, createDecisions } from "./runtime/api/services.ts";
import { type RuntimeTool, type RuntimeToolOptions, createRuntimeTools } from "./runtime/builtin-tools/index.ts";
import type { AutomationApi } from "./runtime/automations/index.ts";
import { indexInBackground } from "./runtime/discovery.ts";
import type { RecordedRunFacts, RunNeighbours } from "./runtime/execution/run-lists.ts";
import type { RuntimeOptions } from "./runtime/options.ts";
import type { RefusalGroup, RefusalReport } from "./runtime/refusals/report.ts";
import { createCallElsewhere, noteRefusedCall, serveExecutors } from "./runtime/remote/front-calls.ts";
import { createServices, type RuntimeServices } from "./runtime/services.ts";
import { type SkillAdmin, createSkillAdmin } from "./runtime/skill-admin.ts";
import { RuntimeView } from "./runtime/api/view.ts";
import { onFault } from "./shared/errors/faults.ts";
import { splitPath } from "./shared/names/method-paths.ts";
import type { KnownSecrets } from "./shared/secrets.ts";
import type { Database, StoreFailure } from "./store/index.ts";

export type { RecordedRunFacts, RefusalGroup, RefusalReport, RunNeighbours };

/** On whose behalf, and under which limits. No caller: everything is allowed. */
export interface RunOptions {
  readonly caller?: Caller;
  readonly limits?: Partial<Limits>;
  /** Cancels the run: a signal, or an object that creates one on demand. */
  readonly signal?: AbortSignal | Cancellable;
  /** The conversation that the program is part of: when it is refused repeatedly for one reason, the outcome says more. */
  readonly conversation?: string;
  /** Receives events of the run while it lasts. */
  readonly observer?: RunObserver;
  /**
   * Asks the person at the program that makes the calls, in place of the runtime's own `approve`; with `false` no person is
   * asked, and no call waits for an answer.
   */
  readonly approve?: Approve | false;
  /** Calls that have an effect need an approval, whatever the policy says: the text of the program is from elsewhere. */
  readonly asksForEffects?: boolean;
  /**
   * The failed run of the caller that the program corrects: `continue` of its outcome. What it has done is not done again. The
   * run rejects with `CONTINUE_INVALID` or `RUN_BUSY` if it cannot be continued.
   */
  readonly continue?: string;
  /** Numbers of calls of that run that may be made again. */
  readonly again?: readonly number[];
  /** Numbers of calls of that run that count as made. */
  readonly reuse?: readonly number[];
  /** The id of the run; a new one by default. No other run on the same store may have it. */
  readonly runId?: string;
  /**
   * The value that the program gets from `device.input()`: JSON of at most 1 MiB and 64 KiB, with at most 200 levels. The run
   * rejects with `INPUT_INVALID` for any other value. With `continue`, the input of that run by default.
   */
  readonly input?: unknown;
  /** JSON Schema of the input. The run rejects with `INPUT_INVALID` for an input that does not match; the check of types uses it. */
  readonly inputSchema?: JsonSchema;
  /** True if the input is from elsewhere, such as the payload of a webhook: the flows of the policy from `device.input` apply to it. */
  readonly isForeignInput?: boolean;
  /** The name of the automation that the run belongs to: `device.store` has other values for each. */
  readonly automation?: string;
  /** Where the run keeps large results and finds those of earlier runs; in the runtime by default. */
  readonly resultSpace?: ResultSpace;
}

/** Options of a single call. */
export interface DirectCallOptions extends Omit<
  RunOptions,
  "limits" | "resultSpace" | "input" | "inputSchema" | "isForeignInput" | "automation"
> {
  /** The id of the call at the program that makes it, which methods receive as their `runId`; a new one by default. */
  readonly runId?: string;
}

export interface CallerOption {
  readonly caller?: Caller;
}

/** One entry of the log of a runtime. */
export interface LogEntry {
  readonly level: LogLevel;
  readonly text: string;
  /** The method whose call says it, or the file of the skill that prints it. */
  readonly path?: string;
  /** The run of the method. */
  readonly runId?: string;
  /** True for the stack of an error that a call has thrown. */
  readonly isThrown?: true;
}

/** Events that a runtime emits, with their arguments. */
export interface RuntimeEvents {
  /** Skills came or went. */
  readonly catalog: [Catalog];
  /** A call was decided on, and how it ended. */
  readonly call: [AuditEntry];
  /** A run has ended or waits for a person; the second argument says on whose behalf. */
  readonly run: [Outcome, RunFacts];
  /** A call needs an approval: its question was recorded, and can be answered with `approvals.answer`. */
  readonly approval: [Approval];
  /** An MCP server has connected, failed or stopped, or its tools have changed. */
  readonly servers: [readonly ServerStatus[]];
  /** The MCP server of a skill has announced that its resources or its prompts have changed. */
  readonly list: [skill: string, list: ListName];
  /** A connection of an account cannot be used any more: it was revoked or replaced, or its owner must connect it again. */
  readonly account: [EndedConnection];
  /** The store begins to fail, for another reason, or works again: then there is no failure. */
  readonly store: [StoreFailure | undefined];
  /** A skill or a provider has something to say. */
  readonly log: [LogEntry];
  /** A method has done a part of its work, in its own unit. */
  readonly progress: [Progress];
}

/** Facts about a run that its outcome does not have. */
export interface RunFacts {
  /** Id of the caller. */
  readonly caller: string;
}

export interface Progress {
  readonly runId: string;
  /** `Skill.method` */
  readonly path: string;
  readonly done: number;
  readonly total?: number;
  readonly text?: string;
}

export interface Runtime extends AsyncDisposable, SkillAdmin, RunApi, CallApi, DiscoveryApi, RunsApi, ServerApi {
  /**
   * Returns the tools `search_skills`, `describe_function` and `run_code` for a model that calls tools. They are those of
   * the MCP server.
   */
  tools(options?: RuntimeToolOptions): readonly RuntimeTool[];
  /** Returns the runtime as a caller may use it. Surfaces that serve several callers use nothing else. */
  viewFor(caller: Caller): RuntimeView;
  /** Programs that run by schedules and webhooks. */
  readonly automations: AutomationApi;
  register(skill: ProvidedSkill): void;
  unregister(name: string): boolean;
  readonly catalog: Catalog;
  /** The setting `catalogTokens`. */
  readonly catalogTokens: number;
  /** Default limits of a run. */
  readonly limits: Limits;
  readonly timeouts: Timeouts;
  /** The sections of settings.yaml as they were written. */
  readonly sections: Readonly<Record<string, unknown>>;
  /** Subsets of the methods that clients of the server can select, by name. */
  readonly profiles: Profiles;
  readonly servers: readonly ServerStatus[];
  /** Other machines whose skills can be called. */
  readonly nodes: readonly NodeStatus[];
  /** The processes that execute the runs of this one; `undefined` if it executes them itself. */
  readonly executors: Pick<ExecutorPool, "processes" | "failure"> | undefined;
  /** Files, skills and servers that could not be used, and why. */
  readonly problems: readonly Problem[];
  /** The problem of the parts that are held; `undefined` without such parts. `isAll`: there is no other skill. */
  readonly heldProblem: (Problem & { readonly isAll: boolean }) | undefined;
  /** Why the store cannot be used at the moment; `undefined` while it works. */
  readonly storeFailure: StoreFailure | undefined;
  /** The policy that is in force. */
  readonly policy: ExplainedPolicy;
  /** Returns the database of keys, approvals and the audit log, which is opened at the first use. */
  database(): Promise<Database>;
  /** Results that were too large to hand out whole, for an hour. */
  readonly results: KeptResults;
  /** The secrets of the configuration; masks them in what is shown. */
  readonly secrets: KnownSecrets;
  /** Settles when skills are loaded and MCP servers have begun to connect. */
  readonly opened: Promise<void>;
  /** Settles when skills are loaded and the tools of every MCP server are known, from the server or from an earlier list. */
  readonly known: Promise<void>;
  /** Settles when every MCP server is connected or has failed; starts those that were not needed yet. */
  readonly ready: Promise<void>;
  /** Lets fronts make the calls of methods with accounts: an executor does not have their credentials. */
  useFronts(fronts: Fronts): void;
  on<Name extends keyof RuntimeEvents>(event: Name, listener: (...args: RuntimeEvents[Name]) => void): () => void;
  /**
   * Answers callers whose programs wait for a person, now or later, at once with `waiting` and the id of the run: the process is
   * about to end. Runs on executors continue there.
   */
  releaseCallers(): void;
  /** Ends every run, thread and server. */
  close(): Promise<void>;
}

/**
 * Opens everything that a program needs. MCP servers connect in the background; see `ready`. Rejects with `OPTION_INVALID` for
 * options that cannot be meant, and with `CONFIG_INVALID` for a file that was named and is missing or broken.
 */
export async function createRuntime(options: RuntimeOptions = {}): Promise<Runtime> {
  const caller = { stack: "" };
  Error.captureStackTrace(caller, createRuntime);
  try {
    return assembleRuntime(await openParts(options));
  } catch (error) {
    // A mistake in the options is in the line that called, not in the files of the package.
    if (error instanceof SkillgateError)
      error.stack = [`${error.name}: ${error.message}`, ...caller.stack.split("\n").slice(1)].join("\n");
    throw error;
  }
}

function assembleRuntime(parts: RuntimeParts): Runtime {
  const { options, registry, sources, providers, events, log } = parts;
  const decisions = createDecisions(parts);
  const services = createServices(parts, decisions.decide);
  connectSavedCalls(parts, services);
  let listing: Promise<void> | undefined;
  let closed: Promise<unknown> | undefined;
  const requireOpen = (): void => {
    if (closed !== undefined) throw createError("RUNTIME_CLOSED", "run");
  };
  const whenKnown = (): Promise<void> => (listing ??= providers.whenKnown());
  const stops = [followFiles(parts), onFault(log), options.lazy === true ? () => {} : indexInBackground(registry)];
  if (options.lazy !== true) void whenKnown();

  const runs = { ...createRunApi(parts, services, requireOpen), ...createRunsApi(parts, services) };
  const automations = createAutomationsApi(parts, services, runs);

  const runtime: Runtime = {
    ...createSkillAdmin(parts),
    ...runs,
    automations: automations.api,
    ...createCallApi(parts, services, requireOpen),
    ...createDiscoveryApi(parts, services),
    tools: (options) => createRuntimeTools(runtime, options),
    viewFor: (caller) => new RuntimeView(runtime, caller),
    register: (skill) => sources.register(skill),
    unregister: (name) => sources.unregister(name),
    get catalog() {
      return registry.catalog;
    },
    ...getPublicSettings(parts),
    get servers() {
      return providers.servers;
    },
    get nodes() {
      return providers.nodes;
    },
    get problems() {
      return listProblems(parts);
    },
    get heldProblem() {
      return findHeldProblem(parts);
    },
    get storeFailure() {
      return parts.database.health.failure;
    },
    get policy() {
      return parts.policy.current;
    },
    database: () => parts.database.open(),
    results: services.results,
    get opened() {
      return providers.open();
    },
    get known() {
      return whenKnown();
    },
    get ready() {
      return providers.ready();
    },
    ...createServerAdmin(parts),
    ...linkFronts(parts, services),
    on: createListen(events),
    releaseCallers: () => services.records.releaseCallers(),
    async close() {
      for (const stop of stops) stop();
      await (closed ??= automations.close().then(() => closeServices(parts, services, decisions)));
    },
    [Symbol.asyncDispose]: () => runtime.close(),
  };
  return runtime;
}

/** A process with executors makes their calls with accounts; an executor lets such processes make its own. */
function linkFronts(parts: RuntimeParts, { router }: RuntimeServices): Pick<Runtime, "useFronts"> {
  const { settings, fronts, log, registry, database } = parts;
  const useFronts: Runtime["useFronts"] = (found) =>
    void (fronts.elsewhere = createCallElsewhere(found, settings.limits));
  if (settings.executors === undefined) return { useFronts };
  const services = {
    createRequest: (options: RunOptions) => createRequest(options, parts),
    makeDecided: router.makeDecided,
    openDatabase: () => database.open(),
    isSaved: (path: string) => registry.catalog.skill(splitPath(path).skill)?.provided.saved !== undefined,
    onRefusal: (call: FrontCall, error: unknown) => noteRefusedCall(parts, call, error),
  };
  fronts.served = serveExecutors(settings.executors, services, (text) => log("warn", text));
  return { useFronts };
}

function findHeldProblem(parts: RuntimeParts): Runtime["heldProblem"] {
  const heldProblem = listProblems(parts).find(({ isHeld }) => isHeld);
  return heldProblem && { ...heldProblem, isAll: parts.registry.catalog.skills.length === 0 };
}

function createListen(events: RuntimeParts["events"]): Runtime["on"] {
  return (event, listener) => {
    events.on(event, listener as never);
    return () => events.off(event, listener as never);
  };
}

function getPublicSettings({
  settings: { catalogTokens, limits, timeouts, sections, profiles },
  executors,
  secrets,
}: RuntimeParts): Pick<
  Runtime,
  "catalogTokens" | "limits" | "timeouts" | "sections" | "profiles" | "executors" | "secrets"
> {
  return { catalogTokens, limits, timeouts, sections, profiles, executors, secrets };
}
