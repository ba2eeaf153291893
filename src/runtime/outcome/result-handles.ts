import type { Caller } from "../../model/caller.ts";
import { setBounded } from "../../shared/lru.ts";

/** Maximum results that one caller has at hand, and the characters of their JSON; the oldest are dropped first. */
export const MAX_HANDLES = 20;
const MAX_CHARACTERS = 16 << 20;
/** Maximum callers that have results at hand; beyond this, the least recent ones lose theirs. */
const MAX_CALLERS = 16;

/** A result that a later snippet of the same caller may use. */
export interface HandledResult {
  readonly json: string;
  /** True if the JSON holds tagged dates or bytes. */
  readonly tagged: boolean;
  /** Kind and size, for a message: `a list of 5,000 items`. */
  readonly summary: string;
}

/** Results that were too large to show whole, by a short name for each caller: `r1`, `r2`, …. */
export interface ResultHandles {
  /** Returns the handle; `undefined` if the result is too large to keep. */
  keep(caller: Caller, result: HandledResult): string | undefined;
  get(caller: Caller, handle: string): HandledResult | undefined;
  list(caller: Caller): readonly { readonly handle: string; readonly summary: string }[];
}

interface CallerHandles {
  readonly results: Map<string, HandledResult>;
  last: number;
  characters: number;
}

export function createResultHandles(maxCharacters = MAX_CHARACTERS): ResultHandles {
  const callers = new Map<string, CallerHandles>();
  return {
    keep(caller, result) {
      if (result.json.length > maxCharacters) return undefined;
      const own = callers.get(caller.id) ?? { results: new Map<string, HandledResult>(), last: 0, characters: 0 };
      setBounded(callers, [caller.id, own], MAX_CALLERS);
      own.last += 1;
      own.results.set(`r${own.last}`, result);
      own.characters += result.json.length;
      for (const [handle, { json }] of own.results) {
        if (own.characters <= maxCharacters && own.results.size <= MAX_HANDLES) break;
        own.results.delete(handle);
        own.characters -= json.length;
      }
      return `r${own.last}`;
    },
    get: (caller, handle) => callers.get(caller.id)?.results.get(handle),
    list: (caller) =>
      Array.from(callers.get(caller.id)?.results ?? [], ([handle, { summary }]) => ({ handle, summary })),
  };
}
