import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

/** Words of a private dialect, each with the plain word that replaces it. */
const REPLACEMENTS: Readonly<Record<string, string>> = {
  whoever: "a noun: the caller, callers that …",
  nobody: "no caller, no client, not",
  somebody: "a person, a user",
  "is none": "is not a …",
  told: "reported, shown",
  "tells of": "reports",
  mend: "fix",
  mended: "fixed",
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
  journey: "pipeline",
  voices: "events",
  doubts: "warnings",
};

const BANNED = new RegExp(`\\b(?:${Object.keys(REPLACEMENTS).join("|")})\\b`, "gi");

/** The folders whose texts are plain already; a folder is added when its last banned word is gone. */
const PLAIN_FOLDERS: readonly string[] = [
  "src/authoring",
  "src/config",
  "src/frontend",
  "src/gatekeeper",
  "src/learning",
  "src/providers/mcp",
  "src/router",
  "src/shared",
  "src/store",
  "src/surfaces/cli",
  "src/surfaces/http",
  "src/testing",
  "src/validation",
];

test.each(PLAIN_FOLDERS)("names and comments in %s use plain words", (folder) => {
  expect(findBanned(folder)).toEqual([]);
});

test("finds banned words in comments and texts", () => {
  expect(bannedIn("/** Whoever waits is told. */\nconst toldAs = 'goes on';")).toEqual(["Whoever", "told", "goes on"]);
  expect(bannedIn("/** Callers that wait are informed. */")).toEqual([]);
});

function findBanned(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .flatMap((name) => bannedIn(readFileSync(join(folder, name), "utf8")).map((word) => `${name}: ${word}`));
}

const bannedIn = (text: string): readonly string[] => text.match(BANNED) ?? [];
