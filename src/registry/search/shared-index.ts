import { type Catalog, listEntries, type Skill } from "../../model/catalog.ts";
import { wholeSkill } from "../catalog.ts";
import { createMethodIndex, type MethodIndex } from "./method-index.ts";

/** One index for all catalogs of a registry: it follows the newest catalog, and each catalog sees its own part. */
interface SharedIndex {
  readonly index: MethodIndex;
  newest: Catalog;
  /** The catalog that is indexed, or that is being indexed. */
  target: Catalog | undefined;
  /** The skills of `target` that are not completely indexed yet, in order. */
  missing: readonly Skill[];
  /** Settles when the next slice is read; `undefined` if no slice is requested. */
  nextSlice: Promise<void> | undefined;
}

/** Maximum time for which one slice of indexing blocks the event loop. */
const SLICE_MS = 10;

/** An index with the documents that one catalog may see. */
export interface VisibleIndex {
  readonly index: MethodIndex;
  /** By document: 1 for a visible one. */
  readonly visible: Uint8Array;
  /** The words of the visible documents. */
  readonly words: SearchedWords;
  /** Number of methods of the catalog that are indexed; `undefined` if the index is complete. */
  readonly indexedMethods: number | undefined;
}

const SHARED = new WeakMap<Catalog, SharedIndex>();
const VISIBLE = new WeakMap<Catalog, { readonly generation: number; readonly documents: Uint8Array }>();

/** Makes a catalog use the index of the catalog before it. */
export function shareIndex(before: Catalog, after: Catalog): void {
  const shared = getSharedIndex(before);
  shared.newest = after;
  SHARED.set(after, shared);
}

/** Makes a caller's view of a catalog use the index of the catalog. */
export function shareIndexWithView(catalog: Catalog, view: Catalog): void {
  SHARED.set(view, getSharedIndex(catalog));
}

/**
 * Returns the index of a catalog and the documents that the catalog shows. Reads methods until the deadline, but at least
 * some; methods read by then are not read again.
 */
export function getIndex(catalog: Catalog, deadline: number): VisibleIndex {
  const shared = getSharedIndex(catalog);
  indexUntil(catalog, deadline);
  const { index, newest } = shared;
  const isWhole = catalog === newest;
  const visible = isWhole ? index.live : visibleDocuments(catalog, index);
  const words = isWhole ? getAllWords(index) : getVisibleWords(index, visible, countVisible(visible, index));
  return { index, visible, words, indexedMethods: isIndexed(catalog) ? undefined : countVisible(visible, index) };
}

function countVisible(visible: Uint8Array, { methods }: MethodIndex): number {
  let count = 0;
  for (let document = 0; document < methods.length; document++) count += visible[document] ?? 0;
  return count;
}

/** True if every method of the catalog is indexed. */
export function isIndexed(catalog: Catalog): boolean {
  const { target, newest, missing } = getSharedIndex(catalog);
  return target === newest && missing.length === 0;
}

/** Indexes methods of a catalog until a deadline, but at least some. */
export function indexUntil(catalog: Catalog, deadline: number): void {
  if (!isIndexed(catalog)) follow(getSharedIndex(catalog), deadline);
}

/**
 * Indexes some methods of a catalog in a separate turn of the event loop. Callers that wait at the same time share one
 * slice, so that other work is not blocked by many callers.
 */
export function indexSlice(catalog: Catalog): Promise<void> {
  const shared = getSharedIndex(catalog);
  shared.nextSlice ??= new Promise((resolve, reject) => {
    setImmediate(() => {
      shared.nextSlice = undefined;
      try {
        indexUntil(catalog, performance.now() + SLICE_MS);
        resolve();
      } catch (error) {
        reject(error);
      }
    });
  });
  return shared.nextSlice;
}

/** Updates an index to the newest catalog, or partly if the deadline passes. */
function follow(shared: SharedIndex, deadline: number): void {
  const withdrawn = shared.target === shared.newest ? [] : retarget(shared);
  const read = shared.index.change(withdrawn, shared.missing, deadline);
  shared.missing = shared.missing.slice(read);
}

/** Makes the newest catalog the target. Returns the indexed skills that it does not have. */
function retarget(shared: SharedIndex): readonly Skill[] {
  const { before, after } = differing(shared.target?.skills ?? [], shared.newest.skills);
  const unread = new Set(shared.missing);
  const [old, target] = [new Set(before.map(wholeSkill)), new Set(after.map(wholeSkill))];
  const added = [...target].filter((skill) => !old.has(skill));
  const stillMissing = shared.missing.filter((skill) => !old.has(skill) || target.has(skill));
  shared.target = shared.newest;
  shared.missing = [...stillMissing, ...added];
  return [...old].filter((skill) => !target.has(skill) && !unread.has(skill));
}

/** Returns two lists without their common start and end: of thousands of skills, usually only one has changed. */
function differing<Item>(before: readonly Item[], after: readonly Item[]): Record<"before" | "after", readonly Item[]> {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start++;
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  return { before: before.slice(start, before.length - end), after: after.slice(start, after.length - end) };
}

function getSharedIndex(catalog: Catalog): SharedIndex {
  const existing = SHARED.get(catalog);
  if (existing !== undefined) return existing;
  const shared = { index: createMethodIndex(), newest: catalog, target: undefined, missing: [], nextSlice: undefined };
  SHARED.set(catalog, shared);
  return shared;
}

/** Returns the visible documents of a catalog, cached until the index changes. */
function visibleDocuments(catalog: Catalog, index: MethodIndex): Uint8Array {
  const cached = VISIBLE.get(catalog);
  if (cached?.generation === index.generation) return cached.documents;
  const documents = new Uint8Array(index.methods.length);
  for (const skill of catalog.skills) markVisible(skill, index, documents);
  VISIBLE.set(catalog, { generation: index.generation, documents });
  return documents;
}

function markVisible(skill: Skill, index: MethodIndex, documents: Uint8Array): void {
  const whole = wholeSkill(skill);
  const { from, to } = index.getDocuments(whole) ?? { from: 0, to: 0 };
  if (skill === whole) return void documents.fill(1, from, to);
  const methods = new Set(listEntries(skill));
  for (let document = from; document < to; document++) {
    const method = index.methods[document];
    if (method !== undefined && methods.has(method)) documents[document] = 1;
  }
}

/** The words of an index, with the documents that a search may see. */
export type SearchedWords = Pick<MethodIndex, "postings" | "wordNumber" | "wordsBeginningLike"> & {
  /** The number of documents, by which the rarity of a word is measured. */
  readonly size: number;
};

function getAllWords(index: MethodIndex): SearchedWords {
  return {
    postings: (word) => index.postings(word),
    wordNumber: (word) => index.wordNumber(word),
    wordsBeginningLike: (word) => index.wordsBeginningLike(word),
    size: index.methods.length,
  };
}

/** Leaves out every trace of documents that are not visible: the others have the scores and the guesses that they had alone. */
function getVisibleWords(index: MethodIndex, visible: Uint8Array, size: number): SearchedWords {
  const cache = new Map<string, readonly number[]>();
  const isVisible = (posting: number): boolean => visible[posting >>> 8] === 1;
  const hasWord = (word: string): boolean => index.postings(word).some(isVisible);
  return {
    postings(word) {
      const postings = cache.get(word) ?? index.postings(word).filter(isVisible);
      cache.set(word, postings);
      return postings;
    },
    wordNumber: (word) => (hasWord(word) ? index.wordNumber(word) : undefined),
    wordsBeginningLike: (word) => index.wordsBeginningLike(word).filter(hasWord),
    size,
  };
}
