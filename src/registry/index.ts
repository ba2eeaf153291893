import type { Caller } from "../model/caller.ts";
import type { Catalog, Method } from "../model/catalog.ts";
import type { ProvidedSkill } from "../model/skill.ts";
import { catalogFrom, duplicate, readableView, skillFrom } from "./catalog.ts";
import { shareIndex, shareIndexWithView } from "./search/index.ts";

export { declarations } from "./declarations/index.ts";
export { describe, type Description } from "./describe.ts";
export { exampleArguments } from "./examples/index.ts";
export { anthropicTool, ollamaTool, openaiTool } from "./function-calling.ts";
export { catalogExport, methodExport, openapiExport } from "./export.ts";
export { search, type SearchAnswer, type SearchOptions, type SearchResult } from "./search/index.ts";
export { systemPrompt, type PromptOptions } from "./prompt.ts";

/** Views of one catalog that are kept for the next question of the same grants. */
const KEPT_VIEWS = 256;

/** Skills come and go; catalogs stay as they were. */
export interface Registry {
  /** The newest catalog. Methods of skills that did not change are the same objects as in the one before. */
  readonly catalog: Catalog;
  /** Throws `METHOD_DUPLICATE` for a name that is taken, `SKILL_INVALID` for one that cannot be used. */
  register(skill: ProvidedSkill): void;
  /** Says whether the skill was there. */
  unregister(name: string): boolean;
  /** The newest catalog as a caller may read it. */
  viewFor(caller: Caller): Catalog;
  /** Returns what stops the listening. */
  onChange(listener: (catalog: Catalog) => void): () => void;
}

/** Takes in what providers offer and gives out frozen catalogs, one per change (T5). */
export function createRegistry(): Registry {
  const listeners = new Set<(catalog: Catalog) => void>();
  const views = new Map<string, Catalog>();
  let catalog = catalogFrom([], 0);

  function change(skills: Catalog["skills"]): void {
    const before = catalog;
    catalog = catalogFrom(skills, before.version + 1);
    shareIndex(before, catalog);
    views.clear();
    for (const listener of listeners) listener(catalog);
  }

  return {
    get catalog() {
      return catalog;
    },
    register(provided) {
      if (catalog.skill(provided.name) !== undefined) throw duplicate(provided.name, { skill: provided.name });
      change([...catalog.skills, skillFrom(provided)]);
    },
    unregister(name) {
      if (catalog.skill(name) === undefined) return false;
      change(catalog.skills.filter((skill) => skill.name !== name));
      return true;
    },
    viewFor(caller) {
      const key = JSON.stringify([caller.grants, caller.reads ?? []]);
      const view = views.get(key) ?? readableView(catalog, caller);
      if (view !== catalog) shareIndexWithView(catalog, view);
      if (views.size >= KEPT_VIEWS) views.clear();
      views.set(key, view);
      return view;
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** The categories of a catalog's methods, sorted. */
export function categoriesOf(catalog: Catalog): readonly string[] {
  return [...new Set(catalog.methods.map((method) => method.metadata.category))].sort();
}

export function methodsByCategory(catalog: Catalog, category: string): readonly Method[] {
  return catalog.methods.filter((method) => method.metadata.category === category);
}

export function methodsByCapability(catalog: Catalog, capability: string): readonly Method[] {
  return catalog.methods.filter((method) => method.metadata.capabilities.some((each) => each === capability));
}

export function methodsByTag(catalog: Catalog, tag: string): readonly Method[] {
  return catalog.methods.filter((method) => method.metadata.tags.includes(tag));
}
