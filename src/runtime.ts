import { randomUUID } from "node:crypto";
import { EventEmitter } from "node:events";

import { cancellableBy, type Cancellable } from "../sandbox/index.ts";
import { callMethod, callMethods, methodAt, type WantedCall } from "./runtime/call-method.ts";
import { createRuntimeTools, type RuntimeTool, type RuntimeToolOptions } from "./runtime/builtin-tools/index.ts";
import { createRefusalHints } from "./runtime/refusal-hints.ts";
import { type Discovery, indexInBackground, type ReadTime } from "./runtime/discovery.ts";
import { findServerSecrets } from "./config/index.ts";
import { getMessage, sentence, SkillgateError } from "./errors.ts";
import type { Learned } from "./learning/index.ts";
import type { ArgumentProblem } from "./model/arguments.ts";
import { findDisabledSkills } from "./runtime/disabled-skills.ts";
import type { Approve } from "./model/approval.ts";
import { type Caller, OWNER } from "./model/caller.ts";
import type { Catalog } from "./model/catalog.ts";
import type { RunObserver } from "./model/run-observer.ts";
import type { Limits } from "./model/limits.ts";
import type { Outcome, Violation } from "./model/outcome.ts";
import type { Plan } from "./model/plan.ts";
import type { Problem } from "./model/provider.ts";
import type { KeptResults } from "./model/kept-results.ts";
import type { LogLevel, ProvidedSkill } from "./model/skill.ts";
import type { Timeouts } from "./model/timeouts.ts";
import type { LogListener, RuntimeOptions } from "./runtime/options.ts";
import { readOptions } from "./runtime/settings/index.ts";
import { mergeLimits } from "./runtime/settings/limits.ts";
import type { RuntimeSettings } from "./runtime/settings/runtime-settings.ts";
import type { ServerStatus } from "./providers/mcp/index.ts";
import {
  type Approval,
  type ApprovalDecisions,
  type Approvals,
  createApprovalDecisions,
  createApprovals,
} from "./approvals/index.ts";
import { type ExplainedPolicy, type LivePolicy, openPolicy } from "./policy/index.ts";
import { createProviders, type Providers } from "./runtime/open-providers.ts";
import {
  createRegistry,
  type Description,
  type PromptOptions,
  type Registry,
  type SearchAnswer,
  type SearchOptions,
  systemPrompt,
} from "./registry/index.ts";
import { type AuditEntry, type CallResult, type Statistics } from "./router/index.ts";
import { type RuntimeServices, createServices } from "./runtime/services.ts";
import type { RunRequest, RunServices } from "./runtime/execution/run-services.ts";
import { runPart, runSnippet } from "./runtime/execution/run-snippet.ts";
import {
  createLearnedExecutor,
  createLearnedSkills,
  LearnedCalls,
  type LearnedExecution,
  type LearnedSkills,
} from "./runtime/learned/index.ts";
import { createSkillAdmin, watchSettings, type SkillAdmin } from "./runtime/skill-admin.ts";
import { KnownSecrets } from "./shared/secrets.ts";
import { SkillSettings } from "./runtime/skill-settings.ts";
import { SkillSources } from "./runtime/skill-sources.ts";
import { createLastingStatistics, type LastingStatistics, readUsedPaths } from "./runtime/statistics.ts";
import { createLazyDatabase, createStore, type Database, type LazyDatabase, type Store } from "./store/index.ts";
import { createRuns, type RecordedRunFacts, type Runs } from "./runtime/execution/runs.ts";
import { createAudit, type RuntimeAudit } from "./runtime/audit.ts";
import type { CheckedSnippet } from "./runtime/check-snippet.ts";
import { traceRun } from "./runtime/trace-run.ts";
import { recordDuration } from "./telemetry/index.ts";

export type { RecordedRunFacts };

/** On whose behalf, and under which limits. No caller: everything is granted. */
export interface RunOptions {
  readonly caller?: Caller;
  readonly limits?: Partial<Limits>;
  /** Cancels the run: a signal, or an object that creates one on demand. */
  readonly signal?: AbortSignal | Cancellable;
  /** The conversation that the snippet is part of: when it is refused repeatedly for one reason, the outcome says more. */
  readonly conversation?: string;
  /** Receives events of the run while it lasts. */
  readonly observer?: RunObserver;
  /** Asks the person at the program that makes the calls, in place of the runtime's own `approve`. */
  readonly approve?: Approve;
  /**
   * The failed run of the caller that the snippet corrects: `continue` of its outcome. What it has done is not done again. The
   * run rejects with `CONTINUE_INVALID` or `RUN_BUSY` if it cannot be continued.
   */
  readonly continue?: string;
  /** Numbers of calls of that run that may be made again. */
  readonly again?: readonly number[];
  /** Numbers of calls of that run that count as made. */
  readonly reuse?: readonly number[];
}

export interface CallerOption {
  readonly caller?: Caller;
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
  /** A skill or a provider has something to say; `path` is the method whose call says it. */
  readonly log: [{ readonly level: LogLevel; readonly text: string; readonly path?: string }];
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

export interface Runtime extends AsyncDisposable, SkillAdmin {
  /** Rejects with `RATE_LIMIT` if the limits of the caller are used up. A program counts as its calls, and at least once. */
  run(source: string, options?: RunOptions): Promise<Outcome>;
  /** Looks at a snippet without running it. */
  check(
    source: string,
    options?: Omit<RunOptions, "signal">,
  ): { readonly violations: readonly Violation[]; readonly plan: Plan; readonly notes: readonly string[] };
  /** Calls one method, by the same rules as a snippet's call. Rejects with a `SkillgateError`. */
  call(path: string, input: Readonly<Record<string, unknown>>, options?: Omit<RunOptions, "limits">): Promise<unknown>;
  /** Many calls, one after the other or all at once; a failure is a result like any other. */
  callAll(
    calls: readonly WantedCall[],
    options?: Omit<RunOptions, "limits"> & { readonly parallel?: boolean },
  ): Promise<readonly CallResult[]>;
  /** Counts a request that calls no method, such as a search, in the limits of a caller; rejects with `RATE_LIMIT`. */
  countRequest(caller: Caller): Promise<void>;
  /** Statistics of the calls of each method, by path. */
  statistics(): ReadonlyMap<string, Statistics>;
  /** The same, including the counts of earlier runtimes on the same store. */
  lastingStatistics(): Promise<ReadonlyMap<string, Statistics>>;
  /** The newest decisions and calls, the oldest first. */
  audit(): readonly AuditEntry[];
  /**
   * Takes part in learning: what is called next is what was meant, for this caller. Indexes methods that are not indexed yet
   * first, at once, for at most `readMs` (`timeouts.discoveryMs` if not given); an answer from a part of the methods says so.
   */
  search(query: string, options?: Omit<SearchOptions, "learned" | "deadline"> & ReadTime & CallerOption): SearchAnswer;
  /**
   * Indexes the methods that a search needs, in slices between which other work runs, for at most `timeouts.discoveryMs`.
   */
  index(): Promise<void>;
  describe(path: string, options?: CallerOption): Description;
  /** TypeScript of the named skills, or of all. */
  declarations(skills?: readonly string[], options?: CallerOption): string;
  systemPrompt(options?: PromptOptions & CallerOption): string;
  /**
   * Formats the methods of the catalog on a line each, in `parts` with at most that many UTF-16 units; by default in one part of
   * `catalogTokens`. A part is empty if nothing fits, and shows what the parts before it do not.
   */
  briefCatalog(options?: CallerOption & { readonly parts?: readonly number[] }): readonly string[];
  /**
   * Returns the tools `search_skills`, `describe_function` and `run_code` for a model that calls tools. They are those of
   * the MCP server.
   */
  tools(options?: RuntimeToolOptions): readonly RuntimeTool[];
  /** Returns what was learned from use: the words that the caller taught, and the shapes of results. */
  learned(options?: CallerOption): Learned;
  /**
   * Forgets what one caller taught; without a caller what all taught, and what results look like. Of one method, `path`, or
   * of all.
   */
  forget(options?: CallerOption & { readonly path?: string }): void;
  register(skill: ProvidedSkill): void;
  unregister(name: string): boolean;
  readonly catalog: Catalog;
  /** The catalog as a caller may read it. */
  catalogFor(caller: Caller): Catalog;
  /** Checks arguments by name; throws `METHOD_UNKNOWN`. */
  validate(path: string, input: unknown, options?: CallerOption): readonly ArgumentProblem[];
  /** The setting `catalogTokens`. */
  readonly catalogTokens: number;
  /** Default limits of a run. */
  readonly limits: Limits;
  readonly timeouts: Timeouts;
  /** The sections of settings.yaml as they were written. */
  readonly sections: Readonly<Record<string, unknown>>;
  readonly servers: readonly ServerStatus[];
  /** Files, skills and servers that could not be used, and why. */
  readonly problems: readonly Problem[];
  /** Questions whether a call may be made: lists and answers them. */
  readonly approvals: Approvals;
  /** Recorded runs: lists, continues and cancels them. */
  readonly runs: Runs;
  /** Skills that were saved from runs: tests and saves them. */
  readonly learnedSkills: LearnedSkills;
  /** The policy that is in force. */
  readonly policy: ExplainedPolicy;
  /** Returns the database of keys, approvals and the audit log, which is opened at the first use. */
  database(): Promise<Database>;
  /** Results that were too large to hand out whole, for an hour. */
  readonly results: KeptResults;
  /** The secrets of the configuration; masks them in what is shown. */
  readonly secrets: KnownSecrets;
  /** Settles when skills are loaded and the tools of every MCP server are known, from the server or from an earlier list. */
  readonly known: Promise<void>;
  /** Settles when every MCP server is connected or has failed; starts those that were not needed yet. */
  readonly ready: Promise<void>;
  /** Accepts the tools of an MCP server as they are now: changes of theirs are not reported any more, or not held back. */
  acceptTools(server: string): void;
  /**
   * Reads the configuration files again: servers that were added or changed start, and those that are gone or disabled stop. Calls
   * of servers that stay are not disturbed.
   */
  reloadServers(): Promise<void>;
  on<Name extends keyof RuntimeEvents>(event: Name, listener: (...args: RuntimeEvents[Name]) => void): () => void;
  /** Ends every run, thread and server. */
  close(): Promise<void>;
}

/** Opens everything that a snippet needs. MCP servers connect in the background; see `ready`. */
export async function createRuntime(options: RuntimeOptions = {}): Promise<Runtime> {
  const settings = await readOptions(options);
  const registry = createRegistry();
  let catalog: Catalog | undefined;
  const secrets = new KnownSecrets(settings.secretValues, () => {
    if (catalog === registry.catalog) return;
    catalog = registry.catalog;
    for (const { provided } of catalog.skills) skillSettings.of(provided);
  });
  const skillSettings = new SkillSettings(settings.sections["skills"], settings.variables, secrets);
  const sources = new SkillSources(registry, settings.skills, skillSettings.disabled);
  const events = new EventEmitter<RuntimeEvents>();
  registry.onChange(() => {
    if (events.listenerCount("catalog") > 0) events.emit("catalog", registry.catalog);
  });
  const { log } = options;
  if (log !== undefined) events.on("log", ({ level, text, path }) => log(level, text, path));
  const store = createStore(settings.store, settings.timeouts.lockMs);
  const statistics = createLastingStatistics(store, (error) =>
    events.emit("log", { level: "warn", text: `Cannot keep statistics: ${getMessage(error)}` }),
  );
  const onLog: LogListener = (level, text) => void events.emit("log", { level, text: secrets.maskText(text) });
  const policy = await openPolicy(settings.policyFile, settings.policy);
  let current = settings;
  const trusted = async (): Promise<RuntimeSettings> => {
    current = await settings.trusted();
    if (current !== settings) {
      secrets.add(current.secretValues);
      skillSettings.replace(current.sections["skills"], current.variables);
      policy.configure(current.policy);
    }
    return current;
  };
  const { isolated } = skillSettings;
  const learnedCalls = new LearnedCalls();
  const learned = getLearnedOptions(settings, learnedCalls, store);
  const providers = createProviders({ ...settings, sources: trusted, isolated, log: onLog, secrets, learned }, sources);
  if (options.lazy !== true) await providers.open();
  const storeProblems: Problem[] = [];
  const database = createLazyDatabase(settings.database, {
    lockMs: settings.timeouts.lockMs,
    warn: (error) => void storeProblems.push({ source: "store", error, isForAllRuns: true }),
  });
  const audit = createAudit(settings, database, onLog);
  if (options.lazy !== true) storeProblems.push(...((await audit?.open()) ?? []));
  const fromFiles = (): readonly Problem[] => current.problems;
  const parts = {
    options,
    settings,
    fromFiles,
    onReload: (fresh: RuntimeSettings) => void (current = fresh),
    registry,
    sources,
    providers,
    events,
    skillSettings,
    store,
    database,
    statistics,
    secrets,
    log: onLog,
    learnedCalls,
    policy,
    audit,
    storeProblems,
    used: options.lazy === true ? NOTHING_USED : await readUsedPaths(statistics),
  };
  return openRuntime(parts);
}

function getLearnedOptions(
  { runs, limits }: RuntimeSettings,
  { run }: Pick<LearnedCalls, "run">,
  store: Store,
): Parameters<typeof createProviders>[0]["learned"] {
  return { run, counts: store.space("learned"), requiredPasses: runs.learnedPasses, wallMs: limits.wallMs };
}

interface RuntimeParts {
  readonly options: RuntimeOptions;
  readonly settings: RuntimeSettings;
  /** Returns the problems of the configuration files that were read. */
  readonly fromFiles: () => readonly Problem[];
  /** Takes settings that were read again. */
  readonly onReload: (fresh: RuntimeSettings) => void;
  readonly registry: Registry;
  readonly sources: SkillSources;
  readonly providers: Providers;
  readonly events: EventEmitter<RuntimeEvents>;
  readonly skillSettings: SkillSettings;
  readonly store: Store;
  readonly database: LazyDatabase;
  readonly statistics: LastingStatistics;
  readonly secrets: KnownSecrets;
  readonly log: LogListener;
  readonly learnedCalls: LearnedCalls;
  readonly policy: LivePolicy;
  readonly audit: RuntimeAudit | undefined;
  /** Sentences about a store that cannot be used as it is. */
  readonly storeProblems: readonly Problem[];
  readonly used: ReadonlySet<string>;
}

const NOTHING_USED: ReadonlySet<string> = new Set();

function openRuntime(parts: RuntimeParts): Runtime {
  const { options, registry, sources, providers, events, secrets } = parts;
  const decisions = createDecisions(parts);
  const services = openServices(parts, decisions);
  const runAndWait = createRecordedRunner(parts, services);
  connectLearnedCalls(parts, services);
  let listing: Promise<void> | undefined;
  let closed: Promise<unknown> | undefined;
  const whenKnown = (): Promise<void> => (listing ??= providers.whenKnown());
  const stopFollowing = followFiles(parts);
  const stopIndexing = options.lazy === true ? () => {} : indexInBackground(registry);
  if (options.lazy !== true) void whenKnown();

  const runtime: Runtime = {
    ...createSkillAdmin(parts),
    async run(source, options = {}) {
      if (closed !== undefined) throw new SkillgateError("RUNTIME_CLOSED", sentence("RUNTIME_CLOSED", "run"));
      return traceRun(async () => {
        const outcome = await runAndWait(source, options);
        events.emit("run", outcome, { caller: (options.caller ?? OWNER).id });
        return outcome;
      });
    },
    check(source, options = {}) {
      const { violations, plan, notes } = inspectAtOnce(source, requestFor(options, parts), services);
      return { violations, plan, notes };
    },
    ...createCallApi(parts, services),
    ...createDiscoveryApi(parts, services),
    tools: (options) => createRuntimeTools(runtime, options),
    register: (skill) => sources.register(skill),
    unregister: (name) => sources.unregister(name),
    get catalog() {
      return registry.catalog;
    },
    ...getPublicSettings(parts),
    get servers() {
      return providers.servers;
    },
    get problems() {
      return listProblems(parts);
    },
    get policy() {
      return parts.policy.current;
    },
    database: () => parts.database.open(),
    ...createRunsApi(parts, services),
    results: services.results,
    secrets,
    get known() {
      return whenKnown();
    },
    get ready() {
      return providers.ready();
    },
    ...createServerAdmin(parts),
    on(event, listener) {
      events.on(event, listener as never);
      return () => events.off(event, listener as never);
    },
    async close() {
      stopFollowing();
      stopIndexing();
      await (closed ??= closeServices(parts, services, decisions));
    },
    [Symbol.asyncDispose]: () => runtime.close(),
  };
  return runtime;
}

/** Creates the methods of a runtime that administer its MCP servers. */
function createServerAdmin(parts: RuntimeParts): Pick<Runtime, "acceptTools" | "reloadServers"> {
  const { options, settings, providers, secrets, onReload } = parts;
  return {
    acceptTools: (server) => providers.accept(server),
    async reloadServers() {
      // A project that was trusted at the start stays trusted until the end.
      const { person: _asked, ...unasked } = options;
      const fresh = await readOptions({ ...unasked, trust: settings.isTrusted ? "given" : "recorded" });
      const servers = await fresh.servers();
      secrets.add([...fresh.secretValues, ...servers.flatMap(findServerSecrets)]);
      onReload(fresh);
      await providers.replaceServers(servers);
    },
  };
}

/** Leaves the runs that wait to other processes, and ends everything else. */
async function closeServices(
  { providers, statistics, audit, database }: RuntimeParts,
  services: RuntimeServices,
  decisions: ApprovalDecisions,
): Promise<void> {
  services.learning.close();
  await services.ledgers.close();
  await Promise.all([
    services.sandbox.close(),
    services.nestedSandboxes.close(),
    services.typecheck?.close(),
    providers.close(),
  ]);
  await Promise.all([statistics.close(), decisions.close(), audit?.close()]);
  await database.close();
}

function getPublicSettings({
  settings: { catalogTokens, limits, timeouts, sections },
}: RuntimeParts): Pick<Runtime, "catalogTokens" | "limits" | "timeouts" | "sections"> {
  return { catalogTokens, limits, timeouts, sections };
}

/** Lets learned skills run their programs. */
function connectLearnedCalls(parts: RuntimeParts, services: RuntimeServices): void {
  const { learnedCalls, settings, providers, audit } = parts;
  const run = async ({ source, runId, depth }: LearnedExecution, request: () => RunRequest): Promise<Outcome> => {
    const nested = { ...services, sandbox: services.nestedSandboxes.get(depth) };
    const outcome = await runWhenKnown(source, () => runPart(source, runId, request(), nested), providers);
    await audit?.commitEffects(runId);
    return outcome;
  };
  const createRequest = (options: RunOptions): RunRequest => requestFor(options, parts);
  learnedCalls.setExecutor(
    createLearnedExecutor({ limits: settings.limits, inspect: services.inspect, createRequest, run }),
  );
}

function createRunsApi(parts: RuntimeParts, services: RuntimeServices): Pick<Runtime, "runs" | "learnedSkills"> {
  const { providers, registry, secrets } = parts;
  const runs = openRuns(parts, services);
  const learnedSkills = createLearnedSkills({
    getOpened: () => providers.learned,
    getCatalog: () => registry.catalog,
    runs,
    secrets,
  });
  return { runs, learnedSkills };
}

function openRuns(parts: RuntimeParts, services: RuntimeServices): Runs {
  return createRuns({
    open: () => parts.database.open(),
    services,
    createRequest: (options) => requestFor(options, parts),
    getCatalog: (caller) => parts.registry.viewFor(caller),
    waitsForAnswers: parts.settings.approvals.wait !== false || parts.options.approve !== undefined,
    warn: (text) => parts.log("warn", text),
    onOutcome: async (outcome, caller) => {
      await parts.audit?.commitEffects(outcome.runId);
      parts.events.emit("run", outcome, { caller });
    },
  });
}

function createDecisions({ options, settings, policy, database, events, log }: RuntimeParts): ApprovalDecisions {
  const { approvedFile, ...times } = settings.approvals;
  return createApprovalDecisions({
    ...times,
    open: () => database.open(),
    ...(options.approve !== undefined && { ask: options.approve }),
    getApprovedFile: () => (policy.current.content.onlyTightens ? undefined : approvedFile),
    onQuestion: (approval) => events.emit("approval", approval),
    warn: (text) => log("warn", text),
  });
}

function openServices(parts: RuntimeParts, { decide }: ApprovalDecisions): RuntimeServices {
  const getPolicy = (): ExplainedPolicy => parts.policy.current;
  return createServices({
    ...parts,
    getPolicy,
    approve: decide,
    auditWriter: parts.audit?.writer,
    onEntry: (entry) => recordEntry(entry, parts),
  });
}

/** Creates the methods of a runtime that call methods without a snippet, and those that say which calls were made. */
function createCallApi(
  parts: RuntimeParts,
  { route, router }: RuntimeServices,
): Pick<Runtime, "call" | "callAll" | "countRequest" | "statistics" | "lastingStatistics" | "audit" | "approvals"> {
  return {
    call: (path, input, options = {}) => {
      const request = { ...requestFor(options, parts), runId: randomUUID() };
      return recorded(callMethod({ path, input }, request, route), request.runId, parts);
    },
    callAll: (calls, { parallel = false, ...options } = {}) => {
      const request = { ...requestFor(options, parts), runId: randomUUID() };
      return recorded(callMethods(calls, request, route, parallel), request.runId, parts);
    },
    countRequest: async (caller) => void (await router.countRequest(caller)),
    statistics: () => router.statistics(),
    lastingStatistics: () => parts.statistics.all(),
    audit: () => router.entries(),
    approvals: createApprovals(() => parts.database.open()),
  };
}

/** Waits for calls, and then until the records of their effects are committed. */
async function recorded<Result>(calls: Promise<Result>, runId: string, { audit }: RuntimeParts): Promise<Result> {
  if (audit === undefined) return calls;
  try {
    return await calls;
  } finally {
    await audit.commitEffects(runId);
  }
}

/** Follows changes of the settings and the policy, if the runtime watches its files. */
function followFiles(parts: RuntimeParts): () => void {
  const { settings, policy, log } = parts;
  if (settings.watch)
    policy.watch({
      onApplied: () => log("info", "The changed policy is in force"),
      onBroken: (why) => log("warn", `Cannot use the changed policy: ${why}`),
    });
  const stop = watchSettings(parts);
  return () => {
    stop();
    policy.close();
  };
}

function recordEntry(entry: AuditEntry, { statistics, events }: RuntimeParts): void {
  statistics.add(entry);
  events.emit("call", entry);
}

/** Checks a snippet; indexes all methods first if a refusal needs them for its suggestions. */
function inspectAtOnce(source: string, request: RunRequest, { inspect, discovery }: RunServices): CheckedSnippet {
  const checked = inspect(source, request);
  if (checked.program !== undefined || discovery.isIndexed(request.catalog)) return checked;
  discovery.indexNow(request.catalog);
  return inspect(source, request);
}

type Runner = (source: string, options: RunOptions) => Promise<Outcome>;

/** Creates the function that runs snippets. An outcome waits until the records of the effects of its run are committed. */
function createRecordedRunner(parts: RuntimeParts, services: RuntimeServices): Runner {
  const run = createRunner(parts, services);
  const { audit } = parts;
  if (audit === undefined) return run;
  return async (...snippet) => {
    const outcome = await run(...snippet);
    await audit.commitEffects(outcome.runId);
    return outcome;
  };
}

/** Creates the function that runs snippets. */
function createRunner(parts: RuntimeParts, services: RuntimeServices): Runner {
  const { registry, providers } = parts;
  const conversations = createRefusalHints();
  return async (source, options) => {
    const requestUnit = options.caller?.limits && (await services.router.countRequest(options.caller));
    const request = (): RunRequest => ({ ...requestFor(options, parts), requestUnit });
    const outcome = await runWhenKnown(source, () => runSnippet(source, request(), services), providers);
    const { conversation, caller = OWNER } = options;
    if (conversation === undefined) return outcome;
    const catalog = registry.viewFor(caller);
    if (outcome.kind === "refused") await services.discovery.index(catalog).catch(() => {}); // then nothing is searched
    return conversations.addHint(conversation, outcome, catalog);
  };
}

/** Runs a snippet. One that needs providers which are still loading waits for them. */
async function runWhenKnown(source: string, run: () => Promise<Outcome>, providers: Providers): Promise<Outcome> {
  // Discovery calls must see every server, so wait until all are listed.
  if (!providers.isComplete && QUESTION.test(source)) await providers.whenKnown();
  let outcome = await run();
  // A name may be unknown only because its provider is still loading.
  for (const wait of [() => providers.open(), () => providers.whenKnown()]) {
    if (providers.isComplete || outcome.kind !== "refused" || !outcome.violations.some(isUnknown)) break;
    await wait();
    outcome = await run();
  }
  return outcome;
}

/** A token is about four UTF-16 units. */
const TOKEN_UNITS = 4;

/** Creates the methods of a runtime that find, describe and validate methods. */
function createDiscoveryApi(
  parts: RuntimeParts,
  { discovery, learning, validate }: RuntimeServices,
): Pick<
  Runtime,
  | "search"
  | "index"
  | "describe"
  | "declarations"
  | "systemPrompt"
  | "briefCatalog"
  | "learned"
  | "forget"
  | "catalogFor"
  | "validate"
> {
  const viewFor = (caller: Caller = OWNER): Catalog => parts.registry.viewFor(caller);
  const { catalogTokens } = parts.settings;
  return {
    search(query, { caller = OWNER, ...options } = {}) {
      const startedAt = performance.now();
      const answer = discovery.search(viewFor(caller), caller, query, options);
      recordDuration("searches", startedAt);
      return answer;
    },
    index: () => discovery.index(parts.registry.catalog),
    describe: (path, { caller = OWNER } = {}) => describeFor(path, requestFor({ caller }, parts), discovery),
    declarations: (skills, { caller = OWNER } = {}) => discovery.declarations(viewFor(caller), caller, skills),
    systemPrompt: ({ caller = OWNER, ...options } = {}) =>
      systemPrompt(viewFor(caller), options, {
        format: (tokens) =>
          discovery.briefCatalog(viewFor(caller), caller, [Math.min(tokens, catalogTokens) * TOKEN_UNITS])[0] ?? "",
        hasResult: (method) => method.output !== undefined || discovery.observedFor(caller)(method) !== undefined,
      }),
    briefCatalog: ({ caller = OWNER, parts = [catalogTokens * TOKEN_UNITS] } = {}) =>
      discovery.briefCatalog(viewFor(caller), caller, parts),
    learned: ({ caller = OWNER } = {}) => discovery.learned(viewFor(caller), caller),
    forget: ({ caller, path } = {}) => learning.forget(caller, path),
    catalogFor: viewFor,
    validate: (path, input, { caller = OWNER } = {}) => validate(methodAt(path, requestFor({ caller }, parts)), input),
  };
}

/** Builds the request of a run or a call: its caller, their view of the catalog, its limits and its listeners. */
function requestFor(
  { caller = OWNER, limits, signal, observer, approve, continue: run, again = [], reuse = [] }: RunOptions,
  { settings, registry, sources, events }: RuntimeParts,
): RunRequest {
  return {
    caller,
    catalog: registry.viewFor(caller),
    limits: mergeLimits(settings.limits, limits),
    isDisabled: (name) => findDisabledSkills(sources.disabled, caller).some((skill) => skill.name === name),
    log: (path, level, text) => events.emit("log", { level, text, path }),
    progress: (path, runId, done, total, text) =>
      events.emit("progress", {
        runId,
        path,
        done,
        ...(total !== undefined && { total }),
        ...(text !== undefined && { text }),
      }),
    ...(signal !== undefined && {
      cancellable: "onCancel" in signal ? signal : cancellableBy(signal),
    }),
    ...(observer !== undefined && { observer }),
    ...(approve !== undefined && { approve }),
    ...(run !== undefined && { continues: { run, again, reuse } }),
  };
}

function listProblems({
  storeProblems,
  fromFiles,
  sources,
  registry,
  skillSettings,
  policy,
  secrets,
}: RuntimeParts): readonly Problem[] {
  const fromSkills = registry.catalog.skills.flatMap(({ provided }) => skillSettings.of(provided).problems);
  return [...fromFiles(), ...storeProblems, ...policy.problems, ...sources.problems, ...fromSkills].map((problem) => ({
    ...problem,
    error: secrets.maskText(problem.error),
    ...(problem.fix !== undefined && { fix: secrets.maskText(problem.fix) }),
  }));
}

/** Describes a method or a skill; for a disabled skill says so, instead of that it is unknown. */
function describeFor(path: string, { caller, catalog, isDisabled }: RunRequest, discovery: Discovery): Description {
  const found = discovery.describe(catalog, caller, path);
  const [skill = ""] = path.split(".");
  if (found.kind !== "unknown" || !isDisabled(skill)) return found;
  return { ...found, suggestions: [], text: `Error: Skill '${skill}' is disabled` };
}

/** The names by which a snippet asks for methods. */
const QUESTION = /search_?skills|describe/i;

function isUnknown({ code }: Violation): boolean {
  return code === "SKILL_UNKNOWN" || code === "METHOD_UNKNOWN" || code === "GLOBAL_UNKNOWN";
}
