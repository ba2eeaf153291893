import { existsSync } from "node:fs";
import { rename } from "node:fs/promises";

import { isTextList } from "../../model/json.ts";
import { withLock } from "../../shared/files/lock.ts";
import { createStore, type Database, getSpaceFile, type ProgramSpace, toSpaceId } from "../../store/index.ts";

/** The space with the names of the automations of each caller that store something. */
const INDEX_SPACE = "programs";

/** The key of the marks in a space; the keys of programs are not empty. */
const MARKS_KEY = "";

/** Is added to the name of a file whose values are in the database. */
const MOVED = ".moved";

type Target = Pick<Database, "kind" | "programValues">;

/** Moves the values of an earlier version into the database: of all spaces that it lists, and of one. */
export type TakeOver = (database: Target, space?: ProgramSpace) => Promise<void>;

/**
 * Up to schema 8 of the database, each space was a file in the folder of the store. Values in the database are newer. The files
 * are renamed, as those of two machines may have other values under the same keys.
 */
export function createTakeOver(folder: string, lockMs: number): TakeOver {
  const index = getSpaceFile(folder, INDEX_SPACE);
  /** Files whose values are in a database in memory: they stay for the next process. */
  const copied = new Set<string>();
  const isThere = (file: string): boolean => !copied.has(file) && existsSync(file);

  async function leave(file: string, { kind }: Target): Promise<void> {
    if (kind === "memory") copied.add(file);
    else await rename(file, file + MOVED);
  }

  async function move(database: Target, space: ProgramSpace): Promise<void> {
    const name = getName(space);
    const file = getSpaceFile(folder, name);
    if (!isThere(file)) return;
    const entries = new Map(await createStore(folder, lockMs).space(name).entries());
    const marks = entries.get(MARKS_KEY);
    entries.delete(MARKS_KEY);
    const values = new Map([...entries].map(([key, value]) => [key, JSON.stringify(value)]));
    await database.programValues.addAll(space, { values, marks: isTextList(marks) ? marks : [] });
    await leave(file, database);
  }

  /** Each space by itself: of a process that ends meanwhile, the others stay in their files. */
  async function moveAll(database: Target, used?: ProgramSpace): Promise<void> {
    const listed = isThere(index) ? await createStore(folder, lockMs).space(INDEX_SPACE).entries() : [];
    for (const [caller, names] of listed)
      for (const automation of isTextList(names) ? names : []) await move(database, { caller, automation });
    if (isThere(index)) await leave(index, database);
    if (used !== undefined) await move(database, used);
  }

  return async (database, space) => {
    const files = [index, ...(space === undefined ? [] : [getSpaceFile(folder, getName(space))])];
    if (!files.some(isThere)) return;
    await withLock(`${index}.moving`, lockMs, () => moveAll(database, space));
  };
}

function getName(space: ProgramSpace): string {
  return `program ${toSpaceId(space)}`;
}
