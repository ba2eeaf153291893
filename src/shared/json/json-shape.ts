import { findStringEnd } from "./exact-json.ts";

/**
 * Limit on the names of one object in a text of JSON from outside. An object with tens of thousands of names costs each reader a hundred
 * times what a list of the same length does: it has no hidden class, and each copy of it hashes every name.
 */
export const MAX_OBJECT_NAMES = 10_000;

/** Limit on the levels of such a text: each takes `JSON.parse` as long as ten numbers do. */
const MAX_LEVELS = 100_000;

const [QUOTE, COLON] = [0x22, 0x3a];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** A shorter text has fewer: a name takes four characters, with its quotes and its colon, and a level one. */
const MIN_LENGTH = 4 * MAX_OBJECT_NAMES;

/** Says what is too much in a text of JSON, before it is parsed; `undefined` if it fits. Takes a third of the time of `JSON.parse`. */
export function findShapeExcess(json: string): string | undefined {
  if (json.length < MIN_LENGTH) return undefined;
  /** The numbers of names in the objects that are open, without the innermost. */
  const outer: number[] = [];
  let names = 0;
  for (let at = 0; at < json.length; at++) {
    const unit = json.charCodeAt(at);
    if (unit === QUOTE) at = findStringEnd(json, at);
    else if (unit === COLON) {
      if (++names > MAX_OBJECT_NAMES) return `an object with more than ${MAX_OBJECT_NAMES} names`;
    } else if (unit === OPEN_OBJECT || unit === OPEN_LIST) {
      if (outer.push(names) > MAX_LEVELS) return `more than ${MAX_LEVELS} levels of lists and objects`;
      names = 0;
    } else if (unit === CLOSE_OBJECT || unit === CLOSE_LIST) names = outer.pop() ?? 0;
  }
  return undefined;
}
