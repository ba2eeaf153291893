import { type Caller, requireCaller } from "../model/caller.ts";
import type { Catalog, Method, Skill } from "../model/catalog.ts";
import type { ProvidedSkill } from "../model/skill.ts";
import { catalogFrom, dependsOnClient, duplicate, type ReadableParts, readableView, skillFrom } from "./catalog.ts";
import { hasOverrides } from "./profile-view.ts";
import { shareIndex, shareIndexWithView } from "./search/index.ts";

export { briefCatalog, type BriefCatalogOptions, CATALOG_LEGEND } from "./brief-catalog.ts";
export { completeCode, type CodeCompletion } from "./completion/complete-code.ts";
export { bareDeclarations, declarations } from "./declarations/index.ts";
export type { FindInferredOutput, InferredOutput } from "./declarations/inferred-output.ts";
export type { TextOutput } from "./declarations/text-signatures.ts";
export { describe, type Description } from "./description/index.ts";
export { exampleArguments, exampleCall } from "./examples/index.ts";
export { formatSchemaType } from "./declarations/types.ts";
export { anthropicTool, ollamaTool, openaiTool, toolName } from "./function-calling.ts";
export { catalogExport, methodExport, openapiExport } from "./export.ts";
export {
  indexSlice,
  indexUntil,
  isIndexed,
  observableStems,
  MAX_SAVED_MEANINGS,
  type ObservedMethod,
  type ObservedWords,
  search,
} from "./search/index.ts";
export type { SearchAnswer, SearchOptions } from "./search/index.ts";
export { methodLines } from "./method-lines.ts";
export { systemPrompt, type PromptOptions } from "./prompt.ts";
export { GUIDANCE_UNITS, sanitizeText, sanitizeWholeText } from "./sanitize.ts";
export { estimateTokens, firstSentence } from "./token-count.ts";

/** Maximum cached views of one catalog, by permissions. */
const KEPT_VIEWS = 256;

/** A changing set of skills; each catalog is an immutable snapshot. */
export interface Registry {
  /** The newest catalog. Methods of skills that did not change are the same objects as in the one before. */
  readonly catalog: Catalog;
  /** Throws `METHOD_DUPLICATE` for a name that is taken, `SKILL_INVALID` for an invalid one. */
  register(skill: ProvidedSkill): void;
  /** Returns true if the skill was registered. */
  unregister(name: string): boolean;
  /** The newest catalog as a caller may read it. */
  viewFor(caller: Caller): Catalog;
  /** Calls the listener after each change; returns a function that removes it. */
  onChange(listener: () => void): () => void;
}

/** Creates a registry: it holds the skills of providers and returns frozen catalogs, each with its own version. */
export function createRegistry(): Registry {
  const skills = new Map<string, Skill>();
  const listeners = new Set<() => void>();
  const views = new Map<string, Catalog>();
  /** The parts of skills that callers see, and their newest views. */
  const parts = new Map<string, { readonly cache: ReadableParts; readonly latest?: Catalog }>();
  let catalog = catalogFrom([], 0);
  let version = 0;

  function changed(): void {
    version += 1;
    for (const listener of listeners) listener();
  }

  /** Creates the catalog on demand, so that registering a thousand skills creates only one. */
  function newest(): Catalog {
    if (catalog.version === version) return catalog;
    const before = catalog;
    catalog = catalogFrom([...skills.values()], version);
    shareIndex(before, catalog);
    views.clear();
    return catalog;
  }

  return {
    get catalog() {
      return newest();
    },
    register(provided) {
      if (skills.has(provided.name)) throw duplicate(provided.name, { skill: provided.name });
      skills.set(provided.name, skillFrom(provided));
      changed();
    },
    unregister(name) {
      const wasThere = skills.delete(name);
      if (wasThere) changed();
      return wasThere;
    },
    viewFor(caller) {
      const whole = newest();
      const { permissions, profile, answers = [], isPage = false } = requireCaller(caller);
      const key = JSON.stringify([permissions, profile, dependsOnClient(whole) ? [isPage, answers] : []]);
      const view = views.get(key);
      if (view !== undefined) return view;
      if (parts.size >= KEPT_VIEWS) for (const each of [views, parts]) each.clear();
      const { cache, latest } = parts.get(key) ?? { cache: new WeakMap() };
      const created = readableView(whole, caller, cache);
      const isIndexedAlone = hasOverrides(profile) && created !== whole;
      if (!isIndexedAlone && created !== whole) shareIndexWithView(whole, created);
      if (isIndexedAlone && latest !== undefined) shareIndex(latest, created);
      parts.set(key, isIndexedAlone ? { cache, latest: created } : { cache });
      views.set(key, created);
      return created;
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** The categories of a catalog's methods, sorted. */
export function getCategories(catalog: Catalog): readonly string[] {
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
