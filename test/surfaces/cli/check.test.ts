import { expect, test } from "vitest";

import { MATH_SKILL, MCP_JSON, project, skillgate } from "./command.ts";

/** For checks in which types say nothing: the compiler takes a second to load. */
const UNTYPED = { "settings.yaml": "typecheck: false\n" };

test("lists with check the calls of a program, and makes none [O1]", { tags: "rest" }, async () => {
  const cwd = project({ "skills/math.js": MATH_SKILL });
  const code = "await device.MathSkill.fail('no');\nfor (const n of [1, 2]) await device.MathSkill.add(n, 1);";
  const { exit, stdout, stderr } = await skillgate(["check", "-e", code], { cwd });
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
  expect(stdout).toBe(
    "The program is valid; it calls\n  line 1  MathSkill.fail\n  line 2  MathSkill.add   in a loop\n",
  );
});

test("lists with check all violations at once, each with its position and a fix [S5]", async () => {
  const cwd = project({ "skills/math.js": MATH_SKILL });
  const code = "device.MathSkil.add(1, 2);\ndevice.MathSkill.ad(1, 2);\nfetch('x');";
  const { exit, stdout, stderr } = await skillgate(["check", "-e", code], { cwd });
  expect({ exit, stdout }).toEqual({ exit: 3, stdout: "" });
  expect(stderr).toContain("1 | device.MathSkil.add(1, 2);");
  expect(stderr).toContain("2 | device.MathSkill.ad(1, 2);");
  expect(stderr).toContain("3 | fetch('x');");
});

test(
  "prints violations, plan and notes with check --json, and marks values known only at run time [O1]",
  { tags: "rest" },
  async () => {
    const cwd = project({ "skills/math.js": MATH_SKILL, ...UNTYPED });
    const fine = await skillgate(["check", "-e", "device.MathSkill.add(1, Date.now())", "--json"], { cwd });
    expect({ exit: fine.exit, stderr: fine.stderr }).toEqual({ exit: 0, stderr: "" });
    expect(JSON.parse(fine.stdout)).toMatchObject({
      violations: [],
      plan: [{ path: "MathSkill.add", line: 1, column: 0, literalArguments: [1, { $unknown: true }] }],
      notes: [],
    });
    const bad = await skillgate(["check", "-e", "device.MathSkill.add(1)", "--json"], { cwd });
    expect(bad.exit).toBe(3);
    expect(JSON.parse(bad.stdout)).toMatchObject({ violations: [{ code: "ARGUMENTS_INVALID", line: 1 }] });
  },
);

test("checks a file or stdin, and waits for a server that it needs [O1]", { tags: "rest" }, async () => {
  const source = "await device.FilesystemMCP.list_directory('.')";
  const cwd = project({ ".mcp.json": MCP_JSON, "program.js": source, ...UNTYPED });
  const outcomes = await Promise.all([
    skillgate(["check", "program.js"], { cwd }),
    skillgate(["check"], { cwd, input: source }),
  ]);
  const says = "The program is valid; it calls\n  line 1  FilesystemMCP.list_directory\n";
  expect(outcomes.map(({ exit, stdout }) => ({ exit, stdout }))).toEqual([
    { exit: 0, stdout: says },
    { exit: 0, stdout: says },
  ]);
});

test("reports with check a program without calls [O1]", { tags: "rest" }, async () => {
  expect((await skillgate(["check", "-e", "1 + 1"], { cwd: project(UNTYPED) })).stdout).toBe(
    "The program is valid; it calls nothing\n",
  );
});
