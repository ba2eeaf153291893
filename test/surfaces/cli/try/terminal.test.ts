// @module-tag rest

import { spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { chmodSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";

import { BIN, environment, HAS_TERMINAL, MATH_SKILL, meetingPoint, project } from "../command.ts";

const SKILL = `${MATH_SKILL}
/** Sets lamps. */
export class LampSkill {
  /**
   * Set a lamp.
   * @param {string} room
   * @param {"warm" | "cold"} tone
   * @param {boolean} [isOn]
   */
  set(room, tone, isOn) { return room + " " + tone + " " + isOn; }
}
`;

/** `skillgate try` in a terminal. */
interface TryTerminal {
  /** Waits until the terminal shows the text after what was seen before, and returns all up to its end. */
  see: (text: string) => Promise<string>;
  type: (text: string) => void;
  readonly exit: Promise<number | null>;
}

function openTry(cwd: string): TryTerminal {
  const child = spawn("script", ["-qefc", `"${process.execPath}" "${BIN}" try`, "/dev/null"], {
    cwd,
    env: environment(cwd, { TERM: "xterm", NO_COLOR: "1" }),
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const changes = new EventEmitter();
  let text = "";
  let seen = 0;
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
    changes.emit("change");
  });
  const exit = once(child, "close").then(([code]) => code as number | null);
  return {
    async see(part) {
      for (;;) {
        const visible = stripVTControlCharacters(text).replaceAll("\r", "");
        const at = visible.indexOf(part, seen);
        if (at >= 0) {
          const found = visible.slice(seen, at + part.length);
          seen = at + part.length;
          return found;
        }
        const ended = await Promise.race([once(changes, "change").then(() => false), exit.then(() => true)]);
        if (ended) throw new Error(`The terminal ended without ${JSON.stringify(part)}: ${visible}`);
      }
    },
    type: (keys) => void child.stdin.write(keys),
    exit,
  };
}

async function openWithSkills() {
  const cwd = project({ "skills/math.js": SKILL, "settings.yaml": "store: { dir: state }\n" });
  const terminal = openTry(cwd);
  await terminal.see("Type .help for help\n> ");
  return { cwd, ...terminal };
}

describe.skipIf(!HAS_TERMINAL)("on a terminal", () => {
  test("continues a program while its syntax is incomplete, and shows calls as they run [O6]", async () => {
    const { see, type, exit } = await openWithSkills();
    type("[await device.MathSkill.add(1, 2),\r");
    await see("… ");
    type("4]\r");
    const shown = await see("> ");
    expect(shown).toMatch(/MathSkill\.add …\n {2}MathSkill\.add ok [\d.]+ ms\n\[3,4\]\n> $/);
    type(".exit\r");
    expect(await exit).toBe(0);
  });

  test("runs lines that are pasted together as one program [O6]", async () => {
    const { see, type, exit } = await openWithSkills();
    type("const first = 20\rfirst + 22\r");
    await see("42\n> ");
    type("\u0004");
    expect(await exit).toBe(0);
  });

  test("takes a marked paste with tabs for one program, and waits for Enter [O6]", async () => {
    const { cwd, see, type, exit } = await openWithSkills();
    type("\u001B[200~const first = 20;\r\tconst second =\t22;\rfirst +\u001B[201~");
    await see("first +");
    type(" second\r");
    await see("42\n> ");
    type(".exit\r");
    expect(await exit).toBe(0);
    const lines = readFileSync(join(cwd, "state", "try-history"), "utf8").split("\n");
    expect(lines).toEqual(["const first = 20;", "\tconst second =\t22;", "first + second", ".exit", ""]);
  });

  test("completes commands, skills, methods, parameters and values [O6]", async () => {
    const { see, type } = await openWithSkills();
    const complete = async (keys: string, line: string): Promise<void> => {
      type(`${keys}\t`);
      await see(line);
    };
    await complete("dev", "device.");
    await complete("Lam", "LampSkill.");
    await complete("se", "set(");
    await complete("{ ro", "room: ");
    await complete("'hall', to", "tone: ");
    await complete("'c", "'cold'");
    await complete(", i", "isOn: ");
    await complete("tr", "true");
    type(" })\r");
    await see("hall cold true\n> ");
    await complete(".desc", ".describe ");
    await complete("LampSkill.s", "LampSkill.set");
    type("\r");
    await see("Set a lamp.");
  });

  test("stops the program at Ctrl-C, and ends at the second one [O6]", async () => {
    const { cwd, see, type, exit } = await openWithSkills();
    const { path, next } = await meetingPoint(cwd);
    type(`await device.MathSkill.wait(${JSON.stringify(path)})\r`);
    await next();
    type("\u0003");
    await see("CANCELLED");
    await see("> ");
    type("half a line\u0003");
    await see("> ");
    type("(1 +\r");
    await see("… ");
    type("\u0003");
    await see("> ");
    type("\u0003");
    await see("Press Ctrl-C again to leave, or type .exit\n> ");
    type("\u0003");
    expect(await exit).toBe(130);
  });

  test("asks for an approval, and keeps the answer out of the history [O6]", async () => {
    const { cwd, see, type, exit } = await openWithSkills();
    type("device.MathSkill.pay('Ada', 5)\r");
    await see("Allow this call? [y/N] ");
    type("y\r");
    await see("paid 5 to Ada\n> ");
    type("\u001b[A");
    await see("device.MathSkill.pay('Ada', 5)");
    type("\u0003");
    await see("> ");
    type("'ghp_0123456789abcdefghijABCDEFGHIJ012345'\r");
    await see("> ");
    type(".exit\r");
    expect(await exit).toBe(0);
    const file = join(cwd, "state", "try-history");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, "utf8")).toBe("device.MathSkill.pay('Ada', 5)\n'[redacted]'\n.exit\n");
    chmodSync(file, 0o644);
    const again = openTry(cwd);
    await again.see("Type .help for help\n> ");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    again.type("\u001b[A\u001b[A\u001b[A");
    await again.see("device.MathSkill.pay('Ada', 5)");
  });
});
