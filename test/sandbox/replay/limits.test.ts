import { expect, test } from "vitest";

import type { Delivery, RunLimits, RunUsage, SandboxOutcome } from "../../../sandbox/index.ts";
import { answer, echo, LIMITS, openSandbox } from "../../support/sandbox.ts";
import { createProgram, START } from "./programs.ts";

const sandbox = openSandbox(1);

const COMPUTE = "for (let i = 0; i < 500_000; i++) Date.now();";

async function record(
  code: string,
  limits: Partial<RunLimits> = {},
): Promise<{ outcome: SandboxOutcome; deliveries: Delivery[]; used: RunUsage | undefined }> {
  const deliveries: Delivery[] = [];
  let used: RunUsage | undefined;
  const outcome = await sandbox.run(createProgram(code), echo, {
    limits: { ...LIMITS, ...limits },
    onDelivery: (delivery, usage) => {
      deliveries.push(delivery);
      used = usage;
    },
  });
  return { outcome, deliveries, used };
}

const USED = { cpuMs: 0, wallMs: 0, prints: 0 };
const replay = (
  code: string,
  deliveries: readonly Delivery[],
  limits: Partial<RunLimits>,
  used: RunUsage = USED,
): Promise<SandboxOutcome> =>
  sandbox.run({ ...createProgram(code), deliveries, used }, async () => answer(1), {
    limits: { ...LIMITS, ...limits },
  });

const delivery = (...ids: number[]): Delivery => ({ ids, time: START });
const stopped = (reason: string): object => ({ kind: "stopped", reason });

test(
  "counts the computing before the last delivery once, from the earlier execution [R2]",
  { tags: "rest" },
  async () => {
    const code = `${COMPUTE} await device.T.read(1); return 1`;
    const { deliveries, used = USED } = await record(code);
    expect(used.cpuMs).toBeGreaterThan(0);
    const outcome = await replay(code, deliveries, {}, { ...USED, cpuMs: 1_000 });
    expect(outcome.end.kind).toBe("returned");
    expect(outcome.cpuMs).toBeGreaterThanOrEqual(1_000);
    expect(outcome.cpuMs).toBeLessThan(1_000 + used.cpuMs);
  },
);

test.each([
  ["awaits", "await device.T.read(1)"],
  ["blocks", "__waitFor(device.T.read(1))"],
])("limits a run that %s to what the earlier execution has left [R2]", async (_how, call) => {
  const endless = `${call}; for (;;);`;
  const used = { ...USED, cpuMs: 950 };
  const { end } = await replay(endless, [delivery(1)], { cpuMs: 1_000 }, used);
  expect(end).toEqual(stopped("CPU_LIMIT"));
  const program = createProgram(`${call}; await device.T.person(1)`);
  const spent = { ...program, deliveries: [delivery(1)], used: { ...USED, wallMs: LIMITS.wallMs } };
  const wall = await sandbox.run(spent, ({ path }) =>
    path === "T.read" ? Promise.resolve(answer(1)) : new Promise(() => {}),
  );
  expect(wall.end).toEqual(stopped("WALL_LIMIT"));
});

test("ends a repetition that computes without end [R2]", { tags: "rest" }, async () => {
  for (const code of ["for (;;);", "await device.T.read(1); for (;;);", "__waitFor(device.T.read(1)); for (;;);"]) {
    const { end, cpuMs } = await replay(code, [delivery(1), delivery(2)], { cpuMs: 100 });
    expect(end).toEqual(stopped("CPU_LIMIT"));
    expect(cpuMs).toBe(0);
  }
});

test("ends a repetition whose recorded answers never come [R2]", async () => {
  const program = { ...createProgram("await device.T.read(1)"), deliveries: [delivery(1)] };
  const { end } = await sandbox.run(program, () => new Promise(() => {}), { limits: { ...LIMITS, wallMs: 100 } });
  expect(end).toEqual(stopped("WALL_LIMIT"));
});

test("counts repeated calls and repeated output toward their limits [R2]", async () => {
  const calls = "await device.T.read(1); await device.T.read(2); await device.T.read(3)";
  expect((await replay(calls, [delivery(1), delivery(2)], { calls: 2 })).end).toEqual(stopped("CALL_LIMIT"));
  const prints = "print('x'.repeat(60)); await device.T.read(1); print('y'.repeat(60)); return 1";
  const { end, output, outputCut } = await replay(prints, [delivery(1)], { outputBytes: 100 });
  expect([end.kind, output.length, outputCut]).toEqual(["returned", 100, true]);
});
