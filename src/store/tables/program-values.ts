import { hash } from "node:crypto";
import { setImmediate } from "node:timers/promises";

import { defineTable, integer, json, type RowOf, type Rows, type StoreEngine, text } from "../database/table.ts";

/** The values that programs of a caller store in the runs of one automation. */
export interface ProgramSpace {
  readonly caller: string;
  /** Empty for runs without an automation. */
  readonly automation: string;
}

export const PROGRAM_SPACES = defineTable({
  name: "programSpaces",
  key: ["id"],
  columns: {
    /** SHA-256 of the caller and the automation, which may be too long for an index. */
    id: text(),
    caller: text(),
    automation: text(),
    /** Number of keys. A space without keys has only marks. */
    keys: integer(),
    /** Number of characters of all keys and values. */
    characters: integer(),
    /** The newest changes, by their calls. */
    marks: json<readonly string[]>(),
    /** The newest change, in milliseconds since 1970. */
    updated: integer(),
  },
  indexes: [["caller", "keys"], ["automation"]],
});

export const PROGRAM_VALUES = defineTable({
  name: "programValues",
  key: ["space", "id"],
  columns: {
    space: text(),
    /** SHA-256 of the key. */
    id: text(),
    /** JSON, as a key may have characters that a database cannot store. */
    key: json<string>(),
    /** JSON */
    value: text(),
    /** Number of characters of the key and the value. */
    characters: integer(),
  },
});

/** A space before a change of one key. */
export interface SpaceState extends Pick<RowOf<typeof PROGRAM_SPACES>, "keys" | "characters" | "marks"> {
  /** Number of characters of the key and its value; `undefined` for an unknown key. */
  readonly before: number | undefined;
  /** Spaces of the caller that have keys; `undefined` if this one has some. */
  readonly otherSpaces: number | undefined;
}

export interface SpaceChange<Result> {
  /** The new value as JSON, or `null` to delete it; `undefined` changes nothing. */
  readonly value?: string | null;
  readonly marks?: readonly string[];
  readonly result: Result;
}

/** Values that programs store from one run to the next, as JSON. */
export interface ProgramValueTable {
  /** Resolves to `undefined` for an unknown key. */
  get(space: ProgramSpace, key: string): Promise<string | undefined>;
  /** Returns the keys, sorted by their UTF-16 units. More than `ROWS_AT_ONCE` are not those of one moment. */
  listKeys(space: ProgramSpace): Promise<readonly string[]>;
  /** Changes one value as `choose` says, while no other process changes values of this caller. */
  change<Result>(space: ProgramSpace, key: string, choose: (state: SpaceState) => SpaceChange<Result>): Promise<Result>;
  /**
   * Adds the values whose keys are unknown, and marks of earlier changes. A process that ends meanwhile has added a part of
   * them; the same call then adds the others.
   */
  addAll(
    space: ProgramSpace,
    content: { readonly values: ReadonlyMap<string, string>; readonly marks: readonly string[] },
  ): Promise<void>;
  /** Deletes the values of an automation under all callers, and returns how many these were. */
  deleteAll(automation: string): Promise<number>;
}

/** Rows that are read or added in one turn of the event loop, which SQLite blocks. */
const ROWS_AT_ONCE = 1_000;

export function createProgramValueTable(engine: StoreEngine): ProgramValueTable {
  return {
    async get(space, key) {
      return (await engine.select(PROGRAM_VALUES, { space: toSpaceId(space), id: toKeyId(key) }))[0]?.value;
    },
    async listKeys(space) {
      const keys: string[] = [];
      const where = { space: toSpaceId(space) };
      for (let after = ""; ;) {
        const part = await engine.select(PROGRAM_VALUES, { ...where, id: { gt: after } }, { limit: ROWS_AT_ONCE });
        keys.push(...part.map(({ key }) => key));
        after = part.at(-1)?.id ?? "";
        if (part.length < ROWS_AT_ONCE) return keys.sort();
        await setImmediate();
      }
    },
    change: (space, key, choose) =>
      engine.transaction(lock(space), async (rows) => {
        const found = await findSpace(rows, space);
        const where = { space: found.id, id: toKeyId(key) };
        const before = (await rows.select(PROGRAM_VALUES, where))[0]?.characters;
        const { keys, characters } = found;
        const otherSpaces = keys > 0 ? undefined : await countSpaces(rows, space);
        const { value, marks = found.marks, result } = choose({ ...found, before, otherSpaces });
        if (value === undefined) return result;
        const after = value === null ? undefined : createValue(found.id, key, value);
        if (after === undefined) await rows.delete(PROGRAM_VALUES, where);
        else await rows.put(PROGRAM_VALUES, after);
        await rows.put(PROGRAM_SPACES, {
          ...found,
          keys: keys + (after === undefined ? 0 : 1) - (before === undefined ? 0 : 1),
          characters: characters + (after?.characters ?? 0) - (before ?? 0),
          marks,
          updated: Date.now(),
        });
        return result;
      }),
    async addAll(space, { values, marks }) {
      const list = [...values];
      for (let at = 0; at === 0 || at < list.length; at += ROWS_AT_ONCE) {
        await addUnknown(engine, space, { values: list.slice(at, at + ROWS_AT_ONCE), marks });
        await setImmediate();
      }
    },
    async deleteAll(automation) {
      let count = 0;
      for (const space of await engine.select(PROGRAM_SPACES, { automation }))
        count += await engine.transaction(lock(space), async (rows) => {
          await rows.delete(PROGRAM_SPACES, { id: space.id });
          return rows.delete(PROGRAM_VALUES, { space: space.id });
        });
      return count;
    },
  };
}

interface StoredSpace {
  readonly values: readonly (readonly [key: string, value: string])[];
  readonly marks: readonly string[];
}

async function addUnknown(engine: StoreEngine, space: ProgramSpace, { values, marks }: StoredSpace): Promise<void> {
  await engine.transaction(lock(space), async (rows) => {
    const found = await findSpace(rows, space);
    const list = values.map(([key, value]) => createValue(found.id, key, value));
    const where = { space: found.id, id: { in: list.map(({ id }) => id) } };
    const ids = new Set(list.length === 0 ? [] : (await rows.select(PROGRAM_VALUES, where)).map(({ id }) => id));
    const added = list.filter(({ id }) => !ids.has(id));
    await rows.insert(PROGRAM_VALUES, added);
    await rows.put(PROGRAM_SPACES, {
      ...found,
      keys: found.keys + added.length,
      characters: added.reduce((sum, each) => sum + each.characters, found.characters),
      marks: [...marks.filter((mark) => !found.marks.includes(mark)), ...found.marks],
      updated: Date.now(),
    });
  });
}

async function findSpace(
  rows: Pick<Rows, "select">,
  { caller, automation }: ProgramSpace,
): Promise<RowOf<typeof PROGRAM_SPACES>> {
  const id = toSpaceId({ caller, automation });
  const [row] = await rows.select(PROGRAM_SPACES, { id });
  return row ?? { id, caller, automation, keys: 0, characters: 0, marks: [], updated: 0 };
}

function countSpaces(rows: Pick<Rows, "total">, { caller }: ProgramSpace): Promise<number> {
  return rows.total(PROGRAM_SPACES, { caller, keys: { gt: 0 } });
}

function createValue(space: string, key: string, value: string): RowOf<typeof PROGRAM_VALUES> {
  return { space, id: toKeyId(key), key, value, characters: key.length + value.length };
}

/** The same for all automations of a caller, whose spaces are counted. */
function lock({ caller }: ProgramSpace): string {
  return `values ${caller}`;
}

/** Returns the id of a space in the database. */
export function toSpaceId({ caller, automation }: ProgramSpace): string {
  return hash("sha256", JSON.stringify([caller, automation]));
}

/** JSON has a text of its own also for halves of surrogate pairs, which have none as bytes. */
function toKeyId(key: string): string {
  return hash("sha256", JSON.stringify(key));
}

/** Deletes the spaces that have no keys, and were not changed since a time. */
export async function pruneSpaces(engine: Pick<StoreEngine, "delete">, time: number): Promise<void> {
  await engine.delete(PROGRAM_SPACES, { keys: 0, updated: { lt: time } });
}
