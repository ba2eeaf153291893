import type { Catalog } from "../../model/catalog.ts";
import { impactWithExamples } from "./entry.ts";
import type { MethodIndex } from "./method-index.ts";
import { getObservedWeight } from "./weights.ts";
import { foldedName } from "./language/words.ts";

/** The words observed from one caller, in addition to the index. */
export interface ObservedWords {
  /** Number of methods for which words were observed. */
  readonly size: number;
  /** Returns the few methods for which a stem was observed. */
  methodsWith(stem: string): readonly ObservedMethod[];
}

export interface ObservedMethod {
  /** `Skill.method`; the method may no longer exist. */
  readonly path: string;
  /** Number of times the stem was observed for the method. */
  readonly times: number;
  /** Number of words observed for the method in all. */
  readonly words: number;
}

export const NOTHING_OBSERVED: ObservedWords = { size: 0, methodsWith: () => [] };

/** Returns the postings of an observed word in the format of the index, with the total impact for each document. */
export type ObservedPostings = (stem: string) => readonly number[];

/** Creates the lookup of observed postings, limited to the methods of the catalog. */
export function observedPostings(observed: ObservedWords, catalog: Catalog, index: MethodIndex): ObservedPostings {
  return (stem) => {
    const methods = observed.methodsWith(stem);
    const weight = getObservedWeight(methods.length, observed.size);
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
