import { randomUUID } from "node:crypto";

import type { CallContext } from "skillgate";

/** A remembered note. */
interface Note {
  readonly id: string;
  readonly text: string;
  readonly tags: readonly string[];
  readonly importance: number;
  /** RFC 3339, UTC. */
  readonly created: string;
}

type Store = CallContext["store"];

/** Remembers notes from one conversation to the next, and finds them again. Each caller has notes of its own. */
export class MemorySkill {
  readonly #now: () => Date;
  /** Settles when earlier notes are written, so that the next note is counted with them. */
  #written: Promise<unknown> = Promise.resolve();

  constructor(now: () => Date = () => new Date()) {
    this.#now = now;
  }

  /**
   * Remember a note: a fact, a preference or a decision that will be wanted later.
   *
   * @param text What to remember (e.g., 'Ada prefers trains to planes')
   * @param tags Additional words under which it is found
   * @param importance From 1 (nice to know) to 10 (never forget); more important notes are found first
   * @returns The note, with the id by which it can be forgotten
   * @category utility
   * @example device.MemorySkill.remember("Ada prefers trains to planes", ["travel"], 7)
   */
  async remember(text: string, tags: string[] = [], importance: number = 5, context: CallContext): Promise<Note> {
    const trimmed = text.trim();
    if (trimmed === "") throw new Error("No text to remember provided");
    if (trimmed.length > MAX_CHARACTERS) throw new Error(`The text is too long (max ${MAX_CHARACTERS} characters)`);
    if (!(importance >= 1 && importance <= 10)) throw new Error("importance must be from 1 to 10");
    const created = this.#now().toISOString();
    const note = { id: randomUUID().slice(0, 8), text: trimmed, tags, importance, created };
    const writing = this.#written.then(() => write(note, context));
    this.#written = writing.catch(() => {});
    await writing;
    return note;
  }

  /**
   * Search the notes that were remembered, by keywords: first for notes with all of them, then for notes with any.
   *
   * @param query Keywords (e.g., 'ada travel'); up to five are used
   * @returns Up to five notes, the most important first, of equally important ones the newest
   * @category utility
   * @readonly
   * @example device.MemorySkill.search("ada travel")
   */
  async search(query: string, { store, caller }: CallContext): Promise<Note[]> {
    const keywords = keywordsIn(query);
    if (keywords.length === 0) throw new Error("No keywords provided");
    const notes = await readNotes(store, caller.id);
    const having = (count: number): Note[] => notes.filter((note) => hits(note, keywords) >= count);
    const all = having(keywords.length);
    return (all.length > 0 ? all : having(1)).sort(byImportance).slice(0, MAX_FOUND);
  }

  /**
   * Forget a note.
   *
   * @param id The id that remember and search give
   * @returns Whether there was such a note
   * @category utility
   * @idempotent
   * @destructive
   * @example device.MemorySkill.forget("1a2b3c4d")
   */
  async forget(id: string, { store, caller }: CallContext): Promise<boolean> {
    return store.delete(toKey(caller.id, id));
  }
}

const MAX_CHARACTERS = 10_000;
const MAX_KEYWORDS = 5;
const MAX_FOUND = 5;

/** Limits for the notes of one caller. */
const MAX_NOTES = 500;
const MAX_BYTES = 1 << 20;

/** Number of notes that are suggested for deletion. */
const MAX_NAMED = 3;

async function write(note: Note, { store, caller }: CallContext): Promise<void> {
  const notes = await readNotes(store, caller.id);
  const bytes = [...notes, note].reduce((sum, each) => sum + Buffer.byteLength(JSON.stringify(each)), 0);
  if (notes.length >= MAX_NOTES) throw tooMany(`${notes.length} notes are remembered (max ${MAX_NOTES})`, notes);
  if (bytes > MAX_BYTES) throw tooMany(`The notes would have ${bytes} bytes (max ${MAX_BYTES})`, notes);
  await store.set(toKey(caller.id, note.id), note);
}

/** Lists the least important notes; of equally important ones, the oldest. */
function tooMany(what: string, notes: readonly Note[]): Error {
  const least = notes.toSorted(byImportance).slice(-MAX_NAMED).reverse();
  const named = least.map(({ id, text }) => `"${id}" (${text.slice(0, 40)})`).join(", ");
  return new Error(`${what}. Forget some first, such as the least important: ${named}`);
}

/** No caller's id ends where that of another begins. */
function toKey(caller: string, id: string): string {
  return `${encodeURIComponent(caller)}/${id}`;
}

async function readNotes(store: Store, caller: string): Promise<readonly Note[]> {
  const entries = await store.entries(toKey(caller, ""));
  return entries.map(([, note]) => note as Note);
}

function keywordsIn(query: string): readonly string[] {
  return [...new Set(wordsIn(query))].slice(0, MAX_KEYWORDS);
}

function wordsIn(text: string): readonly string[] {
  return (
    text
      .normalize("NFKC")
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  );
}

/** Counts the keywords that a note contains; a prefix of a word matches. */
function hits({ text, tags }: Note, keywords: readonly string[]): number {
  const words = wordsIn([text, ...tags].join(" "));
  return keywords.filter((keyword) => words.some((word) => word.startsWith(keyword))).length;
}

function byImportance(one: Note, other: Note): number {
  return other.importance - one.importance || (one.created < other.created ? 1 : -1);
}
