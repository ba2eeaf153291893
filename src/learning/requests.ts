import { keepNewest } from "../model/newest.ts";
import { learnableStems, type SearchAnswer } from "../registry/index.ts";
import { createWordMemory, type WordMemory } from "./words.ts";

/** Callers of whom something is kept; beyond it, the one who did nothing for the longest time is forgotten. */
const MOST_CALLERS = 64;

/** Searches of a caller that a call may belong to: how many, and how long ago. */
const MOST_SEARCHES = 8;
const SEARCH_MS = 10 * 60_000;

/** Methods that are taught by a search that listed none of what was called after it; more show no connection. */
const MOST_UNLISTED = 3;

/** Calls after a search that are looked at. */
const MOST_CALLS = 50;

/** Below this score of its best result, a search has probably not found what was meant. */
const DOUBTFUL = 0.2;

/**
 * Learns which words stand for which methods: those that a caller searched before a method of the result, or where nothing
 * fitted, before the next method, was called with success. Each caller teaches only itself.
 */
export interface Requests {
  searched(caller: string, query: string, answer: SearchAnswer): void;
  /** A call was made with success. */
  called(caller: string, path: string): void;
  wordsOf(caller: string): WordMemory;
  /** Forgets what one caller taught, or all did, of one method or of all. */
  forget(caller?: string, path?: string): void;
}

interface Search {
  readonly stems: readonly string[];
  readonly listed: ReadonlySet<string>;
  readonly isDoubtful: boolean;
  readonly at: number;
}

/** What a caller did last, and has taught. */
interface Pupil {
  readonly words: WordMemory;
  searches: readonly Search[];
  /** What was called with success since the last search. */
  readonly called: Set<string>;
}

/** `now` in milliseconds. */
export function createRequests(now: () => number = () => performance.now()): Requests {
  const pupils = new Map<string, Pupil>();

  function pupilOf(caller: string): Pupil {
    const pupil = pupils.get(caller) ?? { words: createWordMemory(), searches: [], called: new Set() };
    keepNewest(pupils, [caller, pupil], MOST_CALLERS);
    return pupil;
  }

  return {
    searched(caller, query, { results }) {
      const stems = learnableStems(query);
      if (stems.length === 0) return;
      const pupil = pupilOf(caller);
      learn(pupil);
      const search = {
        stems,
        listed: new Set(results.map(({ path }) => path)),
        isDoubtful: (results[0]?.score ?? 0) < DOUBTFUL,
        at: now(),
      };
      pupil.searches = [...pupil.searches, search].slice(-MOST_SEARCHES);
    },
    called(caller, path) {
      const pupil = pupils.get(caller);
      if (pupil === undefined) return;
      pupil.searches = pupil.searches.filter(({ at }) => now() - at < SEARCH_MS);
      if (pupil.searches.length > 0 && pupil.called.size < MOST_CALLS) pupil.called.add(path);
    },
    wordsOf(caller) {
      const pupil = pupils.get(caller);
      if (pupil === undefined) return createWordMemory();
      learn(pupil);
      return pupil.words;
    },
    forget(caller, path) {
      if (path === undefined) return caller === undefined ? pupils.clear() : void pupils.delete(caller);
      for (const [name, pupil] of pupils) {
        if (caller !== undefined && name !== caller) continue;
        learn(pupil);
        pupil.words.forget(path);
      }
    },
  };
}

/** Takes what was called since the last search as the answer to the searches before. */
function learn(pupil: Pupil): void {
  const { words, searches, called } = pupil;
  if (called.size === 0) return;
  const listed = new Set(searches.flatMap((search) => [...called].filter((path) => search.listed.has(path))));
  const unlisted = [...called].filter((path) => !listed.has(path));
  const meant = unlisted.length > 0 ? unlisted : [...called];
  const open = searches.filter((search, at) => {
    const own = [...called].filter((path) => search.listed.has(path));
    for (const path of own) words.teach(path, search.stems);
    if (own.length > 0) return false;
    if (!search.isDoubtful && at < searches.length - 1) return true;
    if (meant.length <= MOST_UNLISTED) for (const path of meant) words.teach(path, search.stems);
    return false;
  });
  pupil.searches = open;
  called.clear();
}
