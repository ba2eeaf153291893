import { spawn } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { describe, expect, test } from "vitest";

import {
  BIN,
  ended,
  environment,
  HAS_TERMINAL,
  MATH_SKILL,
  MCP_JSON,
  meetingPoint,
  project,
  skillgate,
  start,
} from "./command.ts";

test("prints the whole result of run, without a link that ends with the process [O1]", { tags: "rest" }, async () => {
  const cwd = project({ "skills/math.js": MATH_SKILL });
  const code = 'device.MathSkill.repeat("x", 300000)';
  const [printed, json] = await Promise.all([
    skillgate(["run", "-e", code], { cwd }),
    skillgate(["run", "-e", code, "--json"], { cwd }),
  ]);
  expect(printed).toEqual({ exit: 0, stdout: `${"x".repeat(300_000)}\n`, stderr: "" });
  expect(JSON.parse(json.stdout)).toMatchObject({ value: "x".repeat(300_000), notes: [] });
});

test("cuts the result of run where the settings say so [O1]", async () => {
  const cwd = project({ "settings.yaml": "limits:\n  resultBytes: 10\n" });
  const { stdout } = await skillgate(["run", "-e", '"x".repeat(20)'], { cwd });
  expect(stdout).toBe('"xxxxxxxxx…\n');
});

test("says Interrupted after Ctrl-C, also while a call is under way [O1]", { tags: "rest" }, async () => {
  const cwd = project({ "skills/math.js": MATH_SKILL });
  const { path, next } = await meetingPoint(cwd);
  const child = start(["run", "-e", `await device.MathSkill.wait(${JSON.stringify(path)})`], { cwd });
  const outcome = ended(child);
  await next();
  child.kill("SIGINT");
  expect(await outcome).toEqual({ exit: 130, stdout: "", stderr: "Interrupted\n" });
});

test("shows people no advice that is meant for models [O1]", { tags: "rest" }, async () => {
  const cwd = project({ "skills/math.js": MATH_SKILL });
  const ends = await Promise.all([
    skillgate(["call", "MathSkill.fail", "why=no luck"], { cwd }),
    skillgate(["run", "-e", 'device.MathSkill.fail("no luck")'], { cwd }),
  ]);
  for (const { exit, stderr } of ends) {
    expect(exit).toBe(1);
    expect(stderr).toMatch(/^no luck/);
    expect(stderr).not.toContain("catch the error");
  }
});

describe.skipIf(!HAS_TERMINAL)("on a terminal", () => {
  const read = (path: string): readonly string[][] => [
    ["call", "FilesystemMCP.read_text_file", `path=${path}`],
    ["run", "-e", `device.FilesystemMCP.read_text_file('${path}')`],
  ];

  test.each([0, 1])(
    "shows the owner the paths that models do not see, of command %i [O1]",
    { tags: "rest" },
    async (index) => {
      const cwd = project({ ".mcp.json": MCP_JSON });
      const command = read(join(cwd, "..", "outside.txt"))[index] ?? [];
      const line = [process.execPath, BIN, ...command].map((word) => `"${word}"`).join(" ");
      const child = spawn("script", ["-qefc", line, "/dev/null"], {
        cwd,
        env: environment(cwd, { TERM: "xterm", NO_COLOR: "1" }),
        stdio: ["ignore", "pipe", "inherit"],
      });
      expect(await text(child.stdout)).toContain(`not in ${cwd}`);
      const { stderr } = await skillgate(command, { cwd });
      expect(stderr).toContain("not in [path]");
    },
  );
});

test("names the folder of a store that cannot record a run [R2]", async () => {
  const cwd = project({
    "skills/math.js": MATH_SKILL,
    "settings.yaml": "store:\n  dir: taken\nruns:\n  record: full\n",
    taken: "",
  });
  const { exit, stderr } = await skillgate(["run", "-e", "device.MathSkill.add(1, 2)"], { cwd });
  expect(exit).toBe(1);
  const folder = join(cwd, "taken");
  const reason = `${join(folder, "skillgate.db")}: EEXIST: file already exists, mkdir '${folder}' (STORE_UNAVAILABLE)\n`;
  expect(stderr).toContain(`The store reports: Cannot use the store: ${reason}`);
});

test(
  "ends where HOME is a file, a loop of links, a folder of the kernel or nothing [O1]",
  { tags: "rest" },
  async () => {
    const cwd = project();
    const home = (name: string): string => join(cwd, name);
    writeFileSync(home("file"), "");
    symlinkSync(home("loop"), home("loop"));
    const homes = [home("file"), home("loop"), "/proc", "/dev/null", undefined];
    const ends = await Promise.all(homes.map((HOME) => skillgate(["run", "-e", "1 + 1"], { cwd, env: { HOME } })));
    expect(ends.map(({ exit, stdout }) => ({ exit, stdout }))).toEqual(homes.map(() => ({ exit: 0, stdout: "2\n" })));
    const withSkills = await skillgate(["skills", "list"], {
      cwd: project({ "skills/math.js": MATH_SKILL }),
      env: { HOME: "/proc" },
    });
    expect(withSkills).toMatchObject({ exit: 0, stdout: expect.stringContaining("MathSkill") });
  },
);
