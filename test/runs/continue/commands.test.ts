import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, onTestFinished, test } from "vitest";

import { skillgate } from "../../surfaces/cli/command.ts";
import { createRefundProject, serveProject } from "../refund-server.ts";

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

test("continues a failed run with run --continue, --again and --reuse [R4]", { tags: "rest" }, async () => {
  const shop = createRefundProject();
  const { cwd } = shop;
  const failed = await fail(cwd, `${REFUND} ${REFUND} null.x`);
  const other = `await device.OrderSkill.refund(9); ${REFUND} ${REFUND} "done"`;
  const unsure = await fail(cwd, other, "--continue", failed.continue);
  expect(unsure).toMatchObject({ error: { code: "CONTINUE_UNSURE" }, continue: failed.continue });
  expect(unsure.text).toContain("add reuse: [1, 2]");
  expect(shop.readEffects()).toEqual(["1", "1"]);

  const flags = ["--continue", failed.continue, "--again", "1", "--reuse", "2"];
  const { exit, stdout } = await skillgate(["run", "-e", other, ...flags], { cwd });
  expect({ exit, stdout }).toEqual({ exit: 0, stdout: "done\n" });
  expect(shop.readEffects()).toEqual(["1", "1", "9", "1"]);

  const wrong = await skillgate(["run", "-e", other, "--continue", failed.continue, "--again", "7"], { cwd });
  expect(wrong.exit).not.toBe(0);
  expect(wrong.stderr).toContain("the number 7");
});

test(
  "continues in another process a run that continues a failed one, and repeats it offline [R2, R4, R5]",
  { tags: "rest" },
  async () => {
    const shop = createRefundProject();
    const { cwd } = shop;
    const failed = await fail(cwd, `${REFUND} null.x`);
    const first = await serveProject(shop);
    const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: "auto" } });
    await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", first.url)));
    onTestFinished(() => client.close());
    const code = `const first = ${REFUND} [first, await device.OrderSkill.refundLarge(2)]`;
    const waiting = await client.callTool({ name: "run_code", arguments: { code, continue: failed.continue } });
    expect(waiting).toMatchObject({ structuredContent: { kind: "waiting" } });
    const { runId } = waiting.structuredContent as { readonly runId: string };
    await first.kill("SIGKILL");

    const question = await shop.findQuestion();
    expect(await skillgate(["approvals", "approve", question], { cwd })).toMatchObject({ exit: 0 });
    const resumed = await skillgate(["runs", "resume", runId], { cwd });
    expect(resumed).toMatchObject({ exit: 0, stdout: expect.stringContaining('"refunded 1"') });
    expect(shop.readEffects()).toEqual(["1", "2"]);

    const replayed = await skillgate(["runs", "replay", runId], { cwd });
    expect(replayed).toMatchObject({ exit: 0, stdout: resumed.stdout });
    expect(shop.readEffects()).toEqual(["1", "2"]);
  },
);
