import { randomUUID } from "node:crypto";

import type { CallContext } from "skillgate";

/** What was remembered. */
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

  constructor(now: () => Date = () => new Date()) {
    this.#now = now;
  }

  /**
   * Remember a note: a fact, a preference or a decision that will be wanted later.
   *
   * @param text What to remember (e.g., 'Ada prefers trains to planes')
   * @param tags Words under which it is found besides those of its text
   * @param importance From 1 (nice to know) to 10 (never forget); more important notes are found first
   * @returns The note, with the id by which it can be forgotten
   * @category utility
   * @example device.MemorySkill.remember("Ada prefers trains to planes", ["travel"], 7)
   */
  async remember(
    text: string,
    tags: string[] = [],
    importance: number = 5,
    { store, caller }: CallContext,
  ): Promise<Note> {
    const trimmed = text.trim();
    if (trimmed === "") throw new Error("No text to remember provided");
    if (trimmed.length > MAX_CHARACTERS) throw new Error(`The text is too long (max ${MAX_CHARACTERS} characters)`);
    if (!(importance >= 1 && importance <= 10)) throw new Error("importance must be from 1 to 10");
    const created = this.#now().toISOString();
    const note = { id: randomUUID().slice(0, 8), text: trimmed, tags, importance, created };
    await store.set(keyOf(caller.id, note.id), note);
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
    const notes = await notesOf(store, caller.id);
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
    return store.delete(keyOf(caller.id, id));
  }
}

const MAX_CHARACTERS = 10_000;
const MAX_KEYWORDS = 5;
const MAX_FOUND = 5;

/** No caller's id ends where that of another begins. */
function keyOf(caller: string, id: string): string {
  return `${encodeURIComponent(caller)}/${id}`;
}

async function notesOf(store: Store, caller: string): Promise<readonly Note[]> {
  const entries = await store.entries(keyOf(caller, ""));
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

/** How many of the keywords a note has; the beginning of a word is enough. */
function hits({ text, tags }: Note, keywords: readonly string[]): number {
  const words = wordsIn([text, ...tags].join(" "));
  return keywords.filter((keyword) => words.some((word) => word.startsWith(keyword))).length;
}

function byImportance(one: Note, other: Note): number {
  return other.importance - one.importance || (one.created < other.created ? 1 : -1);
}
