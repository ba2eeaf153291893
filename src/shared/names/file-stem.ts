/** Leaves space for a suffix within the 64 characters of a skill's name. */
const MAX_STEM_CHARACTERS = 48;

/**
 * Returns the name of a skill's file without its ending: `HomeOfficeSkill`, `home_office` and `home office` are all
 * `home-office`. Returns `undefined` for a text that cannot name a skill.
 */
export function toFileStem(name: string): string | undefined {
  const bare = name
    .normalize("NFC")
    .replace(/\.[cm]?[jt]s$/, "")
    .replace(/[-_ ]?skill$/i, "");
  const words = bare.replace(/(?<=[\p{Ll}\p{N}])(?=\p{Lu})/gu, " ").match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  const stem = words.join("-").toLowerCase();
  return stem !== "" && stem.length <= MAX_STEM_CHARACTERS && !/[/\\]/.test(name) ? stem : undefined;
}
