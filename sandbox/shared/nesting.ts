import { MAX_DEPTH } from "../guest/host-protocol.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Tests whether JSON has more levels of lists and objects than `MAX_DEPTH`. The text may be hostile. */
export function isJsonTooDeep(json: string): boolean {
  if (json.length <= 2 * MAX_DEPTH) return false; // every level has two brackets
  let depth = 0;
  for (let at = 0; at < json.length; at++) {
    switch (json.charCodeAt(at) | 0x20) {
      case 0x7b: // { and [
        if (++depth > MAX_DEPTH) return true;
        break;
      case 0x7d: // } and ]
        depth--;
        break;
      case QUOTE:
        if (json.charCodeAt(at) === QUOTE) at = findStringEnd(json, at);
        break;
    }
  }
  return false;
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
