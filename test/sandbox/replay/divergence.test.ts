import { EventEmitter, once } from "node:events";
import { expect, test } from "vitest";

import type { Delivery, SandboxOutcome } from "../../../sandbox/index.ts";
import { answer, later, LIMITS, openSandbox } from "../../support/sandbox.ts";
import { createProgram, START } from "./programs.ts";

const sandbox = openSandbox(1);
const DIVERGED = { kind: "stopped", reason: "REPLAY_DIVERGED" };

/** Runs code with deliveries of the given calls, one by one. */
async function replay(code: string, ids: readonly number[], made: number[] = []): Promise<SandboxOutcome> {
  const deliveries = ids.map((id) => ({ ids: [id], time: START }));
  return sandbox.run({ ...createProgram(code), deliveries }, async ({ id }) => {
    made.push(id);
    return answer(id);
  });
}

test.each([
  ["awaits another call", "await device.T.read(1)", [2]],
  ["blocks on another call", "__waitFor(device.T.read(1))", [2]],
  ["returns too early", "await device.T.read(1); return 1", [1, 2]],
  ["throws too early", "await device.T.read(1); throw new Error('early')", [1, 2]],
  ["waits for nothing", "await new Promise(() => {})", [1]],
  ["waits for a timer that is not recorded", "await new Promise((done) => setTimeout(done, 1))", [1]],
  ["clears a recorded timer before it waits", "clearTimeout(setTimeout(() => {}, 1)); await device.T.read(1)", [2]],
])("ends a program that %s as diverged [R2]", async (_what, code, ids) => {
  expect((await replay(code, ids)).end).toEqual(DIVERGED);
});

test("repeats a program that does not diverge [R2]", async () => {
  expect((await replay("return [await device.T.read(1), await device.T.read(2)]", [1, 2])).end).toEqual({
    kind: "returned",
    json: "[1,2]",
  });
});

test("makes no new call before the last delivery is repeated [R2]", async () => {
  const made: number[] = [];
  const code = `const calls = [device.T.write("new"), device.T.read("old"), device.search("new")]; await calls[1];
    return [await device.T.read("old"), ...await Promise.all(calls)]`;
  expect((await replay(code, [2, 5], made)).end).toEqual(DIVERGED);
  expect(made).toEqual([2]);
  made.length = 0;
  expect((await replay(code, [2, 4], made)).end).toEqual({ kind: "returned", json: "[4,1,2,3]" });
  expect(made).toEqual([2, 4, 1, 3]);
});

test("keeps the order of calls that are not awaited and were not made yet [R2]", async () => {
  const events: string[] = [];
  const writes = new EventEmitter();
  const written = once(writes, "end");
  const code =
    "device.T.write(1); device.T.write(2); const a = __waitFor(device.T.read(3)); return [a, __waitFor(device.T.read(4))]";
  const deliveries: readonly Delivery[] = [{ ids: [3], time: START }];
  const { end } = await sandbox.run({ ...createProgram(code), deliveries }, async ({ id }) => {
    events.push(`${id} begins`);
    await (id === 4 ? written : later(1));
    events.push(`${id} ends`);
    if (id === 2) writes.emit("end");
    return answer(id);
  });
  expect(end).toEqual({ kind: "returned", json: "[3,4]" });
  expect(events.filter((event) => /^[12]/.test(event))).toEqual(["1 begins", "1 ends", "2 begins", "2 ends"]);
});

test("refuses to record a run that it cannot repeat [R1]", async () => {
  const { seed, time, ...program } = createProgram("return 1");
  const onDelivery = (): void => {};
  const message = "Cannot record a run without its seed and time: set both in its program";
  for (const incomplete of [program, { ...program, seed }, { ...program, time }]) {
    await expect(sandbox.run(incomplete, async () => answer(1), { onDelivery })).rejects.toThrow(message);
    await expect(sandbox.run({ ...incomplete, deliveries: [] }, async () => answer(1))).rejects.toThrow(message);
  }
});

test.each([
  ["awaits", "await device.T.read(1)"],
  ["blocks", "__waitFor(device.T.read(1))"],
])("rejects a run that %s with the error of its recorder, and runs others [R1]", async (_how, code) => {
  const onDelivery = (): void => {
    throw new Error("disk is full");
  };
  const running = sandbox.run(createProgram(code), async () => answer(1), { limits: LIMITS, onDelivery });
  await expect(running).rejects.toThrow("disk is full");
  expect((await sandbox.run(createProgram("return 1"), async () => answer(1))).end.kind).toBe("returned");
});
