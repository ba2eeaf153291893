import type { Catalog, Method, Skill } from "../model/catalog.ts";
import { getEffectKnowledge } from "../model/tools/effects.ts";
import {
  byName,
  LINE_UNITS,
  LineFormatter,
  measure,
  NAME,
  NARROW_LINES,
  NESTED,
  PARAMETERS,
  RESULT,
  WIDE_LINES,
} from "./catalog-lines.ts";
import { type FindInferredOutput, NO_INFERRED_OUTPUTS } from "./declarations/inferred-output.ts";
import { splitWords } from "./search/language/words.ts";

/** A larger catalog shows only its used methods, because the few others that fit are rarely the right ones. */
const MAX_METHODS = 1_000;

/** Maximum used methods that are put first. */
const MAX_USED = 100;

/** All names are listed if they need at most this share of the catalog. */
const NAMES_SHARE = 0.6;

/** At most this share of a part, and at most this length, lists the skills of methods that it does not show. */
const REST_SHARE = 0.4;
const REST_UNITS = 800;

const REST_HEADING = "Further methods, by search_skills:";
/** The headings of a part, if another part, which a client may cut off, shows some or all of the methods. */
const SOME_ELSEWHERE = "Further methods, in the rest of the catalog or by search_skills:";
const ALL_ELSEWHERE = "Further methods, in the rest of the catalog:";

export interface BriefCatalogOptions {
  /** Lengths of the parts, in UTF-16 units. A part shows what the parts before it do not. */
  readonly parts: readonly number[];
  readonly observed?: FindInferredOutput;
  /** Other texts for the same model show further methods. */
  readonly hasOtherTexts?: boolean;
  /** Paths of the methods that come first. */
  readonly used?: ReadonlySet<string>;
}

/** Explains the notation of the catalog. */
export const CATALOG_LEGEND =
  "? may be left out; no type: a string; {…}: an object; 1..25: a range; = default; T1: a type of its skill";

/**
 * Formats the methods of a catalog for a model, one on a line, under their skills: `name(required, optional?: 1..25 =
 * 10): {result}`. Each part is complete in itself: it ends with the skills of the methods that it does not show. The
 * same methods give the same text: skills are sorted by name; used methods come before others, and these by how soon a task
 * needs them. Empty for a part that is too short.
 */
export function briefCatalog(catalog: Catalog, options: BriefCatalogOptions): readonly string[] {
  const { parts, observed = NO_INFERRED_OUTPUTS, used = new Set<string>(), hasOtherTexts = false } = options;
  const counts = new Map(sortedSkills(catalog).map(({ name, methods }) => [name, methods.length]));
  const rest = formatRestLine(listRest(counts, SOME_ELSEWHERE), SOME_ELSEWHERE).length + 1;
  const sizes = parts.map((units) => ({ units, lines: units - Math.min(rest, units * REST_SHARE, REST_UNITS) }));
  const budget = sizes.reduce((sum, { lines }) => sum + lines, 0);
  const lines = selectMethods(catalog, used, budget).map((method) => ({ method, detail: 0 }));
  const names = lines.reduce((sum, { method }) => sum + method.name.length + LINE_UNITS, 0);
  const hasAllNames = lines.length === catalog.methods.length && names <= budget * NAMES_SHARE;
  const formatter = new LineFormatter(catalog, observed, hasAllNames ? WIDE_LINES : NARROW_LINES);
  addDetail(lines, formatter, { budget, used, hasAllNames });
  let remaining: readonly Line[] = lines.filter(({ detail }) => detail > 0);
  const listings = sizes.map((size) => {
    const part = takePart(remaining, formatter, size.lines);
    remaining = part.otherLines;
    for (const [skill, block] of part.blocks) counts.set(skill, (counts.get(skill) ?? 0) - block.lines.length);
    return { ...part, restUnits: size.units - size.lines + part.open, rest: new Map(counts) };
  });
  return listings.map(({ blocks, rest, restUnits }) => {
    const formatted = [...blocks].toSorted(byKey).map(([name, block]) => formatBlock(name, block, formatter));
    const isLast = countMethods(rest) === countMethods(counts) && !hasOtherTexts;
    const heading = isLast ? REST_HEADING : countMethods(counts) === 0 ? ALL_ELSEWHERE : SOME_ELSEWHERE;
    return [...formatted, ...formatRest(rest, catalog, heading, restUnits)].join("\n");
  });
}

interface Line {
  readonly method: Method;
  detail: number;
}

/** The methods that may be shown: those that were used, then the most useful ones of every skill in turn. */
function selectMethods(catalog: Catalog, used: ReadonlySet<string>, budget: number): readonly Method[] {
  const first = [...used]
    .sort()
    .flatMap((path) => catalog.method(path) ?? [])
    .slice(0, MAX_USED);
  if (catalog.methods.length > MAX_METHODS) return first;
  const isFirst = new Set(first);
  const bySkill = sortedSkills(catalog).map((skill) => sortByUse(skill).filter((method) => !isFirst.has(method)));
  const most = Math.max(0, ...bySkill.map((methods) => methods.length));
  const inTurn = Array.from({ length: most }, (_, at) => bySkill.flatMap((methods) => methods[at] ?? [])).flat();
  const [current, deprecated] = [false, true].map((is) => inTurn.filter((method) => isDeprecated(method) === is));
  return [...first, ...(current ?? []), ...(deprecated ?? [])].slice(0, Math.ceil(budget / MIN_NAME_UNITS));
}

/** Assumed length of the shortest names, which bounds how many methods are considered. */
const MIN_NAME_UNITS = 4;

/** 0: it reads; 1: it has effects; 2: it is deprecated. */
function getKind({ metadata }: Method): number {
  if (metadata.deprecated !== false) return 2;
  return metadata.readOnly ? 0 : 1;
}

function isDeprecated({ metadata }: Method): boolean {
  return metadata.deprecated !== false;
}

function sortedSkills({ skills }: Catalog): readonly Skill[] {
  return skills.toSorted(byName);
}

/**
 * Adds detail to lines in their order, as far as the budget goes: to all lines step by step, or, where not even all names
 * fit, to one line after the other.
 */
function addDetail(
  lines: readonly Line[],
  formatter: LineFormatter,
  { budget, used, hasAllNames }: { budget: number; used: ReadonlySet<string>; hasAllNames: boolean },
): void {
  let remaining = budget;
  const raise = (line: Line, detail: number): void => {
    const cost = formatter.cost(line.method, detail) - formatter.cost(line.method, line.detail);
    if (line.detail >= detail || cost > remaining) return;
    remaining -= cost;
    line.detail = detail;
  };
  const raiseStepwise = (some: readonly Line[], details: readonly number[]): void => {
    for (const detail of details) for (const line of some) raise(line, detail);
  };
  if (hasAllNames) raiseStepwise(lines, [NAME]);
  raiseStepwise(
    lines.filter(({ method }) => used.has(method.path)),
    [PARAMETERS, RESULT, NESTED],
  );
  if (!hasAllNames) for (const line of lines) raiseStepwise([line], [PARAMETERS, RESULT]);
  raiseStepwise(lines, [NAME, PARAMETERS, RESULT, NESTED]);
}

interface SkillBlock {
  readonly definitions: Set<string>;
  readonly lines: Line[];
}

interface TakenPart {
  readonly blocks: ReadonlyMap<string, SkillBlock>;
  readonly otherLines: readonly Line[];
  /** The length that is left. */
  readonly open: number;
}

/** Takes the first lines that fit, by skill. */
function takePart(lines: readonly Line[], formatter: LineFormatter, units: number): TakenPart {
  const blocks = new Map<string, SkillBlock>();
  const otherLines: Line[] = [];
  let open = units;
  for (const line of lines) {
    const { method, detail } = line;
    const block = blocks.get(method.skill) ?? { definitions: new Set<string>(), lines: [] };
    const { text, definitions } = formatter.format(method, detail);
    const missing = definitions.filter((definition) => !block.definitions.has(definition));
    const heading = blocks.has(method.skill) ? 0 : method.skill.length + 1;
    const cost = [text, ...missing].reduce((sum, each) => sum + measure(each) + LINE_UNITS, heading);
    if (cost > open) {
      otherLines.push(line);
      continue;
    }
    open -= cost;
    for (const definition of missing) block.definitions.add(definition);
    block.lines.push(line);
    blocks.set(method.skill, block);
  }
  return { blocks, otherLines, open };
}

/** Formats a skill. The order of its lines does not depend on which of them are used. */
function formatBlock(name: string, { definitions, lines }: SkillBlock, formatter: LineFormatter): string {
  const sorted = lines.toSorted((a, b) => getKind(a.method) - getKind(b.method) || byName(a.method, b.method));
  const names = sorted.filter(({ detail }) => detail === NAME).map(({ method }) => method.name);
  return [
    name,
    ...[...definitions].toSorted((a, b) => a.length - b.length || (a < b ? -1 : 1)).map((each) => `  ${each}`),
    ...sorted
      .filter(({ detail }) => detail > NAME)
      .map(({ method, detail }) => `  ${formatter.format(method, detail).text}`),
    ...(names.length > 0 ? [`  ${names.join(", ")}`] : []),
  ].join("\n");
}

function byKey([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}

function countMethods(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}

/** Lists the skills of the methods that are not shown, as many as fit, or else the number of all methods. */
function formatRest(
  counts: ReadonlyMap<string, number>,
  catalog: Catalog,
  heading: string,
  units: number,
): readonly string[] {
  const skills = listRest(counts, heading);
  if (skills.length === 0) return [];
  let left = Math.min(units, REST_UNITS) - heading.length - MORE_SKILLS_UNITS;
  const fitting = skills.filter((skill) => (left -= skill.length + SEPARATOR_UNITS) > 0);
  const some = [...fitting, `and ${skills.length - fitting.length} more skills`];
  const total = `${heading} ${catalog.methods.length} in ${catalog.skills.length} skills in all`;
  return [formatRestLine(skills, heading), ...(fitting.length > 0 ? [formatRestLine(some, heading)] : []), total]
    .filter((line) => line.length < units)
    .slice(0, 1);
}

const SEPARATOR_UNITS = 2;

/** The length of `and 123 more skills`. */
const MORE_SKILLS_UNITS = 24;

/** Counts the methods of each skill only where no other text shows one of them. */
function listRest(counts: ReadonlyMap<string, number>, heading: string): readonly string[] {
  return [...counts]
    .filter(([, count]) => count > 0)
    .map(([skill, count]) => (heading === REST_HEADING ? `${skill} ${count}` : skill));
}

function formatRestLine(skills: readonly string[], heading: string): string {
  return skills.length === 0 ? "" : `${heading} ${skills.join(", ")}`;
}

const FINDS: ReadonlySet<string> = new Set(["list", "search", "find", "query"]);
const READS: ReadonlySet<string> = new Set(["get", "read", "fetch", "retrieve", "show", "lookup", "status", "log"]);
const CHANGES: ReadonlySet<string> = new Set(
  "create add insert send post write save update edit set patch change delete remove move commit run execute".split(
    " ",
  ),
);

/** Words that find things wherever they stand: `API-post-search`. */
const FINDS_ANYWHERE: readonly string[] = ["search", "query"];

/** A name with more words than these is of a part of a thing: `list_order_comments` beside `list_orders`. */
const WORDS_OF_THING = 2;

/**
 * Sorts the methods of a skill by how soon a task needs them, as their names say: those that find things, then those that
 * read or change one, then others.
 */
function sortByUse({ methods }: Skill): readonly Method[] {
  const words = methods.map(({ name }) => splitWords(name));
  const first = words[0]?.[0];
  const hasPrefix = methods.length > 1 && words.every((each) => each.length > 1 && each[0] === first);
  return methods
    .map((method, at) => ({ method, rank: rank(method, words[at]?.slice(hasPrefix ? 1 : 0) ?? []) }))
    .toSorted((a, b) => a.rank - b.rank || (a.method.name < b.method.name ? -1 : 1))
    .map(({ method }) => method);
}

function rank(method: Method, words: readonly string[]): number {
  if (FINDS_ANYWHERE.some((word) => words.includes(word))) return 0;
  return rankVerb(method, words[0] ?? "") + Math.max(0, words.length - WORDS_OF_THING);
}

function rankVerb(method: Method, verb: string): number {
  if (FINDS.has(verb)) return 0;
  if (READS.has(verb)) return 1;
  return CHANGES.has(verb) || ["none", "unlikely"].includes(getEffectKnowledge(method)) ? 2 : 3;
}
