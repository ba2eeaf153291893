import { listEntries, type Method, type Skill } from "../../model/catalog.ts";
import type { HttpRequest } from "../../model/skill.ts";
import { createEntryReader, type IndexEntry } from "./entry.ts";
import { foldedName } from "./language/words.ts";

/** The index is compacted when the withdrawn methods exceed the live ones by more than this. */
const MAX_WITHDRAWN_SHARE = 2_000;

/** Maximum names looked up for one prefix. */
const MAX_BEGINNINGS = 200;

/**
 * The words of many methods. Each method is a document with a number; each word has the list of its documents, packed with
 * its impact. Adding or withdrawing a skill touches nothing else.
 */
export interface MethodIndex {
  /**
   * Removes and adds skills, one method at a time, until a deadline. Returns the number of completely added skills. A partly
   * added skill has the methods that were read; adding it continues if it is the first skill of the next change.
   */
  change(withdrawn: readonly Skill[], added: readonly Skill[], deadline: number): number;
  /** Increases whenever documents are added, removed or renumbered. */
  readonly generation: number;
  /** Methods by document; `undefined` for a withdrawn one. */
  readonly methods: readonly (Method | undefined)[];
  /** By document: 1 for a live one. At least as long as `methods`. */
  readonly live: Uint8Array;
  /** Returns the documents of a skill, which have consecutive numbers. */
  getDocuments(skill: Skill): Documents | undefined;
  /** The documents with a word, ascending: `document * 256 + impact`. */
  postings(word: string): readonly number[];
  /** The words of a document: `number of the word * 256 + impact`, those of its name first. */
  getWords(document: number): Uint32Array;
  nameStems(document: number): number;
  /** The request of a method of an API; `undefined` for other methods. */
  getRequest(document: number): HttpRequest | undefined;
  /** The number of a word; `undefined` if no method has it. */
  wordNumber(word: string): number | undefined;
  /** Known words that begin with the same two characters. */
  wordsBeginningLike(word: string): readonly string[];
  /** Documents whose method has this name, case and separators aside. */
  documentsNamed(folded: string): readonly number[];
  /** Some documents whose method name has this prefix of at least two characters. */
  namedFrom(folded: string): readonly number[];
  /** Names of methods that begin with the same two characters, folded. */
  namesBeginningLike(folded: string): readonly string[];
  /** Skills of this name, case and separators aside. */
  skillsNamed(folded: string): readonly Skill[];
}

export interface Documents {
  readonly from: number;
  /** The first document after those of the skill. */
  readonly to: number;
}

/** The content of an index; it is rebuilt when too much of it is withdrawn. */
interface Content {
  readonly methods: (Method | undefined)[];
  live: Uint8Array;
  readonly skills: Map<Skill, Documents>;
  readonly skillNames: Groups<string, Skill>;
  readonly wordNumbers: Map<string, number>;
  /** Postings by word number. */
  readonly postings: number[][];
  readonly wordsByBeginning: Groups<string, string>;
  /** By document, as `getWords` and `nameStems` give them. */
  readonly documentWords: NumberLists;
  readonly nameStems: number[];
  /** By document: most methods have none. */
  readonly requests: Map<number, HttpRequest>;
  readonly names: Groups<string, number>;
  readonly namesByBeginning: Groups<string, string>;
  /** The partly added skill; its methods are the last documents. */
  unfinished: UnfinishedSkill | undefined;
}

interface UnfinishedSkill {
  readonly skill: Skill;
  readonly readEntry: EntryReader;
}

type EntryReader = (method: Method, at: number) => IndexEntry;

export function createMethodIndex(): MethodIndex {
  let content = emptyContent();
  let generation = 0;
  return {
    get generation() {
      return generation;
    },
    get methods() {
      return content.methods;
    },
    get live() {
      return content.live;
    },
    change(withdrawn, added, deadline) {
      if (withdrawn.length + added.length > 0) generation += 1;
      for (const skill of withdrawn) withdrawSkill(skill, content);
      if (withdrawn.length > 0) content = compacted(content);
      return addSkills(added, content, createDeadlineCheck(deadline));
    },
    getDocuments: (skill) => content.skills.get(skill),
    postings: (word) => content.postings[content.wordNumbers.get(word) ?? -1] ?? [],
    getWords: (document) => content.documentWords.at(document),
    nameStems: (document) => content.nameStems[document] ?? 0,
    getRequest: (document) => content.requests.get(document),
    wordNumber: (word) => content.wordNumbers.get(word),
    wordsBeginningLike: (word) => content.wordsByBeginning.get(word.slice(0, 2)) ?? [],
    documentsNamed: (folded) => content.names.get(folded) ?? [],
    namedFrom(folded) {
      const names = content.namesByBeginning.get(folded.slice(0, 2)) ?? [];
      const fitting = names.filter((name) => name.startsWith(folded));
      return fitting.slice(0, MAX_BEGINNINGS).flatMap((name) => content.names.get(name) ?? []);
    },
    namesBeginningLike: (folded) => content.namesByBeginning.get(folded.slice(0, 2)) ?? [],
    skillsNamed: (folded) => content.skillNames.get(folded) ?? [],
  };
}

function emptyContent(): Content {
  return {
    methods: [],
    live: new Uint8Array(1_024),
    skills: new Map(),
    skillNames: new Map(),
    wordNumbers: new Map(),
    postings: [],
    wordsByBeginning: new Map(),
    documentWords: createNumberLists(),
    nameStems: [],
    requests: new Map(),
    names: new Map(),
    namesByBeginning: new Map(),
    unfinished: undefined,
  };
}

/** Methods that are read regardless of the deadline, so that repeated searches make progress. */
const MIN_METHODS = 16;

/** Returns a function to call after each method; it returns true if reading must stop. */
function createDeadlineCheck(deadline: number): () => boolean {
  let read = 0;
  return () => ++read % MIN_METHODS === 0 && performance.now() > deadline;
}

function addSkills(added: readonly Skill[], content: Content, isOver: () => boolean): number {
  const { unfinished } = content;
  if (unfinished !== undefined && unfinished.skill !== added[0]) {
    withdrawSkill(unfinished.skill, content);
    content.unfinished = undefined;
  }
  for (const [at, skill] of added.entries()) if (!addSkill(skill, createEntryReader(skill), content, isOver)) return at;
  return added.length;
}

/** Adds the missing methods of a skill until `isOver`. Returns true if no methods are missing then. */
function addSkill(skill: Skill, newReader: EntryReader, content: Content, isOver: () => boolean): boolean {
  const { readEntry } = (content.unfinished ??= { skill, readEntry: newReader });
  const { from } = content.skills.get(skill) ?? beginSkill(skill, content);
  const all = listEntries(skill);
  for (const method of all.slice(content.methods.length - from)) {
    addMethod(method, readEntry(method, content.methods.length - from), content);
    if (content.methods.length - from < all.length && isOver()) break;
  }
  const to = content.methods.length;
  content.skills.set(skill, { from, to });
  content.live.fill(1, from, to);
  const isComplete = to - from === all.length;
  if (isComplete) content.unfinished = undefined;
  return isComplete;
}

function beginSkill(skill: Skill, content: Content): Documents {
  const from = content.methods.length;
  content.live = longEnough(content.live, from + listEntries(skill).length);
  pushToGroup(content.skillNames, foldedName(skill.name), skill);
  return { from, to: from };
}

function addMethod(method: Method, { stems, impacts, nameStems }: IndexEntry, content: Content): void {
  const document = content.methods.push(method) - 1;
  content.documentWords.add(stems.map((word, position) => addWord(word, impacts[position] ?? 1, document, content)));
  content.nameStems.push(nameStems);
  const { request } = method.definition;
  if (request !== undefined) content.requests.set(document, request);
  addNames(method, document, content);
}

function addNames({ name, wireName }: Method, document: number, content: Content): void {
  const folded = foldedName(name);
  const foldedWire = wireName === name ? folded : foldedName(wireName);
  addName(folded, document, content);
  if (foldedWire !== folded) addName(foldedWire, document, content);
}

function longEnough(bytes: Uint8Array, length: number): Uint8Array {
  if (bytes.length >= length) return bytes;
  const longer = new Uint8Array(Math.ceil(1.5 * length));
  longer.set(bytes);
  return longer;
}

function addWord(word: string, impact: number, document: number, content: Content): number {
  let number = content.wordNumbers.get(word);
  if (number === undefined) {
    number = content.postings.push([]) - 1;
    content.wordNumbers.set(word, number);
    pushToGroup(content.wordsByBeginning, word.slice(0, 2), word);
  }
  content.postings[number]?.push(document * 256 + impact);
  return number * 256 + impact;
}

function addName(name: string, document: number, content: Content): void {
  if (!content.names.has(name)) pushToGroup(content.namesByBeginning, name.slice(0, 2), name);
  pushToGroup(content.names, name, document);
}

function withdrawSkill(skill: Skill, content: Content): void {
  const { from, to } = content.skills.get(skill) ?? { from: 0, to: 0 };
  content.methods.fill(undefined, from, to);
  content.live.fill(0, from, to);
  content.skills.delete(skill);
  const folded = foldedName(skill.name);
  const others = (content.skillNames.get(folded) ?? []).filter((each) => each !== skill);
  if (others.length > 0) content.skillNames.set(folded, others);
  else content.skillNames.delete(folded);
}

/** Removes withdrawn methods if there are too many. Does not read any method again. */
function compacted(content: Content): Content {
  let live = 0;
  for (const { from, to } of content.skills.values()) live += to - from;
  if (content.methods.length - live <= live + MAX_WITHDRAWN_SHARE) return content;
  const words = [...content.wordNumbers.keys()];
  const smaller = emptyContent();
  for (const [skill, { from }] of content.skills) {
    if (skill === content.unfinished?.skill) continue; // the next change reads it again
    const readEntry: EntryReader = (_, at) => {
      const packed = content.documentWords.at(from + at);
      return {
        stems: Array.from(packed, (each) => words[each >>> 8] ?? ""),
        impacts: Array.from(packed, (each) => each & 255),
        nameStems: content.nameStems[from + at] ?? 0,
      };
    };
    addSkill(skill, readEntry, smaller, () => false);
  }
  return smaller;
}

/** Numbers in one chunk. A list lies in one chunk, so a longer list gets its own chunk. */
const CHUNK = 1 << 16;

/** Many short lists of numbers below 2³², without the overhead of an array for each. Growing copies nothing. */
interface NumberLists {
  /** Appends a list; the first has the number 0. */
  add(numbers: readonly number[]): void;
  /** Returns a list; empty for an unknown number. */
  at(list: number): Uint32Array;
}

function createNumberLists(): NumberLists {
  const chunks: Uint32Array[] = [];
  /** By list: the number of its chunk, where it begins there, and where it ends. */
  const offsets: number[] = [];
  let chunk = new Uint32Array(0);
  let used = 0;
  return {
    add(numbers) {
      if (used + numbers.length > chunk.length) {
        chunk = new Uint32Array(Math.max(CHUNK, numbers.length));
        chunks.push(chunk);
        used = 0;
      }
      chunk.set(numbers, used);
      offsets.push(chunks.length - 1, used, used + numbers.length);
      used += numbers.length;
    },
    at: (list) =>
      (chunks[offsets[3 * list] ?? -1] ?? NO_NUMBERS).subarray(offsets[3 * list + 1], offsets[3 * list + 2]),
  };
}

const NO_NUMBERS = new Uint32Array(0);

/** Values by a key that several of them may have. */
type Groups<Key, Value> = Map<Key, Value[]>;

export function pushToGroup<Key, Value>(groups: Groups<Key, Value>, key: Key, value: Value): void {
  const group = groups.get(key);
  if (group === undefined) groups.set(key, [value]);
  else group.push(value);
}
