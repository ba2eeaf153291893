import { MAX_DEPTH } from "../guest/host-protocol.ts";

/** Maximum number of names in one object among the arguments of a call. */
export const MAX_ARGUMENT_NAMES = 10_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Returns what JSON has more of than is allowed: levels of lists and objects (`MAX_DEPTH`), or names in one object. The text may be
 * hostile.
 */
export function findJsonExcess(json: string, maxNames = Infinity): "levels" | "names" | undefined {
  if (json.length <= 2 * MAX_DEPTH) return undefined; // every level has two brackets, every name has two quotes
  /** The numbers of names in the objects that are open, without the innermost. */
  const outer: number[] = [];
  let names = 0;
  for (let at = 0; at < json.length; at++) {
    switch (json.charCodeAt(at)) {
      case 0x7b: // {
      case 0x5b: // [
        outer.push(names);
        if (outer.length > MAX_DEPTH) return "levels";
        names = 0;
        break;
      case 0x7d: // }
      case 0x5d: // ]
        names = outer.pop() ?? 0;
        break;
      case 0x3a: // :
        if (++names > maxNames) return "names";
        break;
      case QUOTE:
        at = findStringEnd(json, at);
        break;
    }
  }
  return undefined;
}

/** Finds the end of the string that begins at `start`: the next quote with an even number of backslashes before it. */
function findStringEnd(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end >= 0; end = json.indexOf('"', end + 1)) {
    let before = end - 1;
    while (json.charCodeAt(before) === BACKSLASH) before--;
    if ((end - before) % 2 === 1) return end;
  }
  return json.length;
}
