// @module-tag rest

import { spawnSync } from "node:child_process";

import { expect, onTestFinished, test } from "vitest";

import { createRuntime, type Runtime } from "../../src/index.ts";
import { openDatabase } from "../../src/store/index.ts";
import { createShop, startProcess } from "./refund-process.ts";

async function openStore(store: string): Promise<Runtime> {
  const runtime = await createRuntime({ skillsDir: false, skills: [], store, workers: 1 });
  onTestFinished(() => runtime.close());
  return runtime;
}

const approve = async (runtime: Runtime): Promise<void> => {
  const [open] = await runtime.approvals.list("pending");
  await runtime.approvals.answer(open?.id ?? "", { approve: true });
};

test.each(["SIGKILL", "SIGTERM"] as const)(
  "continues a run of six approvals over six ends by %s [R2]",
  async (signal) => {
    const shop = createShop();
    const runtime = await openStore(shop.store);
    const program = `for (const order of [1, 2, 3, 4, 5, 6]) await device.OrderSkill.refundLarge(order); "done"`;
    for (let end = 0; end < 6; end++) {
      const process = startProcess(shop, end === 0 ? ["run", program] : ["follow"]);
      await process.next("approval");
      await process.kill(signal);
      await approve(runtime);
    }
    expect(await startProcess(shop, ["follow"]).next("outcome")).toMatchObject({ kind: "completed", value: "done" });
    expect(shop.readEffects().map((line) => line.split(" ")[0])).toEqual(["1", "2", "3", "4", "5", "6"]);
  },
);

test("ends a run that ends its process each time it is continued [R2]", { timeout: 240_000 }, async () => {
  const shop = createShop();
  const runtime = await openStore(shop.store);
  const first = startProcess(shop, ["run", `await device.OrderSkill.crash(1)`]);
  await first.next("approval");
  await approve(runtime);
  await first.exited;
  for (let claim = 0; claim < 5; claim++) await startProcess(shop, ["follow"]).exited;
  expect(await startProcess(shop, ["follow"]).next("outcome")).toMatchObject({
    kind: "failed",
    text: expect.stringMatching(
      /continued too often without progress: run .*, 5 times, the last time by .*RESUME_LIMIT/,
    ),
  });
  expect(await runtime.runs.list()).toMatchObject([{ state: "failed" }]);
});

const canUnshare = spawnSync("unshare", ["--pid", "--fork", "true"]).status === 0;

test.skipIf(!canUnshare)(
  "leaves a run to a process in another process space of this host until that has ended [R2]",
  { timeout: 120_000 },
  async () => {
    const shop = createShop();
    await using database = await openDatabase({ folder: shop.store });
    const inSpace = ["unshare", "--pid", "--fork", "--kill-child"];
    const first = startProcess(shop, ["run", `await device.OrderSkill.hang(1)`], {}, inSpace);
    await first.next("hangs");
    const [row] = await database.runs.list({});
    const second = startProcess(shop, ["follow"]);
    await second.next("ready");
    const [{ beat } = { beat: 0 }] = await database.processes.list();
    await expect.poll(async () => (await database.processes.list())[0]?.beat).toBeGreaterThan(beat + 1);
    expect(await database.runs.list({})).toMatchObject([{ state: "running", claimedBy: row?.claimedBy }]);
    await first.kill("SIGKILL");
    const killed = performance.now();
    expect(await second.next("outcome")).toMatchObject({ text: expect.stringContaining("CALL_END_UNKNOWN") });
    expect(performance.now() - killed).toBeLessThan(60_000);
    expect(shop.readEffects()).toHaveLength(1);
  },
);
