import { expect, onTestFinished, test } from "vitest";

import { createRuntime, type Runtime } from "../../src/index.ts";
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

test("ends a run that ends its process each time it is continued [R2]", async () => {
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
