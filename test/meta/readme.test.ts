import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { DEFAULT_LIMITS } from "../../src/model/limits.ts";
import { DEFAULT_TIMEOUTS } from "../../src/model/timeouts.ts";
import { EXIT_CODES } from "../../src/surfaces/cli/exit-codes.ts";
import { createProgram } from "../../src/surfaces/cli/program.ts";
import { getShownCommands } from "../../src/surfaces/cli/usage-error.ts";

const README = readFileSync("README.md", "utf8");

test("runs the first program of the README with a skill and a real MCP server on `npm start`", { tags: "rest" }, () => {
  const { status, stdout, stderr } = start();
  expect(status, stderr).toBe(0);
  expect(stdout).toContain(' 1  const files = ["README.md", "CHANGELOG.md", "LICENSE"];');
  expect(stdout.match(/FilesystemMCP\.read_text_file +ok/g)).toHaveLength(3);
  expect(stdout).toMatch(/CalculatorSkill\.calculate +ok/);
  const words = ["README.md", "CHANGELOG.md", "LICENSE"].map((file) => readFileSync(file, "utf8").split(/\s+/).length);
  expect(stdout).toContain(`README.md has ${words[0]} words`);
  expect(stdout).toContain(`Its result\n\n  ${Math.round(words.reduce((sum, count) => sum + count, 0) / 3)}\n`);
  expect(stdout).not.toContain("\u001B");
});

test("passes arguments, output and exit code of `npm start -- …` on to the command line", { tags: "rest" }, () => {
  const completed = start("run", "-e", "1 + 1", "--json");
  expect(completed.status).toBe(0);
  expect(JSON.parse(completed.stdout)).toMatchObject({ kind: "completed", value: 2 });
  expect(start("run", "-e", "process.exit(0)", "--json").status).toBe(3);
});

test("refuses the README's second program with the text that follows it", { tags: "rest" }, () => {
  const [, program = "", text] = /## A refused program.*?```js\n(.*?)```.*?```text\n(.*?)```/s.exec(README) ?? [];
  const file = join(".cache", `refused-${process.pid}.js`);
  mkdirSync(".cache", { recursive: true });
  writeFileSync(file, program);
  try {
    expect(start("run", file)).toMatchObject({ status: 3, stdout: "", stderr: text });
  } finally {
    rmSync(file);
  }
});

test("prints the documented output of the README's library example", { tags: "rest" }, () => {
  const [, example = ""] = /## Use it as a library.*?```js\n(.*?)```/s.exec(README) ?? [];
  const file = join(".cache", `readme-${process.pid}.mjs`);
  mkdirSync(".cache", { recursive: true });
  writeFileSync(file, example);
  try {
    const { stdout, stderr } = spawnSync(process.execPath, [file], { encoding: "utf8" });
    expect({ stdout, stderr }).toEqual({ stdout: "5\n", stderr: "" });
  } finally {
    rmSync(file);
  }
});

test("shows in the README the agent of docs/agents.md, which a test runs", () => {
  const [, agent = ""] = /## Write your own agent.*?```js\n(.*?)```/s.exec(README) ?? [];
  expect(agent).toContain("createAgent(");
  expect(readFileSync("docs/agents.md", "utf8")).toContain(agent);
});

test("lists the default limits and timeouts in docs/limits.md", () => {
  const rows = [...readFileSync("docs/limits.md", "utf8").matchAll(/^\| `(\w+)` +\| ([\d ]+?) +\|/gm)];
  const limits = rows.map(([, name, amount = ""]) => [name, Number(amount.replaceAll(" ", ""))]);
  expect(Object.fromEntries(limits)).toEqual({ ...DEFAULT_LIMITS, ...DEFAULT_TIMEOUTS });
});

test("lists every command and every exit code in docs/cli.md", () => {
  const page = readFileSync("docs/cli.md", "utf8");
  const listed = new Set([...page.matchAll(/\b(?<=skillgate )[a-z]+|\bdisconnect\b/g)].map(([name]) => name));
  const commands = getShownCommands(createProgram(() => async () => {})).map((command) => command.name());
  expect(commands.filter((name) => !listed.has(name))).toEqual([]);
  const rows = [...page.matchAll(/^\| +(\d+) \| (.+?) +\|$/gm)].map(([, code, says]) => ({ code: Number(code), says }));
  expect(rows).toEqual(Object.values(EXIT_CODES));
});

function start(...args: readonly string[]) {
  return spawnSync(process.execPath, ["scripts/start.mjs", ...args], { encoding: "utf8" });
}
