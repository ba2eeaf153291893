import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseTitles } from "../support/test-titles.ts";

const STATUS = parseStatus(readFileSync(".github/REQUIREMENTS.md", "utf8"));

test("allows only ids of working or partly working requirements in test titles", () => {
  expect(STATUS.size).toBeGreaterThan(100);
  expect(allIds().filter((id) => !isClaimable(id, STATUS))).toEqual([]);
});

test("finds a test for every working requirement", () => {
  expect(findUnproved(STATUS, allIds())).toEqual([]);
});

test("allows only the status works, planned, or partly with the reason", () => {
  expect([...STATUS.values()].filter((status) => !/^(works|planned|partly: .+)$/.test(status))).toEqual([]);
});

test("finds unknown, planned and unproved ids everywhere in titles", () => {
  const status = parseStatus("| S1 | a | works |\n| S2 | b | partly: c |\n| S3 | d | planned |");
  expect(unclaimable(`test("removes a fence [S99]", () => {})`, status)).toEqual(["S99"]);
  expect(unclaimable(`test.each([["data [B77]"]])("reads %s [S1, Q7]", () => {})`, status)).toEqual(["Q7"]);
  expect(
    unclaimable("describe.skipIf(true)(`arguments [S1, S3]`, () => { it('reads one [Z1]', run); })", status),
  ).toEqual(["S3", "Z1"]);
  expect(unclaimable(`test("calls [S1, S2]", () => {}); test("no id", () => {})`, status)).toEqual([]);
  expect(findUnproved(status, ["S1"])).toEqual(["S2"]);
});

test("begins a title with words, and ends it with the ids", () => {
  expect(TITLES.filter(beginsWithId)).toEqual([]);
  expect(["S1: calls", "S1, S2: calls", "S1 calls"].filter(beginsWithId)).toEqual(["S1: calls", "S1, S2: calls"]);
});

function parseStatus(page: string): ReadonlyMap<string, string> {
  const rows = page.matchAll(/^\| ([A-Z]\d+) +\|.*\| ([^|]+?) +\|$/gm);
  return new Map([...rows].map(([, id = "", status = ""]) => [id, status]));
}

function isClaimable(id: string, status: ReadonlyMap<string, string>): boolean {
  return status.has(id) && status.get(id) !== "planned";
}

function findUnproved(status: ReadonlyMap<string, string>, named: readonly string[]): readonly string[] {
  return [...status.keys()].filter((id) => status.get(id) !== "planned" && !named.includes(id));
}

/** The titles of all test files, which are parsed once. */
const TITLES = readTitles();

function readTitles(): readonly string[] {
  const files = readdirSync("test", { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".test.ts"));
  return files.flatMap((file) => parseTitles(readFileSync(join("test", file), "utf8")));
}

const allIds = (): readonly string[] => TITLES.flatMap(parseIds);

const unclaimable = (source: string, status: ReadonlyMap<string, string>): readonly string[] =>
  parseTitles(source)
    .flatMap(parseIds)
    .filter((id) => !isClaimable(id, status));

const beginsWithId = (title: string): boolean => /^[A-Z]\d+(?:(?:,? | and )[A-Z]\d+)*: /.test(title);

/** The ids of a title: `"… [S1, S2]"`. */
function parseIds(title: string): readonly string[] {
  const [, ids = ""] = /\[([A-Z]\d+(?:, [A-Z]\d+)*)\]$/.exec(title) ?? [];
  return ids.split(", ").filter((id) => id !== "");
}
