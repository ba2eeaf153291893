import { expect, test } from "vitest";

import { MATH_SKILL, MCP_JSON, project, skillgate } from "./command.ts";

test("finds methods of skills and of MCP servers by words [D2]", { tags: "rest" }, async () => {
  const cwd = project({ "skills/math.js": MATH_SKILL, ".mcp.json": MCP_JSON });
  const outcomes = await Promise.all([
    skillgate(["search", "add numbers", "--limit", "1"], { cwd }),
    skillgate(["search", "list", "directory", "--json"], { cwd }),
  ]);
  const [words, json] = outcomes;
  expect({ exit: words.exit, stderr: words.stderr }).toEqual({ exit: 0, stderr: "" });
  expect(words.stdout).toMatch(
    /^Found \d+ result\(s\):\n- MathSkill\.add.*\n\.\.\. and \d+ more: search again with offset 1\n$/,
  );
  expect({ exit: json.exit, stderr: json.stderr }).toEqual({ exit: 0, stderr: "" });
  const answer = JSON.parse(json.stdout);
  expect(answer.text).toMatch(/^Found \d+ result\(s\):/);
  expect(answer.results[0]).toEqual({
    path: "FilesystemMCP.list_directory",
    signature: expect.stringContaining("list_directory("),
    summary: expect.any(String),
    score: expect.any(Number),
  });
});

test(
  "shows the scores with search --explain, and shortens the answer with --max-tokens [D2]",
  { tags: "rest" },
  async () => {
    const cwd = project({ "skills/math.js": MATH_SKILL });
    const explained = await skillgate(["search", "add numbers", "--limit", "1", "--explain"], { cwd });
    expect({ exit: explained.exit, stderr: explained.stderr }).toEqual({ exit: 0, stderr: "" });
    expect(explained.stdout).toMatch(/^- MathSkill\.add\(.* \[[01]\.\d\d: .*\badd 0\.\d\d/m);
    const { stdout } = await skillgate(["search", "math", "--max-tokens", "20"], { cwd });
    expect(stdout).toMatch(/^Found \d result\(s\):\n- MathSkill\.\w+\n/);
  },
);

test("reports a search without results [D2]", { tags: "rest" }, async () => {
  const { exit, stdout } = await skillgate(["search", "qwertyuiop"], {
    cwd: project({ "skills/math.js": MATH_SKILL }),
  });
  expect(exit).toBe(0);
  expect(stdout).toMatch(/^No results found/);
});

test("applies search --limit, and lists all methods without words [D2]", { tags: "rest" }, async () => {
  const cwd = project({ "skills/math.js": MATH_SKILL });
  const paths = async (...args: readonly string[]): Promise<readonly string[]> => {
    const { stdout } = await skillgate(["search", "--json", ...args], { cwd });
    return JSON.parse(stdout).results.map(({ path }: { path: string }) => path);
  };
  expect(await paths("--limit", "3")).toHaveLength(3);
  const all = await paths("--limit", "50");
  expect(all).toHaveLength(7);
  expect(await paths("--limit", "3", "--offset", "0")).toEqual(all.slice(0, 3));
  expect(await paths("--limit", "3", "--offset", "3")).toEqual(all.slice(3, 6));
  const { stdout } = await skillgate(["search", "--limit", "3", "--offset", "3"], { cwd });
  expect(stdout).toMatch(
    /^Found 7 result\(s\), starting with number 4:\n(?:- .*\n){3}\.\.\. and 1 more: search again with offset 6\n$/,
  );
});

test(
  "searches all methods in a program, even if their servers were not opened by another call [D1]",
  { tags: "rest" },
  async () => {
    const cwd = project({ "skills/math.js": MATH_SKILL, ".mcp.json": MCP_JSON });
    const source = `print(await device.search_skills("add numbers", 1)); await device.describe("FilesystemMCP.list_directory")`;
    const { exit, stdout } = await skillgate(["run", "-e", source, "--json"], { cwd });
    expect(exit).toBe(0);
    const { value, output, usage } = JSON.parse(stdout);
    expect(output).toMatch(/^Found \d+ result\(s\):\n- MathSkill\.add\(/);
    expect(value).toMatch(/^device\.FilesystemMCP\.list_directory\n/);
    expect(usage.calls).toBe(0);
  },
);

test("describes a method with its types and an example [D3]", async () => {
  const cwd = project({ "skills/math.js": MATH_SKILL });
  const { exit, stdout, stderr } = await skillgate(["describe", "MathSkill.pay"], { cwd });
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
  expect(stdout).toMatch(/^device\.MathSkill\.pay\n/);
  expect(stdout).toContain("pay(name: string, amount: number): Promise<string>");
  expect(stdout).toContain("Form: ");
  expect(stdout).toContain("Note: Needs the approval of the user for each call");
});

test("prints the description as an object with describe --json [D3]", { tags: "rest" }, async () => {
  const cwd = project({ ".mcp.json": MCP_JSON });
  const { exit, stdout } = await skillgate(["describe", "FilesystemMCP.read_text_file", "--json"], { cwd });
  expect(exit).toBe(0);
  expect(JSON.parse(stdout)).toEqual({
    kind: "method",
    path: "FilesystemMCP.read_text_file",
    methods: ["FilesystemMCP.read_text_file"],
    declaration: expect.stringContaining("read_text_file("),
    example: expect.stringContaining("device.FilesystemMCP.read_text_file("),
    notes: expect.any(Array),
    suggestions: [],
    text: expect.stringContaining("device.FilesystemMCP.read_text_file\n"),
  });
});

test("describes several paths [D3]", { tags: "rest" }, async () => {
  const cwd = project({ "skills/math.js": MATH_SKILL });
  const { exit, stdout } = await skillgate(["describe", "MathSkill.add", "MathSkill.repeat"], { cwd });
  expect(exit).toBe(0);
  expect(stdout).toMatch(/device\.MathSkill\.add\n.*device\.MathSkill\.repeat\n/s);
});

test.each([
  ["MathSkill.ad", "METHOD_UNKNOWN", "Error: Method 'ad' not found in MathSkill; did you mean add?", ["add"]],
  ["MathSkil.add", "SKILL_UNKNOWN", "Error: Skill 'MathSkil' not found; did you mean MathSkill?", ["MathSkill"]],
  ["Foo", "SKILL_UNKNOWN", "Error: Invalid path 'Foo'. Use format 'SkillName.method_name'", []],
])(
  "exits with 5 for unknown paths, with the nearest names: %s [D3]",
  { tags: "rest" },
  async (path, code, message, suggestions) => {
    const cwd = project({ "skills/math.js": MATH_SKILL });
    const person = await skillgate(["describe", path], { cwd });
    expect({ exit: person.exit, stdout: person.stdout }).toEqual({ exit: 5, stdout: "" });
    expect(person.stderr.startsWith(`${message}\n`)).toBe(true);
    const { exit, stdout, stderr } = await skillgate(["describe", path, "--json"], { cwd });
    expect({ exit, stderr }).toEqual({ exit: 5, stderr: "" });
    expect(JSON.parse(stdout)).toMatchObject({ error: { code, message, path, suggestions } });
  },
);

test("exits with 6 for a skill whose server is down, with the server's failure [M3]", { tags: "rest" }, async () => {
  const servers = { down: { command: "no-such-command-anywhere" }, off: { command: "x", enabled: false } };
  const cwd = project({ "mcp.json": JSON.stringify({ mcpServers: servers }) });
  const outcomes = await Promise.all([
    skillgate(["describe", "DownMCP.read"], { cwd }),
    skillgate(["types", "DownMCP"], { cwd }),
    skillgate(["call", "DownMCP.read"], { cwd }),
    skillgate(["call", "OffMCP.read"], { cwd }),
  ]);
  expect(outcomes.map(({ exit, stdout }) => [exit, stdout])).toEqual(outcomes.map(() => [6, ""]));
  const down =
    'Cannot start the MCP server: "down" cannot be started, the command "no-such-command-anywhere" does not exist (SERVER_FAILED)';
  expect(outcomes.map(({ stderr }) => stderr.split("\n")[0])).toEqual([down, down, down, "Skill 'OffMCP' is disabled"]);
});

test("prints with types the declarations of all skills, or of the named ones [D5]", { tags: "rest" }, async () => {
  const cwd = project({ "skills/math.js": MATH_SKILL, "skills/other.js": "export class OtherSkill { go() {} }" });
  const [all, one, json] = await Promise.all([
    skillgate(["types"], { cwd }),
    skillgate(["types", "OtherSkill"], { cwd }),
    skillgate(["types", "MathSkill", "--json"], { cwd }),
  ]);
  expect(all.stdout).toMatch(/declare const device: \{.*MathSkill: \{.*OtherSkill: \{/s);
  expect(one.stdout).not.toContain("MathSkill");
  expect(JSON.parse(json.stdout)).toEqual({ declarations: expect.stringContaining("add(a: number, b: number)") });
  const unknown = await skillgate(["types", "MathSkil", "--json"], { cwd });
  expect(unknown.exit).toBe(5);
  expect(JSON.parse(unknown.stdout)).toMatchObject({ error: { code: "SKILL_UNKNOWN", suggestions: ["MathSkill"] } });
});
