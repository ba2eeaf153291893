import type { Catalog, Skill } from "../../model/catalog.ts";
import { wholeSkill } from "../catalog.ts";
import { createMethodIndex, type MethodIndex } from "./method-index.ts";

/** One index for all catalogs of a registry: it follows the newest, and each catalog sees its own part of it. */
interface SharedIndex {
  readonly index: MethodIndex;
  newest: Catalog;
  /** The catalog that the index holds. */
  indexed: Catalog | undefined;
}

/** An index as one catalog may see it. */
export interface VisibleIndex {
  readonly index: MethodIndex;
  readonly isVisible: (document: number) => boolean;
}

const SHARED = new WeakMap<Catalog, SharedIndex>();
const VISIBLE = new WeakMap<Catalog, { readonly generation: number; readonly documents: Uint8Array }>();

/** Lets a catalog that came after another be searched through the same index. */
export function shareIndex(before: Catalog, after: Catalog): void {
  const shared = sharedIndexOf(before);
  shared.newest = after;
  SHARED.set(after, shared);
}

/** Lets what a caller may read of a catalog be searched through the catalog's index. */
export function shareIndexWithView(catalog: Catalog, view: Catalog): void {
  SHARED.set(view, sharedIndexOf(catalog));
}

/** The index of a catalog, up to date, and which of its documents the catalog shows. */
export function indexOf(catalog: Catalog): VisibleIndex {
  const shared = sharedIndexOf(catalog);
  const { index, newest } = shared;
  if (shared.indexed !== newest) index.sync(newest.skills.map(wholeSkill));
  shared.indexed = newest;
  const { methods } = index;
  if (catalog === newest) return { index, isVisible: (document) => methods[document] !== undefined };
  const documents = visibleDocuments(catalog, index);
  return { index, isVisible: (document) => documents[document] === 1 };
}

function sharedIndexOf(catalog: Catalog): SharedIndex {
  const known = SHARED.get(catalog);
  if (known !== undefined) return known;
  const shared = { index: createMethodIndex(), newest: catalog, indexed: undefined };
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
  const { from, to } = index.documentsOf(wholeSkill(skill)) ?? { from: 0, to: 0 };
  const shown = new Set(skill.methods);
  for (let document = from; document < to; document++) {
    const method = index.methods[document];
    if (method !== undefined && shown.has(method)) documents[document] = 1;
  }
}
