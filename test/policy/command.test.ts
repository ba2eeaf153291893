import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { POLICY_SCHEMA, STARTER_POLICY } from "../../src/policy/index.ts";
import { readFileSync } from "node:fs";
import { MATH_SKILL, project, skillgate } from "../surfaces/cli/command.ts";

test("writes a policy that passes its own check, and keeps it afterwards [P4]", { tags: "rest" }, async () => {
  const cwd = project({ "skills/math.js": MATH_SKILL });
  const policy = async (...args: readonly string[]) => skillgate(["policy", ...args], { cwd });
  expect(await policy("check")).toMatchObject({
    exit: 2,
    stderr:
      "Cannot read the configuration: policies/tools.yaml does not exist (CONFIG_INVALID)\nCreate it with: skillgate policy init\n",
  });
  expect(await policy("init")).toEqual({
    exit: 0,
    stdout: "Created policies/tools.yaml\nCreated policies/tools.schema.json\n",
    stderr: "",
  });
  expect(readFileSync(join(cwd, "policies/tools.yaml"), "utf8")).toBe(STARTER_POLICY);
  expect(JSON.parse(readFileSync(join(cwd, "policies/tools.schema.json"), "utf8"))).toEqual(
    JSON.parse(JSON.stringify(POLICY_SCHEMA)),
  );
  expect(await policy("check")).toEqual({
    exit: 0,
    stdout: "✓ policies/tools.yaml: 8 rows, 0 flows\n",
    stderr: "",
  });
  writeFileSync(join(cwd, "policies/tools.yaml"), `${STARTER_POLICY}\nweb_serch: { decision: ask }\n`);
  expect(await policy("check")).toEqual({
    exit: 0,
    stdout: "✓ policies/tools.yaml: 9 rows, 0 flows\n",
    stderr:
      'Warning: policies/tools.yaml line 42, column 1: "web_serch" matches no method of the skills that are loaded\n',
  });
  writeFileSync(join(cwd, "policies/tools.yaml"), "MathSkill.add: { decision: ask }\n");
  expect((await policy("init")).stdout).toBe("Kept policies/tools.yaml\nKept policies/tools.schema.json\n");
});

test(
  "lists every mistake with its position, and near names of rows that match nothing [P4]",
  { tags: "rest" },
  async () => {
    const cwd = project({
      "skills/math.js": MATH_SKILL,
      "policies/tools.yaml": "MathSkill.add: { decision: no }\nMathSkill.pay:\n  timeout: soon\n",
    });
    const broken = await skillgate(["policy", "check", "--json"], { cwd });
    expect(broken.exit).toBe(2);
    const { problems } = JSON.parse(broken.stdout) as { problems: readonly { readonly error: string }[] };
    expect(problems.map(({ error }) => /line \d+, column \d+/.exec(error)?.[0])).toEqual([
      "line 1, column 18",
      "line 3, column 3",
    ]);
    const run = await skillgate(["run", "-e", "1"], { cwd });
    expect(run).toMatchObject({ exit: 2, stdout: "" });
    expect(run.stderr).toContain("policies/tools.yaml line 1, column 18");
    writeFileSync(join(cwd, "policies/tools.yaml"), "MathSkill.ad: { decision: ask }\n");
    expect((await skillgate(["policy", "check"], { cwd })).stderr).toContain(
      '"MathSkill.ad" matches no method of the skills that are loaded; did you mean MathSkill.add?',
    );
  },
);

const RULES = `
MathSkill.*: { required_scopes: [math] }
MathSkill.pay: { decision: deny }
`;

test("explains the decision on a method for a caller, and the row that applies [P3, P4]", async () => {
  const cwd = project({
    "skills/math.js": MATH_SKILL,
    "policies/tools.yaml": RULES,
    "policies/roles.yaml": "student: [math]\n",
  });
  const explain = async (...args: readonly string[]) =>
    (await skillgate(["policy", "explain", ...args], { cwd })).stdout;
  expect(await explain("MathSkill.pay")).toBe(`MathSkill.pay: deny for owner
  Refused, because policies/tools.yaml line 3 denies it
  The row "MathSkill.pay" applies
  sensitivity low; approval by the user; timeout 30s
  row "MathSkill.pay" (line 3) names the method exactly
  also "MathSkill.*" (line 2) is a pattern of its skill
`);
  expect(await explain("MathSkill.add", "--caller", "ada")).toContain(`MathSkill.add: deny for ada
  Refused, because the caller "ada" lacks the scope math, which policies/tools.yaml line 2 requires
`);
  expect(await explain("MathSkill.add", "--caller", "ada", "--roles", "student")).toContain(
    "MathSkill.add: allow for ada",
  );
  const sees = ["--permissions", "see:*,call:TimeSkill.*"];
  expect(await explain("MathSkill.add", "--caller", "eve", ...sees)).toContain(
    'Refused, because the caller "eve" has no call:MathSkill.add\n',
  );
  const wrong = await skillgate(["policy", "explain", "MathSkill.add", "--permissions", "cal:*"], { cwd });
  expect(wrong).toMatchObject({
    exit: 2,
    stderr: expect.stringContaining("Unknown permission: cal; did you mean call"),
  });
  const unknown = await skillgate(["policy", "explain", "MathSkill.ad"], { cwd });
  expect(unknown).toMatchObject({ exit: 5, stdout: "" });
});

test("compares a table of expected decisions with the policy [P4]", { tags: "rest" }, async () => {
  const cwd = project({
    "skills/math.js": MATH_SKILL,
    "policies/tools.yaml": RULES,
    "policies/tests.yaml": `tests:
  - { path: MathSkill.pay, decision: deny }
  - { path: MathSkill.add, decision: allow }
  - { path: MathSkill.add, caller: { id: ada, scopes: [] }, decision: allow }
  - { path: MissingMCP.read, decision: allow }
  - { path: MissingMCP.read, caller: { permissions: ["see:*"] }, decision: deny }
`,
  });
  expect(await skillgate(["policy", "test"], { cwd })).toEqual({
    exit: 1,
    stdout: `✗ policies/tests.yaml line 4: MathSkill.add is deny for ada, not allow. Refused, because the caller "ada" lacks the scope math, which policies/tools.yaml line 2 requires. The row "MathSkill.*" applies
4 of 5 decisions as expected
`,
    stderr: "",
  });
  rmSync(join(cwd, "policies/tests.yaml"));
  expect(await skillgate(["policy", "test"], { cwd })).toMatchObject({ exit: 2 });
});
