import { splitClauses } from "./language/clauses.ts";
import { FOREIGN_STOP_WORDS } from "./language/foreign-words.ts";
import { stem } from "./language/stem.ts";
import { getSynonyms } from "./language/synonyms.ts";
import { NUMBER_WEIGHT, QUERY_PAIR_WEIGHT, STOP_WORD_WEIGHT, SYNONYM_WEIGHT, WEAK_WORD_WEIGHT } from "./weights.ts";
import { foldedName, splitWords } from "./language/words.ts";

const listed = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Words that carry no meaning in a request: dropped from a query if other words remain. */
const STOP_WORDS: ReadonlySet<string> = listed(`
  a an the and or but nor if then so than that this these those there here it its itself
  is am are was were be been being do does did doing done have has had having
  can could would should shall will may might must cannot
  i me my mine myself we us our ours ourselves you your yours yourself he him his she her hers they them their theirs
  one ones someone anyone everyone something anything everything who whom whose what which when where why how whether
  to of in on at by for from with about into onto upon over under as up off out through between within without against
  during before after above below since until while per via not no only own same too very just also any all some each
  every both few more most other another such quite rather really well even still already yet again ever never always
  often once s t m d ll re ve don doesn didn isn aren wasn weren won wouldn couldn shouldn hasn haven
  please kindly let lets hi hello hey dear thanks thank thankful appreciate grateful okay ok yes sure sorry
  want wants wanted wanting need needs needed needing like liked would wish wishes hope hoping try trying able
  possible possibly help helps helping assist assists assisting assistance tell tells telling show give gives giving
  given provide provides providing know knowing looking interested curious wondering wonder think thinking believe
  guess suppose seem seems first firstly secondly third thirdly lastly finally additionally furthermore moreover
  afterwards afterward meanwhile besides otherwise however therefore thus hence because due specifically particularly
  especially preferably ideally currently basically actually simply quickly easily exactly directly
  including include includes included regarding concerning related relevant based according specific specified certain
  particular various several different respective respectively appropriate suitable make makes making made take takes
  taking took go goes going come comes coming bring got getting gets use uses used using way ways thing things lot lots
  kind sort bit am pm im etc eg ie
`);

/** Words that most requests and most methods contain: they count less. */
const WEAK_WORDS: ReadonlySet<string> = listed(`
  find get search look retrieve fetch obtain gather collect receive access create generate produce set add new
  check see view display list identify determine calculate compute estimate analyze analysis
  information info detail details detailed data result results value values number numbers amount name named called
  title id identifier type current latest recent available time date day year month today best good great top
  popular comprehensive complete full overall
`);

/** Maximum length of a query, and maximum words: separated by spaces, and after splitting those. */
const QUERY_UNITS = 5_000;
const MAX_QUERY_WORDS = 128;
const MAX_WORDS = 300;

/** Maximum length of a name, and maximum name-like words that are looked up. */
const NAME_UNITS = 200;
const MAX_NAMES = 20;

/** Queries of up to this many words keep their stop words at a low weight: `turn on` is not `turn off`. */
const SHORT_WORDS = 4;

const WEAK_STEMS: ReadonlySet<string> = new Set(Array.from(WEAK_WORDS, stem));

/** A term of a query: a word, or a pair of neighbouring words, with its alternatives. */
export interface QueryTerm {
  /** The word as written in the query; empty for a pair. */
  readonly word: string;
  readonly stem: string;
  readonly weight: number;
  readonly alternatives: readonly Alternative[];
  /** The numbers of the clauses that have the term; each clause asks for something of its own. */
  readonly clauses: readonly number[];
}

export interface Alternative {
  readonly stem: string;
  /** Its weight relative to the term's own word. */
  readonly share: number;
}

export interface Query {
  readonly terms: readonly QueryTerm[];
  /** The query as a name, without case and separators; empty if it is too long for a name. */
  readonly folded: string;
  /** `folded` and the name-like words of the query, folded: `read_text_file`, `Skill.method`. */
  readonly names: readonly string[];
  /** All words of the query. */
  readonly words: readonly string[];
  readonly wordCount: number;
  /** The last word that is neither a stop word, a common one nor a number: the noun of a short English request. */
  readonly thing: string | undefined;
}

/** Splits a query into terms. Drops stop words if other words remain; a short query keeps them at a low weight. */
export function parseQuery(text: string): Query {
  const bounded = boundedQuery(text).replace(/\bdevices?\.(?=\w)/g, "");
  const words = splitWords(bounded);
  const telling = words.filter((word) => !STOP_WORDS.has(word));
  const tellingWords = telling.length === 0 || words.length <= SHORT_WORDS ? words : telling;
  const folded = bounded.length <= NAME_UNITS ? foldedName(bounded) : "";
  const isKept = new Set(tellingWords);
  const clauses = splitClauses(bounded).map((clause) => splitWords(clause).filter((word) => isKept.has(word)));
  return {
    terms: parseTerms(
      clauses.filter((each) => each.length > 0),
      telling.length > 0,
    ),
    folded,
    names: [...new Set([folded, ...findNames(bounded)])].filter((name) => name !== ""),
    words,
    wordCount: words.length,
    thing: telling.findLast((word) => !FOREIGN_STOP_WORDS.has(word) && getWeight(word) === 1),
  };
}

/** Returns the stems of a query that may be observed: no numbers and no stop words. */
export function observableStems(text: string): readonly string[] {
  const words = splitWords(boundedQuery(text));
  const telling = words.filter((word) => !STOP_WORDS.has(word) && !/^\p{N}+$/u.test(word));
  return [...new Set(telling.map(stem))];
}

function boundedQuery(text: string): string {
  // Normalization can turn one character into eighteen.
  const bounded = text.slice(0, QUERY_UNITS).normalize("NFKC").slice(0, QUERY_UNITS);
  const words = new Set<string>();
  for (const { 0: word, index } of bounded.matchAll(/\S+/g)) {
    words.add(word.toLowerCase());
    if (words.size > MAX_QUERY_WORDS) return bounded.slice(0, index).trimEnd();
  }
  return bounded;
}

/** True for a word whose missing match is worth reporting: no number, no stop word, no pair. */
export function isSignificant(term: QueryTerm): boolean {
  return term.word !== "" && term.weight > NUMBER_WEIGHT;
}

/** False for the stop words of a query that has other words. */
export function isIntended(term: QueryTerm): boolean {
  return term.weight > STOP_WORD_WEIGHT;
}

function parseTerms(clauses: readonly (readonly string[])[], stopWordsAreFaint: boolean): readonly QueryTerm[] {
  const terms = new Map<string, QueryTerm>();
  const add = (term: Omit<QueryTerm, "clauses">, clause: number, most: number): void => {
    const existing = terms.get(term.stem);
    if (existing?.clauses.includes(clause) === true || (existing === undefined && terms.size >= most)) return;
    terms.set(term.stem, { ...(existing ?? term), clauses: [...(existing?.clauses ?? []), clause] });
  };
  for (const [clause, words] of clauses.entries())
    for (const word of words) add(createWordTerm(word, stopWordsAreFaint), clause, MAX_WORDS);
  for (const [clause, words] of clauses.entries()) {
    const stems = words.slice(0, MAX_WORDS).map(stem);
    for (const [at, second] of stems.slice(1).entries()) {
      const pair = (stems[at] ?? "") + second;
      add({ word: "", stem: pair, weight: QUERY_PAIR_WEIGHT, alternatives: [] }, clause, 2 * MAX_WORDS);
    }
  }
  return [...terms.values()];
}

function createWordTerm(word: string, stopWordsAreFaint: boolean): Omit<QueryTerm, "clauses"> {
  const root = stem(word);
  const weight = stopWordsAreFaint && STOP_WORDS.has(word) ? STOP_WORD_WEIGHT : getWeight(word);
  const alternatives = Array.from(getSynonyms(root), (other) => ({ stem: other, share: SYNONYM_WEIGHT }));
  return { word, stem: root, weight, alternatives };
}

function getWeight(word: string): number {
  if (/^\d+$/.test(word)) return NUMBER_WEIGHT;
  return WEAK_STEMS.has(stem(word)) ? WEAK_WORD_WEIGHT : 1;
}

/** Finds words with a separator or a capital inside, as names have and plain words do not. */
function findNames(text: string): readonly string[] {
  const words = text.match(/[\p{L}\p{N}_$.-]+/gu) ?? [];
  const shaped = words.filter(
    (word) => word.length <= NAME_UNITS && /[\p{L}\p{N}](?:[_.-][\p{L}\p{N}]|(?<=\p{Ll})\p{Lu})/u.test(word),
  );
  return shaped.slice(0, MAX_NAMES).map(foldedName);
}
