import { type Depth, DOUBT, type Need, UNUSED } from "./need.ts";

/** Longer ones are in doubt. */
const LONGEST_WAY = 150;

/** The way from a promise to what it needs: neither endless, nor gone twice. */
export class Way {
  /** What is known of variables, functions and members, and of those that are being looked at. */
  readonly #needs = new Map<string, Map<unknown, Need>>();
  #length = 0;

  /** One step on. */
  further(look: () => Need): Need {
    if (this.#length >= LONGEST_WAY) return DOUBT;
    this.#length++;
    const need = look();
    this.#length--;
    return need;
  }

  /** One step on to what others may lead to as well. Whatever leads back to where it is being looked at from adds nothing. */
  once(what: string, key: unknown, depth: Depth, look: () => Need): Need {
    const kind = `${what} ${depth}`;
    const needs = this.#needs.get(kind) ?? new Map<unknown, Need>();
    this.#needs.set(kind, needs);
    const known = needs.get(key);
    if (known !== undefined) return known;
    needs.set(key, UNUSED);
    const need = this.further(look);
    needs.set(key, need);
    return need;
  }
}
