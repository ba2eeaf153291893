import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { project, runProcess, skillgate } from "./command.ts";

const HOW_TO_RUN = "to run a program, write skillgate run file.js, or skillgate run -e with the code";

test.each([
  [["--jsn"], "Unknown option: --jsn; did you mean --json?"],
  [["run", "--timout", "5"], "Unknown option: --timout; did you mean --timeout?"],
  [["search", "--limt=5"], "Unknown option: --limt; did you mean --limit?"],
  [["rn"], "Unknown command: rn; did you mean run?"],
  [["chekc"], "Unknown command: chekc; did you mean check?"],
  [["list"], "Unknown command: list; did you mean mcp list, keys list or runs list?"],
  [["mcp", "tset"], "Unknown command: tset; did you mean test?"],
  [["device.TimeSkill.get_time()"], `Unknown command: device.TimeSkill.get_time(); ${HOW_TO_RUN}`],
  [["program.ts"], `Unknown command: program.ts; ${HOW_TO_RUN}`],
  [["-e", "1 + 1"], `Unknown option: -e; ${HOW_TO_RUN}`],
  [["frobnicate"], "Unknown command: frobnicate; see skillgate --help"],
  [["run", "-x"], "Unknown option: -x; see skillgate run --help"],
  [["run", "a.js", "b.js"], "Too many arguments for 'run'. Expected 1 argument but got 2; see skillgate run --help"],
  [["describe"], "Missing required argument 'paths'; see skillgate describe --help"],
  [["search", "--limit"], "Option '--limit <n>' argument missing; see skillgate search --help"],
  [
    ["search", "--limit", "0"],
    "Option '--limit <n>' argument '0' is invalid. It must be a whole number from 1 to 2147483647; see skillgate search --help",
  ],
  [["rnu", "--help"], "Unknown command: rnu; did you mean run?"],
  [["mcp", "tset", "-h"], "Unknown command: tset; did you mean test?"],
  [["help", "rnu"], "Unknown command: rnu; did you mean run?"],
  [["mcp", "help", "tset"], "Unknown command: tset; did you mean test?"],
  [
    ["run", "--timeout", "9999999999"],
    "Option '--timeout <ms>' argument '9999999999' is invalid. It must be a whole number from 1 to 2147483647; see skillgate run --help",
  ],
  [
    ["run", "--timeout", "1s"],
    "Option '--timeout <ms>' argument '1s' is invalid. It must be a whole number from 1 to 2147483647; see skillgate run --help",
  ],
])("rejects %j as wrong usage, with a suggestion [O1]", async (args, says) => {
  expect(await skillgate(args, { cwd: project() })).toEqual({ exit: 2, stdout: "", stderr: `${says}\n` });
});

test("prints wrong usage as an object on stdout with --json [O1]", async () => {
  const { exit, stdout, stderr } = await skillgate(["serch", "--json"], { cwd: project() });
  expect({ exit, stderr }).toEqual({ exit: 2, stderr: "" });
  expect(JSON.parse(stdout)).toEqual({
    error: { code: "USAGE", message: "Unknown command: serch; did you mean search?", suggestions: ["search"] },
  });
});

test("shows the help of a group without a command on stderr [O1]", async () => {
  const { exit, stdout, stderr } = await skillgate(["mcp"], { cwd: project() });
  expect({ exit, stdout }).toEqual({ exit: 2, stdout: "" });
  expect(stderr).toMatch(/^Usage: skillgate mcp .*A command is missing; see skillgate mcp --help\n$/s);
});

test("names every command and every exit code in the help [O1]", async () => {
  const { exit, stdout, stderr } = await skillgate(["--help"], { cwd: project() });
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
  const names = ["run", "check", "search", "describe", "types", "call", "mcp", "skills", "doctor"];
  for (const name of names) expect(stdout).toMatch(new RegExp(`^  ${name}\\b`, "m"));
  const codes = stdout.slice(stdout.indexOf("Exit codes:")).match(/^ +\d+(?= )/gm) ?? [];
  expect(codes.map(Number)).toEqual([0, 1, 2, 3, 4, 5, 6, 124, 129, 130, 143]);
});

test("shows the global options in the help of a command [O1]", async () => {
  const { exit, stdout } = await skillgate(["help", "run"], { cwd: project() });
  expect(exit).toBe(0);
  for (const option of ["-e, --eval <code>", "--timeout <ms>", "--trace", "--json", "--mcp-config <file>"])
    expect(stdout).toContain(option);
});

test("prints help and version without loading the runtime [O1]", { tags: "rest" }, async () => {
  const cwd = project({
    "hook.mjs": 'import { register } from "node:module"; register("./loader.mjs", import.meta.url);',
    "loader.mjs": `import { appendFileSync } from "node:fs";
      export async function resolve(specifier, context, next) {
        const found = await next(specifier, context);
        appendFileSync("loaded.txt", found.url + "\\n");
        return found;
      }`,
  });
  const env = { NODE_OPTIONS: "--import ./hook.mjs" };
  const loaded = async (...args: readonly string[]): Promise<string> => {
    expect((await runProcess(args, { cwd, env })).exit).toBe(0);
    return readFileSync(join(cwd, "loaded.txt"), "utf8");
  };
  const light = `${await loaded("--help")}${await loaded("--version")}`;
  expect(light).toContain("dist/src/bin.js");
  expect(light).not.toMatch(/dist\/lib\/runtime-|dist\/sandbox\/index|acorn|modelcontextprotocol/);
  expect(await loaded("run", "-e", "1")).toMatch(/dist\/lib\/runtime-.*dist\/sandbox\/index/s);
});

test.each([
  ["--settings", "nowhere.yaml", "Cannot read the configuration: nowhere.yaml: it does not exist (CONFIG_INVALID)"],
  ["--mcp-config", "nowhere.json", "Cannot read the configuration: nowhere.json: it does not exist (CONFIG_INVALID)"],
])("requires that a file named by %s exists [M1]", async (option, file, says) => {
  const { exit, stdout, stderr } = await skillgate(["run", "-e", "1", option, file], { cwd: project() });
  expect({ exit, stdout }).toEqual({ exit: 2, stdout: "" });
  expect(stderr.split("\n")[0]).toBe(says);
});

test("reports the position of the mistake in a named file with --json [M1]", async () => {
  const cwd = project({ "servers.json": '{"mcpServers": {\n  "a": }}' });
  const { exit, stdout, stderr } = await skillgate(["run", "-e", "1", "--mcp-config", "servers.json", "--json"], {
    cwd,
  });
  expect({ exit, stderr }).toEqual({ exit: 2, stderr: "" });
  expect(JSON.parse(stdout)).toMatchObject({ error: { code: "CONFIG_INVALID", file: "servers.json", line: 2 } });
});
