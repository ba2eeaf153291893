import { expect, test } from "vitest";

import type { Delivery, ProgramStep, SandboxOutcome } from "../../../sandbox/index.ts";
import { answer, openSandbox } from "../../support/sandbox.ts";
import { createProgram, START } from "./programs.ts";

const sandbox = openSandbox(1);

interface Parting {
  readonly outcome: SandboxOutcome;
  /** Ids of the calls that were asked about, and of those that were made, in order. */
  readonly compared: readonly number[];
  readonly made: readonly number[];
  readonly deliveries: readonly Delivery[];
}

/** Runs code with deliveries of an earlier program, whose steps are calls of these paths with their ids as arguments, or timers. */
async function part(
  code: string,
  ids: readonly (readonly number[])[],
  steps: Readonly<Record<number, string>>,
): Promise<Parting> {
  const compared: number[] = [];
  const made: number[] = [];
  const deliveries: Delivery[] = [];
  const matches = ({ id, call }: ProgramStep): boolean => {
    compared.push(id);
    return steps[id] === (call === undefined ? "timer" : `${call.path} ${call.arguments}`);
  };
  const earlier = ids.map((each, at) => ({ ids: each, time: START + 10 * (at + 1) }));
  const outcome = await sandbox.run(
    { ...createProgram(code), deliveries: earlier, matches },
    async ({ id }) => {
      made.push(id);
      return answer(id);
    },
    { onDelivery: (delivery) => deliveries.push(delivery) },
  );
  return { outcome, compared, made, deliveries };
}

const READS = { 1: "T.read [1]", 2: "T.read [2]", 3: "T.read [3]" };

/** Reads `count` numbers one after the other, and the clock after each. */
const readAll = (count: number, first = 1): string =>
  `const all = []; for (let n = ${first}; n < ${first + count}; n++) { await device.T.read(n); all.push(Date.now()); } return all`;

function getValue({ end }: SandboxOutcome): unknown {
  return end.kind === "returned" ? JSON.parse(end.json) : end;
}

test("repeats all deliveries of a program that begins in the same way, and continues [R4]", async () => {
  const { outcome, compared, deliveries } = await part(readAll(4), [[1], [2], [3]], READS);
  const times = getValue(outcome) as readonly number[];
  expect(times.slice(0, 3)).toEqual([START + 10, START + 20, START + 30]);
  expect(compared).toEqual([1, 2, 3, 4]);
  expect(deliveries.map(({ ids }) => ids)).toEqual([[1], [2], [3], [4]]);
  expect(deliveries.slice(0, 3).map(({ time }) => time)).toEqual(times.slice(0, 3));
});

test.each([
  ["makes another call", "await device.T.read(1); await device.T.read(9); return 'live'", [[1], [2], [3]], [1, 2]],
  [
    "blocks on another call",
    "__waitFor(device.T.read(1)); __waitFor(device.T.read(9)); return 'live'",
    [[1], [2]],
    [1, 2],
  ],
  [
    "makes a call in place of a timer",
    "await device.T.read(1); await device.T.read(2); return 'live'",
    [[1], [2]],
    [1, 2],
  ],
  ["makes fewer calls", "await device.T.read(1); return 'live'", [[1], [2], [3]], [1]],
  [
    "waits for what can never come",
    "await Promise.all([1, 2].map((n) => device.T.read(n))); return 'live'",
    [[3], [2], [1]],
    [1, 2],
  ],
  [
    "makes all calls at once",
    "await Promise.all([1, 2, 3].map((n) => device.T.read(n))); return 'live'",
    [[1], [2], [3]],
    [1, 2, 3],
  ],
])("continues live when the program %s [R4]", async (what, code, ids, made) => {
  const steps = what.includes("timer") ? { ...READS, 2: "timer" } : READS;
  const parting = await part(code, ids, steps);
  expect(getValue(parting.outcome)).toBe("live");
  expect(parting.made).toEqual(made);
});

test("asks nothing more after the first difference, and records what is delivered then [R4]", async () => {
  const code = "await device.T.read(1); await device.T.read(7); await device.T.read(3); return Date.now()";
  const { outcome, compared, deliveries } = await part(code, [[1], [2], [3]], READS);
  expect(compared).toEqual([1, 2]);
  expect(deliveries.map(({ ids }) => ids)).toEqual([[1], [2], [3]]);
  expect(deliveries[0]?.time).toBe(START + 10);
  expect(deliveries[1]?.time).toBeGreaterThan(START + 1_000_000);
  expect(getValue(outcome)).toBe(deliveries[2]?.time);
});

test("delivers answers that arrived for a dropped delivery [R4]", async () => {
  const code = `const first = device.T.read(1).then(() => "first"); const second = device.T.read(5).then(() => "second");
    return [await Promise.race([first, second]), await first, await second]`;
  const { outcome } = await part(code, [[2], [1]], READS);
  expect(getValue(outcome)).toEqual(["first", "first", "second"]);
});

test("makes calls that no delivery contains after the first difference, in the guest's order [R4]", async () => {
  const code = `const free = device.T.write("free"); await device.T.read(2); await device.T.read("new"); return free`;
  const steps = { 1: 'T.write ["free"]', 2: "T.read [2]", 3: "T.read [3]" };
  const { made, compared } = await part(code, [[2], [3]], steps);
  expect(compared).toEqual([1, 2, 3]);
  expect(made).toEqual([2, 1, 3]);
});

test("does not wait for repeated timers, and waits for those whose delivery was dropped [R4]", async () => {
  const code = `const early = await Promise.race([new Promise((done) => setTimeout(done, 60_000, "timer")), device.T.read(2).then(() => "call")]);
    const late = await Promise.race([new Promise((done) => setTimeout(done, 15_000, "timer")), device.T.read(9).then(() => "call")]);
    return [early, late]`;
  const steps = { 2: "timer", 3: "T.read [2]", 5: "timer", 6: "T.read [4]" };
  const { outcome } = await part(code, [[2], [3], [5]], steps);
  expect(getValue(outcome)).toEqual(["timer", "call"]);
});

test("ends a program that waits for nothing after the difference [R4]", async () => {
  const { outcome } = await part("await device.T.read(1); await new Promise(() => {})", [[1], [2]], READS);
  expect(outcome.end).toEqual({ kind: "stopped", reason: "NEVER_SETTLES" });
});

test("counts the calls and the output of the new program [R4]", async () => {
  const { outcome } = await part("print('again'); await device.T.read(1); return 1", [[1], [2]], READS);
  expect(outcome).toMatchObject({ output: "again", calls: 1 });
});
