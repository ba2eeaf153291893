import { spawn } from "node:child_process";
import { describe, expect, test } from "vitest";

import { BIN, environment, HAS_TERMINAL, MATH_SKILL, project, skillgate } from "./command.ts";

/** Runs the command in a terminal of its own; stdout and stderr are one there. Types `answer` or calls `onQuestion` when asked. */
async function inTerminal(
  args: string,
  cwd: string,
  { answer = "", env = {}, onQuestion = (): void => {} } = {},
): Promise<{ exit: number; shown: string }> {
  const command = `"${process.execPath}" "${BIN}" ${args}`;
  const child = spawn("script", ["-qefc", command, "/dev/null"], {
    cwd,
    env: environment(cwd, { TERM: "xterm", ...env }),
  });
  let shown = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    shown += chunk;
    if (!chunk.includes("[y/N]")) return;
    child.stdin.write(answer);
    onQuestion();
  });
  const exit = await new Promise<number>((resolve) => child.on("close", (code) => resolve(code ?? -1)));
  return { exit, shown: shown.replaceAll("\r\n", "\n") };
}

const red = (text: string): string => `\u001B[31m${text}\u001B[39m`;

test("prints no colours without a terminal [O1]", async () => {
  const { stderr } = await skillgate(["run", "-e", "throw new Error('x')"], {
    cwd: project(),
    env: { FORCE_COLOR: "1" },
  });
  expect(stderr).toContain("Error: x");
  expect(stderr).not.toContain("\u001B");
});

describe.skipIf(!HAS_TERMINAL)("on a terminal", () => {
  test("prints colours, unless NO_COLOR is set [O1]", { tags: "rest" }, async () => {
    const cwd = project();
    expect((await inTerminal("run missing.js", cwd)).shown).toBe(
      `${red('Cannot read "missing.js": it does not exist')}\n`,
    );
    const plain = await inTerminal("run missing.js", cwd, { env: { NO_COLOR: "1" } });
    expect(plain).toEqual({ exit: 2, shown: 'Cannot read "missing.js": it does not exist\n' });
  });

  test("does not wait for a program on a terminal's stdin, except with - [O1]", { tags: "rest" }, async () => {
    const { exit, shown } = await inTerminal("run", project(), { env: { NO_COLOR: "1" } });
    expect({ exit, shown }).toEqual({
      exit: 2,
      shown: "A program is missing: give a file, - for standard input, or -e with the code\n",
    });
  });

  test("removes terminal controls from what a program prints [P9]", { tags: "rest" }, async () => {
    const { shown } = await inTerminal(`run -e "print('a\\u001b[2J\\u202eb\\tc')"`, project());
    expect(shown).toBe("a\\u001b[2J\\u202eb\tc\n");
  });

  test.each([
    ["y\n", 0, "paid 5 to Ada\n"],
    ["YES\n", 0, "paid 5 to Ada\n"],
    ["\n", 4, "APPROVAL_MISSING"],
    ["no\n", 4, "APPROVAL_MISSING"],
    ["\u0004", 4, "APPROVAL_MISSING"],
    ["\u0003", 130, ""],
  ])("asks the user for an approval, who answers %j [P6]", { tags: "rest" }, async (answer, exit, says) => {
    const cwd = project({ "skills/math.js": MATH_SKILL });
    const outcome = await inTerminal(`call MathSkill.pay name=Ada amount=5`, cwd, { answer });
    expect(outcome.shown).toContain(
      '"owner" asks to call MathSkill.pay with\n{\n  "name": "Ada",\n  "amount": 5\n}\n  Pay somebody.\n',
    );
    expect(outcome.exit).toBe(exit);
    expect(outcome.shown).toContain(says);
  });

  test(
    "closes the question when another process answers it, and says who has answered [P6]",
    { tags: "rest" },
    async () => {
      const cwd = project({ "skills/math.js": MATH_SKILL, "settings.yaml": "store: { dir: state }\n" });
      const answered: Promise<unknown>[] = [];
      const approve = async (): Promise<void> => {
        const { stdout } = await skillgate(["approvals", "list", "--json"], { cwd });
        const [question] = (JSON.parse(stdout) as { approvals: readonly { id: string }[] }).approvals;
        await skillgate(["approvals", "approve", question?.id ?? ""], { cwd });
      };
      const onQuestion = (): void => void answered.push(approve());
      const env = { NO_COLOR: "1" };
      const { exit, shown } = await inTerminal(`call MathSkill.pay name=Ada amount=5`, cwd, { env, onQuestion });
      await Promise.all(answered);
      expect(shown).toContain('Allow this call? [y/N] \nThe request was approved by "owner"\npaid 5 to Ada\n');
      expect(exit).toBe(0);
      expect(answered).toHaveLength(1);
    },
  );

  test("asks for several calls one after the other, each with its exact arguments [P6]", { tags: "rest" }, async () => {
    const cwd = project({ "skills/math.js": MATH_SKILL });
    const code = "await Promise.all(['A\\u202eda', 'Bob'].map((name) => device.MathSkill.pay(name, 1)))";
    const { exit, shown } = await inTerminal(`run -e "${code}"`, cwd, { answer: "y\n" });
    expect(exit).toBe(0);
    expect(shown.match(/Allow this call\?/g)).toHaveLength(2);
    expect(shown).toContain('"name": "A\\u202eda"');
  });
});
