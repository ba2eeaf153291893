import { createError } from "../../errors.ts";
import type { ArgumentProblem } from "../../model/arguments.ts";
import { type Caller, OWNER, requireCaller } from "../../model/caller.ts";
import type { Catalog } from "../../model/catalog.ts";
import { isTextList } from "../../model/json.ts";
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
import { formatChoices } from "../../shared/format-text.ts";
import { type OptionNames, requireNames, requireText } from "../../shared/settings/option-names.ts";

/** A token is about four UTF-16 units. */
const TOKEN_UNITS = 4;

type RuntimeSearchOptions = Omit<SearchOptions, "words" | "deadline"> & ReadTime & CallerOption;

interface RuntimeBriefOptions extends CallerOption {
  readonly parts?: readonly number[];
  readonly hasOtherTexts?: boolean;
}

interface ForgetOptions extends CallerOption {
  readonly path?: string;
}

const CALLER: OptionNames<CallerOption> = { caller: true };
const SEARCH: OptionNames<RuntimeSearchOptions> = {
  ...CALLER,
  limit: true,
  offset: true,
  maxTokens: true,
  explain: true,
  observed: true,
  readMs: true,
};
const PROMPT: OptionNames<PromptOptions & CallerOption> = {
  ...CALLER,
  mode: true,
  budgetTokens: true,
  template: true,
  fence: true,
};
const MODES: readonly NonNullable<PromptOptions["mode"]>[] = ["code", "tools", "native"];
const BRIEF_CATALOG: OptionNames<RuntimeBriefOptions> = { ...CALLER, parts: true, hasOtherTexts: true };
const FORGET: OptionNames<ForgetOptions> = { ...CALLER, path: true };

/** Methods of a runtime that find, describe and validate methods. Each throws `OPTION_INVALID` for an unknown option. */
export interface DiscoveryApi {
  /**
   * Is observed: what is called next is what was meant, for this caller. Indexes methods that are not indexed yet
   * first, at once, for at most `readMs` (`timeouts.discoveryMs` if not given); an answer from a part of the methods says so.
   */
  search(query: string, options?: RuntimeSearchOptions): SearchAnswer;
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
  briefCatalog(options?: RuntimeBriefOptions): readonly string[];
  /** Returns what was observed from use: the words that the caller taught, and the shapes of results. */
  observed(options?: CallerOption): Observed;
  /**
   * Forgets what one caller taught; without a caller what all taught, and what results look like. Of one method, `path`, or
   * of all.
   */
  forget(options?: ForgetOptions): void;
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
    search(query, all = {}) {
      requireText("the query", query);
      requireNames("search", all, SEARCH);
      const { caller = OWNER, ...options } = all;
      const startedAt = performance.now();
      const answer = discovery.search(viewFor(caller), caller, query, options);
      recordDuration("searches", startedAt);
      return answer;
    },
    index: async (options) => discovery.index(viewFor(readCaller("index", options))),
    describe(path, options) {
      requireText("the name of a method or a skill", path);
      return describeFor(path, createRequest({ caller: readCaller("describe", options) }, parts), discovery);
    },
    declarations(skills, options) {
      if (skills !== undefined && !isTextList(skills))
        throw createError("OPTION_INVALID", 'the names of skills must be a list, as in ["MathSkill"]');
      const caller = readCaller("declarations", options);
      return discovery.declarations(viewFor(caller), caller, skills);
    },
    systemPrompt(all = {}) {
      requireNames("systemPrompt", all, PROMPT);
      if (all.mode !== undefined && !MODES.includes(all.mode))
        throw createError("OPTION_INVALID", `mode must be ${formatChoices(MODES)}`);
      const { caller = OWNER, ...options } = all;
      return systemPrompt(viewFor(caller), options, {
        format: (tokens) =>
          discovery.briefCatalog(viewFor(caller), caller, {
            parts: [Math.min(tokens, catalogTokens) * TOKEN_UNITS],
          })[0] ?? "",
        hasResult: (method) => method.output !== undefined || discovery.observedFor(caller)(method) !== undefined,
      });
    },
    briefCatalog(options = {}) {
      requireNames("briefCatalog", options, BRIEF_CATALOG);
      const { caller = OWNER, parts = [catalogTokens * TOKEN_UNITS], hasOtherTexts = false } = options;
      return discovery.briefCatalog(viewFor(caller), caller, { parts, hasOtherTexts });
    },
    observed(options) {
      const caller = readCaller("observed", options);
      return discovery.observed(viewFor(caller), caller);
    },
    forget(options = {}) {
      requireNames("forget", options, FORGET);
      requireCaller(options.caller);
      observations.forget(options.caller, options.path);
    },
    catalogFor: viewFor,
    validate(path, input, options) {
      requireText("the path of a method", path);
      return validate(methodAt(path, createRequest({ caller: readCaller("validate", options) }, parts)), input);
    },
  };
}

/** Returns the caller of options that have nothing else; the owner by default. Throws `OPTION_INVALID`. */
function readCaller(what: string, options: CallerOption = {}): Caller {
  requireNames(what, options, CALLER);
  return requireCaller(options.caller);
}

/** Describes a method or a skill; for one that is disabled, held or removed says so, instead of that it is unknown. */
function describeFor(path: string, { caller, catalog, whyUnavailable }: RunRequest, discovery: Discovery): Description {
  const found = discovery.describe(catalog, caller, path);
  const unavailable = found.kind === "unknown" ? whyUnavailable(path) : undefined;
  return unavailable === undefined ? found : { ...found, suggestions: [], text: `Error: ${unavailable.message}` };
}
