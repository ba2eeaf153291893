import type { Catalog, Method, Skill } from "../model/catalog.ts";
import { printableName } from "../shared/source-text.ts";
import { suggestNames } from "../shared/suggest.ts";
import type { CheckContext, Host } from "./context.ts";
import type { MessageParts } from "./report.ts";
import { formatMethodAccess, formatSkillAccess } from "../shared/names/method-paths.ts";

/** Letters of other scripts that look like Latin letters. */
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

/** `device.MathSkill.add(a: number, b: number)`; an example for a part of a method. */
export function formatCall(method: Method): string {
  const { partOf, examples = [] } = method.definition;
  if (partOf !== undefined) return examples[0]?.code ?? `${formatSkillAccess(method.skill)}.${partOf}(…)`;
  const end = method.signature.indexOf("): Promise<");
  const form = end < 0 ? method.signature : method.signature.slice(0, end + 1);
  return `${formatSkillAccess(method.skill)}.${form}`;
}

/**
 * Finds the only name of `owner` that is the same name in another style, such as `readFile` for `read_file` or `math_skill`
 * for `MathSkill`. A difference in case alone counts for skills, but not for methods: `Add` for `add` is an error.
 */
export function findOtherStyle(name: string, owner: Catalog | Skill): string | undefined {
  const words = /^[\w$.]+$/.test(name) ? splitWords(name) : [];
  const styled = words.length < 2 ? undefined : getNameStyles(owner).get(words.join(" "));
  return styled ?? ("skills" in owner ? getNameStyles(owner).get(name.toLowerCase()) : undefined) ?? undefined;
}

const nameStyles = new WeakMap<Catalog | Skill, ReadonlyMap<string, string | null>>();

/** The skills of a catalog or the methods of a skill, by the words of their names; `null` if two names share the words. */
function getNameStyles(owner: Catalog | Skill): ReadonlyMap<string, string | null> {
  const cached = nameStyles.get(owner);
  if (cached !== undefined) return cached;
  const styles = new Map<string, string | null>();
  const add = (style: string, name: string): void =>
    void styles.set(style, styles.has(style) && styles.get(style) !== name ? null : name);
  for (const { name } of "skills" in owner ? owner.skills : owner.methods) {
    add(splitWords(name).join(" "), name);
    if ("skills" in owner) add(name.toLowerCase(), name);
  }
  nameStyles.set(owner, styles);
  return styles;
}

/** Replaces letters that look like Latin letters, and removes all other characters. */
export function foldLookalikes(name: string): string {
  const letters = name.normalize("NFKC").replace(/\P{ASCII}/gu, (letter) => LOOKALIKES.get(letter) ?? letter);
  return letters.replace(/[^\w$]/g, "");
}

/** Describes a missing skill whose existence the program only tests. */
export function describeTestedSkill(name: string, context: CheckContext): MessageParts {
  const { fix = "", ...words } = describeUnknownSkill(name, undefined, context);
  return { ...words, fix: `Remove the check: ${printableName(name)} does not exist. ${fix}` };
}

export function describeUnknownSkill(
  name: string,
  methodName: string | undefined,
  { host }: CheckContext,
): MessageParts {
  const { catalog } = host;
  const skills = findSimilarSkills(name, catalog);
  const near = skills[0] === undefined ? undefined : catalog.skill(skills[0]);
  const target = methodName ?? "";
  const inNear =
    near?.methods.find((method) => method.name === target) ?? findSimilarMethod(target, near?.methods ?? []);
  // A program may leave the skill out, as in `device.read_file("/a")`.
  const called = methodName ?? name;
  const elsewhere = catalog.methods.filter((method) => method.name === called).slice(0, 3);
  const found = suggestSimilar(`${name} ${target}`, host);
  const best =
    inNear ??
    elsewhere.find((method) => isSpecific(called) || suggestSimilar(stripServerSuffix(name), host).includes(method));
  const others = [...elsewhere, ...found].filter((method) => method.skill !== near?.name);
  return {
    values: printableName(name),
    fix: best === undefined ? listMethods(near?.methods, `${name} ${target}`) : `Write ${formatCall(best)}`,
    suggestions: withoutDuplicates([...skills, ...others.map((method) => method.path)]),
  };
}

/** Finds skills with similar names, compared without suffixes such as `Skill`: `Math` matches `MathSkill`. */
function findSimilarSkills(name: string, { skills }: Catalog): readonly string[] {
  const stems = suggestNames(
    stripServerSuffix(foldLookalikes(name)),
    skills.map((skill) => stripServerSuffix(skill.name)),
  );
  return withoutDuplicates(
    stems.flatMap((stem) =>
      skills.filter((skill) => stripServerSuffix(skill.name) === stem).map((skill) => skill.name),
    ),
  );
}

/** True for `math` where there is a `MathSkill`. */
export function isAbbreviation(name: string, { skills }: Catalog): boolean {
  return skills.some((skill) => stripServerSuffix(skill.name).toLowerCase() === name.toLowerCase());
}

/** Finds the only skill with an abbreviated name: `ShopMCP` for `shop`. */
export function findAbbreviated(name: string, { skills }: Catalog): string | undefined {
  if (!/^[\w$-]+$/.test(name)) return undefined;
  const folded = splitWords(name).join("");
  const [only, ...others] = skills.filter((skill) => splitWords(stripServerSuffix(skill.name)).join("") === folded);
  return others.length === 0 ? only?.name : undefined;
}

function stripServerSuffix(name: string): string {
  return /^(.+?)_?(?:skills?|mcp|server|tools?)$/i.exec(name)?.[1] ?? name;
}

/** True if the name alone identifies a method: true for `read_text_file`, false for `get`. */
function isSpecific(methodName: string): boolean {
  return splitWords(methodName).length > 1;
}

export function describeUnknownMethod(name: string, skillName: string, { host }: CheckContext): MessageParts {
  const { methods = [], parts = [] } = host.catalog.skill(skillName) ?? {};
  const part = parts.find(({ wireName }) => wireName === name);
  if (part !== undefined) return describePart(part);
  const near = suggestNames(
    foldLookalikes(name),
    methods.map((method) => method.name),
  );
  const found = suggestSimilar(`${skillName} ${name}`, host);
  const elsewhere = host.catalog.methods.filter((method) => method.name === name);
  const best = methods.find((method) => method.name === near[0]) ?? elsewhere[0];
  return {
    values: `${skillName}.${printableName(name)}`,
    fix: best === undefined ? listMethods(methods, name) : `Write ${formatCall(best)}`,
    suggestions: withoutDuplicates([
      ...near.map((other) => `${skillName}.${other}`),
      ...[...elsewhere, ...found].map((method) => method.path),
    ]),
  };
}

/** A root field of a GraphQL API is no method: a query selects it. */
function describePart(part: Method): MessageParts {
  const { partOf = "" } = part.definition;
  return {
    values: `${part.skill}.${part.wireName} is a root field, which ${part.skill}.${partOf} selects`,
    fix: `Write ${formatCall(part)}`,
    suggestions: [part.path],
  };
}

export function suggestSimilar(words: string, { findSimilar }: Host): readonly Method[] {
  const query = splitWords(words.slice(0, 100)).join(" ");
  return findSimilar === undefined || query === "" ? [] : findSimilar(query).slice(0, 3);
}

function findSimilarMethod(name: string, methods: readonly Method[]): Method | undefined {
  const [found] = suggestNames(
    name,
    methods.map((method) => method.name),
    1,
  );
  return methods.find((method) => method.name === found);
}

/** A fix that lists up to eight methods of a skill, or else suggests a search. */
function listMethods(methods: readonly Method[] | undefined, name: string): string {
  if (methods === undefined || methods.length === 0 || methods.length > 8) {
    return `Call await device.search_skills(${JSON.stringify(splitWords(printableName(name)).join(" "))}) to find a method`;
  }
  return `Use one of ${methods.map((method) => formatMethodAccess(method.path)).join(", ")}`;
}

/** The words of an identifier or of a text, in lower case. */
function splitWords(name: string): readonly string[] {
  return (name.match(/\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|\p{Lo}+|\p{N}+/gu) ?? []).map((word) => word.toLowerCase());
}

function withoutDuplicates(names: readonly string[]): readonly string[] {
  return [...new Set(names)].slice(0, 5);
}
