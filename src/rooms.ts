import { createSandbox } from "../sandbox/index.ts";
import { checkTypesWith, NO_TYPES } from "./check-types.ts";
import { createDiscovery, learningRoute } from "./discovery.ts";
import { createLearning, type Learning } from "./learning/index.ts";
import type { ArgumentProblem } from "./model/arguments.ts";
import { mayCall } from "./model/caller.ts";
import type { Method } from "./model/catalog.ts";
import { createKeptResults } from "./model/results.ts";
import type { RuntimeOptions, Settings } from "./options.ts";
import { describe, type Registry } from "./registry/index.ts";
import { type AuditEntry, createRouter, type Router } from "./router/index.ts";
import type { Rooms } from "./run-snippet.ts";
import type { KnownSecrets } from "./shared/secrets.ts";
import type { SkillSettings } from "./skill-settings.ts";
import { skillStoreOf } from "./skill-store.ts";
import type { Sources } from "./sources.ts";
import type { Store } from "./store/index.ts";
import { createTypecheck, type Typecheck } from "./typecheck/index.ts";
import { createValidator } from "./validation/index.ts";
import { inspectWith } from "./verdicts.ts";

/** The rooms of one runtime, for its snippets and for whoever asks about its methods. */
export interface OpenRooms extends Rooms {
  readonly router: Router;
  readonly typecheck: Typecheck | undefined;
  readonly learning: Learning;
  readonly validate: (method: Method, input: unknown) => readonly ArgumentProblem[];
}

/** What the rooms are opened with. */
export interface RoomParts {
  readonly options: Pick<RuntimeOptions, "approve" | "typecheck" | "workers">;
  readonly settings: Settings;
  readonly registry: Registry;
  readonly sources: Sources;
  readonly skillSettings: SkillSettings;
  readonly store: Store;
  readonly secrets: KnownSecrets;
  /** Gets the record of each call when it has ended. */
  readonly onEntry: (entry: AuditEntry) => void;
}

export function openRooms({
  options,
  settings,
  registry,
  sources,
  skillSettings,
  store,
  secrets,
  onEntry,
}: RoomParts): OpenRooms {
  const typecheck = settings.typecheck ? createTypecheck() : undefined;
  if (options.typecheck === true) typecheck?.load();
  const learning = createLearning(settings.learning);
  const discovery = createDiscovery(learning, settings.timeouts.discoveryMs);
  const validator = createValidator(
    settings.timeouts.validationMs,
    ({ skill }) => registry.catalog.skill(skill)?.kind === "mcp",
  );
  const router = createRouter({
    validator,
    ...(options.approve !== undefined && { approve: options.approve }),
    isNews: learning.isNews,
    isDisabled: (skill) => sources.isDisabled(skill),
    belongingsOf: ({ name, provided }) => ({ ...skillSettings.of(provided), store: skillStoreOf(store, name) }),
    secrets,
    onEntry,
  });
  return {
    sandbox: createSandbox({
      limits: settings.limits,
      ...(options.workers !== undefined && { workers: options.workers }),
    }),
    route: learningRoute(router.route, learning),
    router,
    learning,
    discovery,
    validate(method, input) {
      const checked = validator.validate(method, input);
      return checked.kind === "valid" ? [] : checked.problems;
    },
    results: createKeptResults(),
    secrets,
    checkTypes: typecheck === undefined ? NO_TYPES : checkTypesWith(typecheck, discovery),
    typecheck,
    inspect: inspectWith(({ catalog, caller, isDisabled }) => ({
      catalog,
      isDisabled,
      problems: (method, args) => validator.problems(method, args),
      mayCall: (path) => mayCall(caller, path),
      exampleCall: ({ path }) => describe(catalog, path).example,
      findSimilar: (words) => discovery.similar(catalog, words),
    })),
  };
}
