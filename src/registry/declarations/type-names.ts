import type { Type } from "./type-text.ts";

/** Built-in type names that generated ones must not shadow. */
const BUILT_IN: ReadonlySet<string> = new Set(["Record", "Promise", "Array"]);

const NAME_UNITS = 60;

/**
 * The named types of one declaration: their names, their texts, and their direct references to each other (without an
 * object or array between), because TypeScript rejects a cycle of those.
 */
export interface TypeNames {
  /** Name → text of the type, in order of first use; the text of a type that is only named is empty. */
  readonly definitions: Map<string, string>;
  /** The type of each referenced schema. */
  readonly bySchema: Map<unknown, KnownType>;
  /** Whether types that a schema leaves out are named, although they are not declared. */
  readonly namesOmitted: boolean;
  /** Returns an unused name close to `preferred`. */
  reserve(preferred: string): string;
  /** Records that `from` refers to `to` directly. Returns false, without recording, if that would close a cycle. */
  refer(from: string, to: string): boolean;
}

export interface KnownType {
  readonly name: string;
  /** Replaces the name if the type is short. */
  inline: Type | undefined;
  /** Number of alternatives; an estimate while the type is being written. */
  width: number;
}

/** `prefix` starts every name, for a declaration whose names would mean something else beside it. */
export function createTypeNames(prefix = "", namesOmitted = false): TypeNames {
  const definitions = new Map<string, string>();
  const reserved = new Set<string>(BUILT_IN);
  const references = new Map<string, Set<string>>();

  function leadsTo(from: string, to: string, visited = new Set<string>()): boolean {
    if (from === to) return true;
    if (visited.has(from)) return false;
    visited.add(from);
    return [...(references.get(from) ?? [])].some((next) => leadsTo(next, to, visited));
  }

  return {
    definitions,
    bySchema: new Map(),
    namesOmitted,
    reserve(preferred) {
      const base = prefix + pascal(preferred);
      let name = base;
      for (let number = 2; reserved.has(name); number++) name = `${base}_${number}`;
      reserved.add(name);
      return name;
    },
    refer(from, to) {
      if (leadsTo(to, from)) return false;
      references.set(from, (references.get(from) ?? new Set()).add(to));
      return true;
    },
  };
}

/** `rich-text request` → `RichTextRequest`. */
function pascal(text: string): string {
  const parts = text.split(/[^\p{ID_Continue}]+|_+/u).filter((part) => part !== "");
  const name = parts.map((part) => part.replace(/^./u, (first) => first.toUpperCase())).join("");
  const bounded = name.slice(0, NAME_UNITS).replace(/[\uD800-\uDBFF]$/, "");
  return /^\p{ID_Start}/u.test(bounded) ? bounded : `Type${bounded}`;
}
