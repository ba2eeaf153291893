import { expect, test } from "vitest";

import type { Delivery } from "../../../sandbox/index.ts";
import { answer, echo, later, LIMITS, openSandbox, run } from "../../support/sandbox.ts";
import { createProvider, execute, type Entry } from "./run-record.ts";
import { createProgram, START } from "./programs.ts";

const sandbox = openSandbox(2);

async function getRecordedValue(
  code: string,
): Promise<{ readonly value: unknown; readonly entries: readonly Entry[] }> {
  const { outcome, entries } = await execute(sandbox, createProgram(code), createProvider(1));
  if (outcome.end.kind !== "returned") throw new Error(`did not return: ${JSON.stringify(outcome.end)}`);
  return { value: JSON.parse(outcome.end.json), entries };
}

test("starts the guest's clock at the time of the program, and moves it every hundred reads [R1]", async () => {
  const code =
    "const times = []; for (let i = 0; i < 250; i++) times.push(Date.now()); return [times[0], times[99], times[100], times[249]]";
  expect((await getRecordedValue(code)).value).toEqual([START, START, START + 1, START + 2]);
});

test.each([
  ["awaited", "await device.T.read(1)"],
  ["blocking", "__waitFor(device.T.read(1))"],
])("sets the guest's clock to the time of each delivery after an %s call [R1]", async (_how, call) => {
  const code = `const times = []; for (let i = 0; i < 3; i++) { ${call}; times.push(Date.now()) } return times`;
  const { value, entries } = await getRecordedValue(code);
  const delivered = entries.flatMap((entry) => (entry.kind === "delivered" ? [entry.delivery] : []));
  expect(delivered.map(({ ids }) => ids)).toEqual([[1], [2], [3]]);
  expect(value).toEqual(delivered.map(({ time }) => time));
});

test("never sets the guest's clock back [R1]", async () => {
  const code = `for (let i = 0; i < 100_000; i++) Date.now(); const before = Date.now(); await device.T.read(1); return Date.now() - before`;
  const deliveries = [{ ids: [1], time: START }];
  const { end } = await sandbox.run({ ...createProgram(code), deliveries }, async () => answer(1));
  expect(end).toEqual({ kind: "returned", json: "0" });
});

test("leaves the clock of other runs as it is [R1]", async () => {
  const reads = "for (let i = 0; i < 1_000; i++) Date.now();";
  const fixed = await run(sandbox, `${reads} await device.Echo.back(1); ${reads} return Date.now()`, { time: START });
  expect(fixed.end).toEqual({ kind: "returned", json: `${START}` });
  const running = await run(sandbox, "const t = Date.now(); while (Date.now() === t); return t");
  expect(running.end.kind).toBe("returned");
});

test("fires the timers of repeated deliveries at once, and others after what is left of them [R2]", async () => {
  const day = 86_400_000;
  const limits = { ...LIMITS, wallMs: 2 * day };
  const code = `const fired = []; const timer = (name, ms) => new Promise((done) => setTimeout(() => done(fired.push(name)), ms));
    const all = [timer("b", ${day}), timer("a", ${day - 10})]; await timer("first", ${day}); all.push(timer("c", ${day - 5}));
    await Promise.all(all); return fired`;
  const program = { ...createProgram(code), time: Date.now() - 2 * day };
  const deliveries: readonly Delivery[] = [{ ids: [6], time: program.time }];
  const recorded: Delivery[] = [];
  const options = { limits, onDelivery: (delivery: Delivery) => recorded.push(delivery) };
  const { end } = await sandbox.run({ ...program, deliveries }, echo, options);
  expect(end).toEqual({ kind: "returned", json: '["first","a","c","b"]' });
  expect(recorded.flatMap(({ ids }) => ids)).toEqual([4, 8, 2]);
});

test("holds answers until the turn of their delivery [R2]", async () => {
  const code =
    "const seen = []; await Promise.all([1, 2, 3].map((n) => device.T.read(n).then((v) => seen.push(v)))); return seen";
  const deliveries = [
    { ids: [3, 1], time: START },
    { ids: [2], time: START + 5 },
  ];
  const replayed: boolean[] = [];
  const { end } = await sandbox.run({ ...createProgram(code), deliveries }, async (call) => {
    replayed.push(call.replayed);
    if (call.id !== 2) await later(5);
    return answer(call.id);
  });
  expect(end).toEqual({ kind: "returned", json: "[3,1,2]" });
  expect(replayed).toEqual([true, true, true]);
});
