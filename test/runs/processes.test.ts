// @module-tag rest

import { expect, onTestFinished, test } from "vitest";

import { createRuntime } from "../../src/index.ts";
import { createShop, startProcess } from "./refund-process.ts";

const THREE_REFUNDS = `
  const orders = await device.OrderSkill.list();
  const done = [];
  for (const { order } of orders)
    done.push(order === 2 ? await device.OrderSkill.refundLarge(order) : await device.OrderSkill.refund(order));
  ({ done, reads: orders.map(({ read }) => read) })`;

const REFUNDED = { done: ["refunded 1", "refunded 2", "refunded 3"], reads: [1, 2, 3] };

async function openStore(store: string): Promise<Awaited<ReturnType<typeof createRuntime>>> {
  const runtime = await createRuntime({ skillsDir: false, skills: [], store, workers: 1 });
  onTestFinished(() => runtime.close());
  return runtime;
}

test.each(["SIGKILL", "SIGTERM"] as const)(
  "continues a run that waits in another process after %s, and makes each call once [R2]",
  async (signal) => {
    const shop = createShop();
    const first = startProcess(shop, ["run", THREE_REFUNDS]);
    const { id = "" } = await first.next("approval");
    await first.kill(signal);
    expect(shop.readEffects()).toHaveLength(1);
    const runtime = await openStore(shop.store);
    expect(await runtime.runs.list()).toMatchObject([{ state: "waiting", calls: 2, effects: 1 }]);
    const second = startProcess(shop, ["follow"]);
    await second.next("ready");
    await runtime.approvals.answer(id, { approve: true });
    expect(await second.next("outcome")).toMatchObject({ kind: "completed", value: REFUNDED });
    expect(shop.readEffects().map((line) => line.split(" ")[0])).toEqual(["1", "2", "3"]);
    expect(await runtime.runs.list()).toMatchObject([{ state: "completed", calls: 4, effects: 3 }]);
  },
);

test("never repeats a call whose end is not known [R3]", async () => {
  const shop = createShop();
  const first = startProcess(shop, ["run", `await device.OrderSkill.refund(1); await device.OrderSkill.hang(2)`]);
  await first.next("hangs");
  await first.kill("SIGKILL");
  const second = startProcess(shop, ["follow"]);
  expect(await second.next("outcome")).toMatchObject({
    kind: "failed",
    text: expect.stringContaining("OrderSkill.hang, call 2"),
  });
  expect(shop.readEffects().map((line) => line.split(" ")[0])).toEqual(["1", "2"]);
  const runtime = await openStore(shop.store);
  expect(await runtime.runs.list()).toMatchObject([{ state: "unknown" }]);
});
