import { deleteOldest } from "../shared/lru.ts";
import { type ObservedMethod, type ObservedWords, MAX_SAVED_MEANINGS } from "../registry/index.ts";

/** Methods for which words are kept; beyond this, the least recently taught are forgotten. */
const MAX_METHODS = 500;

/** Maximum words of one method, and maximum count of one word. */
const MAX_WORDS = 64;
const MAX_TIMES = 4;

/** The words that were observed from one caller. */
export interface WordMemory extends ObservedWords {
  teach(path: string, stems: readonly string[]): void;
  forget(path: string): void;
  /** Returns every method that has words. */
  entries(): readonly { readonly path: string; readonly words: readonly string[] }[];
}

interface Taught {
  /** Stem → how often it was taught. */
  readonly times: Map<string, number>;
  words: number;
}

export function createWordMemory(): WordMemory {
  const methods = new Map<string, Taught>();
  const pathsByStem = new Map<string, Set<string>>();

  function forget(path: string): void {
    for (const stem of methods.get(path)?.times.keys() ?? []) forgetStem(path, stem);
    methods.delete(path);
  }

  function forgetStem(path: string, stem: string): void {
    const paths = pathsByStem.get(stem);
    paths?.delete(path);
    if (paths?.size === 0) pathsByStem.delete(stem);
  }

  function teachStem(path: string, stem: string, taught: Taught): void {
    const times = taught.times.get(stem) ?? 0;
    if (times >= MAX_TIMES) return;
    taught.times.delete(stem); // keeps the newest last in the map
    taught.times.set(stem, times + 1);
    taught.words += 1;
    pathsByStem.set(stem, (pathsByStem.get(stem) ?? new Set()).add(path));
  }

  return {
    get size() {
      return methods.size;
    },
    teach(path, stems) {
      const taught = methods.get(path) ?? { times: new Map<string, number>(), words: 0 };
      methods.delete(path);
      methods.set(path, taught);
      for (const stem of stems.slice(0, MAX_WORDS)) teachStem(path, stem, taught);
      for (const [oldest, times] of [...taught.times].slice(0, -MAX_WORDS)) {
        taught.times.delete(oldest);
        taught.words -= times;
        forgetStem(path, oldest);
      }
      deleteOldest(methods, () => methods.size > MAX_METHODS, forget);
    },
    forget,
    methodsWith(stem) {
      const paths = pathsByStem.get(stem);
      if (paths === undefined || paths.size > MAX_SAVED_MEANINGS) return [];
      return Array.from(paths, (path): ObservedMethod => {
        const { times, words } = methods.get(path) ?? { times: new Map<string, number>(), words: 0 };
        return { path, times: times.get(stem) ?? 0, words };
      });
    },
    entries: () => Array.from(methods, ([path, { times }]) => ({ path, words: [...times.keys()] })),
  };
}
