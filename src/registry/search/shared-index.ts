import { sentence, SkillgateError } from "../../errors.ts";
import type { Catalog, Skill } from "../../model/catalog.ts";
import { wholeSkill } from "../catalog.ts";
import { createMethodIndex, type MethodIndex } from "./method-index.ts";

/** One index for all catalogs of a registry: it follows the newest, and each catalog sees its own part of it. */
interface SharedIndex {
  readonly index: MethodIndex;
  newest: Catalog;
  /** The catalog that the index holds, or as much of it as was read in time. */
  indexed: Pick<Catalog, "skills"> | undefined;
  /** Settles when the next slice is read; `undefined` while none is asked for. */
  nextSlice: Promise<void> | undefined;
}

/** How long reading methods may keep the event loop from other work at a time. */
const SLICE_MS = 10;

/** An index as one catalog may see it. */
export interface VisibleIndex {
  readonly index: MethodIndex;
  /** By document: 1 for one that may be seen. */
  readonly visible: Uint8Array;
}

const SHARED = new WeakMap<Catalog, SharedIndex>();
const VISIBLE = new WeakMap<Catalog, { readonly generation: number; readonly documents: Uint8Array }>();

/** Lets a catalog that came after another be searched through the same index. */
export function shareIndex(before: Catalog, after: Catalog): void {
  const shared = getSharedIndex(before);
  shared.newest = after;
  SHARED.set(after, shared);
}

/** Lets what a caller may read of a catalog be searched through the catalog's index. */
export function shareIndexWithView(catalog: Catalog, view: Catalog): void {
  SHARED.set(view, getSharedIndex(catalog));
}

/**
 * The index of a catalog, up to date, and which of its documents the catalog shows. Throws `DISCOVERY_TIMEOUT` at the
 * deadline; what was read by then need not be read again.
 */
export function getIndex(catalog: Catalog, deadline: number): VisibleIndex {
  const shared = getSharedIndex(catalog);
  const { index, newest } = shared;
  if (shared.indexed !== newest) {
    const read = follow(shared, deadline);
    if (shared.indexed !== newest) throw unfinished(read, newest.methods.length);
  }
  return { index, visible: catalog === newest ? index.live : visibleDocuments(catalog, index) };
}

/** Whether a search of the catalog has no methods left to read first. */
export function isIndexed(catalog: Catalog): boolean {
  const shared = getSharedIndex(catalog);
  return shared.indexed === shared.newest;
}

/** Reads methods into the index of a catalog up to a deadline, but at least some. */
export function indexUntil(catalog: Catalog, deadline: number): void {
  if (!isIndexed(catalog)) follow(getSharedIndex(catalog), deadline);
}

/**
 * Reads some methods into the index of a catalog, in a turn of the event loop of its own. Callers that wait at the same
 * time share one slice, so that other work goes on however many they are.
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

/**
 * Brings an index from the catalog that it holds to the newest; some of the way, if the deadline comes before. Returns how
 * many methods of the newest the index holds then.
 */
function follow(shared: SharedIndex, deadline: number): number {
  const { before, after } = differing(shared.indexed?.skills ?? [], shared.newest.skills);
  const [old, wanted] = [new Set(before.map(wholeSkill)), new Set(after.map(wholeSkill))];
  const { index, newest } = shared;
  const missing = [...wanted].filter((skill) => !old.has(skill));
  const withdrawn = [...old].filter((skill) => !wanted.has(skill));
  const taken = index.change(withdrawn, missing, deadline);
  if (taken.skills === missing.length) {
    shared.indexed = newest;
    return newest.methods.length;
  }
  const left = new Set(missing.slice(taken.skills));
  const skills = newest.skills.filter((skill) => !left.has(wholeSkill(skill)));
  shared.indexed = { skills };
  return skills.reduce((sum, skill) => sum + skill.methods.length, taken.methods);
}

function unfinished(read: number, all: number): SkillgateError {
  const values = `${read} of ${all} methods are read so far; the next search continues from there`;
  return new SkillgateError("DISCOVERY_TIMEOUT", sentence("DISCOVERY_TIMEOUT", values));
}

/** Two lists without what they begin and end with alike: of thousands of skills, mostly one has changed. */
function differing<Item>(before: readonly Item[], after: readonly Item[]): Record<"before" | "after", readonly Item[]> {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start++;
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  return { before: before.slice(start, before.length - end), after: after.slice(start, after.length - end) };
}

function getSharedIndex(catalog: Catalog): SharedIndex {
  const known = SHARED.get(catalog);
  if (known !== undefined) return known;
  const shared = { index: createMethodIndex(), newest: catalog, indexed: undefined, nextSlice: undefined };
  SHARED.set(catalog, shared);
  return shared;
}

/** Kept per catalog until the index changes. */
function visibleDocuments(catalog: Catalog, index: MethodIndex): Uint8Array {
  const known = VISIBLE.get(catalog);
  if (known?.generation === index.generation) return known.documents;
  const documents = new Uint8Array(index.methods.length);
  for (const skill of catalog.skills) markVisible(skill, index, documents);
  VISIBLE.set(catalog, { generation: index.generation, documents });
  return documents;
}

function markVisible(skill: Skill, index: MethodIndex, documents: Uint8Array): void {
  const whole = wholeSkill(skill);
  const { from, to } = index.getDocuments(whole) ?? { from: 0, to: 0 };
  if (skill === whole) return void documents.fill(1, from, to);
  const shown = new Set(skill.methods);
  for (let document = from; document < to; document++) {
    const method = index.methods[document];
    if (method !== undefined && shown.has(method)) documents[document] = 1;
  }
}
