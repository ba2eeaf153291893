import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseTitles } from "../support/test-titles.ts";

/** Words of a private dialect, each with the plain word that replaces it. */
const REPLACEMENTS: Readonly<Record<string, string>> = {
  whoever: "a noun: the caller, callers that …",
  nobody: "no caller, no client, not",
  somebody: "a person, a user",
  anybody: "a person, a user",
  everybody: "all callers, all users",
  "is none": "is not a …",
  "what there is": "a noun: the catalog, the list",
  told: "reported, shown",
  "tells of": "reports",
  "tell of": "report",
  "is said": "is reported, is written",
  "is heard": "is received",
  "hear of": "receive",
  "whose word": "a noun: the owner",
  "handed over": "passed, transferred",
  "handed on": "passed on",
  mend: "fix",
  mended: "fixed",
  mends: "fixes",
  anew: "again",
  shall: "must, may",
  "in vain": "without success",
  "so many": "at most N, that many",
  "as good as": "almost",
  besides: "in addition",
  "but for": "except",
  "goes on": "continues",
  "passed over": "ignored",
  "put aside": "suspended",
  "taken up": "loaded",
  "takes up": "loads",
  "of old": "earlier",
  "by heart": "from memory",
  "in hand": "held, locked",
  journey: "pipeline",
  voices: "events",
  doubts: "warnings",
  pupil: "caller",
  room: "module",
  door: "entry point",
};

const BANNED = new RegExp(`\\b(?:${Object.keys(REPLACEMENTS).join("|")})\\b`, "gi");

/** A comment that begins with a relative clause instead of a verb or a noun. */
const HEADLESS_COMMENT = /^\s*(?:\/\*\*|\*|\/\/) (?:Who|Whoever|Whose|What|Whatever|Nobody|Somebody|Nothing|Of) .*/gm;

/** Markdown pages and the source files below these folders must be in plain words. */
const PLAIN_FOLDERS: readonly string[] = ["src", "sandbox", "skills", "scripts", "docs", ".github"];
const PLAIN_PAGES: readonly string[] = ["README.md", "CHANGELOG.md"];

/** Lists of everyday words, which are data of the search. */
const WORD_LISTS: ReadonlySet<string> = new Set([
  "src/registry/search/query.ts",
  "src/registry/search/language/synonyms.ts",
]);

const FILES = [
  ...PLAIN_PAGES,
  ...PLAIN_FOLDERS.flatMap((folder) => listFiles(folder)).filter((file) => !WORD_LISTS.has(file)),
];

test("uses plain words in names, comments and pages", () => {
  expect(FILES.length).toBeGreaterThan(300);
  expect(findAll(FILES, findBanned)).toEqual([]);
});

test("begins comments with a verb or a noun", () => {
  expect(findAll(FILES, findHeadless)).toEqual([]);
});

test("uses plain words in test titles", () => {
  const tests = listFiles("test").filter((file) => file.endsWith(".test.ts"));
  expect(findAll(tests, findBannedInTitles)).toEqual([]);
});

test("finds banned words and headless comments", () => {
  expect(findBanned("/** Whoever waits is told. */\nconst toldAs = 'goes on';")).toEqual([
    "Whoever",
    "told",
    "goes on",
  ]);
  expect(findBanned("/** Callers that wait are informed. */")).toEqual([]);
  expect(findHeadless("/** What a caller reads. */\n// Of a line.\n/** Reads what a caller wrote. */")).toEqual([
    "/** What a caller reads. */",
    "// Of a line.",
  ]);
  expect(findBannedInTitles(`test("is told [S1]", () => { /* nobody */ })`)).toEqual(["told"]);
});

function listFiles(folder: string): readonly string[] {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return names.filter((name) => /\.(?:tsx?|mjs|md)$/.test(name)).map((name) => join(folder, name));
}

function findAll(files: readonly string[], find: (text: string) => readonly string[]): readonly string[] {
  return files.flatMap((file) => find(readFileSync(file, "utf8")).map((words) => `${file}: ${words}`));
}

const findBanned = (text: string): readonly string[] => text.match(BANNED) ?? [];

/** Parses only files with a banned word anywhere, because parsing all tests takes seconds. */
const findBannedInTitles = (text: string): readonly string[] =>
  findBanned(text).length === 0 ? [] : parseTitles(text).flatMap(findBanned);

const findHeadless = (text: string): readonly string[] =>
  text.match(HEADLESS_COMMENT)?.map((line) => line.trim()) ?? [];
