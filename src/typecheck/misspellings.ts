import { suggestNames, isWithinEditDistance } from "../shared/suggest.ts";

/** Shorter names are too near to each other to tell a mistake from another name. */
const MIN_CHARACTERS = 3;

/** The names that differ from this one only by typing errors, case and separators; the nearest first. */
export function findMisspelling(name: string, names: readonly string[]): readonly string[] {
  const folded = foldName(name);
  if (folded.length < MIN_CHARACTERS) return [];
  const near = names.filter((other) => {
    const candidate = foldName(other);
    const longest = Math.max(candidate.length, folded.length);
    return (
      candidate.length >= MIN_CHARACTERS &&
      isWithinEditDistance(candidate, folded, Math.max(1, Math.floor(longest / 4)))
    );
  });
  return near.length === 0 ? [] : suggestNames(name, near);
}

function foldName(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");
}
