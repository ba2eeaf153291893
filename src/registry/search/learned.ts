import type { Catalog } from "../../model/catalog.ts";
import { impactWithExamples } from "./entry.ts";
import type { MethodIndex } from "./method-index.ts";
import { getLearnedWeight } from "./weights.ts";
import { foldedName } from "./words.ts";

/** The words learned from one caller, in addition to the index. */
export interface LearnedWords {
  /** Number of methods for which words were learned. */
  readonly size: number;
  /** Returns the few methods for which a stem was learned. */
  methodsWith(stem: string): readonly LearnedMethod[];
}

export interface LearnedMethod {
  /** `Skill.method`; the method may no longer exist. */
  readonly path: string;
  /** Number of times the stem was learned for the method. */
  readonly times: number;
  /** Number of words learned for the method in all. */
  readonly words: number;
}

export const NOTHING_LEARNED: LearnedWords = { size: 0, methodsWith: () => [] };

/** Returns the postings of a learned word in the format of the index, with the total impact for each document. */
export type LearnedPostings = (stem: string) => readonly number[];

/** Creates the lookup of learned postings, limited to the methods of the catalog. */
export function learnedPostings(learned: LearnedWords, catalog: Catalog, index: MethodIndex): LearnedPostings {
  return (stem) => {
    const methods = learned.methodsWith(stem);
    const weight = getLearnedWeight(methods.length, learned.size);
    return methods.flatMap(({ path, times, words }) => {
      const document = findDocument(path, catalog, index);
      if (document === undefined) return [];
      const impact = findImpact(document, stem, index);
      return [document * 256 + impactWithExamples(impact, weight * times, words)];
    });
  };
}

function findDocument(path: string, catalog: Catalog, index: MethodIndex): number | undefined {
  const method = catalog.method(path);
  if (method === undefined) return undefined;
  return index.documentsNamed(foldedName(method.name)).find((document) => index.methods[document] === method);
}

/** Returns the impact of a word in a document; 0 if the document does not have it. */
function findImpact(document: number, stem: string, index: MethodIndex): number {
  const number = index.wordNumber(stem);
  const packed = index.getWords(document).find((each) => each >>> 8 === number);
  return (packed ?? 0) & 255;
}
