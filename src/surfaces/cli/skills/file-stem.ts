import { UsageError } from "../usage-error.ts";

/** Returns the name of a skill's file: `HomeOfficeSkill`, `home_office` and `home office` are all `home-office`. */
export function toFileStem(name: string): string {
  const bare = name
    .normalize("NFC")
    .replace(/\.[cm]?[jt]s$/, "")
    .replace(/[-_ ]?skill$/i, "");
  const words = bare.replace(/(?<=[\p{Ll}\p{N}])(?=\p{Lu})/gu, " ").match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  const stem = words.join("-").toLowerCase();
  if (stem !== "" && stem.length <= MAX_STEM_CHARACTERS && !/[/\\]/.test(name)) return stem;
  throw new UsageError(`Cannot name a skill ${JSON.stringify(name)}: use one or a few words, such as home-office`);
}

/** Leaves space for a suffix within the 64 characters of a skill's name. */
const MAX_STEM_CHARACTERS = 48;
