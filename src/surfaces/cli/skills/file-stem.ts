import { toFileStem } from "../../../shared/names/file-stem.ts";
import { UsageError } from "../usage-error.ts";

/** Returns the name of a skill's file without its ending. Throws for a text that cannot name a skill. */
export function requireFileStem(name: string): string {
  const stem = toFileStem(name);
  if (stem !== undefined) return stem;
  throw new UsageError(`Cannot name a skill ${JSON.stringify(name)}: use one or a few words, such as home-office`);
}
