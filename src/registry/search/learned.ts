import type { Catalog } from "../../model/catalog.ts";
import { impactWithExamples } from "./entry.ts";
import type { MethodIndex } from "./method-index.ts";
import { foldedName } from "./words.ts";

/** For which methods one caller's words have stood, beside what the index knows of them. */
export interface LearnedWords {
  /** The methods for which a stem was learned; few. */
  methodsWith(stem: string): readonly LearnedMethod[];
}

export interface LearnedMethod {
  /** `Skill.method`; there may be no such method any more. */
  readonly path: string;
  /** How often the stem was learned for it. */
  readonly times: number;
  /** How many words were learned for it in all. */
  readonly words: number;
}

export const NOTHING_LEARNED: LearnedWords = { methodsWith: () => [] };

/** Gives postings of learned words, as the index has them of its own: what the word counts in all for each document. */
export type LearnedPostings = (stem: string) => readonly number[];

/** Only what the catalog shows is found. */
export function learnedPostings(learned: LearnedWords, catalog: Catalog, index: MethodIndex): LearnedPostings {
  return (stem) =>
    learned.methodsWith(stem).flatMap(({ path, times, words }) => {
      const document = findDocument(path, catalog, index);
      if (document === undefined) return [];
      const known = findImpact(document, stem, index);
      return [document * 256 + impactWithExamples(known, times, words)];
    });
}

function findDocument(path: string, catalog: Catalog, index: MethodIndex): number | undefined {
  const method = catalog.method(path);
  if (method === undefined) return undefined;
  return index.named(foldedName(method.name)).find((document) => index.methods[document] === method);
}

/** What the word counts in the document by itself; 0 if it is not there. */
function findImpact(document: number, stem: string, index: MethodIndex): number {
  const number = index.wordNumber(stem);
  const packed = index.getWords(document).find((each) => each >>> 8 === number);
  return (packed ?? 0) & 255;
}
