import { splitPath } from "../../shared/names/method-paths.ts";
import { type Caller, OWNER } from "../../model/caller.ts";
import type { Catalog } from "../../model/catalog.ts";
import { type Description, systemPrompt } from "../../registry/index.ts";
import type { Runtime } from "../../runtime.ts";
import { recordDuration } from "../../telemetry/index.ts";
import { methodAt } from "../call-method.ts";
import type { Discovery } from "../discovery.ts";
import type { RunRequest } from "../execution/run-services.ts";
import type { RuntimeServices } from "../services.ts";
import type { RuntimeParts } from "./parts.ts";
import { createRequest } from "./request.ts";

/** A token is about four UTF-16 units. */
const TOKEN_UNITS = 4;

/** Creates the methods of a runtime that find, describe and validate methods. */
export function createDiscoveryApi(
  parts: RuntimeParts,
  { discovery, observations, validate }: RuntimeServices,
): Pick<
  Runtime,
  | "search"
  | "index"
  | "describe"
  | "declarations"
  | "systemPrompt"
  | "briefCatalog"
  | "observed"
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
    index: ({ caller } = {}) => discovery.index(viewFor(caller)),
    describe: (path, { caller = OWNER } = {}) => describeFor(path, createRequest({ caller }, parts), discovery),
    declarations: (skills, { caller = OWNER } = {}) => discovery.declarations(viewFor(caller), caller, skills),
    systemPrompt: ({ caller = OWNER, ...options } = {}) =>
      systemPrompt(viewFor(caller), options, {
        format: (tokens) =>
          discovery.briefCatalog(viewFor(caller), caller, [Math.min(tokens, catalogTokens) * TOKEN_UNITS])[0] ?? "",
        hasResult: (method) => method.output !== undefined || discovery.observedFor(caller)(method) !== undefined,
      }),
    briefCatalog: ({ caller = OWNER, parts = [catalogTokens * TOKEN_UNITS] } = {}) =>
      discovery.briefCatalog(viewFor(caller), caller, parts),
    observed: ({ caller = OWNER } = {}) => discovery.observed(viewFor(caller), caller),
    forget: ({ caller, path } = {}) => observations.forget(caller, path),
    catalogFor: viewFor,
    validate: (path, input, { caller = OWNER } = {}) =>
      validate(methodAt(path, createRequest({ caller }, parts)), input),
  };
}

/** Describes a method or a skill; for a disabled skill says so, instead of that it is unknown. */
function describeFor(path: string, { caller, catalog, isDisabled }: RunRequest, discovery: Discovery): Description {
  const found = discovery.describe(catalog, caller, path);
  const { skill } = splitPath(path);
  if (found.kind !== "unknown" || !isDisabled(skill)) return found;
  return { ...found, suggestions: [], text: `Error: Skill '${skill}' is disabled` };
}
