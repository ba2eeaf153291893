// @module-tag rest

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

import { callsMethod, type Database, openDatabase, type RunOrder, type RunRow } from "../../src/store/index.ts";
// @ts-expect-error a script that benchmarks use too, without declarations
import { fillStore } from "../bench/console/fill-store.mjs";

/** More than two slices. */
const RUNS = 11_000;

let folder: string;
let database: Database;
let all: readonly RunRow[];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "skillgate-slices-"));
  database = await openDatabase({ folder });
  fillStore(folder, RUNS);
  all = await database.runs.list({});
});
afterAll(async () => {
  await database.close();
  rmSync(folder, { recursive: true });
});

type Filter = Parameters<Database["runs"]["count"]>[0];

const FILTERS: readonly (readonly [name: string, where: Filter, isMatch: (row: RunRow) => boolean])[] = [
  ["a title", { title: { contains: "ARTICLE 97" } }, ({ title }) => /article 97/.test(title)],
  ["a title that none has", { title: { contains: "%" } }, () => false],
  ["a method", { id: callsMethod("ShopSkill.method5") }, ({ id }) => Number(id.slice(4)) % 100 === 5],
  ["a skill", { id: callsMethod("LogSkill") }, () => true],
  ["states", { state: { in: ["failed", "refused"] } }, ({ state }) => state === "failed" || state === "refused"],
  ["a caller and a title", { caller: "caller-3", title: { contains: "limit: 7 " } }, (row) => isOfThird(row)],
  [
    "a state and a duration",
    { state: "failed", duration: { gt: 800 } },
    (row) => row.state === "failed" && row.duration > 800,
  ],
];

const isOfThird = ({ caller, title }: RunRow): boolean => caller === "caller-3" && title.includes("limit: 7 ");

const ORDERS: readonly RunOrder[] = ["created", "duration", "calls", "caller", "state"];

test.each(FILTERS)("reads the runs of %s in slices, as one statement would [R5, P4]", async (_name, where, isMatch) => {
  const matching = all.filter(isMatch);
  expect(await database.runs.count(where)).toBe(matching.length);
  for (const order of ORDERS)
    for (const ascending of [false, true]) {
      const sorting = { order, ascending };
      const sorted = matching.toSorted((a, b) => compareRuns(a, b, order) * (ascending ? 1 : -1));
      expect(await database.runs.list(where, { ...sorting, limit: 50, offset: 0 })).toEqual(sorted.slice(0, 50));
      const offset = Math.max(0, matching.length - 30);
      expect(await database.runs.list(where, { ...sorting, limit: 50, offset })).toEqual(sorted.slice(offset));
      const middle = sorted[Math.floor(sorted.length / 2)];
      if (middle === undefined) continue;
      const next = sorted[Math.floor(sorted.length / 2) + 1];
      expect(await database.runs.findNext(middle, where, sorting)).toEqual(next);
    }
});

function compareRuns(a: RunRow, b: RunRow, order: RunOrder): number {
  const column = ([order, "created", "id"] as const).find((each) => a[each] !== b[each]);
  return column === undefined ? 0 : a[column] < b[column] ? -1 : 1;
}
