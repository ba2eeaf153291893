import { nearest, withinEdits } from "../model/nearest.ts";

/** Shorter names are too near to each other to tell a mistake from another name. */
const SHORTEST = 3;

/** The names of which this one is, but for typing errors, case and separators, the same; the nearest first. */
export function misspelt(name: string, names: readonly string[]): readonly string[] {
  const wanted = folded(name);
  if (wanted.length < SHORTEST) return [];
  const near = names.filter((other) => {
    const candidate = folded(other);
    const longest = Math.max(candidate.length, wanted.length);
    return candidate.length >= SHORTEST && withinEdits(candidate, wanted, Math.max(1, Math.floor(longest / 4)));
  });
  return near.length === 0 ? [] : nearest(name, near);
}

function folded(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");
}
