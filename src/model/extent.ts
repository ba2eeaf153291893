export const MOST_VALUES = 2_000_000;
const MOST_CHARACTERS = 64 << 20;

/** What there is more of in a value than anybody can take in. */
export type Excess = "more than 64 MB" | "more than 2 million values";

/**
 * What there is too much of in a value once it is written out, if there is. Written out, what is shared is there as often
 * as it is mentioned: thirty lists, each of which holds the one before it twice, are a billion. Counts no further than
 * the bound, so it also comes to an end with what leads back to itself.
 */
export function excessOf(value: unknown): Excess | undefined {
  const stack: unknown[] = [value];
  const left: Left = { values: MOST_VALUES, characters: MOST_CHARACTERS };
  while (stack.length > 0) {
    const current = stack.pop();
    if (typeof current === "string") left.characters -= current.length;
    else if (typeof current === "object" && current !== null) take(current, stack, left);
    if (left.characters < 0) return "more than 64 MB";
    if (left.values < 0) return "more than 2 million values";
  }
  return undefined;
}

interface Left {
  values: number;
  characters: number;
}

/** Puts the members on the stack, unless there are too many of them. */
function take(structure: object, stack: unknown[], left: Left): void {
  if (ArrayBuffer.isView(structure) || structure instanceof ArrayBuffer) {
    left.characters -= structure.byteLength;
    return;
  }
  if (Array.isArray(structure) || structure instanceof Set || structure instanceof Map) {
    left.values -= Array.isArray(structure) ? structure.length : structure.size;
    if (left.values < 0) return;
    for (const member of structure.values()) stack.push(member);
    if (structure instanceof Map) for (const key of structure.keys()) stack.push(key);
    return;
  }
  const names = Object.keys(structure);
  left.values -= names.length;
  if (left.values < 0) return;
  for (const name of names) {
    left.characters -= name.length;
    stack.push(Reflect.get(structure, name));
  }
}
