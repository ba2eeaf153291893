import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

import { type Ended, project, skillgate } from "../command.ts";

const WEATHER = `/** @file Tells the weather. */
import { readFileSync } from "node:fs";
/** Tell the temperature. @returns The temperature */
export function temperature(city: string): number { return Number(readFileSync(new URL("data.txt", import.meta.url), "utf8")) + city.length; }
export const reached = () => fetch("https://example.com");
`;
const FILES = { "weather/skill.ts": WEATHER, "weather/data.txt": "20", "weather/.env": "SECRET=1" };

/** Writes files into a new folder of others. */
function createTheirs(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-theirs-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

function git(folder: string, ...args: readonly string[]): string {
  const user = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"];
  return execFileSync("git", ["-C", folder, ...user, ...args], { encoding: "utf8" }).trim();
}

/** The project is trusted only by what its owner has said. */
const UNTRUSTED = { SKILLGATE_TRUSTED_FOLDERS: "" };

async function run(cwd: string, ...args: readonly string[]): Promise<Ended> {
  const ended = await skillgate(["skills", ...args], { cwd, env: UNTRUSTED });
  expect(ended).toMatchObject({ exit: 0 });
  return ended;
}

const call = (cwd: string): Promise<Ended> =>
  skillgate(["call", "WeatherSkill.temperature", "city=Bern"], { cwd, env: UNTRUSTED });

test("adds a skill of a folder after showing what it is, updates and removes it [L1, P12, V1]", async () => {
  const cwd = project({ "skills/own.ts": "export const one = () => 1;" });
  await skillgate(["trust", "--yes"], { cwd, env: UNTRUSTED });
  const theirs = createTheirs(FILES);
  const source = join(theirs, "weather");
  const refused = await skillgate(["skills", "add", source], { cwd });
  expect(refused).toMatchObject({ exit: 4, stdout: "" });
  for (const text of [
    "WeatherSkill in skills/weather",
    "methods   temperature, reached",
    "uses      node:fs, fetch",
    "2 files: data.txt, skill.ts",
    "again with --yes",
  ])
    expect(refused.stderr).toContain(text);
  expect(existsSync(join(cwd, "skills/weather"))).toBe(false);
  await run(cwd, "add", source, "--yes");
  expect(readdirSync(join(cwd, "skills/weather")).toSorted()).toEqual(["data.txt", "skill.ts"]);
  // What its owner has added by hand is trusted.
  expect(await call(cwd)).toMatchObject({ exit: 0, stdout: "24\n" });
  await expectTrusted(cwd);
  expect((await run(cwd, "update", "--yes")).stdout).toBe("weather is unchanged\n");
  writeFileSync(join(source, "data.txt"), "30");
  expect(await skillgate(["skills", "update"], { cwd })).toMatchObject({
    exit: 4,
    stderr: expect.stringContaining("changes   data.txt (changed)"),
  });
  expect((await run(cwd, "update", "--yes")).stdout).toBe("Updated weather: data.txt (changed)\n");
  expect(await call(cwd)).toMatchObject({ exit: 0, stdout: "34\n" });
  writeFileSync(join(cwd, "skills/weather/data.txt"), "mine");
  for (const verb of ["update", "remove"])
    expect(await skillgate(["skills", verb, "weather"], { cwd })).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining("skills/weather was changed since it was added; --force discards"),
    });
  for (const args of [
    ["update", "wether"],
    ["remove", "wether"],
    ["pack", "wether"],
  ])
    expect(await skillgate(["skills", ...args], { cwd })).toMatchObject({
      exit: 5,
      stderr: expect.stringContaining("Unknown skill: wether; did you mean weather"),
    });
  await run(cwd, "remove", "weather", "--force");
  await expectTrusted(cwd);
  expect(readdirSync(join(cwd, "skills")).toSorted()).toEqual([".added.json", "own.ts"]);
  expect(JSON.parse(readFileSync(join(cwd, "skills/.added.json"), "utf8"))).toEqual({});
});

async function expectTrusted(cwd: string): Promise<void> {
  const { stdout } = await skillgate(["trust"], { cwd, env: UNTRUSTED });
  expect(stdout).toContain("is already trusted");
}

test("adds no skill whose record cannot be written, and adds it again once that works [L1]", async () => {
  const cwd = project({ "skills/.added.json": "{" });
  const source = join(createTheirs(FILES), "weather");
  const damaged = await skillgate(["skills", "add", source, "--yes"], { cwd });
  expect(damaged).toMatchObject({
    exit: 2,
    stderr: expect.stringContaining("Cannot read skills/.added.json: it is damaged"),
  });
  expect(existsSync(join(cwd, "skills/weather"))).toBe(false);
  expect(readdirSync(join(cwd, "skills"))).toEqual([".added.json"]);
  rmSync(join(cwd, "skills/.added.json"));
  await run(cwd, "add", source, "--yes");
  expect(readdirSync(join(cwd, "skills")).toSorted()).toEqual([".added.json", "weather"]);
});

test("says why the files of an added skill cannot be written [L1]", async () => {
  const cwd = project({ "settings.yaml": "skills:\n  dir: own/skills\n", own: "" });
  const source = join(createTheirs(FILES), "weather");
  const { exit, stderr } = await skillgate(["skills", "add", source, "--yes"], { cwd });
  expect({ exit, stderr }).toEqual({
    exit: 2,
    stderr: expect.stringMatching(/^Cannot write own\/skills\/weather: \w/),
  });
});

test("adds skills of a git repository at a branch, and records the commit [L1, P12]", { tags: "rest" }, async () => {
  const cwd = project();
  const theirs = createTheirs(
    Object.fromEntries(Object.entries(FILES).map(([name, text]) => [`skills/${name}`, text])),
  );
  writeFileSync(join(theirs, "skills/clock.ts"), "/** Tells the time. */ export const now = (): number => 1;");
  git(theirs, "init", "--quiet", "--initial-branch=main");
  git(theirs, "add", "--all", "--force");
  git(theirs, "commit", "--quiet", "-m", "first");
  git(theirs, "checkout", "--quiet", "-b", "next");
  const address = `file://${theirs}`;
  await run(cwd, "add", `${address}#next`, "--yes");
  expect(JSON.parse(readFileSync(join(cwd, "skills/.added.json"), "utf8"))).toMatchObject({
    clock: { kind: "git", source: `${address}#next`, part: "clock", version: git(theirs, "rev-parse", "HEAD") },
    weather: { part: "weather" },
  });
  expect(new Set(readdirSync(join(cwd, "skills"), { recursive: true, encoding: "utf8" }))).toEqual(
    new Set([".added.json", "clock", "clock/clock.ts", "weather", "weather/data.txt", "weather/skill.ts"]),
  );
  writeFileSync(join(theirs, "skills/clock.ts"), "/** Tells the time. */ export const now = (): number => 2;");
  git(theirs, "commit", "--quiet", "--all", "-m", "second");
  expect((await run(cwd, "update", "clock", "--yes")).stdout).toBe(
    `Updated clock to ${git(theirs, "rev-parse", "HEAD")}: clock.ts (changed)\n`,
  );
  const other = project();
  await run(other, "add", `${address}#main`, "--only", "clock", "--name", "time-of-day", "--yes");
  expect(await skillgate(["call", "TimeOfDaySkill.now"], { cwd: other, env: UNTRUSTED })).toMatchObject({
    exit: 0,
    stdout: "1\n",
  });
});

test(
  "packs a skill as an npm package, which another project adds without running its scripts [L1, P12]",
  { tags: "rest" },
  async () => {
    const cwd = project({
      ...Object.fromEntries(Object.entries(FILES).map(([name, text]) => [`skills/${name}`, text])),
      "skills/alone.ts": 'import "./lib/more.ts"; export const one = () => 1;',
      "skills/lib/more.ts": "export const more = 1;",
      "skills/weather/package.json": JSON.stringify({ version: "2.1.0", scripts: { postinstall: "touch ran" } }),
    });
    expect((await run(cwd, "pack", "WeatherSkill")).stdout).toContain("npm publish ./skillgate-skill-weather");
    const packed = join(cwd, "skillgate-skill-weather");
    expect(JSON.parse(readFileSync(join(packed, "package.json"), "utf8"))).toMatchObject({
      name: "skillgate-skill-weather",
      version: "2.1.0",
      skillgate: { skill: "weather" },
    });
    expect(await skillgate(["skills", "pack", "alone"], { cwd })).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining("it imports skills/lib/more.ts, which is outside of it"),
    });
    execFileSync("npm", ["pack", "--silent", packed], { cwd, stdio: "pipe" });
    const other = project();
    const archive = join(cwd, "skillgate-skill-weather-2.1.0.tgz");
    await run(other, "add", archive, "--yes");
    expect(await call(other)).toMatchObject({ exit: 0, stdout: "24\n" });
    expect(readdirSync(join(other, "skills/weather")).toSorted()).toEqual([
      "README.md",
      "data.txt",
      "package.json",
      "skill.ts",
    ]);
    expect(JSON.parse(readFileSync(join(other, "skills/.added.json"), "utf8"))).toMatchObject({
      weather: { kind: "npm", version: "2.1.0" },
    });
    expect(await skillgate(["skills", "add", archive, "--yes"], { cwd: other })).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining("skills/weather already exists; choose another name with --name"),
    });
  },
);

test(
  "refuses sources that it cannot get, links, too many files, and what is no skill [L1, P12]",
  { tags: "rest" },
  async () => {
    const cwd = project();
    const many = Object.fromEntries(Array.from({ length: 501 }, (_, at) => [`many/${at}.txt`, ""]));
    const theirs = createTheirs({
      ...FILES,
      ...many,
      "empty/README.md": "",
      "broken/skill.ts": "export const (",
      "deep/a/b/c/d/e/f/g/h/i/j/k/l.ts": "",
    });
    mkdirSync(join(theirs, "linked"));
    symlinkSync("/etc/passwd", join(theirs, "linked/skill.ts"));
    const refusals: readonly (readonly [args: readonly string[], why: string])[] = [
      [["nosuch/folder"], 'Cannot add "nosuch/folder". Name a folder'],
      [["http://example.com/a.git"], "is not encrypted: use https://"],
      [["--", "--upload-pack=touch ran"], "Cannot add"],
      [["ext::sh -c touch% ran"], "Cannot add"],
      [[`file://${theirs}/nosuch.git`], "Cannot get file://"],
      [[`file://${theirs}#--upload-pack=touch`], "a branch does not begin with a hyphen"],
      [[join(theirs, "many")], "it has more than 500 files"],
      [[join(theirs, "linked")], "skill.ts is neither a file nor a folder"],
      [[join(theirs, "empty")], "it has no entry: skill.ts, empty.ts"],
      [[join(theirs, "broken")], "broken/skill.ts: "],
      [[join(theirs, "deep")], "more than 10 levels"],
      [[join(theirs, "weather"), "--only", "wether"], "weather"],
      [[join(theirs, "weather"), "--name", "../up"], "Cannot name a skill"],
    ];
    for (const [args, why] of refusals) {
      const ended = await skillgate(["skills", "add", "--yes", ...args], { cwd });
      expect([args, ended.exit === 0, ended.stderr]).toEqual([args, false, expect.stringContaining(why)]);
    }
    expect(readdirSync(join(cwd, "skills"))).toEqual([]);
    expect(await skillgate(["skills", "remove", "weather"], { cwd })).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining("No skill was added"),
    });
    for (const damaged of ["{", "[]", '{"../up":{}}', '{"weather":{"kind":"ftp"}}']) {
      writeFileSync(join(cwd, "skills/.added.json"), damaged);
      expect(await skillgate(["skills", "update"], { cwd })).toMatchObject({
        exit: 2,
        stderr: expect.stringContaining("skills/.added.json: it is damaged"),
      });
    }
    const hostile = { kind: "git", source: "ext::sh -c touch% ran", part: "", version: "", digest: "" };
    writeFileSync(join(cwd, "skills/.added.json"), JSON.stringify({ weather: hostile }));
    expect(await skillgate(["skills", "update", "--yes"], { cwd })).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining('Cannot add "ext::sh'),
    });
  },
);
