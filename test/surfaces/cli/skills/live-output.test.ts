import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { text } from "node:stream/consumers";

import { describe, expect, test } from "vitest";

import { BIN, environment, HAS_TERMINAL, project, skillgate } from "../command.ts";

const TALKING = `export async function talk(context: CallContext): Promise<string> {
  console.log("one", { two: 2 }, "\\u001b[2Jthree\\nfour");
  context.progress(1, 3, "first\\u001b[2J");
  console.error("five");
  return "done";
}
export const drop = (): void => { void Promise.reject(new RangeError("not awaited")); };
`;

const ODD_SERVER = JSON.stringify({
  mcpServers: { odd: { command: process.execPath, args: [resolve("test/fixtures/mcp/server.js")] } },
});

async function inTerminal(args: string, cwd: string): Promise<string> {
  const child = spawn("script", ["-qefc", `"${process.execPath}" "${BIN}" ${args}`, "/dev/null"], {
    cwd,
    env: environment(cwd, { TERM: "xterm", NO_COLOR: "1" }),
    stdio: ["ignore", "pipe", "inherit"],
  });
  return (await text(child.stdout)).replaceAll("\r\n", "\n");
}

describe.skipIf(!HAS_TERMINAL)("on a terminal", () => {
  test.each(["call TalkSkill.talk", 'run -e "device.TalkSkill.talk()"'])(
    "%s shows what a skill prints, and its progress in one line [L3, P9]",
    { tags: "rest" },
    async (args) => {
      const shown = await inTerminal(args, project({ "skills/talk.ts": TALKING }));
      const erase = "\r\u001B[2K";
      const progress = `${erase}TalkSkill.talk 1/3 first\\u001b[2J${erase}`;
      expect(shown).toBe(
        [
          "TalkSkill.talk: one { two: 2 } \\u001b[2Jthree\n",
          "TalkSkill.talk: four\n",
          `${progress}TalkSkill.talk: five\n`,
          "done\n",
        ].join(""),
      );
    },
  );

  test.each(["call OddMCP.log", 'run -e "device.OddMCP.log()"'])(
    "%s shows what an MCP server logs, with the name of the method [M9]",
    { tags: "rest" },
    async (args) => {
      const shown = await inTerminal(args, project({ ".mcp.json": ODD_SERVER }));
      expect(shown).toBe("OddMCP.log: disk is almost full\nlogged\n");
    },
  );

  test("shows the progress of an MCP server in one line [M9]", { tags: "rest" }, async () => {
    const shown = await inTerminal("call OddMCP.progress", project({ ".mcp.json": ODD_SERVER }));
    const erase = "\r\u001B[2K";
    expect(shown).toBe(`${erase}OddMCP.progress 1/2 step 1${erase}OddMCP.progress 2/2 step 2${erase}done\n`);
  });
});

test("names the skill and its file in the log of a failure outside of a call [L3]", { tags: "rest" }, async () => {
  const cwd = project({ "skills/talk.ts": TALKING });
  const { stderr } = await skillgate(["call", "TalkSkill.drop", "--verbose"], { cwd });
  expect(stderr).toMatch(/^error TalkSkill \(talk\.ts\) failed outside of any call: RangeError: not awaited/m);
});

test("prints only the result where the output is no terminal [L3]", async () => {
  const ended = await skillgate(["call", "TalkSkill.talk"], { cwd: project({ "skills/talk.ts": TALKING }) });
  expect(ended).toEqual({ exit: 0, stdout: "done\n", stderr: "" });
});
