// @module-tag rest

import { once } from "node:events";
import { join } from "node:path";

import { expect, test } from "vitest";

import { type Database, openDatabase, type RunRow } from "../../src/store/index.ts";
import { ended, project, skillgate, start } from "../surfaces/cli/command.ts";
import { startProcess } from "./refund-process.ts";

/** The methods of the fixture's skill, as a file: their definitions differ. */
const SKILL = `
/** Orders of a shop. */
export class OrderSkill {
  /**
   * Refund an order.
   * @param {number} order The order
   */
  refund(order) { return "refunded " + order; }

  /**
   * Refund a large order.
   * @param {number} order The order
   * @approval user
   */
  refundLarge(order) { return "refunded " + order + " by file"; }
}
`;

/** Starts a run in a process that ends while a person is asked. */
async function interruptRun(): Promise<{
  readonly cwd: string;
  readonly run: string;
  readonly approval: string;
  readonly screen: string;
}> {
  const cwd = project({ "skills/order.js": SKILL, "settings.yaml": "store: { dir: state }\n" });
  const code = "await device.OrderSkill.refund(1);\nawait device.OrderSkill.refundLarge(2)";
  const first = startProcess({ store: join(cwd, "state"), log: join(cwd, "effects.log") }, ["run", code]);
  const { id: approval = "" } = await first.next("approval");
  const { stdout } = await skillgate(["runs", "list", "--json"], { cwd });
  const { runs } = JSON.parse(stdout) as { readonly runs: readonly { readonly id: string }[] };
  const run = runs[0]?.id ?? "";
  const { stdout: screen } = await skillgate(["runs", "show", run], { cwd });
  await first.kill("SIGKILL");
  return { cwd, run, approval, screen };
}

test("shows that a run waits for a person, repeats it until then, and continues it after the answer [R2] [R5]", async () => {
  const { cwd, run, approval, screen } = await interruptRun();
  expect(screen).toMatch(
    new RegExp(
      `^ {3}2! {2}OrderSkill\\.refundLarge {2}line 2 {2}\\d+–… ms {2} *█*░+ *waits for approval ${approval}$`,
      "m",
    ),
  );
  const replayed = await skillgate(["runs", "replay", run], { cwd });
  expect(replayed.stdout).toBe(
    `Run ${run} is waiting and has no outcome. What is recorded of it is repeated without a difference\n`,
  );
  expect((await skillgate(["runs", "export", run, "--test", join(cwd, "a.test.mjs")], { cwd })).stderr).toContain(
    `run ${run} has no outcome`,
  );
  await skillgate(["approvals", "approve", approval], { cwd });
  const resumed = await skillgate(["runs", "resume", run.slice(0, 8), "--accept-changes"], { cwd });
  expect(resumed).toMatchObject({ exit: 0, stdout: "refunded 2 by file\n" });
  expect((await skillgate(["runs", "list"], { cwd })).stdout).toContain("completed");
  const { stdout } = await skillgate(["runs", "show", run, "--json"], { cwd });
  const { timeline } = JSON.parse(stdout) as { readonly timeline: readonly { readonly waits: readonly unknown[] }[] };
  expect(timeline[1]?.waits).toEqual([{ approval, from: expect.any(Number), to: expect.any(Number) }]);
  expect(await skillgate(["runs", "replay", run], { cwd })).toMatchObject({
    exit: 0,
    stdout: "refunded 2 by file\n",
  });
});

test("fails a call of a method that has changed since the run began [R2]", async () => {
  const { cwd, run, approval } = await interruptRun();
  await skillgate(["approvals", "approve", approval], { cwd });
  const { exit, stderr } = await skillgate(["runs", "resume", run], { cwd });
  expect([exit, stderr.includes("METHOD_CHANGED")]).toEqual([1, true]);
});

test("cancels a run whose process has ended, once [R2]", async () => {
  const { cwd, run, approval } = await interruptRun();
  expect((await skillgate(["runs", "cancel", run], { cwd })).stdout).toBe(`Cancelled run ${run}\n`);
  expect((await skillgate(["runs", "cancel", run], { cwd })).stdout).toBe(
    `Run ${run} has ended already: it is cancelled\n`,
  );
  expect((await skillgate(["runs", "list", "--state", "cancelled"], { cwd })).stdout).toContain(run.slice(0, 8));
  expect((await skillgate(["approvals", "list"], { cwd })).stdout).not.toContain(approval);
});

/** Adds a run that another process executes. */
function addRun({ runs }: Database, { id, claimedBy }: Pick<RunRow, "id" | "claimedBy">): Promise<void> {
  const run = { caller: "local", title: "", created: 1, updated: 1, ended: null, continues: null, calls: 0 };
  const facts = { ...run, program: "", duration: 0, effects: 0, size: 0, attempts: 1, state: "running" as const };
  return runs.add({ ...facts, id, claimedBy }, { seq: 0, events: "[]", hash: "", run: id });
}

test("says how a run has ended that its process ends while the command waits to cancel it [R2]", async () => {
  const cwd = project({ "settings.yaml": "store: { dir: state }\n" });
  await using database = await openDatabase({ folder: join(cwd, "state") });
  await addRun(database, { id: "cccc", claimedBy: "elsewhere/1/busy" });
  const command = start(["runs", "cancel", "cccc"], { cwd });
  const outcome = ended(command);
  await once(command.stderr ?? command, "data");
  await database.runs.update("cccc", { state: "completed", ended: 2, claimedBy: null });
  expect(await outcome).toMatchObject({ exit: 0, stdout: "Run cccc has ended already: it is completed\n" });
});

test(
  "cancels a run of a process of another machine after its counter stood still, and refuses while it rises [R2]",
  { timeout: 120_000 },
  async () => {
    const cwd = project({ "settings.yaml": "store: { dir: state }\n" });
    await using database = await openDatabase({ folder: join(cwd, "state") });
    for (const [id, claimedBy] of [
      ["aaaa", "elsewhere/1/gone"],
      ["bbbb", "elsewhere/2/lives"],
    ] as const)
      await addRun(database, { id, claimedBy });
    let beat = 1;
    const raise = (): Promise<void> => database.processes.put({ name: "elsewhere/2/lives", beat: beat++ });
    await raise();
    const timer = setInterval(() => void raise(), 1_000);
    const [gone, lives] = await Promise.all([
      skillgate(["runs", "cancel", "aaaa"], { cwd }),
      skillgate(["runs", "cancel", "bbbb"], { cwd }),
    ]);
    clearInterval(timer);
    expect(gone).toMatchObject({ exit: 0, stdout: "Cancelled run aaaa\n" });
    expect(gone.stderr).toContain("Run aaaa is in process elsewhere/1/gone. Waiting for at most 35 s");
    expect(lives.exit).toBe(1);
    expect(lives.stderr).toContain("Another process executes the run");
  },
);
