import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

import { ended, project, skillgate, start } from "../command.ts";

const createSkill = (factor: number): string => `
/** Numbers. */
export class NumberSkill {
  /**
   * Multiply a number.
   * @param {number} n
   * @returns {number}
   * @example device.NumberSkill.multiply(2) // ${2 * factor}
   */
  multiply(n) { return n * ${factor}; }
}
`;

interface Watch {
  readonly waitFor: (text: string, count?: number) => Promise<unknown>;
  readonly interrupt: () => ReturnType<typeof ended>;
}

/** Starts a command that repeats itself, and lets the test wait for what it writes. */
function watchCommand(args: readonly string[], cwd: string): Watch {
  const child = start(args, { cwd });
  onTestFinished(() => void child.kill("SIGKILL"));
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  const end = ended(child);
  return {
    waitFor: (part, count = 1) => expect.poll(() => text.split(part).length - 1, { message: text }).toBe(count),
    interrupt() {
      child.kill("SIGINT");
      return end;
    },
  };
}

test("runs a file again after each change of it or of a skill, until Ctrl-C", { tags: "rest" }, async () => {
  const cwd = project({
    "skills/number.js": createSkill(10),
    "a.js": `"result " + await device.NumberSkill.multiply(1)`,
  });
  const { waitFor, interrupt } = watchCommand(["run", "a.js", "--watch"], cwd);
  await waitFor("result 10");
  await waitFor("Waiting for a change");
  writeFileSync(join(cwd, "skills/number.js"), createSkill(20));
  await waitFor("Changed: the skills folder");
  await waitFor("result 20");
  await waitFor("Waiting for a change", 2);
  writeFileSync(join(cwd, "a.js"), `"answer " + await device.NumberSkill.multiply(2)`);
  await waitFor("Changed: a.js");
  await waitFor("answer 40");
  await waitFor("Waiting for a change", 3);
  expect((await interrupt()).exit).toBe(130);
});

test("tests skills again after a change, also after a failure", { tags: "rest" }, async () => {
  const cwd = project({ "skills/number.js": createSkill(3) });
  const { waitFor, interrupt } = watchCommand(["skills", "test", "--watch"], cwd);
  await waitFor("1 test passed");
  await waitFor("Waiting for a change");
  rmSync(join(cwd, "skills/number.js"));
  await waitFor("Waiting for a change", 2);
  writeFileSync(join(cwd, "skills/number.js"), createSkill(4));
  await waitFor("1 test passed", 2);
  expect((await interrupt()).exit).toBe(130);
});

test("repeats a command more often than Node allows listeners without a warning", { tags: "rest" }, async () => {
  const cwd = project({ "a.js": "'round 0'" });
  const { waitFor, interrupt } = watchCommand(["run", "a.js", "--watch"], cwd);
  for (let round = 1; round <= 12; round++) {
    await waitFor("Waiting for a change", round);
    writeFileSync(join(cwd, "a.js"), `"round ${round}"`);
    await waitFor(`round ${round}\n`);
  }
  await waitFor("Waiting for a change", 13);
  const { exit, stderr } = await interrupt();
  expect(exit).toBe(130);
  expect(stderr).not.toContain("Warning");
});

test("refuses to watch a program from standard input, which can be read only once", async () => {
  const { exit, stderr } = await skillgate(["run", "--watch", "-"], { cwd: project() });
  expect({ exit, stderr }).toEqual({
    exit: 2,
    stderr: "Standard input can be read only once: with --watch, give a file, or -e with the code\n",
  });
});
