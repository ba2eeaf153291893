import { isRecord } from "../../model/json.ts";
import type { Method, Skill } from "../../model/catalog.ts";
import { formatRequest, METADATA_DEFAULTS } from "../../model/skill.ts";
import { FIELDS, NAME_PAIR_WEIGHT, SATURATION } from "./weights.ts";
import { getPathStems } from "./requests.ts";
import { getStems } from "./language/words.ts";

type SearchField = (typeof FIELDS)[keyof typeof FIELDS];

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
  const name = getStems(method.definition.partOf === undefined ? method.name : method.wireName);
  count(name, FIELDS.name, weights);
  const nameStems = weights.size;
  for (const [at, word] of name.slice(1).entries())
    countOne((name[at] ?? "") + word, NAME_PAIR_WEIGHT * FIELDS.name.weight, weights);
  count(skill.name, FIELDS.skill, weights);
  count(getStems(getOwnText(method)), FIELDS.description, weights);
  const { request } = method.definition;
  if (request !== undefined) count(getPathStems(request), FIELDS.path, weights);
  const { argumentNames = method.parameters.map((parameter) => parameter.name) } = method.definition;
  count(argumentNames.flatMap(getStems), FIELDS.parameterNames, weights);
  if (method.definition.argumentNames === undefined)
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
  const ratio = (SATURATION * impact) / (255.5 - impact);
  return Math.max(impact, quantizeImpact(ratio + times * getWordWeight(words, FIELDS.examples)));
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

/** The description without the request at its end, whose words are a field of their own. */
function getOwnText({ description, definition: { request } }: Method): string {
  const end = request === undefined ? "" : formatRequest(request);
  return description.endsWith(end) ? description.slice(0, description.length - end.length) : description;
}

function getTagText(method: Method): string {
  const { category, capabilities, tags } = method.metadata;
  const categories = category === METADATA_DEFAULTS.category ? [] : [category];
  return [...categories, ...capabilities, ...tags].join(" ");
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
