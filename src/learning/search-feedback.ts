import { setBounded } from "../shared/lru.ts";
import { learnableStems, type SearchAnswer } from "../registry/index.ts";
import { createWordMemory, type WordMemory } from "./word-memory.ts";

/** Callers of whom something is kept; beyond it, the one who did nothing for the longest time is forgotten. */
const MAX_CALLERS = 64;

/** Searches of a caller that a call may belong to: how many, and how long ago. */
const MAX_SEARCHES = 8;
const SEARCH_TTL_MS = 10 * 60_000;

/** Methods that are taught by a search that listed none of what was called after it; more show no connection. */
const MAX_UNLISTED = 3;

/** Calls after a search that are looked at. */
const MAX_CALLS = 50;

/** Below this score of its best result, a search has probably not found what was meant. */
const DOUBTFUL_SCORE = 0.2;

/**
 * Learns which words stand for which methods: those that a caller searched before a method of the result, or where nothing
 * fitted, before the next method, was called with success. Each caller teaches only itself.
 */
export interface SearchFeedback {
  searched(caller: string, query: string, answer: SearchAnswer): void;
  /** A call was made with success. */
  called(caller: string, path: string): void;
  getWords(caller: string): WordMemory;
  /** Forgets what one caller taught, or all did, of one method or of all. */
  forget(caller?: string, path?: string): void;
}

interface PastSearch {
  readonly stems: readonly string[];
  readonly listed: ReadonlySet<string>;
  readonly isDoubtful: boolean;
  readonly at: number;
}

/** What a caller did last, and has taught. */
interface CallerHistory {
  readonly words: WordMemory;
  searches: readonly PastSearch[];
  /** What was called with success since the last search. */
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
      const stems = learnableStems(query);
      if (stems.length === 0) return;
      const history = getHistory(caller);
      learn(history);
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
      learn(history);
      return history.words;
    },
    forget(caller, path) {
      if (path === undefined) return caller === undefined ? histories.clear() : void histories.delete(caller);
      for (const [name, history] of histories) {
        if (caller !== undefined && name !== caller) continue;
        learn(history);
        history.words.forget(path);
      }
    },
  };
}

/** Takes what was called since the last search as the answer to the searches before. */
function learn(history: CallerHistory): void {
  const { words, searches, called } = history;
  if (called.size === 0) return;
  const listed = new Set(searches.flatMap((search) => [...called].filter((path) => search.listed.has(path))));
  const unlisted = [...called].filter((path) => !listed.has(path));
  const meant = unlisted.length > 0 ? unlisted : [...called];
  const open = searches.filter((search, at) => {
    const own = [...called].filter((path) => search.listed.has(path));
    for (const path of own) words.teach(path, search.stems);
    if (own.length > 0) return false;
    if (!search.isDoubtful && at < searches.length - 1) return true;
    if (meant.length <= MAX_UNLISTED) for (const path of meant) words.teach(path, search.stems);
    return false;
  });
  history.searches = open;
  called.clear();
}
