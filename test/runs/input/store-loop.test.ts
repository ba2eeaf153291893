// @module-tag rest

import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";

import { createTakeOver } from "../../../src/runtime/storage/program-files.ts";
import { createProgramStore, SPACE_CHARACTERS, SPACE_KEYS } from "../../../src/runtime/storage/program-store.ts";
import { type Database, getSpaceFile, openDatabase, type StoreLocation, toSpaceId } from "../../../src/store/index.ts";
import { prepareDatabases } from "../../support/databases.ts";
import { canProbe, LoopProbe, requireShortTurns } from "../../support/loop-probe.ts";

const { kinds } = prepareDatabases();
const KINDS: readonly (readonly [string, () => StoreLocation])[] = [["memory", () => ({})], ...kinds];

const SPACE = { caller: "ada", automation: "report" };
const CALL = { caller: { id: "ada", permissions: [] }, automation: "report", callId: "run/1" };
const KEYS = Array.from({ length: SPACE_KEYS }, (_, at) => `key-${String(at).padStart(5, "0")}`);

/** A space that has as many keys, and almost as many characters, as it may have. */
const VALUES = new Map(KEYS.map((key) => [key, JSON.stringify("x".repeat(SPACE_CHARACTERS / SPACE_KEYS - 12))]));

async function open(makeLocation: () => StoreLocation): Promise<Database> {
  const database = await openDatabase(makeLocation());
  onTestFinished(() => database.close());
  return database;
}

/** Writes a space as earlier versions did: with changes that later ones have replaced, up to the size that is compacted. */
function writeSpace(): string {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-store-loop-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const marks = Array.from({ length: 64 }, (_, at) => `mark${String(at).padStart(8, "0")}-`);
  const toLine = ([key, value]: readonly [string, string], at: number): string => {
    const change = `{"key":"${key}","value":${value}}`;
    return at % 10 > 0 ? change : `[${change},${JSON.stringify({ key: "", value: marks })}]`;
  };
  const lines = [...VALUES].map(toLine).join("\n");
  writeFileSync(getSpaceFile(folder, `program ${toSpaceId(SPACE)}`), `${lines}\n`.repeat(2));
  return folder;
}

describe.runIf(canProbe)("keeps the turns of the event loop short", () => {
  let probe: LoopProbe;
  beforeAll(() => void (probe = new LoopProbe()));
  afterAll(() => probe.close());

  test.each(KINDS)("while the keys of a full space are listed and deleted: %s", async (_kind, makeLocation) => {
    const database = await open(makeLocation);
    const store = createProgramStore(async () => database);
    await database.programValues.addAll(SPACE, { values: VALUES, marks: [] });
    await requireShortTurns(probe, async () => expect(await store.list("", CALL)).toEqual(KEYS));
    await requireShortTurns(probe, async () => {
      await database.programValues.addAll(SPACE, { values: VALUES, marks: [] });
      expect(await store.deleteAll("report")).toBe(SPACE_KEYS);
    });
  });

  test.each(KINDS)("while a full space of an earlier version is moved: %s", async (_kind, makeLocation) => {
    await requireShortTurns(probe, async () => {
      const folder = writeSpace();
      const database = await open(makeLocation);
      const store = createProgramStore(async () => database, createTakeOver(folder, 5_000));
      await probe.takeLongest();
      expect(await store.get(KEYS.at(-1) ?? "", CALL)).toBe(JSON.parse(VALUES.get(KEYS.at(-1) ?? "") ?? ""));
      const file = getSpaceFile(folder, `program ${toSpaceId(SPACE)}`);
      expect(existsSync(`${file}.moved`)).toBe(database.kind !== "memory");
      expect(await store.list("", CALL)).toEqual(KEYS);
    });
  });
});
