import type { Caller } from "../../model/caller.ts";
import type { HandledResult, ResultHandles } from "../../model/kept-results.ts";
import { setBounded } from "../../shared/lru.ts";

/** Maximum results that one caller has at hand, and the characters of their JSON; the oldest are dropped first. */
export const MAX_HANDLES = 20;
const MAX_CHARACTERS = 16 << 20;
/** Maximum callers that have results at hand; beyond this, the least recent ones lose theirs. */
const MAX_CALLERS = 16;

/** The handles of a runtime, in its memory. */
export interface OwnResultHandles extends ResultHandles {
  get(caller: Caller, handle: string): HandledResult | undefined;
  list(caller: Caller): readonly { readonly handle: string; readonly summary: string }[];
  /** Returns a handle for a run in another process, which is free until the run has ended. */
  reserve(caller: Caller): ReservedHandle;
}

/** A handle for the result of one run. */
export interface ReservedHandle {
  readonly name: string;
  /** Ends the reservation, and keeps the result if there is one. */
  end(result?: HandledResult): void;
}

interface CallerHandles {
  readonly results: Map<string, HandledResult>;
  readonly reserved: Set<number>;
  last: number;
  characters: number;
}

export function createResultHandles(maxCharacters = MAX_CHARACTERS): OwnResultHandles {
  const callers = new Map<string, CallerHandles>();

  function getOwn({ id }: Caller): CallerHandles {
    const own = callers.get(id) ?? { results: new Map(), reserved: new Set(), last: 0, characters: 0 };
    setBounded(callers, [id, own], MAX_CALLERS);
    return own;
  }

  function add(own: CallerHandles, number: number, result: HandledResult): void {
    own.last = Math.max(own.last, number);
    own.results.set(`r${number}`, result);
    own.characters += result.json.length;
    for (const [handle, { json }] of own.results) {
      if (own.characters <= maxCharacters && own.results.size <= MAX_HANDLES) break;
      own.results.delete(handle);
      own.characters -= json.length;
    }
  }

  return {
    keep(caller, result) {
      if (result.json.length > maxCharacters) return undefined;
      const own = getOwn(caller);
      const number = getNextNumber(own);
      add(own, number, result);
      return `r${number}`;
    },
    get: (caller, handle) => callers.get(caller.id)?.results.get(handle),
    list: (caller) =>
      Array.from(callers.get(caller.id)?.results ?? [], ([handle, { summary }]) => ({ handle, summary })),
    reserve(caller) {
      const own = getOwn(caller);
      const number = getNextNumber(own);
      own.reserved.add(number);
      return {
        name: `r${number}`,
        end(result) {
          own.reserved.delete(number);
          if (result !== undefined && result.json.length <= maxCharacters) add(own, number, result);
        },
      };
    },
  };
}

function getNextNumber({ last, reserved }: CallerHandles): number {
  return Math.max(last, ...reserved) + 1;
}
