/**
 * Returns the default skill name of a module: `weather.ts` → `WeatherSkill`, `home-office/` →
 * `HomeOfficeSkill`, `my_skill.js` → `MySkill`. A name that begins with a digit gets `Skill` in front.
 */
export function moduleToSkillName(stem: string): string {
  const joined = splitWords(stem).map(upperFirst).join("");
  const name = /skill$/i.test(joined) ? `${joined.slice(0, -"Skill".length)}Skill` : `${joined}Skill`;
  return /^\p{ID_Start}/u.test(name) ? name : `Skill${joined}`;
}

/** Returns the method name of an unnamed default export: `current-weather.ts` → `currentWeather`. */
export function moduleToMethodName(stem: string): string {
  const [first = "run", ...rest] = splitWords(stem);
  const joined = first.charAt(0).toLowerCase() + first.slice(1) + rest.map(upperFirst).join("");
  return /^\p{ID_Start}/u.test(joined) ? joined : `run${joined}`;
}

function splitWords(stem: string): readonly string[] {
  return stem.normalize("NFC").match(/[\p{L}\p{M}\p{Nd}\p{Nl}]+/gu) ?? [];
}

function upperFirst(word: string): string {
  const [first = ""] = word;
  return first.toUpperCase() + word.slice(first.length);
}
