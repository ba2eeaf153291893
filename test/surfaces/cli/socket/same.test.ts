// @module-tag rest

import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
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
  start,
} from "../command.ts";
import { serveProject, WHERE_SKILL } from "./served-project.ts";

/** Ids and times, which differ between two runs. */
function withoutIds(text: string): string {
  return text
    .replaceAll(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g, "RUN")
    .replaceAll(/\b([Rr]equests?|show|approve) [a-z\d]{10}\b/g, "$1 ID")
    .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, "TIME")
    .replaceAll(/approval(\W+)[a-z\d]{10}\b/g, "approval$1ID")
    .replaceAll(/\b(\w{1,20}Ms|memoryBytes)(\W+)[\d.]+/g, "$1$2N")
    .replaceAll(/\d[\d.,]* (ms|s|MiB)\b/g, "0 $1");
}

const COMMANDS: readonly (readonly string[])[] = [
  ["call", "MathSkill.repeat", "text=@words.txt", "times=2", "--json"],
  ["call", "MathSkill"],
  ["call", "MathSkill.fail", "why=no luck"],
  ["call", "MathSkill.late"],
  ["call", "MathSkill.pay", "name=Ada", "amount=5"],
  ["run", "-e", "print('one'); ({ a: [1, null], when: new Date(0), bytes: new Uint8Array([1]) })", "--json"],
  ["run", "-e", 'device.MathSkill.repeat("x", 300000)'],
  ["run", "-e", 'print("first"); device.MathSkill.fail("no luck")', "--trace"],
  ["run", "-e", 'device.MathSkill.ad("Ada", 5)'],
  ["run", "-e", 'device.MathSkill.pay("Ada", 5)'],
  ["run", "-e", 'device.MathSkill.pay("Ada", 5)', "--yes", "--json"],
  ["run", "-e", "for (;;) {}", "--timeout", "300"],
  ["run", "--continue", "nothing", "-e", "1"],
];

test("prints and exits as a command with its own runtime does [O7]", { timeout: 180_000 }, async () => {
  const cwd = project({ "skills/math.js": MATH_SKILL, "words.txt": "from a file\n" });
  const { skillgate } = await serveProject(cwd);
  for (const command of COMMANDS) {
    const ends = await Promise.all([skillgate([...command, "--no-socket"]), skillgate(command)]);
    const [own, served] = ends.map((end) => withoutIds(JSON.stringify(end)));
    expect(served, command.join(" ")).toBe(own);
  }
});

test("warns of problems of the configuration as a command with its own runtime does [O7]", async () => {
  const cwd = project({
    "skills/math.js": MATH_SKILL,
    "skills/broken.js": "export class {",
    "settings.yaml": "limit: 1\n",
  });
  const { skillgate } = await serveProject(cwd);
  for (const more of [[], ["--verbose"]]) {
    const own = await skillgate(["run", "-e", "device.MathSkill.add(1, 2)", "--no-socket", ...more]);
    expect(own.stderr).toContain("settings.yaml");
    expect(await skillgate(["run", "-e", "device.MathSkill.add(1, 2)", ...more])).toEqual(own);
  }
});

test("ends the run in the server with the command, and says what has ended the command [O7]", async () => {
  const cwd = project({ "skills/where.js": WHERE_SKILL });
  await serveProject(cwd);
  const { path, next } = await meetingPoint(cwd);
  const run = ["run", "-e", `await device.WhereSkill.wait(${JSON.stringify(path)})`];
  const call = ["call", "WhereSkill.wait", `path=${path}`];
  for (const [args, signal, exit, stderr] of [
    [run, "SIGINT", 130, "Interrupted\n"],
    [run, "SIGTERM", 143, "Terminated\n"],
    [call, "SIGINT", 130, "Interrupted\n"],
    [call, "SIGKILL", null, ""],
  ] as const) {
    const child = start(args, { cwd });
    const outcome = ended(child);
    const begun = await next();
    child.kill(signal);
    expect(await outcome, `${args[0]} ${signal}`).toEqual({ exit, stdout: "", stderr });
    await begun.ended;
  }
});

test("says that calls may have been made if the server ends before the command [O7]", async () => {
  const cwd = project({ "skills/where.js": WHERE_SKILL });
  const { server } = await serveProject(cwd);
  const { path, next } = await meetingPoint(cwd);
  const outcome = ended(start(["call", "WhereSkill.wait", `path=${path}`], { cwd }));
  await next();
  server.kill("SIGKILL");
  const { exit, stdout, stderr } = await outcome;
  expect({ exit, stdout }).toEqual({ exit: 1, stdout: "" });
  expect(stderr).toBe(
    'Cannot use a closed runtime: "skillgate serve" has ended, and calls may have been made (RUNTIME_CLOSED)\n' +
      "See what was called with: skillgate audit list. Then run the command again\n",
  );
});

describe.skipIf(!HAS_TERMINAL)("on a terminal", () => {
  async function inTerminal(args: string, cwd: string, answer = ""): Promise<string> {
    const child = spawn("script", ["-qefc", `"${process.execPath}" "${BIN}" ${args}`, "/dev/null"], {
      cwd,
      env: environment(cwd, { TERM: "xterm" }),
    });
    let shown = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      shown += chunk;
      if (chunk.includes("[y/N]")) child.stdin.write(answer);
    });
    await new Promise((resolve) => child.on("close", resolve));
    return shown;
  }

  test("shows live output and progress [O7]", async () => {
    const cwd = project({ "skills/where.js": WHERE_SKILL });
    await serveProject(cwd);
    for (const args of ["call WhereSkill.talk", 'run -e "device.WhereSkill.talk()"']) {
      const own = await inTerminal(`${args} --no-socket`, cwd);
      expect(own).toContain("one");
      expect(own).toContain("WhereSkill.talk 1/2 half");
      expect(await inTerminal(args, cwd)).toBe(own);
    }
  });

  test("asks for an approval, and takes the answer [O7]", async () => {
    const cwd = project({ "skills/math.js": MATH_SKILL });
    await serveProject(cwd);
    const call = "call MathSkill.pay name=Ada amount=5";
    const run = `run -e "device.MathSkill.pay('Ada', 5)"`;
    for (const [args, answer, text] of [
      [call, "y", "paid 5 to Ada"],
      [run, "y", "paid 5 to Ada"],
      [call, "n", "was denied"],
      [run, "n", "was denied"],
      [run, "run", "paid 5 to Ada"],
    ] as const) {
      const own = withoutIds(await inTerminal(`${args} --no-socket`, cwd, `${answer}\n`));
      expect(own).toContain(text);
      expect(withoutIds(await inTerminal(args, cwd, `${answer}\n`))).toBe(own);
    }
  });

  test("shows the paths of this machine in an error of an MCP server [O7]", async () => {
    const cwd = project({ ".mcp.json": MCP_JSON });
    writeFileSync(join(cwd, "..", "outside.txt"), "");
    await serveProject(cwd);
    const args = `call FilesystemMCP.read_text_file path=${join(cwd, "..", "outside.txt")}`;
    expect(await inTerminal(args, cwd)).toContain(`not in ${cwd}`);
  });
});
