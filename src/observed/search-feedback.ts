import { setBounded } from "../shared/lru.ts";
import { observableStems, type SearchAnswer } from "../registry/index.ts";
import { createWordMemory, type WordMemory } from "./word-memory.ts";

/** Callers that are remembered; beyond this, the least recently active one is forgotten. */
const MAX_CALLERS = 64;

/** Searches of a caller that a call may belong to: their number and maximum age. */
const MAX_SEARCHES = 8;
const SEARCH_TTL_MS = 10 * 60_000;

/** Maximum methods that observe from a search that listed none of them; more calls show no connection. */
const MAX_UNLISTED = 3;

/** Maximum calls after a search that are considered. */
const MAX_CALLS = 50;

/** If its best score is below this, a search has probably not found the intended method. */
const DOUBTFUL_SCORE = 0.2;

/**
 * Observes which words stand for which methods. The words of a search are observed for the methods of its result that are
 * called successfully afterwards, and for up to three called methods that were in no result. Each caller observes only from
 * itself.
 */
export interface SearchFeedback {
  searched(caller: string, query: string, answer: SearchAnswer): void;
  /** Records a successful call. */
  called(caller: string, path: string): void;
  getWords(caller: string): WordMemory;
  /** Forgets the words of one caller or of all, for one method or for all. */
  forget(caller?: string, path?: string): void;
}

interface PastSearch {
  readonly stems: readonly string[];
  readonly listed: ReadonlySet<string>;
  readonly isDoubtful: boolean;
  readonly at: number;
}

/** The recent searches and calls of a caller, and the words observed from it. */
interface CallerHistory {
  readonly words: WordMemory;
  searches: readonly PastSearch[];
  /** Paths of successful calls since the last search. */
  readonly called: Set<string>;
}

/** `now` in milliseconds. */
export function createSearchFeedback(now: () => number = () => performance.now()): SearchFeedback {
  const histories = new Map<string, CallerHistory>();

  function getHistory(caller: string): CallerHistory {
    const history = histories.get(caller) ?? { words: createWordMemory(), searches: [], called: new Set() };
    setBounded(histories, [caller, history], MAX_CALLERS);
    return history;
  }

  return {
    searched(caller, query, { results }) {
      const stems = observableStems(query);
      if (stems.length === 0) return;
      const history = getHistory(caller);
      observe(history);
      const search = {
        stems,
        listed: new Set(results.map(({ path }) => path)),
        isDoubtful: (results[0]?.score ?? 0) < DOUBTFUL_SCORE,
        at: now(),
      };
      history.searches = [...history.searches, search].slice(-MAX_SEARCHES);
    },
    called(caller, path) {
      const history = histories.get(caller);
      if (history === undefined) return;
      history.searches = history.searches.filter(({ at }) => now() - at < SEARCH_TTL_MS);
      if (history.searches.length > 0 && history.called.size < MAX_CALLS) history.called.add(path);
    },
    getWords(caller) {
      const history = histories.get(caller);
      if (history === undefined) return createWordMemory();
      observe(history);
      return history.words;
    },
    forget(caller, path) {
      if (path === undefined) return caller === undefined ? histories.clear() : void histories.delete(caller);
      for (const [name, history] of histories) {
        if (caller !== undefined && name !== caller) continue;
        observe(history);
        history.words.forget(path);
      }
    },
  };
}

/** Observes from the calls since the last search: they answer the searches before them. */
function observe(history: CallerHistory): void {
  const { words, searches, called } = history;
  if (called.size === 0) return;
  const listed = new Set(searches.flatMap((search) => [...called].filter((path) => search.listed.has(path))));
  const unlisted = [...called].filter((path) => !listed.has(path));
  const targets = unlisted.length > 0 ? unlisted : [...called];
  const open = searches.filter((search, at) => {
    const own = [...called].filter((path) => search.listed.has(path));
    for (const path of own) words.teach(path, search.stems);
    const isLast = at === searches.length - 1;
    if (own.length === 0 && !search.isDoubtful && !isLast) return true;
    // A request of several tasks may list the method of only one of them.
    const others = own.length === 0 ? targets : isLast ? unlisted : [];
    if (others.length <= MAX_UNLISTED) for (const path of others) words.teach(path, search.stems);
    return false;
  });
  history.searches = open;
  called.clear();
}
