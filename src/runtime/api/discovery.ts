import type { ArgumentProblem } from "../../model/arguments.ts";
import { type Caller, OWNER } from "../../model/caller.ts";
import type { Catalog } from "../../model/catalog.ts";
import {
  type Description,
  type PromptOptions,
  type SearchAnswer,
  type SearchOptions,
  systemPrompt,
} from "../../registry/index.ts";
import type { CallerOption } from "../../runtime.ts";
import type { Observed } from "../../observed/index.ts";
import { recordDuration } from "../../telemetry/index.ts";
import { methodAt } from "../call-method.ts";
import type { Discovery, ReadTime } from "../discovery.ts";
import type { RunRequest } from "../execution/run-services.ts";
import type { RuntimeServices } from "../services.ts";
import type { RuntimeParts } from "./parts.ts";
import { createRequest } from "./request.ts";

/** A token is about four UTF-16 units. */
const TOKEN_UNITS = 4;

/** Methods of a runtime that find, describe and validate methods. */
export interface DiscoveryApi {
  /**
   * Is observed: what is called next is what was meant, for this caller. Indexes methods that are not indexed yet
   * first, at once, for at most `readMs` (`timeouts.discoveryMs` if not given); an answer from a part of the methods says so.
   */
  search(query: string, options?: Omit<SearchOptions, "words" | "deadline"> & ReadTime & CallerOption): SearchAnswer;
  /**
   * Indexes the methods that a search needs, in slices between which other work runs, for at most `timeouts.discoveryMs`.
   */
  index(options?: CallerOption): Promise<void>;
  describe(path: string, options?: CallerOption): Description;
  /** TypeScript of the named skills, or of all. */
  declarations(skills?: readonly string[], options?: CallerOption): string;
  systemPrompt(options?: PromptOptions & CallerOption): string;
  /**
   * Formats the methods of the catalog on a line each, in `parts` with at most that many UTF-16 units; by default in one part of
   * `catalogTokens`. A part is empty if nothing fits, and shows what the parts before it do not.
   */
  briefCatalog(
    options?: CallerOption & { readonly parts?: readonly number[]; readonly hasOtherTexts?: boolean },
  ): readonly string[];
  /** Returns what was observed from use: the words that the caller taught, and the shapes of results. */
  observed(options?: CallerOption): Observed;
  /**
   * Forgets what one caller taught; without a caller what all taught, and what results look like. Of one method, `path`, or
   * of all.
   */
  forget(options?: CallerOption & { readonly path?: string }): void;
  /** The catalog as a caller may read it. */
  catalogFor(caller: Caller): Catalog;
  /** Checks arguments by name; throws `METHOD_UNKNOWN`. */
  validate(path: string, input: unknown, options?: CallerOption): readonly ArgumentProblem[];
}

/** Creates the methods of a runtime that find, describe and validate methods. */
export function createDiscoveryApi(
  parts: RuntimeParts,
  { discovery, observations, validate }: RuntimeServices,
): DiscoveryApi {
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
          discovery.briefCatalog(viewFor(caller), caller, {
            parts: [Math.min(tokens, catalogTokens) * TOKEN_UNITS],
          })[0] ?? "",
        hasResult: (method) => method.output !== undefined || discovery.observedFor(caller)(method) !== undefined,
      }),
    briefCatalog: ({ caller = OWNER, parts = [catalogTokens * TOKEN_UNITS], hasOtherTexts = false } = {}) =>
      discovery.briefCatalog(viewFor(caller), caller, { parts, hasOtherTexts }),
    observed: ({ caller = OWNER } = {}) => discovery.observed(viewFor(caller), caller),
    forget: ({ caller, path } = {}) => observations.forget(caller, path),
    catalogFor: viewFor,
    validate: (path, input, { caller = OWNER } = {}) =>
      validate(methodAt(path, createRequest({ caller }, parts)), input),
  };
}

/** Describes a method or a skill; for one that is disabled, held or removed says so, instead of that it is unknown. */
function describeFor(path: string, { caller, catalog, whyUnavailable }: RunRequest, discovery: Discovery): Description {
  const found = discovery.describe(catalog, caller, path);
  const unavailable = found.kind === "unknown" ? whyUnavailable(path) : undefined;
  return unavailable === undefined ? found : { ...found, suggestions: [], text: `Error: ${unavailable.message}` };
}
