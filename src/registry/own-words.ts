import type { Catalog, Skill } from "../model/catalog.ts";
import { stem } from "./search/language/stem.ts";
import { splitWords } from "./search/language/words.ts";

/** Maximum words, and maximum methods of which the names are read: an answer must be quick. */
const MAX_WORDS = 16;
const READ_METHODS = 2_000;

/** A shorter word is an article or a preposition. */
const MIN_UNITS = 3;

const OWN_WORDS = new WeakMap<Catalog, readonly string[]>();

/**
 * Returns the words by which the names of methods call their things, for a model that has searched with others: of each skill
 * in turn the one that most of its names have. Computed once for a catalog.
 */
export function listOwnWords(catalog: Catalog): readonly string[] {
  const cached = OWN_WORDS.get(catalog);
  if (cached !== undefined) return cached;
  const words = collectWords(catalog);
  OWN_WORDS.set(catalog, words);
  return words;
}

function collectWords({ skills }: Catalog): readonly string[] {
  let methodsLeft = READ_METHODS;
  const bySkill: (readonly string[])[] = [];
  for (const skill of skills) {
    if (methodsLeft <= 0) break;
    bySkill.push(countThings(skill, methodsLeft));
    methodsLeft -= skill.methods.length;
  }
  const wordByStem = new Map<string, string>();
  for (let rank = 0; rank < MAX_WORDS; rank++)
    for (const things of bySkill) {
      const word = things[rank];
      if (word !== undefined && !wordByStem.has(stem(word))) wordByStem.set(stem(word), word);
    }
  return [...wordByStem.values()].slice(0, MAX_WORDS);
}

/** Returns the words of the names of a skill after the first one, which is a verb or the same in all names; the most frequent first. */
function countThings({ methods }: Skill, most: number): readonly string[] {
  const countByStem = new Map<string, { readonly word: string; count: number }>();
  for (const { name } of methods.slice(0, most)) {
    for (const word of new Set(splitWords(name).slice(1))) {
      if (word.length < MIN_UNITS || /\p{N}/u.test(word)) continue;
      const entry = countByStem.get(stem(word)) ?? { word, count: 0 };
      countByStem.set(stem(word), {
        word: entry.word.length <= word.length ? entry.word : word,
        count: entry.count + 1,
      });
    }
  }
  return [...countByStem.values()]
    .toSorted((a, b) => b.count - a.count || (a.word < b.word ? -1 : 1))
    .map(({ word }) => word);
}
