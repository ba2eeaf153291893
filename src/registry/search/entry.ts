import { isRecord } from "../../model/json.ts";
import type { Method, Skill } from "../../model/catalog.ts";
import { METADATA_DEFAULTS } from "../../model/skill.ts";
import { getStems } from "./words.ts";

/**
 * The fields of a method, with the weight of a word and the length normalization of each field (BM25F). The average lengths
 * are constants, so that entries do not depend on each other and the index never has to be rebuilt.
 */
const FIELDS = {
  name: { weight: 2.5, bias: 0.5, usualWords: 2.5 },
  skill: { weight: 1.5, bias: 0.2, usualWords: 2 },
  description: { weight: 1.2, bias: 0.5, usualWords: 16 },
  parameterNames: { weight: 1, bias: 0.4, usualWords: 4 },
  parameterTexts: { weight: 0.5, bias: 0.6, usualWords: 28 },
  tags: { weight: 1, bias: 0.4, usualWords: 3 },
  examples: { weight: 0.6, bias: 0.4, usualWords: 60 },
  skillTexts: { weight: 0.3, bias: 0.6, usualWords: 20 },
} as const;

type SearchField = (typeof FIELDS)[keyof typeof FIELDS];

/** Saturation of repeated words (k1 of BM25). */
const SATURATION = 1.3;

/** Weight of two neighbouring words of a name as one word: `github` finds `git_hub`. */
const PAIR_WEIGHT = 0.3;

/** Maximum words read from one field. */
const MAX_WORDS = 400;

/** Maximum schemas read inside one parameter. */
const MAX_SCHEMAS = 60;

/** The index entry of a method: its stems, those of its name first, and the impact of each, from 1 to 255. */
export interface IndexEntry {
  readonly stems: readonly string[];
  readonly impacts: readonly number[];
  readonly nameStems: number;
}

/** Returns a function that makes the entry of one method of a skill. */
export function createEntryReader(skill: Skill): (method: Method) => IndexEntry {
  const words: SkillWords = {
    name: getStems(skill.name.replace(/(?:MCP|Skill)$/, "")),
    texts: getStems(`${skill.server ?? ""} ${skill.description} ${(skill.guidance ?? "").slice(0, 1_000)}`),
  };
  return (method) => createEntry(method, words);
}

/** The words that all methods of a skill share. */
interface SkillWords {
  readonly name: readonly string[];
  readonly texts: readonly string[];
}

function createEntry(method: Method, skill: SkillWords): IndexEntry {
  const weights = new Map<string, number>();
  const name = getStems(method.name);
  count(name, FIELDS.name, weights);
  const nameStems = weights.size;
  for (const [at, word] of name.slice(1).entries())
    countOne((name[at] ?? "") + word, PAIR_WEIGHT * FIELDS.name.weight, weights);
  count(skill.name, FIELDS.skill, weights);
  count(getStems(method.description), FIELDS.description, weights);
  count(
    method.parameters.flatMap((parameter) => getStems(parameter.name)),
    FIELDS.parameterNames,
    weights,
  );
  count(
    getStems(method.parameters.map((parameter) => collectTexts(parameter.schema)).join(" ")),
    FIELDS.parameterTexts,
    weights,
  );
  count(getStems(getTagText(method)), FIELDS.tags, weights);
  count(getStems(getExampleText(method)), FIELDS.examples, weights);
  count(skill.texts, FIELDS.skillTexts, weights);
  return { stems: [...weights.keys()], impacts: Array.from(weights.values(), quantizeImpact), nameStems };
}

/** Returns the impact of a word that also occurs `times` times among `words` words of further examples. */
export function impactWithExamples(impact: number, times: number, words: number): number {
  const known = (SATURATION * impact) / (255.5 - impact);
  return Math.max(impact, quantizeImpact(known + times * getWordWeight(words, FIELDS.examples)));
}

function count(words: readonly string[], field: SearchField, weights: Map<string, number>): void {
  const each = getWordWeight(words.length, field);
  const read = Math.min(words.length, MAX_WORDS);
  for (let at = 0; at < read; at++) countOne(words[at] ?? "", each, weights);
}

function getWordWeight(words: number, { weight, bias, usualWords }: SearchField): number {
  return weight / (1 - bias + (bias * Math.min(words, MAX_WORDS)) / usualWords);
}

function countOne(word: string, weight: number, weights: Map<string, number>): void {
  weights.set(word, (weights.get(word) ?? 0) + weight);
}

function quantizeImpact(weight: number): number {
  return Math.max(1, Math.round((255 * weight) / (SATURATION + weight)));
}

function getTagText(method: Method): string {
  const { category, capabilities, tags } = method.metadata;
  const named = category === METADATA_DEFAULTS.category ? [] : [category];
  return [...named, ...capabilities, ...tags].join(" ");
}

function getExampleText(method: Method): string {
  return (method.definition.examples ?? []).map(({ request }) => (request ?? "").slice(0, 1_000)).join(" ");
}

/** Collects descriptions, enum values and the names of inner properties. */
function collectTexts(schema: unknown): string {
  const texts: string[] = [];
  const open: unknown[] = [schema];
  for (let read = 0; open.length > 0 && read < MAX_SCHEMAS; read++) {
    const current = open.shift();
    if (!isRecord(current)) continue;
    const { description, enum: values, properties, items, anyOf, oneOf } = current;
    if (typeof description === "string") texts.push(description);
    if (Array.isArray(values)) texts.push(...values.filter((value) => typeof value === "string"));
    if (isRecord(properties)) {
      texts.push(...Object.keys(properties));
      open.push(...Object.values(properties));
    }
    open.push(items, ...[anyOf, oneOf].flatMap((branches): unknown[] => (Array.isArray(branches) ? branches : [])));
  }
  return texts.join(" ");
}
