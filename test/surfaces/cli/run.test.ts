import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { BIN, ended, environment, MATH_SKILL, MCP_JSON, project, shareProject, skillgate } from "./command.ts";

const getPlain = shareProject({
  "program.js": "'from a file'",
  "program.md": "\uFEFF```ts\nconst n: number = 4;\nn\n```\n",
});

const getMath = shareProject({ "skills/math.js": MATH_SKILL, "quick.yaml": "limits:\n  cpuMs: 200\n" });

test.each([
  ["text as it is", '"a\\nb"', "a\nb\n"],
  ["an object as JSON", "({ a: [1, null] })", '{\n  "a": [\n    1,\n    null\n  ]\n}\n'],
  ["nothing", "undefined", "(no output)\n"],
  ["what was printed first", "print('one'); console.log('two'); 3", "one\ntwo\n3\n"],
])("shows the result: %s [S3]", showResult);

test.each([
  ["a number", "1 + 1", "2\n"],
  ["null", "null", "null\n"],
  ["nothing after a print", "print('hi')", "hi\n"],
  ["bytes", "new Uint8Array([1, 2])", '{\n  "$bytes": "AQI="\n}\n'],
])("shows the result: %s [S3]", { tags: "rest" }, showResult);

async function showResult(_what: string, code: string, stdout: string): Promise<void> {
  expect(await skillgate(["run", "-e", code], { cwd: getPlain() })).toEqual({ exit: 0, stdout, stderr: "" });
}

test("reads a program from a file, from -, or from a pipe [O1]", async () => {
  const cwd = getPlain();
  const input = "'from stdin'";
  expect((await skillgate(["run", "program.js"], { cwd, input })).stdout).toBe("from a file\n");
  expect((await skillgate(["run", "-"], { cwd, input })).stdout).toBe("from stdin\n");
  expect((await skillgate(["run"], { cwd, input })).stdout).toBe("from stdin\n");
});

test("ignores a byte order mark and a markdown fence in a file [S4]", async () => {
  const cwd = getPlain();
  expect((await skillgate(["run", "program.md"], { cwd })).stdout).toBe("4\n");
});

test("reads a UTF-16 file by its byte order mark, and reports a file that is not text [S4]", async () => {
  const cwd = getPlain();
  const littleEndian = Buffer.from("\uFEFF'é' + 1", "utf16le");
  writeFileSync(join(cwd, "little.js"), littleEndian);
  writeFileSync(join(cwd, "big.js"), Buffer.from(littleEndian).swap16());
  writeFileSync(join(cwd, "latin1.js"), Buffer.from("'é' + 1", "latin1"));
  expect((await skillgate(["run", "little.js"], { cwd })).stdout).toBe("é1\n");
  expect((await skillgate(["run", "big.js"], { cwd })).stdout).toBe("é1\n");
  expect(await skillgate(["run", "latin1.js"], { cwd })).toEqual({
    exit: 2,
    stdout: "",
    stderr: 'Cannot read "latin1.js": it is not UTF-8 text; save it as UTF-8\n',
  });
});

test("rejects files that cannot be read as wrong usage [O1]", async () => {
  const cwd = getPlain();
  const outcomes = await Promise.all([
    skillgate(["run", "missing.js"], { cwd }),
    skillgate(["run", "."], { cwd }),
    skillgate(["run", "device.MathSkill.add(1, 2)"], { cwd }),
    skillgate(["run", "missing.js", "-e", "1"], { cwd }),
    skillgate(["check", "-e", "1", "-e", "2"], { cwd }),
  ]);
  expect(outcomes.map(({ exit, stdout }) => [exit, stdout])).toEqual(outcomes.map(() => [2, ""]));
  expect(outcomes.map(({ stderr }) => stderr)).toEqual([
    'Cannot read "missing.js": it does not exist\n',
    'Cannot read ".": it is a folder\n',
    'Cannot read "device.MathSkill.add(1, 2)": it does not exist; to run code itself, put -e before it\n',
    "Cannot take two programs: give either a file or -e, not both\n",
    "Cannot take two programs: give -e once, with the whole program\n",
  ]);
});

test("stops reading an endless stdin [S7]", { tags: "rest" }, async () => {
  const cwd = project();
  const yes = `"${process.execPath}" -e "const say = () => process.stdout.write('y\\n'.repeat(5000), (e) => e ?? say()); say()"`;
  const child = spawn("sh", ["-c", `${yes} 2>&- | "${process.execPath}" "${BIN}" run -`], {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const { exit, stderr } = await ended(child);
  expect(exit).toBe(3);
  expect(stderr.split("\n")[0]).toBe("Program size limit exceeded: more than 16777216 bytes (SOURCE_LIMIT)");
});

test("prints the outcome as one object with --json, and nothing else [O1]", async () => {
  const cwd = getMath();
  const code = "print('adding'); await device.MathSkill.add(2, 3)";
  const { exit, stdout, stderr } = await skillgate(["run", "-e", code, "--json"], { cwd });
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
  expect(JSON.parse(stdout)).toEqual({
    kind: "completed",
    runId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    value: 5,
    output: "adding",
    text: "adding\n5",
    notes: [],
    calls: [
      {
        id: expect.any(Number),
        skill: "MathSkill",
        method: "add",
        outcome: "ok",
        durationMs: expect.any(Number),
        argumentsDigest: expect.stringMatching(/^[0-9a-f]{16}$/),
      },
    ],
    usage: { cpuMs: expect.any(Number), wallMs: expect.any(Number), memoryBytes: expect.any(Number), calls: 1 },
  });
  expect(stdout.trim().split("\n")).toHaveLength(1);
});

test("exits with 3 for a refused program, with its reasons on stderr and its outcome in --json [S5]", async () => {
  const cwd = getPlain();
  const refused = await skillgate(["run", "-e", "process.exit(0)"], { cwd });
  expect({ exit: refused.exit, stdout: refused.stdout }).toEqual({ exit: 3, stdout: "" });
  expect(refused.stderr).toContain("Refused; nothing was called.");
  const { exit, stdout, stderr } = await skillgate(["run", "-e", "process.exit(0)", "--json"], { cwd });
  expect({ exit, stderr }).toEqual({ exit: 3, stderr: "" });
  expect(JSON.parse(stdout)).toMatchObject({ kind: "refused", violations: [{ line: 1, column: 0 }] });
});

test("exits with 1 for a failed program, with its position, and without a host path or stack [S10]", async () => {
  const cwd = getPlain();
  const code = "print('so far');\nconst x = null;\nx.y";
  const { exit, stdout, stderr } = await skillgate(["run", "-e", code], { cwd });
  expect({ exit, stdout }).toEqual({ exit: 1, stdout: "so far\n" });
  expect(stderr).toMatch(/^TypeError: .*\(line 3, column \d+\)\n/);
  expect(stderr).toContain("3 | x.y");
  expect(stderr).not.toMatch(/ {4}at |node_modules|dist\//);
});

test("exits with 1 for a failed call that is not caught [X1]", async () => {
  const cwd = getMath();
  const { exit, stdout } = await skillgate(["run", "-e", "device.MathSkill.fail('no luck')", "--json"], { cwd });
  expect(exit).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    kind: "failed",
    error: { message: "no luck", skill: "MathSkill", method: "fail" },
  });
});

test.each([
  ["WALL_LIMIT", ["--timeout", "300"], "while (true) {}"],
  ["WALL_LIMIT", ["--timeout", "300"], "await device.MathSkill.wait()"],
  ["CPU_LIMIT", ["--settings", "quick.yaml"], "while (true) {}"],
  ["CALL_TIMEOUT", [], "await device.MathSkill.late()"],
])("exits with 124 for %s [S7]", exceedLimit);

async function exceedLimit(code: string, options: readonly string[], program: string): Promise<void> {
  const cwd = getMath();
  const { exit, stdout } = await skillgate(["run", "-e", program, "--json", ...options], { cwd });
  expect(JSON.parse(stdout)).toMatchObject({ kind: "failed", error: { code } });
  expect(exit).toBe(124);
}

test("exits with 4 for a call that needs an approval without a user to ask [P6]", async () => {
  const cwd = getMath();
  const { exit, stdout } = await skillgate(["run", "-e", "device.MathSkill.pay('Ada', 5)", "--json"], { cwd });
  expect(JSON.parse(stdout)).toMatchObject({ kind: "failed", error: { code: "APPROVAL_MISSING" } });
  expect(exit).toBe(4);
});

test("approves what a script runs and calls with --yes [P6]", { tags: "rest" }, async () => {
  const cwd = getMath();
  const run = await skillgate(["run", "-e", "device.MathSkill.pay('Ada', 5)", "--yes"], { cwd });
  expect(run).toEqual({ exit: 0, stdout: "paid 5 to Ada\n", stderr: "" });
  const call = await skillgate(["call", "MathSkill.pay", "name=Ada", "amount=5", "--yes"], { cwd });
  expect(call).toEqual({ exit: 0, stdout: "paid 5 to Ada\n", stderr: "" });
});

test.each(["run", "call", "search"])(
  "shows examples in the help of %s that work in an empty project [O1]",
  { tags: "rest" },
  async (name) => {
    const cwd = join(project(), "empty");
    mkdirSync(cwd);
    const { stdout } = await skillgate([name, "--help"], { cwd });
    const examples = stdout.split("Examples:\n")[1]?.trim().split("\n") ?? [];
    expect(examples).toHaveLength(name === "search" ? 2 : 3);
    writeFileSync(join(cwd, "program.ts"), "1 + 1");
    writeFileSync(join(cwd, "note.txt"), "Buy milk");
    for (const example of examples) {
      const command = example.replaceAll("skillgate", `${JSON.stringify(process.execPath)} ${JSON.stringify(BIN)}`);
      const { status, stderr } = spawnSync("sh", ["-c", command], { cwd, env: environment(cwd), encoding: "utf8" });
      expect({ example, status, stderr }).toMatchObject({ status: 0 });
    }
  },
);

test("shows each call and the usage of the run on stderr with --trace [O1]", { tags: "rest" }, async () => {
  const cwd = getMath();
  const code = "await device.MathSkill.add(1, 2); try { await device.MathSkill.fail('x') } catch {}\n4";
  const { exit, stdout, stderr } = await skillgate(["run", "-e", code, "--trace"], { cwd });
  expect({ exit, stdout }).toEqual({ exit: 0, stdout: "4\n" });
  expect(stderr).toMatch(
    /^MathSkill\.add {3}ok {5}[\d.]+ ms\nMathSkill\.fail {2}error {2}[\d.]+ ms\n2 calls, [\d.]+ ms in total, [\d.]+ ms in the sandbox, [\d.]+ MiB\n$/,
  );
});

test("reports a correction on stderr [S4]", { tags: "rest" }, async () => {
  const cwd = getMath();
  const { exit, stdout, stderr } = await skillgate(["run", "-e", "default_api.MathSkill.add(1, 2)"], { cwd });
  expect({ exit, stdout }).toEqual({ exit: 0, stdout: "3\n" });
  expect(stderr).toMatch(/^Note: .*device/);
});

test(
  "runs the README's program against the real filesystem server, with any form of arguments [M3]",
  { tags: "rest" },
  async () => {
    const cwd = project({ ".mcp.json": MCP_JSON, "a.txt": "", "b.txt": "" });
    const count = (call: string): string =>
      `const r = await device.FilesystemMCP.list_directory${call}; r.content.split("\\n").length`;
    const calls = ['({path: "."})', '(".")', '(path=".")'];
    const outcomes = await Promise.all(calls.map((call) => skillgate(["run", "-e", count(call), "--json"], { cwd })));
    for (const { exit, stdout } of outcomes) {
      expect(JSON.parse(stdout)).toMatchObject({ kind: "completed", value: 4 });
      expect(exit).toBe(0);
    }
  },
);

test("uses the bundled skills in a project without a folder of skills [L1]", { tags: "rest" }, async () => {
  const cwd = project();
  rmSync(join(cwd, "skills"), { recursive: true });
  expect((await skillgate(["call", "CalculatorSkill.calculate", "expression=2**10"], { cwd })).stdout).toBe("1024\n");
});

test("uses the skills of --skills, else of the settings, else of ./skills [L1]", async () => {
  const named = (name: string): string => `export class ${name}Skill { /** Name. */ name() { return "${name}"; } }\n`;
  const cwd = project({
    "given/a.js": named("Given"),
    "set/a.js": named("Set"),
    "skills/a.js": named("Usual"),
    "set.yaml": "skills: set\n",
  });
  const names = (...options: readonly string[]) => skillgate(["skills", "list", "--json", ...options], { cwd });
  const outcomes = await Promise.all([
    names(),
    names("--settings", "set.yaml"),
    names("--settings", "set.yaml", "--skills", "given"),
  ]);
  const skills = outcomes.map(({ stdout }) => JSON.parse(stdout).skills.map(({ name }: { name: string }) => name));
  expect(skills).toEqual([["UsualSkill"], ["SetSkill"], ["GivenSkill"]]);
});

test("reports a configuration problem only where it may matter [M1]", { tags: "rest" }, async () => {
  const cwd = project({ "mcp.json": "{", "skills/broken.js": "export class BrokenSkill {" });
  expect(await skillgate(["run", "-e", "1"], { cwd })).toEqual({ exit: 0, stdout: "1\n", stderr: "" });
  for (const args of [
    ["run", "-e", "1", "--verbose"],
    ["run", "-e", "device.BrokenSkill.x()"],
  ]) {
    const { stderr } = await skillgate(args, { cwd });
    const warnings = stderr.split("\n").filter((line) => line.startsWith("Warning: "));
    expect(warnings).toHaveLength(2);
    expect(warnings.join("\n")).toMatch(/mcp\.json.*broken\.js/s);
  }
});

test("reports an invalid limit on every run [M1]", { tags: "rest" }, async () => {
  const cwd = project({ "settings.yaml": "limts: {}\nlimits:\n  cpuMS: 5\n  wallMs: long\n" });
  const wrong = [
    "line 1, column 1: unknown section limts; did you mean limits?",
    "line 3, column 3: limits has the unknown setting cpuMS; did you mean cpuMs?",
    'line 4, column 3: limits.wallMs must be a whole number from 1, not "long"',
  ].map((each) => `Warning: Cannot read the configuration: settings.yaml ${each} (CONFIG_INVALID)\n`);
  expect(await skillgate(["run", "-e", "1"], { cwd })).toEqual({ exit: 0, stdout: "1\n", stderr: wrong.join("") });
  const broken = project({ "settings.yaml": "limits: [" });
  const { exit, stderr } = await skillgate(["check", "-e", "1"], { cwd: broken });
  expect(exit).toBe(0);
  expect(stderr).toMatch(/^Warning: Cannot read the configuration: settings\.yaml line 1, column \d+: .*\n$/);
});

test.each([
  ["search", "add"],
  ["search", "add", "--json"],
  ["describe", "MathSkill"],
  ["types"],
  ["call", "MathSkill.add", "a=1", "b=2"],
  ["check", "-e", "1"],
  ["skills", "list"],
  ["skills", "settings", "MathSkill"],
  ["mcp", "list"],
  ["mcp", "get", "files"],
])("%s %s warns of a section that nothing reads [M1]", { tags: "rest" }, async (...args) => {
  const cwd = project({
    "skills/math.js": MATH_SKILL,
    "settings.yaml": "# ours\npolicy: {}\n",
    "mcp.json": '{ "mcpServers": { "files": { "command": "x", "disabled": true } } }',
  });
  const { exit, stderr } = await skillgate(args, { cwd });
  expect({ exit, stderr }).toEqual({
    exit: 0,
    stderr:
      "Warning: Cannot read the configuration: settings.yaml line 2, column 1: unknown section policy; write policies/tools.yaml (CONFIG_INVALID)\n",
  });
});

test("rejects a missing folder of skills as wrong usage [L1]", async () => {
  const stderr = 'Cannot read the skills in "missing": the folder does not exist\n';
  expect(await skillgate(["run", "-e", "1", "--skills", "missing"], { cwd: project() })).toEqual({
    exit: 2,
    stdout: "",
    stderr,
  });
});

test("cuts a huge output visibly and prints it completely [S11]", { tags: "rest" }, async () => {
  const cwd = project({ "big.yaml": "limits:\n  outputBytes: 20000000\n  resultBytes: 20000000\n" });
  const code = "for (let i = 0; i < 100; i++) print('x'.repeat(99999)); 'y'.repeat(3e6)";
  const { exit, stdout } = await skillgate(["run", "-e", code, "--settings", "big.yaml"], { cwd });
  expect(exit).toBe(0);
  expect(stdout).toHaveLength(10_000_000 + 3_000_001);
  expect(stdout.endsWith("yy\n")).toBe(true);
});

test("ends quietly when the reader closes the pipe [O1]", { tags: "rest" }, async () => {
  const cwd = project({ "big.yaml": "limits:\n  outputBytes: 20000000\n" });
  writeFileSync(join(cwd, "big.js"), "for (let i = 0; i < 100; i++) print('x'.repeat(99999));");
  const reader = `"${process.execPath}" -e "process.stdin.once('data', (c) => process.exit(console.log(String(c).slice(0, 4))))"`;
  const command = `"${process.execPath}" "${BIN}" run big.js --settings big.yaml | ${reader}`;
  const child = spawn("sh", ["-c", command], { cwd, stdio: ["ignore", "pipe", "pipe"] });
  expect(await ended(child)).toEqual({ exit: 0, stdout: "xxxx\n", stderr: "" });
});

test.skipIf(!existsSync("/dev/full"))(
  "exits with a sentence when the output cannot be written [O1]",
  { tags: "rest" },
  async () => {
    const command = `"${process.execPath}" "${BIN}" run -e 1 > /dev/full`;
    const child = spawn("sh", ["-c", command], { cwd: project(), stdio: ["ignore", "pipe", "pipe"] });
    expect(await ended(child)).toEqual({
      exit: 1,
      stdout: "",
      stderr: "Cannot write the output: ENOSPC: no space left on device, write\n",
    });
  },
);
