import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";

import { environment, MATH_SKILL, project, skillgate } from "../command.ts";

const FOLDERS: readonly (readonly [client: string, user: string, project: string])[] = [
  ["claude-code", ".claude/skills", ".claude/skills"],
  ["cursor", ".cursor/skills", ".cursor/skills"],
  ["vscode", ".copilot/skills", ".github/skills"],
  ["codex", ".agents/skills", ".agents/skills"],
  ["opencode", ".config/opencode/skills", ".opencode/skills"],
  ["windsurf", ".codeium/windsurf/skills", ".windsurf/skills"],
  ["gemini", ".gemini/skills", ".gemini/skills"],
  ["copilot", ".copilot/skills", ".github/skills"],
  ["qwen", ".qwen/skills", ".qwen/skills"],
  ["amp", ".config/agents/skills", ".agents/skills"],
];

test.each(FOLDERS)("writes a SKILL.md for %s in ~/%s and in %s, and removes it [V1]", async (client, user, shared) => {
  const cwd = project();
  const places = [
    { args: [], file: join(dirname(cwd), "home", user, "skillgate", "SKILL.md") },
    { args: ["--scope", "project"], file: join(cwd, shared, "skillgate", "SKILL.md") },
  ];
  for (const { args, file } of places) {
    const command = ["connect", client, "--as", "skill", ...args];
    expect(await skillgate(command, { cwd })).toMatchObject({ exit: 0, stderr: "" });
    const { mtimeMs } = statSync(file);
    expect(JSON.parse((await skillgate([...command, "--json"], { cwd })).stdout)).toMatchObject({ changed: false });
    expect(statSync(file).mtimeMs).toBe(mtimeMs);
    expect(await skillgate(["disconnect", ...command.slice(1)], { cwd })).toMatchObject({ exit: 0 });
    expect(existsSync(dirname(file))).toBe(false);
  }
});

test("writes a text of the Agent Skills format that has less than 600 tokens [V1]", async () => {
  const { stdout, stderr } = await skillgate(["connect", "claude-code", "--as", "skill", "--print"], {
    cwd: project(),
  });
  expect(stderr).toBe("Write this to ~/.claude/skills/skillgate/SKILL.md\n");
  const [, header = ""] = /^---\n([^]*?)\n---\n/.exec(stdout) ?? [];
  const { name, description, ...more } = parse(header) as Readonly<Record<string, unknown>>;
  expect([name, more]).toEqual(["skillgate", { metadata: { generator: "skillgate" } }]);
  expect(String(description).length).toBeLessThan(1_024);
  expect(stdout.length / 4).toBeLessThan(600);
});

test(
  "writes commands that a shell runs in the project, from another folder, without skillgate on its PATH [V1]",
  { tags: "rest" },
  async () => {
    const cwd = project({ "skills/math.js": MATH_SKILL });
    await skillgate(["trust", "--yes"], { cwd });
    await skillgate(["connect", "claude-code", "--as", "skill"], { cwd });
    const home = join(dirname(cwd), "home");
    const text = readFileSync(join(home, ".claude/skills/skillgate/SKILL.md"), "utf8");
    const blocks = Array.from(text.matchAll(/```sh\n([^]*?)```/g), ([, block = ""]) => block);
    const [search = "", describe = "", run = ""] = blocks.map((block) =>
      block
        .replace("words of the task", "add numbers")
        .replace('SomeSkill.method("value")', "MathSkill.add(1, 2)")
        .replace("SomeSkill.method", "MathSkill.add"),
    );
    const shell = (script: string): string =>
      execFileSync("/bin/sh", ["-c", script], {
        cwd: "/",
        encoding: "utf8",
        env: { ...environment(cwd), PATH: "/usr/bin:/bin" },
      });
    expect(blocks).toHaveLength(3);
    expect(shell(search)).toContain("MathSkill.add");
    expect(shell(describe)).toContain("MathSkill.add");
    expect(shell(run)).toBe("3\n");
  },
);

test(
  "keeps a SKILL.md that someone else wrote, and refuses names and clients that cannot have one [V1]",
  { tags: "rest" },
  async () => {
    const cwd = project();
    const folder = join(cwd, ".claude/skills/skillgate");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "SKILL.md"), "mine");
    const refusals = [
      [["claude-code", "--scope", "project"], "was not written by skillgate connect; choose another name with --name"],
      [["claude-code", "--name", "My Skill"], "is named in lower case"],
      [["claude-code", "--scope", "team"], "Unknown scope"],
      [["claude-desktop"], "Claude Desktop reads no skills from a folder. These do: claude-code, cursor"],
    ] as const;
    for (const verb of ["connect", "disconnect"])
      for (const [args, why] of refusals)
        expect(await skillgate([verb, ...args, "--as", "skill"], { cwd })).toMatchObject({
          exit: 2,
          stderr: expect.stringContaining(why),
        });
    expect(await skillgate(["connect", "claude-code", "--as", "tool"], { cwd })).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining("Unknown kind: tool"),
    });
    expect(readFileSync(join(folder, "SKILL.md"), "utf8")).toBe("mine");
    rmSync(folder, { recursive: true });
  },
);
