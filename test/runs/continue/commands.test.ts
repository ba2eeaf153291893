import { expect, test } from "vitest";

import { skillgate } from "../../surfaces/cli/command.ts";
import { createRefundProject } from "../refund-server.ts";

interface FailedRun {
  readonly runId: string;
  readonly continue: string;
  readonly text: string;
}

/** Runs a program that fails, and returns its outcome. */
async function fail(cwd: string, code: string, ...flags: readonly string[]): Promise<FailedRun> {
  const { exit, stdout } = await skillgate(["run", "--json", "-e", code, ...flags], { cwd });
  expect(exit).toBe(1);
  return JSON.parse(stdout) as FailedRun;
}

const REFUND = "await device.OrderSkill.refund(1);";

test("continues a failed run with run --continue, --again and --reuse [R4]", async () => {
  const { cwd, readEffects } = createRefundProject();
  const failed = await fail(cwd, `${REFUND} ${REFUND} null.x`);
  const other = `await device.OrderSkill.refund(9); ${REFUND} ${REFUND} "done"`;
  const unsure = await fail(cwd, other, "--continue", failed.continue);
  expect(unsure).toMatchObject({ error: { code: "CONTINUE_UNSURE" }, continue: failed.continue });
  expect(unsure.text).toContain("add reuse: [1, 2]");
  expect(readEffects()).toEqual(["1", "1"]);

  const flags = ["--continue", failed.continue, "--again", "1", "--reuse", "2"];
  const { exit, stdout } = await skillgate(["run", "-e", other, ...flags], { cwd });
  expect({ exit, stdout }).toEqual({ exit: 0, stdout: "done\n" });
  expect(readEffects()).toEqual(["1", "1", "9", "1"]);

  const wrong = await skillgate(["run", "-e", other, "--continue", failed.continue, "--again", "7"], { cwd });
  expect(wrong.exit).not.toBe(0);
  expect(wrong.stderr).toContain("the number 7");
});
