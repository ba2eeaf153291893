import { createError } from "../../errors.ts";

/** The deepest nesting of lists and objects in a value that crosses a boundary; the sandbox has the same limit. */
export const MAX_DEPTH = 500;
export const MAX_VALUES = 2_000_000;
const MAX_CHARACTERS = 64 << 20;

/** Objects that are searched for a cycle; a cycle among more objects is not found. */
const MAX_CYCLE_OBJECTS = 100_000;

export const TOO_DEEP = `more than ${MAX_DEPTH} levels`;
export const TOO_MANY = "more than 2 million values";
const CYCLE = "a value that contains itself (a cycle): return only the members that are needed";

/** The size limit that a value exceeds. */
export type SizeExcess = "more than 64 MB" | typeof TOO_MANY | typeof TOO_DEEP | typeof CYCLE;

/**
 * Returns the size limit that a value exceeds when it is written out, if any. A shared part counts once for each reference
 * to it: thirty lists, each of which holds the one before it twice, are a billion. Walks the value level by level and
 * stops at the limits, so it also ends on a cycle.
 */
export function findSizeExcess(value: unknown): SizeExcess | undefined {
  const remaining: Remaining = { values: MAX_VALUES, characters: MAX_CHARACTERS };
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    const below: unknown[] = [];
    let excess: SizeExcess | undefined;
    for (const current of level) {
      if (typeof current === "string") remaining.characters -= current.length;
      else if (typeof current === "object" && current !== null) {
        if (depth >= MAX_DEPTH) excess = TOO_DEEP;
        take(current, below, remaining);
      }
      if (remaining.characters < 0) excess = "more than 64 MB";
      if (remaining.values < 0) excess = TOO_MANY;
      if (excess !== undefined) return hasCycle(value) ? CYCLE : excess;
    }
    level = below;
  }
  return undefined;
}

/** Throws a `SkillgateError` for a value that exceeds a size limit; `source` returned it. */
export function requireBounds(value: unknown, source: string): void {
  const excess = findSizeExcess(value);
  if (excess === undefined) return;
  const code = excess === TOO_DEEP ? "NESTING_LIMIT" : "CALL_FAILED";
  throw createError(code, `${source} returned ${excess}`);
}

/** Whether a value contains itself. */
function hasCycle(value: unknown): boolean {
  const within = new Set<unknown>();
  const done = new Set<unknown>();
  const pending: unknown[] = [value];
  while (pending.length > 0 && done.size + within.size < MAX_CYCLE_OBJECTS) {
    const current = pending.at(-1);
    if (typeof current !== "object" || current === null || within.has(current) || done.has(current)) {
      pending.pop();
      if (within.delete(current)) done.add(current);
      continue;
    }
    within.add(current);
    const members: unknown[] = [];
    take(current, members, { values: MAX_CYCLE_OBJECTS, characters: MAX_CHARACTERS });
    if (members.some((member) => within.has(member))) return true;
    for (const member of members) pending.push(member);
  }
  return false;
}

interface Remaining {
  values: number;
  characters: number;
}

/** Puts the members on the stack, unless there are too many of them. */
function take(structure: object, stack: unknown[], remaining: Remaining): void {
  if (Array.isArray(structure) || structure instanceof Set || structure instanceof Map) {
    remaining.values -= Array.isArray(structure) ? structure.length : structure.size;
    if (remaining.values < 0) return;
    for (const member of structure.values()) stack.push(member);
    if (structure instanceof Map) for (const key of structure.keys()) stack.push(key);
    return;
  }
  if (ArrayBuffer.isView(structure) || structure instanceof ArrayBuffer) {
    remaining.characters -= structure.byteLength;
    return;
  }
  takeMembers(structure as Readonly<Record<string, unknown>>, stack, remaining);
}

function takeMembers(structure: Readonly<Record<string, unknown>>, stack: unknown[], remaining: Remaining): void {
  const names = Object.keys(structure);
  remaining.values -= names.length;
  if (remaining.values < 0) return;
  for (const name of names) {
    remaining.characters -= name.length;
    stack.push(structure[name]);
  }
}
