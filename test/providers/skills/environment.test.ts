import { afterEach, beforeEach, expect, test } from "vitest";

import { skillEnvironment } from "../../../src/providers/skills/process/skill-environment.ts";
import { createRuntime } from "../../../src/index.ts";
import { temporaryFolder, writeFiles } from "./call.ts";

beforeEach(() => {
  process.env["SKILL_TEST_KEY"] = "a key of another program";
  process.env["SKILL_TEST_OTHER"] = "another value";
});

afterEach(() => {
  delete process.env["SKILL_TEST_KEY"];
  delete process.env["SKILL_TEST_OTHER"];
});

const SKILL = `
  import { env } from "node:process";
  /** List the names. */
  export function names(): string[] { return Object.keys(process.env); }
  /** Read a variable. */
  export function read(name: string): string | null { return process.env[name] ?? null; }
  /** Read it from the module. */
  export function readImported(name: string): string | null { return env[name] ?? null; }
  /** Use a variable. */
  export function use(): string { return process.env.SKILL_TEST_KEY!.slice(0, 5); }
  /** Use none. */
  export function fail(): never { throw new Error("of its own"); }
  /** Set a variable. */
  export function set(): string { process.env.SKILL_TEST_OTHER = 5 as unknown as string; return process.env.SKILL_TEST_OTHER; }
`;

async function open(settings: object, env: Readonly<Record<string, string>> = {}) {
  const folder = await temporaryFolder();
  await writeFiles(folder, { "skills/env.ts": SKILL, "settings.yaml": JSON.stringify(settings) });
  const said: string[] = [];
  return {
    said,
    runtime: await createRuntime({
      cwd: folder,
      skillsDir: `${folder}/skills`,
      settings: `${folder}/settings.yaml`,
      env: { ...process.env, ...env },
      log: (level, text) => void said.push(`${level} ${text}`),
    }),
  };
}

test("passes skills what programs need, and names the rest [P9]", () => {
  const own = { SKILLGATE_TOKEN: "t", SKILLGATE_ACCOUNT_KEY: "a" };
  const ours = { PATH: "/bin", HOME: "/home/ada", CI: "true", OPENAI_API_KEY: "k", ...own, OTHER: "x" };
  expect(skillEnvironment(ours, { OTHER: "y", ...own })).toEqual({
    PATH: "/bin",
    HOME: "/home/ada",
    CI: "true",
    OTHER: "y",
    SKILLGATE_WITHHELD: '["OPENAI_API_KEY","SKILLGATE_TOKEN","SKILLGATE_ACCOUNT_KEY"]',
  });
});

test("gives a skill no variable that the settings do not name, and says so [P9]", async () => {
  const { runtime, said } = await open({});
  try {
    const names = (await runtime.call("EnvSkill.names", {})) as readonly string[];
    expect(names).toContain("PATH");
    expect(names.filter((name) => name.startsWith("SKILL"))).toEqual([]);
    await expect(runtime.call("EnvSkill.fail", {})).rejects.toThrow(/^of its own$/);
    expect(await runtime.call("EnvSkill.read", { name: "NO_SUCH_VARIABLE" })).toBe(null);
    const says =
      "it reads SKILL_TEST_KEY of the environment, which skills do not get; write skills: { env: [SKILL_TEST_KEY] } in settings.yaml";
    await expect(runtime.call("EnvSkill.use", {})).rejects.toThrow(`(${says})`);
    expect(await runtime.call("EnvSkill.readImported", { name: "SKILL_TEST_KEY" })).toBe(null);
    expect(await runtime.call("EnvSkill.set", {})).toBe("5");
    expect(said.filter((line) => line.startsWith("warn"))).toEqual([`warn ${says}`]);
  } finally {
    await runtime.close();
  }
});

test("gives a skill the variables that the settings name, also of .env [P9]", { tags: "rest" }, async () => {
  const { runtime } = await open({ skills: { env: ["SKILL_TEST_KEY", "FROM_OPTIONS"] } }, { FROM_OPTIONS: "yes" });
  try {
    expect(await runtime.call("EnvSkill.use", {})).toBe("a key");
    expect(await runtime.call("EnvSkill.readImported", { name: "SKILL_TEST_KEY" })).toBe("a key of another program");
    expect(await runtime.call("EnvSkill.read", { name: "FROM_OPTIONS" })).toBe("yes");
    expect(await runtime.call("EnvSkill.read", { name: "SKILL_TEST_OTHER" })).toBe(null);
  } finally {
    await runtime.close();
  }
});
