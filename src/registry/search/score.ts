import type { MethodIndex } from "./method-index.ts";
import type { Idea } from "./query.ts";

/** Ideas that are scored, the rarest first. */
const MOST_IDEAS = 64;

/** An alternative that this many methods have says nothing, and would cost time: this share of all, but at least so many. */
const COMMON_SHARE = 0.05;
const COMMON_LEAST = 1_000;

/** An idea with what the index knows of it. */
export interface WeighedIdea {
  readonly idea: Idea;
  /** What a document could get for it at most. */
  readonly most: number;
  /** The idea's own word and its alternatives that some method has, each with what a full impact of it is worth. */
  readonly words: readonly { readonly stem: string; readonly worth: number }[];
}

/** What the ideas are worth, the most first, then those that no method has. A rare word says more than a common one. */
export function weighed(ideas: readonly Idea[], index: MethodIndex): readonly WeighedIdea[] {
  const size = index.methods.length;
  const common = Math.max(COMMON_LEAST, size * COMMON_SHARE);
  const all = ideas.map((idea): WeighedIdea => {
    const own = index.postings(idea.stem).length;
    const words = own === 0 ? [] : [{ stem: idea.stem, worth: idea.weight * rarity(own, size) }];
    for (const { stem, share } of idea.alternatives) {
      const found = index.postings(stem).length;
      if (found > 0 && found <= common) words.push({ stem, worth: idea.weight * share * rarity(found, size) });
    }
    return { idea, words, most: idea.weight * rarity(own, size) };
  });
  const known = all.filter(({ words }) => words.length > 0).sort((a, b) => b.most - a.most);
  return [...known.slice(0, MOST_IDEAS), ...all.filter(({ words }) => words.length === 0)];
}

/** The inverse document frequency of BM25. */
function rarity(found: number, size: number): number {
  return Math.log(1 + (size - found + 0.5) / (found + 0.5));
}

/** Room for one number per document, used again for every query. */
interface Scratch {
  scores: Float32Array;
  /** The best that one idea gave a document so far; all zero between two ideas. */
  best: Float32Array;
}

const SCRATCH = new WeakMap<MethodIndex, Scratch>();

/** What each document gets for all ideas: for each, the best of its words counts. Valid until the next call. */
export function scoresOf(ideas: readonly WeighedIdea[], index: MethodIndex): Float32Array {
  const scratch = scratchOf(index);
  scratch.scores.fill(0);
  for (const { words } of ideas) {
    for (const { stem, worth } of words) addWord(index.postings(stem), worth / 255, scratch);
    for (const { stem } of words) for (const posting of index.postings(stem)) scratch.best[posting >>> 8] = 0;
  }
  return scratch.scores;
}

function addWord(postings: readonly number[], worth: number, { scores, best }: Scratch): void {
  for (const posting of postings) {
    const document = posting >>> 8;
    const value = (posting & 255) * worth;
    const before = best[document] ?? 0;
    if (value <= before) continue;
    best[document] = value;
    scores[document] = (scores[document] ?? 0) + value - before;
  }
}

function scratchOf(index: MethodIndex): Scratch {
  const size = index.methods.length;
  const known = SCRATCH.get(index);
  if (known !== undefined && known.scores.length >= size) return known;
  const room = Math.ceil(size * 1.25);
  const scratch = { scores: new Float32Array(room), best: new Float32Array(room) };
  SCRATCH.set(index, scratch);
  return scratch;
}
