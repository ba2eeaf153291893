import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseTitles } from "../support/test-titles.ts";

const STATUS = parseStatus(readFileSync("docs/requirements.md", "utf8"));

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
  expect(unclaimable(`test("S99: a fence", () => {})`, status)).toEqual(["S99"]);
  expect(unclaimable(`test.each([["B77: data"]])("S1, Q7: %s", () => {})`, status)).toEqual(["Q7"]);
  expect(unclaimable("describe.skipIf(true)(`S1 and S3: arguments`, () => { it('Z1: one', run); })", status)).toEqual([
    "S3",
    "Z1",
  ]);
  expect(unclaimable(`test("refuses an odd fence [S98, S1]", () => {})`, status)).toEqual(["S98"]);
  expect(unclaimable(`test("S1, S2: a call", () => {}); test("no id", () => {})`, status)).toEqual([]);
  expect(findUnproved(status, ["S1"])).toEqual(["S2"]);
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

function allIds(): readonly string[] {
  const files = readdirSync("test", { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".test.ts"));
  return files.flatMap((file) => readIds(readFileSync(join("test", file), "utf8")));
}

const unclaimable = (source: string, status: ReadonlyMap<string, string>): readonly string[] =>
  readIds(source).filter((id) => !isClaimable(id, status));

function readIds(source: string): readonly string[] {
  return parseTitles(source).flatMap(parseIds);
}

/** The ids of a title: `"S1, S2: …"` or `"… [S1, S2]"`. */
function parseIds(title: string): readonly string[] {
  const before = /^[A-Z]\d+(?:(?:, | and )[A-Z]\d+)*(?=: )/.exec(title)?.[0] ?? "";
  const after = /\[([A-Z]\d+(?:, [A-Z]\d+)*)\]$/.exec(title)?.[1] ?? "";
  return `${before}, ${after}`.split(/, | and /).filter((id) => id !== "");
}
