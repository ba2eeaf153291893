import { join } from "node:path";

import type { RuntimeParts } from "./api/parts.ts";
import { createError } from "../errors.ts";
import type { Sandbox } from "../../sandbox/index.ts";
import { findPackageFile } from "../../sandbox/package-files.ts";
import { createTypeCheck, SKIP_TYPECHECK } from "./typecheck-program.ts";
import { createDiscovery, recordUsage } from "./discovery.ts";
import type { Host } from "../gatekeeper/index.ts";
import { createObservation, type Observations, type StoredResultsOptions } from "../observed/index.ts";
import type { ArgumentProblem } from "../model/arguments.ts";
import type { Caller } from "../model/caller.ts";
import { isForeign, type Method } from "../model/catalog.ts";
import type { ProvidedSkill } from "../model/skill.ts";
import { createKeptResults, type KeptResults } from "../model/kept-results.ts";
import { findRefusal, type Policy } from "../model/policy.ts";
import { createNestedSandboxes, type NestedSandboxes } from "./saved/nested-sandboxes.ts";
import type { LogListener, RuntimeOptions } from "./options.ts";
import type { RuntimeSettings } from "./settings/runtime-settings.ts";
import { exampleArguments, type Registry } from "../registry/index.ts";
import { createResultHandles, type OwnResultHandles } from "./outcome/result-handles.ts";
import {
  createRouter,
  createSharedCounter,
  type DecideApproval,
  type Router,
  type RouterOptions,
} from "../router/index.ts";
import type { RunServices } from "./execution/run-services.ts";
import type { KnownSecrets } from "../shared/secrets.ts";
import { describeMissingSecrets, type ResolvedSettings } from "./skill-settings.ts";
import { createSkillStore } from "./storage/skill-store.ts";
import { createFileCache } from "../shared/file-cache.ts";
import { findTypeScript } from "../shared/package/typescript.ts";
import { shareTypecheck, type Typecheck } from "../typecheck/index.ts";
import { createValidator, type Validator } from "../validation/index.ts";
import { createRunServices } from "./execution/record-services.ts";
import { createProgramChecker } from "./check-program.ts";
import { createObservedSandbox } from "./trace-run.ts";

/** The modules of one runtime, for its programs and for questions about its methods. */
export interface RuntimeServices extends RunServices {
  readonly results: KeptResults;
  readonly handles: OwnResultHandles;
  readonly router: Router;
  readonly typecheck: Typecheck | undefined;
  readonly nestedSandboxes: NestedSandboxes;
  readonly observations: Observations;
  readonly validate: (method: Method, input: unknown) => readonly ArgumentProblem[];
}

/** Creates the modules of a runtime that runs and questions share. `approve` decides on calls that need an approval. */
export function createServices(parts: RuntimeParts, approve: DecideApproval): RuntimeServices {
  const { options, settings, registry, sources, skillSettings, database, secrets, log, savedCalls, accounts, used } =
    parts;
  const getPolicy = (): Policy => parts.policy.current;
  const credentials = { accounts, getElsewhere: () => parts.fronts.elsewhere };
  const typecheck = openTypecheck(options, settings, log);
  const observations = createObservation(settings.observations, resolveResultStore(settings, registry, log));
  const discovery = createDiscovery(observations, settings.timeouts.discoveryMs, { used, getPolicy, accounts });
  const validator = createValidator(settings.timeouts.validationMs, ({ skill }) =>
    isForeign(registry.catalog.skill(skill)),
  );
  const counter = createSharedCounter(() => database.open(), Date.now);
  const router = createRouter({
    ...getRouterSettings(settings, secrets),
    validator,
    getPolicy,
    sharedCounter: counter,
    ...(isDurable(settings) && { counter }),
    approve,
    ...credentials,
    shouldReport: observations.shouldReport,
    isDisabled: (skill) => sources.isDisabled(skill),
    getResources: ({ name, provided }) => ({
      ...requireSecrets(provided, skillSettings.of(provided)),
      store: createSkillStore(parts.store, name),
    }),
    ...(parts.audit !== undefined && { auditWriter: parts.audit.writer }),
    onEntry(entry) {
      parts.statistics.add(entry);
      parts.events.emit("call", entry);
    },
  });
  return {
    ...createSandboxes(options, settings),
    getPolicy,
    route: savedCalls.follow(recordUsage(router.route, observations)),
    router,
    observations,
    discovery,
    validate(method, input) {
      const checked = validator.validate(method, input);
      return checked.kind === "valid" ? [] : checked.problems;
    },
    results: createKeptResults(),
    handles: createResultHandles(),
    secrets,
    checkTypes: typecheck === undefined ? SKIP_TYPECHECK : createTypeCheck(typecheck, discovery),
    typecheck,
    ...createRunServices({
      settings: settings.runs,
      isDurable: isDurable(settings),
      database,
      getPolicy,
      credentials,
      log,
    }),
    inspect: createChecker(getPolicy, { validator, discovery }),
  };
}

function createChecker(
  getPolicy: () => Policy,
  { validator, discovery }: { readonly validator: Validator; readonly discovery: RunServices["discovery"] },
): RunServices["inspect"] {
  return createProgramChecker(getPolicy, ({ catalog, caller, whyUnavailable }) => ({
    catalog,
    whyUnavailable,
    problems: (method, args) => validator.problems(method, args),
    findRefusal: (method) => describeRefusal(caller, method, getPolicy()),
    exampleArguments,
    findSimilar: (words) => discovery.similar(catalog, words),
  }));
}

function getRouterSettings(
  { rehydrateSecrets, tracesContent, runs }: RuntimeSettings,
  secrets: KnownSecrets,
): Pick<RouterOptions, "placeholders" | "tracesContent" | "retriesReads" | "secrets"> {
  const placeholders = { hidden: secrets, isForAllSkills: rehydrateSecrets };
  return { placeholders, tracesContent, retriesReads: runs.retryReads, secrets };
}

/** Throws `SECRET_MISSING` if a required secret has no value. */
function requireSecrets({ name }: ProvidedSkill, settings: ResolvedSettings): ResolvedSettings {
  const { missingSecrets } = settings;
  if (missingSecrets.length === 0) return settings;
  const values = `${name}: ${describeMissingSecrets(missingSecrets)}`;
  throw createError("SECRET_MISSING", values, { skill: name });
}

/** Reports once why types are not checked, if the TypeScript that is installed cannot be used. */
function openTypecheck(
  options: Pick<RuntimeOptions, "typecheck">,
  settings: Pick<RuntimeSettings, "typecheck">,
  log: LogListener,
): Typecheck | undefined {
  const why = findTypeScript()?.why;
  if (why !== undefined) log("warn", `Types are not checked: ${why}`);
  const typecheck = settings.typecheck ? shareTypecheck() : undefined;
  if (options.typecheck === true) typecheck?.load();
  return typecheck;
}

/** How long a thread of a closed runtime is kept for the next one: tests and programs that open many need it at once. */
const KEEP_THREADS_MS = 5_000;

function createSandboxes(
  { workers }: RuntimeOptions,
  { limits }: RuntimeSettings,
): Pick<RuntimeServices, "sandbox" | "nestedSandboxes"> {
  const describer = (): URL =>
    findPackageFile("lib/describe-result.cjs", () => new URL("../../lib/describe-result.cjs", import.meta.url));
  const create = (): Sandbox =>
    createObservedSandbox({ limits, describer, keepMs: KEEP_THREADS_MS, ...(workers !== undefined && { workers }) });
  return { sandbox: create(), nestedSandboxes: createNestedSandboxes(create) };
}

/** True if the database outlives the process. */
function isDurable({ database: { folder, url } }: RuntimeSettings): boolean {
  return folder !== undefined || url !== undefined;
}

/** Explains to a caller why it may not call a method. */
function describeRefusal(caller: Caller, method: Method, policy: Policy): ReturnType<Host["findRefusal"]> {
  const refusal = findRefusal(caller, method, { rule: policy.getRule(method), roles: policy.roles });
  return refusal && { code: refusal.code, values: `${method.path}, because ${refusal.why}` };
}

/**
 * Returns where the types of results are stored: beside the listings of MCP servers, for servers and skill files. A
 * server is another one after a change of its configuration or its version, and in another project.
 */
function resolveResultStore(
  { serverUse: { stateDir }, skillsDir, cwd }: RuntimeSettings,
  registry: Registry,
  log: LogListener,
): StoredResultsOptions | undefined {
  if (stateDir === undefined) return undefined;
  const warn = (text: string): void => log("warn", text);
  return {
    cache: createFileCache(join(stateDir, "results"), (file) =>
      warn(`Cannot read the stored types of results in ${file}: it is not JSON. They are observed again`),
    ),
    listSkills: () => registry.catalog.skills.map(({ name }) => name),
    getKey(name) {
      const skill = registry.catalog.skill(name);
      if (skill?.provided.origin !== undefined) return JSON.stringify([name, skill.provided.origin, cwd]);
      return skill?.kind === "file" && skillsDir !== undefined ? JSON.stringify([name, skillsDir]) : undefined;
    },
    warn,
  };
}
