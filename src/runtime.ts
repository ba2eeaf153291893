import { EventEmitter } from "node:events";

import { createSandbox } from "../sandbox/index.ts";
import { checkTypesWith, NO_TYPES } from "./check-types.ts";
import { callMethod, callMethods, methodAt, type WantedCall } from "./call-method.ts";
import { sentence, SkillgateError } from "./errors.ts";
import type { ArgumentProblem } from "./model/arguments.ts";
import { type Caller, mayCall, OWNER } from "./model/caller.ts";
import type { Catalog, Method } from "./model/catalog.ts";
import type { Follower } from "./model/follower.ts";
import type { Limits } from "./model/limits.ts";
import type { Outcome, Violation } from "./model/outcome.ts";
import type { Plan } from "./model/plan.ts";
import type { Problem } from "./model/provider.ts";
import { createKeptResults, type KeptResults } from "./model/results.ts";
import type { ProvidedSkill } from "./model/skill.ts";
import { mergeLimits, readOptions, type RuntimeOptions, type Settings } from "./options.ts";
import type { ServerStatus } from "./providers/mcp/index.ts";
import { createProviders, type Providers } from "./providers-of.ts";
import {
  createRegistry,
  declarations,
  describe,
  type Description,
  type PromptOptions,
  type Registry,
  search,
  type SearchAnswer,
  type SearchOptions,
  systemPrompt,
} from "./registry/index.ts";
import {
  type Approve,
  type AuditEntry,
  type CallResult,
  createRouter,
  type Router,
  type Statistics,
} from "./router/index.ts";
import { checkSnippet, type Rooms, type RunRequest, runSnippet } from "./run-snippet.ts";
import { createSources, type Sources } from "./sources.ts";
import { createTypecheck, type Typecheck } from "./typecheck/index.ts";
import { createValidator } from "./validation/index.ts";

/** On whose behalf, and under which limits. No caller: everything is granted. */
export interface RunOptions {
  readonly caller?: Caller;
  readonly limits?: Partial<Limits>;
  readonly signal?: AbortSignal;
  /** Is told of what happens on the way. */
  readonly follower?: Follower;
  /** Approves calls in place of the runtime's own `approve`. */
  readonly approve?: Approve;
}

export interface CallerOption {
  readonly caller?: Caller;
}

/** What listeners are told. */
export interface RuntimeEvents {
  /** Skills came or went. */
  readonly catalog: [Catalog];
  /** A call was decided on, and how it ended. */
  readonly call: [AuditEntry];
  readonly run: [Outcome];
}

export interface Runtime extends AsyncDisposable {
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
  /** How the calls of each method went, by path. */
  statistics(): ReadonlyMap<string, Statistics>;
  /** The newest decisions and calls, the oldest first. */
  audit(): readonly AuditEntry[];
  search(query: string, options?: SearchOptions & CallerOption): SearchAnswer;
  describe(path: string, options?: CallerOption): Description;
  /** TypeScript of the named skills, or of all. */
  declarations(skills?: readonly string[], options?: CallerOption): string;
  systemPrompt(options?: PromptOptions & CallerOption): string;
  register(skill: ProvidedSkill): void;
  unregister(name: string): boolean;
  readonly catalog: Catalog;
  /** The catalog as a caller may read it. */
  catalogFor(caller: Caller): Catalog;
  /** Checks arguments by name; throws `METHOD_UNKNOWN`. */
  validate(path: string, input: unknown, options?: CallerOption): readonly ArgumentProblem[];
  /** What a run may use where nothing else is said. */
  readonly limits: Limits;
  /** The sections of settings.yaml as they were written. */
  readonly sections: Readonly<Record<string, unknown>>;
  readonly servers: readonly ServerStatus[];
  /** Files, skills and servers that could not be used, and why. */
  readonly problems: readonly Problem[];
  /** Results that were too large to hand out whole, for an hour. */
  readonly results: KeptResults;
  /** Settles when every MCP server is connected or has failed. */
  readonly ready: Promise<void>;
  on<Name extends keyof RuntimeEvents>(event: Name, listener: (...args: RuntimeEvents[Name]) => void): () => void;
  /** Ends every run, thread and server. */
  close(): Promise<void>;
}

/** Opens everything that a snippet needs. MCP servers connect in the background; see `ready`. */
export async function createRuntime(options: RuntimeOptions = {}): Promise<Runtime> {
  const settings = await readOptions(options);
  const registry = createRegistry();
  const sources = createSources(registry, settings.skills);
  const events = new EventEmitter<RuntimeEvents>();
  registry.onChange(() => {
    if (events.listenerCount("catalog") > 0) events.emit("catalog", registry.catalog);
  });
  const providers = createProviders(settings, sources);
  if (options.lazy !== true) await providers.open();
  return openRuntime({ options, settings, registry, sources, providers, events });
}

interface Parts {
  readonly options: RuntimeOptions;
  readonly settings: Settings;
  readonly registry: Registry;
  readonly sources: Sources;
  readonly providers: Providers;
  readonly events: EventEmitter<RuntimeEvents>;
}

function openRuntime(parts: Parts): Runtime {
  const { options, settings, registry, sources, providers, events } = parts;
  const rooms = openRooms(parts);
  let ready: Promise<void> | undefined;
  let closed: Promise<unknown> | undefined;
  const whenReady = (): Promise<void> => (ready ??= providers.ready());
  if (options.lazy !== true) void whenReady();

  const viewFor = (caller: Caller = OWNER): Catalog => registry.viewFor(caller);
  const requestOf = ({ caller = OWNER, limits, ...rest }: RunOptions): RunRequest => ({
    ...rest,
    caller,
    catalog: viewFor(caller),
    limits: mergeLimits(settings.limits, limits),
  });

  const runtime: Runtime = {
    async run(source, options = {}) {
      if (closed !== undefined) throw new SkillgateError("RUNTIME_CLOSED", sentence("RUNTIME_CLOSED", "run"));
      let outcome = await runSnippet(source, requestOf(options), rooms);
      // A name may be unknown only because what has it is still on its way.
      for (const wait of [() => providers.open(), whenReady]) {
        if (providers.isComplete || outcome.kind !== "refused" || !outcome.violations.some(isUnknown)) break;
        await wait();
        outcome = await runSnippet(source, requestOf(options), rooms);
      }
      events.emit("run", outcome);
      return outcome;
    },
    check(source, options = {}) {
      const { violations, plan, notes } = checkSnippet(source, requestOf(options), rooms);
      return { violations, plan, notes };
    },
    call: (path, input, options = {}) => callMethod({ path, input }, requestOf(options), rooms.route),
    callAll: (calls, { parallel = false, ...options } = {}) =>
      callMethods(calls, requestOf(options), rooms.route, parallel),
    statistics: () => rooms.router.statistics(),
    audit: () => rooms.router.entries(),
    search: (query, { caller, ...options } = {}) => search(viewFor(caller), query, options),
    describe: (path, { caller } = {}) => describe(viewFor(caller), path),
    declarations: (skills, { caller } = {}) => declarations(viewFor(caller), skills),
    systemPrompt: ({ caller, ...options } = {}) => systemPrompt(viewFor(caller), options),
    register: (skill) => sources.register(skill),
    unregister: (name) => sources.unregister(name),
    get catalog() {
      return registry.catalog;
    },
    catalogFor: viewFor,
    validate: (path, input, { caller } = {}) => rooms.validate(methodAt(path, viewFor(caller)), input),
    limits: settings.limits,
    sections: settings.sections,
    get servers() {
      return providers.servers;
    },
    get problems() {
      return [...settings.problems, ...sources.problems];
    },
    results: rooms.results,
    get ready() {
      return whenReady();
    },
    on(event, listener) {
      events.on(event, listener as never);
      return () => events.off(event, listener as never);
    },
    async close() {
      await (closed ??= Promise.all([rooms.sandbox.close(), rooms.typecheck?.close(), providers.close()]));
    },
    [Symbol.asyncDispose]: () => runtime.close(),
  };
  return runtime;
}

function openRooms({ options, settings, events }: Parts): Rooms & {
  readonly router: Router;
  validate(method: Method, input: unknown): readonly ArgumentProblem[];
  readonly typecheck: Typecheck | undefined;
} {
  const typecheck = options.typecheck === true ? createTypecheck() : undefined;
  void typecheck?.warmUp();
  const validator = createValidator();
  const router = createRouter({
    validator,
    ...(options.approve !== undefined && { approve: options.approve }),
    onEntry: (entry) => events.emit("call", entry),
  });
  return {
    sandbox: createSandbox({
      limits: settings.limits,
      ...(options.workers !== undefined && { workers: options.workers }),
    }),
    route: router.route,
    router,
    validate(method, input) {
      const checked = validator.validate(method, input);
      return checked.kind === "valid" ? [] : checked.problems;
    },
    results: createKeptResults(),
    checkTypes: typecheck === undefined ? NO_TYPES : checkTypesWith(typecheck),
    typecheck,
    questions: (catalog, caller) => ({
      catalog,
      problems: (method, args) => validator.problems(method, args),
      mayCall: (path) => mayCall(caller, path),
      findSimilar: (words) => similar(catalog, words),
    }),
  };
}

function similar(catalog: Catalog, words: string): readonly NonNullable<ReturnType<Catalog["method"]>>[] {
  return search(catalog, words, { limit: 3 }).results.flatMap(({ path }) => catalog.method(path) ?? []);
}

function isUnknown({ code }: Violation): boolean {
  return code === "SKILL_UNKNOWN" || code === "METHOD_UNKNOWN" || code === "GLOBAL_UNKNOWN";
}
