import { setImmediate } from "node:timers/promises";

import { expect, test } from "vitest";

import { createRuntime, defineSkill } from "../../src/index.ts";
import { RunningLimit } from "../../src/runtime/api/running-limit.ts";
import { Cancellation } from "../../sandbox/index.ts";
import { openSandbox, run } from "../support/sandbox.ts";

const SPIN = "for (;;);";
const LONG = { cpuMs: 4_000, wallMs: 60_000 };

test("runs a short program at once beside many long ones of another caller [S7]", { tags: "rest" }, async () => {
  const sandbox = openSandbox(1);
  const ends: string[] = [];
  const cancellable = new Cancellation();
  const flood = Array.from({ length: 60 }, async () => {
    await run(sandbox, SPIN, { caller: "flood", limits: LONG, cancellable });
    ends.push("flood");
  });
  await expect
    .poll(() => sandbox.getLoad())
    .toEqual({
      workers: { starting: 0, idle: 1, busy: 2, blocked: 0 },
      queuedRuns: 58,
    });
  for (let round = 0; round < 5; round++) {
    const { end } = await run(sandbox, "return 1", { caller: "owner" });
    expect(end).toEqual({ kind: "returned", json: "1" });
  }
  expect(ends).toEqual([]);
  cancellable.cancel();
  await Promise.all(flood);
});

test(
  "gives threads to callers in turn, those first whose programs have computed least [S7]",
  { tags: "rest" },
  async () => {
    const sandbox = openSandbox(1);
    await run(sandbox, "return 1");
    const ends: string[] = [];
    const start = async (caller: string): Promise<void> => {
      await run(sandbox, "let sum = 0; for (let i = 0; i < 2e5; i++) sum += i; return sum", { caller });
      ends.push(caller);
    };
    await Promise.all([
      ...Array.from({ length: 40 }, () => start("many")),
      ...Array.from({ length: 5 }, () => start("few")),
    ]);
    expect(ends.filter((caller) => caller === "few")).toHaveLength(5);
    expect(ends.slice(0, ends.lastIndexOf("few")).filter((caller) => caller === "many").length).toBeLessThan(20);
  },
);

test("counts no time in which a caller has nothing to run as its share [S7]", { tags: "rest" }, async () => {
  const sandbox = openSandbox(1);
  const spin = "const end = Date.now() + 50; while (Date.now() < end); return 1";
  for (let round = 0; round < 6; round++) await run(sandbox, spin, { caller: "busy" });
  const ends: string[] = [];
  const start = async (caller: string): Promise<void> => {
    await run(sandbox, "let sum = 0; for (let i = 0; i < 2e5; i++) sum += i; return sum", { caller });
    ends.push(caller);
  };
  await Promise.all([
    ...Array.from({ length: 40 }, () => start("new")),
    ...Array.from({ length: 5 }, () => start("busy")),
  ]);
  expect(ends.slice(0, ends.lastIndexOf("busy")).filter((caller) => caller === "new").length).toBeLessThan(25);
});

test("shares the threads of a runtime among the callers of its programs [S7]", async () => {
  const runtime = await createRuntime({ skillsDir: false, workers: 1 });
  const caller = { id: "flood", permissions: ["call:*"] };
  const signal = new AbortController();
  const ends: string[] = [];
  const flood = Array.from({ length: 30 }, async () => {
    await runtime.run(SPIN, { caller, limits: { cpuMs: 4_000 }, signal: signal.signal });
    ends.push("flood");
  });
  await runtime.run("return 1");
  expect(ends).toEqual([]);
  signal.abort();
  await Promise.all(flood);
  await runtime.close();
});

test("gives a caller of four times the weight more of the computing time [S7]", { tags: "rest" }, async () => {
  const sandbox = openSandbox(1);
  await run(sandbox, "return 1");
  const ends: string[] = [];
  const start = async (caller: string, weight: number): Promise<void> => {
    await run(sandbox, "let sum = 0; for (let i = 0; i < 4e5; i++) sum += i; return sum", { caller, weight });
    ends.push(caller);
  };
  await Promise.all([
    ...Array.from({ length: 40 }, () => start("light", 1)),
    ...Array.from({ length: 40 }, () => start("heavy", 4)),
  ]);
  const light = ends.slice(0, ends.lastIndexOf("heavy")).filter((caller) => caller === "light").length;
  expect(light).toBeLessThan(20);
});

test("starts no program beside the limit of its caller when one that waits is cancelled, or comes in between [P5]", async () => {
  const limit = new RunningLimit();
  const caller = { id: "ada", permissions: [], limits: { maxRunning: 1 } };
  let [running, most] = [0, 0];
  const start = async (signal?: AbortSignal): Promise<() => void> => {
    let end = (): void => {};
    const ended = new Promise<void>((resolve) => (end = resolve));
    void limit.run(caller, signal, async () => {
      if (signal?.aborted === true) return;
      most = Math.max(most, ++running);
      await ended;
      running--;
    });
    return end;
  };
  const cancelled = new AbortController();
  const endFirst = await start();
  await start(cancelled.signal);
  const endThird = await start();
  cancelled.abort();
  await setImmediate();
  expect([running, most]).toEqual([1, 1]);

  endFirst();
  const others: (() => void)[] = [];
  for (let turn = 0; turn < 6; turn++) others.push(await start()); // one in each microtask after the end
  await setImmediate();
  expect([running, most]).toEqual([1, 1]);
  for (const end of [endThird, ...others]) {
    end();
    await setImmediate();
  }
  expect([running, most]).toEqual([0, 1]);
});

test("runs as many programs of a caller at once as its limit allows; the others wait [P5]", async () => {
  const programs = { running: 0, most: 0 };
  const skill = defineSkill({
    name: "Gate",
    description: "A gate",
    methods: {
      pass: {
        description: "Passes",
        run: async () => {
          programs.most = Math.max(programs.most, ++programs.running);
          while (programs.most < 2) await setImmediate();
          for (let turn = 0; turn < 10; turn++) await setImmediate();
          programs.running--;
          return programs.most;
        },
      },
    },
  });
  const runtime = await createRuntime({ skillsDir: false, skills: [skill] });
  const caller = { id: "ada", permissions: ["call:*"], limits: { maxRunning: 2 } };
  const runs = Array.from({ length: 12 }, () => runtime.run("await device.Gate.pass()", { caller }));
  expect((await Promise.all(runs)).map(({ kind }) => kind)).toEqual(Array.from({ length: 12 }, () => "completed"));
  expect(programs.most).toBe(2);

  const aborted = new AbortController();
  const endless = [1, 2].map(() => runtime.run(SPIN, { caller, signal: aborted.signal, limits: { cpuMs: 4_000 } }));
  const cancelled = new AbortController();
  const waiting = runtime.run("return 1", { caller, signal: cancelled.signal });
  cancelled.abort();
  expect(await waiting).toMatchObject({ kind: "failed", error: { code: "CANCELLED" } });
  aborted.abort();
  await Promise.all(endless);
  expect(await runtime.run("return 1", { caller })).toMatchObject({ kind: "completed", value: 1 });
  await runtime.close();
});
