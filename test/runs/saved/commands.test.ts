// @module-tag rest

import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { project, runProcess, skillgate } from "../../surfaces/cli/command.ts";

const SKILL = `
/** Weather of cities. */
export class WeatherSkill {
  /**
   * Get the weather of a city.
   * @param {string} city The city
   */
  get(city) { return { city, degrees: city.length }; }

  /**
   * Send a mail.
   * @param {string} text The text
   */
  send(text) { if (text.includes("Nowhere")) throw new Error("no such city"); return "sent " + text; }

  /**
   * Sign in.
   * @param {string} key The key
   */
  login(key) { return { session: "session " + key }; }
}
`;

const MAIL = `const city = "Berlin";
const { degrees } = await device.WeatherSkill.get(city);
await device.WeatherSkill.send(\`It is \${degrees} in \${city}\`)`;

const SETTINGS = "store: { dir: state }\n";

function createProject(settings = SETTINGS): string {
  return project({ "skills/weather.js": SKILL, "settings.yaml": settings });
}

async function run(cwd: string, code: string): Promise<string> {
  await skillgate(["run", "-e", code], { cwd });
  const { stdout } = await skillgate(["runs", "list", "--json"], { cwd });
  return (JSON.parse(stdout) as { readonly runs: readonly { readonly id: string }[] }).runs[0]?.id ?? "";
}

const save = (cwd: string, id: string, ...flags: readonly string[]): ReturnType<typeof skillgate> =>
  skillgate(["skills", "save", id, "--name", "city-mail", ...flags], { cwd });

async function list(cwd: string): Promise<unknown> {
  const { stdout } = await skillgate(["skills", "list", "--json"], { cwd });
  return (JSON.parse(stdout) as { readonly skills: readonly Record<string, unknown>[] }).skills.find(
    ({ name }) => name === "CityMailSkill",
  )?.["saved"];
}

test("saves a run as a skill that search finds, a program calls and its cassette tests [R6]", async () => {
  const cwd = createProject();
  const id = await run(cwd, MAIL);
  const saved = await save(cwd, id.slice(0, 8), "--param", "city", "--description", "Mail the weather of a city");
  expect(saved).toMatchObject({ exit: 0 });
  expect(saved.stdout).toBe(
    [
      "Saved CityMailSkill.run(city) in skills/city-mail.saved.yaml, and its test in skills/city-mail.cassette.json",
      "Try it:  skillgate call CityMailSkill.run city=Berlin",
      "Test it: skillgate skills test CityMailSkill",
      "",
    ].join("\n"),
  );
  expect(readFileSync(join(cwd, "skills/city-mail.saved.yaml"), "utf8")).toContain(
    `source: |\n  const { city } = await device.input();\n  const { degrees }`,
  );
  expect(await skillgate(["call", "CityMailSkill.run", "city=Paris"], { cwd })).toMatchObject({
    exit: 0,
    stdout: "sent It is 5 in Paris\n",
  });
  const inProgram = await skillgate(["run", "-e", 'await device.CityMailSkill.run("Rome")'], { cwd });
  expect(inProgram.stdout).toBe("sent It is 4 in Rome\n");
  const found = await skillgate(["search", "mail the weather"], { cwd });
  expect(found.stdout).toContain("- CityMailSkill.run(city: string): ");
  expect(found.stdout).toContain("[saved] Mail the weather of a city");
  for (const command of [["describe", "CityMailSkill.run"], ["types"], ["skills", "list"]]) {
    const { stdout } = await skillgate(command, { cwd });
    expect(stdout, command[0]).toContain("[saved] Mail the weather of a city");
  }
  rmSync(join(cwd, "skills/weather.js"));
  const tested = await skillgate(["skills", "test", "CityMailSkill"], { cwd });
  expect(tested.stdout).toBe(`✓ city-mail.saved.yaml  repeats run ${id}\n1 test passed\n`);
});

test("marks a skill as saved until it has passed often enough, also across processes [R6]", async () => {
  const cwd = createProject(`${SETTINGS}runs: { savedPasses: 2 }\n`);
  const id = await run(cwd, MAIL);
  await save(cwd, id, "--param", "city");
  expect(await list(cwd)).toEqual({ run: id, passes: 0, requiredPasses: 2 });
  expect((await skillgate(["skills", "list"], { cwd })).stdout).toContain("passed 0 of 2 times  [saved] Calls Weather");
  await runProcess(["call", "CityMailSkill.run", "city=Rome"], { cwd });
  await runProcess(["skills", "test"], { cwd });
  expect(await list(cwd)).toEqual({ run: id, passes: 2, requiredPasses: 2 });
  expect((await skillgate(["skills", "list"], { cwd })).stdout).not.toContain("[saved]");
});

test("does not use a skill that failed twice in succession, until its file is changed [R6]", async () => {
  const cwd = createProject();
  await save(cwd, await run(cwd, MAIL), "--param", "city");
  const call = (city: string): ReturnType<typeof skillgate> =>
    skillgate(["call", "CityMailSkill.run", `city=${city}`], { cwd });
  const failed = await call("Nowhere");
  expect(failed.stderr).toContain("the program of CityMailSkill.run failed at line 3: no such city (CALL_FAILED)");
  expect((await call("Rome")).exit).toBe(0);
  await call("Nowhere");
  expect((await call("Nowhere")).exit).toBe(1);
  const listed = await skillgate(["skills", "list"], { cwd });
  expect(listed.stdout).not.toContain("CityMailSkill");
  expect(listed.stderr).toContain(
    "city-mail.saved.yaml: Cannot load the skill: CityMailSkill failed 2 times in succession, last because it failed at line 3: no such city",
  );
  expect((await call("Rome")).exit).toBe(5);
  const file = join(cwd, "skills/city-mail.saved.yaml");
  writeFileSync(file, readFileSync(file, "utf8").replace("It is", "It has"));
  expect((await call("Rome")).stdout).toBe("sent It has 4 in Rome\n");
});

test("fails the test of a skill whose program does something else [R6]", async () => {
  const cwd = createProject();
  await save(cwd, await run(cwd, MAIL), "--param", "city");
  const file = join(cwd, "skills/city-mail.saved.yaml");
  writeFileSync(file, readFileSync(file, "utf8").replace("It is", "It has"));
  const { exit, stdout } = await skillgate(["skills", "test"], { cwd });
  expect(exit).toBe(1);
  expect(stdout).toContain("REPLAY_DIVERGED");
  rmSync(join(cwd, "skills/city-mail.cassette.json"));
  expect((await skillgate(["skills", "test"], { cwd })).stdout).toContain(
    "its cassette city-mail.cassette.json is missing",
  );
});

test("replaces only a saved skill, and only when asked to [R6]", async () => {
  const cwd = createProject();
  const id = await run(cwd, MAIL);
  await save(cwd, id, "--param", "city");
  const again = await save(cwd, id);
  expect(again).toMatchObject({ exit: 2 });
  expect(again.stderr).toContain("skills/city-mail.saved.yaml already exists; write --force to replace it");
  expect((await save(cwd, id, "--force", "--method", "send")).stdout).toContain("CityMailSkill.send()");
  const taken = await skillgate(["skills", "save", id, "--name", "weather", "--force"], { cwd });
  expect(taken.stderr).toContain("is taken by weather.js; choose another name");
  expect(existsSync(join(cwd, "skills/weather.saved.yaml"))).toBe(false);
});

test("keeps secrets out of a saved skill, except as a parameter [R6]", async () => {
  const cwd = createProject();
  const token = "sk-abcdefgh12345678";
  const plain = await run(cwd, `(await device.WeatherSkill.login("${token}")).session`);
  const refused = await save(cwd, plain);
  expect(refused.exit).toBe(1);
  expect(refused.stderr).toContain("the program has a secret at line 1, column 35");
  expect((await save(cwd, plain, "--param", "key=[redacted]")).exit).toBe(0);
  for (const file of ["city-mail.saved.yaml", "city-mail.cassette.json"])
    expect(readFileSync(join(cwd, "skills", file), "utf8")).not.toContain(token);
  expect((await skillgate(["skills", "test"], { cwd })).stdout).toContain("1 test passed");
  expect((await skillgate(["call", "CityMailSkill.run", "key=mine"], { cwd })).stdout).toBe("session mine\n");
});

test("saves only a run that worked [R6]", async () => {
  const cwd = createProject();
  const failed = await run(cwd, MAIL.replace("Berlin", "Nowhere"));
  expect((await save(cwd, failed)).stderr).toContain(`run ${failed} did not work`);
  const unknown = await save(cwd, "ffffffff");
  expect(unknown.exit).toBe(5);
});

test("holds the saved skills of a project that is not trusted [R6]", async () => {
  const cwd = createProject();
  await save(cwd, await run(cwd, MAIL), "--param", "city");
  const env = { SKILLGATE_TRUSTED_FOLDERS: "" };
  const { exit, stdout, stderr } = await skillgate(["call", "CityMailSkill.run", "city=Rome"], { cwd, env });
  expect([exit, stdout]).toEqual([6, ""]);
  expect(stderr).toContain("trust");
});
