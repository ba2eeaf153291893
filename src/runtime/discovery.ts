import { setImmediate } from "node:timers/promises";

import { createError, type SkillgateError } from "../errors.ts";
import type { Observed, Observations } from "../observed/index.ts";
import type { UsableAccounts } from "../model/account.ts";
import type { Caller } from "../model/caller.ts";
import type { Catalog, Method } from "../model/catalog.ts";
import type { Policy } from "../model/policy.ts";
import { TIMED_OUT, runSyncWithTimeout } from "../shared/run-with-timeout.ts";
import { setBounded } from "../shared/lru.ts";
import {
  briefCatalog,
  type BriefCatalogOptions,
  declarations,
  describe,
  type Description,
  indexSlice,
  indexUntil,
  isIndexed,
  type FindInferredOutput,
  type Registry,
  search,
  type SearchAnswer,
  type SearchOptions,
} from "../registry/index.ts";
import type { Route } from "../router/index.ts";
import { truncateText } from "../shared/format-text.ts";

/** Finds methods for callers: combines the catalog's answers with what was observed from use. */
export interface Discovery {
  /** Indexes for at most `readMs`; `discoveryMs` if not given. */
  search(
    catalog: Catalog,
    caller: Caller,
    query: string,
    options: Omit<SearchOptions, "words" | "deadline"> & ReadTime,
  ): SearchAnswer;
  /**
   * Reads the methods that a search needs, in slices between which other work runs, for at most `discoveryMs`. The next
   * one continues from there.
   */
  index(catalog: Catalog): Promise<void>;
  /** The same at once, for callers that cannot wait: as many methods as can be read within `discoveryMs`. */
  indexNow(catalog: Catalog): void;
  /** Whether no methods are left to read. */
  isIndexed(catalog: Catalog): boolean;
  /** The best methods for some words; none while methods are left to read, see `index`. */
  similar(catalog: Catalog, words: string): readonly Method[];
  describe(catalog: Catalog, caller: Caller, path: string): Description;
  declarations(catalog: Catalog, caller: Caller, skills?: readonly string[]): string;
  /** Formats the methods of a catalog in parts with at most that many UTF-16 units. The same catalog gives the same text. */
  briefCatalog(catalog: Catalog, caller: Caller, size: CatalogSize): readonly string[];
  observed(catalog: Catalog, caller: Caller): Observed;
  /** Returns the shapes of earlier results that the caller may see. */
  readonly observedFor: (caller: Caller) => FindInferredOutput;
}

/** The lengths of the parts, and whether other texts for the same model show further methods. */
type CatalogSize = Pick<BriefCatalogOptions, "parts" | "hasOtherTexts">;

export interface ReadTime {
  /** Maximum milliseconds for which a search reads methods that are not indexed yet. */
  readonly readMs?: number;
}

interface DiscoveryParts {
  /** The paths of methods that earlier runtimes called. */
  readonly used: ReadonlySet<string>;
  readonly getPolicy: () => Policy;
  readonly accounts: Pick<UsableAccounts, "find">;
}

/**
 * Each description is given within `discoveryMs` (X8), or not at all: the host does nothing else meanwhile. A search indexes
 * for as long, and then answers from the indexed methods.
 */
export function createDiscovery(
  observations: Observations,
  discoveryMs: number,
  { used, getPolicy, accounts }: DiscoveryParts,
): Discovery {
  const briefCatalogs = new WeakMap<Catalog, Map<string, readonly string[]>>();
  return {
    search(catalog, caller, query, { readMs = discoveryMs, ...options }) {
      const words = observations.getWords(caller);
      const deadline = performance.now() + readMs;
      const answer = search(catalog, query, {
        observed: observations.observedFor(caller),
        ...options,
        deadline,
        ...(words !== undefined && { words }),
      });
      observations.searched(caller, query, answer);
      return answer;
    },
    async index(catalog) {
      const deadline = performance.now() + discoveryMs;
      while (!isIndexed(catalog) && performance.now() <= deadline) await indexSlice(catalog);
    },
    indexNow: (catalog) => indexUntil(catalog, performance.now() + discoveryMs),
    isIndexed,
    similar(catalog, words) {
      if (!isIndexed(catalog)) return [];
      const { results } = search(catalog, words, { limit: MAX_SIMILAR });
      return results.flatMap(({ path }) => catalog.method(path) ?? []);
    },
    describe(catalog, caller, path) {
      const { getRule } = getPolicy();
      const observed = observations.observedFor(caller);
      const getAccountTitle = (name: string): string => accounts.find(name)?.getTitle(caller) ?? name;
      const facts = { observed, getRule, getAccountTitle };
      const description = runSyncWithTimeout(discoveryMs, () => describe(catalog, path, facts));
      if (description === TIMED_OUT) throw describeTimeout(path, discoveryMs);
      return description;
    },
    declarations: (catalog, caller, skills) => declarations(catalog, skills, observations.observedFor(caller)),
    briefCatalog(catalog, caller, size) {
      const cache = briefCatalogs.get(catalog) ?? new Map<string, readonly string[]>();
      briefCatalogs.set(catalog, cache);
      // A later observation appears in the next catalog: providers do not cache a text that changes within a session.
      const key = JSON.stringify([caller.id, size, observations.forgotten]);
      const texts =
        cache.get(key) ?? briefCatalog(catalog, { ...size, observed: observations.observedFor(caller), used });
      setBounded(cache, [key, texts], MAX_BRIEF_CATALOGS);
      return texts;
    },
    observed: (catalog, caller) => observations.observed(catalog, caller),
    observedFor: observations.observedFor,
  };
}

const MAX_SIMILAR = 3;

/** Maximum cached texts of one catalog, for callers that see different types of results. */
const MAX_BRIEF_CATALOGS = 64;

/** Reads the methods of each new catalog before a search needs them. Returns a function that stops it. */
export function indexInBackground(registry: Registry): () => void {
  const stop = new AbortController();
  let isRunning = false;
  async function indexNewest(): Promise<void> {
    if (isRunning) return;
    isRunning = true;
    try {
      // Skills that come in a row make one catalog.
      await setImmediate();
      while (!stop.signal.aborted && !isIndexed(registry.catalog)) await indexSlice(registry.catalog);
    } catch {
      // The search that needs the methods reads them again, and says what is wrong.
    } finally {
      isRunning = false;
    }
  }
  void indexNewest();
  const unfollow = registry.onChange(() => void indexNewest());
  return () => {
    stop.abort();
    unfollow();
  };
}

function describeTimeout(path: string, timeoutMs: number): SkillgateError {
  const values = `what "${truncateText(path, MAX_SHOWN_CHARACTERS)}" stands for is not all described after ${timeoutMs} ms`;
  return createError("DISCOVERY_TIMEOUT", values, { timeoutMs });
}

const MAX_SHOWN_CHARACTERS = 80;

/** Lets calls that went well be observed from. */
export function recordUsage(route: Route, observations: Observations): Route {
  return async (call) => {
    const value = await route(call);
    const { caller, method, args, reads } = call;
    const drift = observations.returned({ caller, method, args, value, ...(reads !== undefined && { reads }) });
    if (drift !== undefined) call.addNote(drift);
    return value;
  };
}
