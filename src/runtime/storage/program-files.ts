import { existsSync } from "node:fs";
import { rename } from "node:fs/promises";

import { isTextList } from "../../model/json.ts";
import { createStore, type Database, getSpaceFile, type ProgramSpace, toSpaceId, withLock } from "../../store/index.ts";

/** The space with the names of the automations of each caller that store something. */
const INDEX_SPACE = "programs";

/** The key of the marks in a space; the keys of programs are not empty. */
const MARKS_KEY = "";

/** Is added to the name of a file whose values are in the database. */
const MOVED = ".moved";

/** Moves the values of an earlier version into the database: of all spaces that it lists, and of one. */
export type TakeOver = (values: Database["programValues"], space?: ProgramSpace) => Promise<void>;

/**
 * Up to schema 8 of the database, each space was a file in the folder of the store. Values in the database are newer. The files
 * are renamed, as those of two machines may have other values under the same keys.
 */
export function createTakeOver(folder: string, lockMs: number): TakeOver {
  const index = getSpaceFile(folder, INDEX_SPACE);

  async function move(values: Database["programValues"], space: ProgramSpace): Promise<void> {
    const name = getName(space);
    const entries = new Map(await createStore(folder, lockMs).space(name).entries());
    if (entries.size === 0) return;
    const marks = entries.get(MARKS_KEY);
    entries.delete(MARKS_KEY);
    const texts = new Map([...entries].map(([key, value]) => [key, JSON.stringify(value)]));
    await values.addAll(space, { values: texts, marks: isTextList(marks) ? marks : [] });
    const file = getSpaceFile(folder, name);
    await rename(file, file + MOVED);
  }

  /** Each space by itself: of a process that ends meanwhile, the others stay in their files. */
  async function moveAll(values: Database["programValues"], used?: ProgramSpace): Promise<void> {
    for (const [caller, names] of await createStore(folder, lockMs).space(INDEX_SPACE).entries())
      for (const automation of isTextList(names) ? names : []) await move(values, { caller, automation });
    if (existsSync(index)) await rename(index, index + MOVED);
    if (used !== undefined) await move(values, used);
  }

  return async (values, space) => {
    const files = [index, ...(space === undefined ? [] : [getSpaceFile(folder, getName(space))])];
    if (!files.some((file) => existsSync(file))) return;
    await withLock(`${index}.moving`, lockMs, () => moveAll(values, space));
  };
}

function getName(space: ProgramSpace): string {
  return `program ${toSpaceId(space)}`;
}
