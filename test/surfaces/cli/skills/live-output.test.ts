import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";

import { describe, expect, test } from "vitest";

import { BIN, environment, HAS_TERMINAL, project, skillgate } from "../command.ts";

const TALKING = `export async function talk(context: CallContext): Promise<string> {
  console.log("one", { two: 2 }, "\\u001b[2Jthree\\nfour");
  context.progress(1, 3, "first\\u001b[2J");
  console.error("five");
  return "done";
}
export const drop = (): void => { void Promise.reject(new RangeError("nobody waits")); };
`;

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
});

test("prints only the result where the output is no terminal [L3]", async () => {
  const ended = await skillgate(["call", "TalkSkill.talk"], { cwd: project({ "skills/talk.ts": TALKING }) });
  expect(ended).toEqual({ exit: 0, stdout: "done\n", stderr: "" });
});
