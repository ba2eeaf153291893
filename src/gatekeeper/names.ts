import type { Catalog, Method, Skill } from "../model/catalog.ts";
import { shown } from "../model/frame.ts";
import { nearest } from "../model/nearest.ts";
import type { Inspection, Questions } from "./inspection.ts";
import type { Words } from "./report.ts";

/** Letters of other scripts that look like Latin ones. */
const LOOKALIKES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    а: "a",
    с: "c",
    ԁ: "d",
    е: "e",
    һ: "h",
    і: "i",
    ј: "j",
    к: "k",
    о: "o",
    р: "p",
    ѕ: "s",
    т: "t",
    υ: "u",
    ν: "v",
    ѵ: "v",
    х: "x",
    у: "y",
  }),
);

/** `device.MathSkill.add(a: number, b: number)` */
export function callForm(method: Method): string {
  const end = method.signature.indexOf("): Promise<");
  const form = end < 0 ? method.signature : method.signature.slice(0, end + 1);
  return `device.${method.skill}.${form}`;
}

/**
 * The one name of `owner` that is the same name in another style, as `read_file` and `readFile` or `MathSkill` and
 * `math_skill` are. Case alone is no style of methods: whoever writes `Add` for `add` is told. Skills are known by theirs.
 */
export function inOtherStyle(name: string, owner: Catalog | Skill): string | undefined {
  const words = /^[\w$]+$/.test(name) ? wordsOf(name) : [];
  const styled = words.length < 2 ? undefined : styles(owner).get(words.join(" "));
  return styled ?? ("skills" in owner ? styles(owner).get(name.toLowerCase()) : undefined) ?? undefined;
}

const stylesOfOwner = new WeakMap<Catalog | Skill, ReadonlyMap<string, string | null>>();

/** The skills of a catalog or the methods of a skill by the words of their names; `null` where two have the same. */
function styles(owner: Catalog | Skill): ReadonlyMap<string, string | null> {
  const known = stylesOfOwner.get(owner);
  if (known !== undefined) return known;
  const made = new Map<string, string | null>();
  const add = (style: string, name: string): void =>
    void made.set(style, made.has(style) && made.get(style) !== name ? null : name);
  for (const { name } of "skills" in owner ? owner.skills : owner.methods) {
    add(wordsOf(name).join(" "), name);
    if ("skills" in owner) add(name.toLowerCase(), name);
  }
  stylesOfOwner.set(owner, made);
  return made;
}

/** The name in plain Latin letters, if it only looks like it. */
export function plainLetters(name: string): string {
  const letters = name.normalize("NFKC").replace(/\P{ASCII}/gu, (letter) => LOOKALIKES.get(letter) ?? letter);
  return letters.replace(/[^\w$]/g, "");
}

/** Of a skill that is only asked for, that it is not there is the answer. */
export function wordsForAskedSkill(name: string, inspection: Inspection): Words {
  const { fix = "", ...words } = wordsForUnknownSkill(name, undefined, inspection);
  return { ...words, fix: `Leave the check out: ${shown(name)} is not there. ${fix}` };
}

export function wordsForUnknownSkill(name: string, methodName: string | undefined, { questions }: Inspection): Words {
  const { catalog } = questions;
  const skills = skillsNear(name, catalog);
  const near = skills[0] === undefined ? undefined : catalog.skill(skills[0]);
  const wanted = methodName ?? "";
  const inNear = near?.methods.find((method) => method.name === wanted) ?? methodNear(wanted, near?.methods ?? []);
  const elsewhere = wanted === "" ? [] : catalog.methods.filter((method) => method.name === wanted).slice(0, 3);
  const found = similar(`${name} ${wanted}`, questions);
  const best =
    inNear ?? elsewhere.find((method) => isSpecific(wanted) || similar(stemOf(name), questions).includes(method));
  const others = [...elsewhere, ...found].filter((method) => method.skill !== near?.name);
  return {
    values: shown(name),
    fix: best === undefined ? listMethods(near?.methods, `${name} ${wanted}`) : `Write ${callForm(best)}`,
    suggestions: distinct([...skills, ...others.map((method) => method.path)]),
  };
}

/** `MathSkill` is as near to `Math` as can be, and not near to `WeatherSkill`: that both are skills says nothing. */
function skillsNear(name: string, { skills }: Catalog): readonly string[] {
  const stems = nearest(
    stemOf(plainLetters(name)),
    skills.map((skill) => stemOf(skill.name)),
  );
  return distinct(
    stems.flatMap((stem) => skills.filter((skill) => stemOf(skill.name) === stem).map((skill) => skill.name)),
  );
}

/** True for `math` where there is a `MathSkill`. */
export function isShortFor(name: string, { skills }: Catalog): boolean {
  return skills.some((skill) => stemOf(skill.name).toLowerCase() === name.toLowerCase());
}

function stemOf(name: string): string {
  return /^(.+?)_?(?:skills?|mcp|server|tools?)$/i.exec(name)?.[1] ?? name;
}

/** `read_text_file` is the same wherever it is; `get` can be anything. */
function isSpecific(methodName: string): boolean {
  return wordsOf(methodName).length > 1;
}

export function wordsForUnknownMethod(name: string, skillName: string, { questions }: Inspection): Words {
  const methods = questions.catalog.skill(skillName)?.methods ?? [];
  const near = nearest(
    plainLetters(name),
    methods.map((method) => method.name),
  );
  const found = similar(`${skillName} ${name}`, questions);
  const elsewhere = questions.catalog.methods.filter((method) => method.name === name);
  const best = methods.find((method) => method.name === near[0]) ?? elsewhere[0];
  return {
    values: `${skillName}.${shown(name)}`,
    fix: best === undefined ? listMethods(methods, name) : `Write ${callForm(best)}`,
    suggestions: distinct([
      ...near.map((other) => `${skillName}.${other}`),
      ...[...elsewhere, ...found].map((method) => method.path),
    ]),
  };
}

export function similar(words: string, { findSimilar }: Questions): readonly Method[] {
  const spoken = wordsOf(words.slice(0, 100)).join(" ");
  return findSimilar === undefined || spoken === "" ? [] : findSimilar(spoken).slice(0, 3);
}

function methodNear(name: string, methods: readonly Method[]): Method | undefined {
  const [found] = nearest(
    name,
    methods.map((method) => method.name),
    1,
  );
  return methods.find((method) => method.name === found);
}

/** A skill of few methods is told whole; else the way to find one. */
function listMethods(methods: readonly Method[] | undefined, name: string): string {
  if (methods === undefined || methods.length === 0 || methods.length > 8) {
    return `Call await device.search_skills(${JSON.stringify(wordsOf(shown(name)).join(" "))}) to find what there is`;
  }
  return `Use one of ${methods.map((method) => `device.${method.path}`).join(", ")}`;
}

/** The words of an identifier or of a text, in lower case. */
function wordsOf(name: string): readonly string[] {
  return (name.match(/\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|\p{Lo}+|\p{N}+/gu) ?? []).map((word) => word.toLowerCase());
}

function distinct(names: readonly string[]): readonly string[] {
  return [...new Set(names)].slice(0, 5);
}
