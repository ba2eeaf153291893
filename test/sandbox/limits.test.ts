import { describe, expect, test } from "vitest";

import { Cancellation, type StopReason, type RunLimits } from "../../sandbox/index.ts";
import { answer, later, openSandbox, run, getValue } from "../support/sandbox.ts";

const sandbox = openSandbox();

interface Case {
  readonly code: string;
  readonly limits?: Partial<RunLimits>;
}

/** Ends that a program can run into, each with programs that do. */
const ENDS: Readonly<Partial<Record<StopReason, Readonly<Record<string, Case>>>>> = {
  CPU_LIMIT: {
    "an endless loop": { code: "for (;;);", limits: { cpuMs: 50 } },
    "a loop that catches everything": {
      code: "for (;;) try { for (;;); } catch {} finally { continue }",
      limits: { cpuMs: 50 },
    },
    "promises without an end": { code: "for (;;) await null;", limits: { cpuMs: 50 } },
    "promises that double": {
      code: "const f = () => { Promise.resolve().then(f); Promise.resolve().then(f) }; f(); await new Promise(() => {})",
      limits: { cpuMs: 50 },
    },
    "a getter without an end in the result": { code: "return { get x() { for (;;); } }", limits: { cpuMs: 50 } },
    "a toString without an end in an error": { code: "throw { get message() { for (;;); } }", limits: { cpuMs: 50 } },
    "a callback of a timer": {
      code: "setTimeout(() => { for (;;); }); await new Promise(() => {})",
      limits: { cpuMs: 50 },
    },
    "an expression that backtracks": { code: '/^(a+)+$/.test("a".repeat(40) + "b")', limits: { cpuMs: 50 } },
    "many short turns": {
      code: "for (;;) { await device.Echo.back(1); for (let i = 0; i < 20000; i++); }",
      limits: { cpuMs: 60, calls: 1e6 },
    },
    "a native loop over a sparse array": { code: 'new Array(1e9) + ""', limits: { cpuMs: 50 } },
    "a native search": { code: "Array.prototype.indexOf.call({ length: 2 ** 32 - 1 }, 9)", limits: { cpuMs: 50 } },
    "a large number's power": { code: "7n ** 9999999n", limits: { cpuMs: 50 } },
    "a huge sort": { code: "const list = new Array(2 ** 31); list.sort()", limits: { cpuMs: 50 } },
    "a pattern in a long text": { code: '"a".repeat(2e6).indexOf("a".repeat(1e6) + "b")', limits: { cpuMs: 50 } },
  },
  WALL_LIMIT: {
    "a timer that is too long": { code: "await new Promise((done) => setTimeout(done, 1e6))", limits: { wallMs: 100 } },
    "a call that takes too long": { code: "await device.Echo.slow(1e6)", limits: { wallMs: 100 } },
    "a blocking call that takes too long": { code: "__waitFor(device.Echo.slow(1e6))", limits: { wallMs: 100 } },
    "an interval": { code: "setInterval(() => {}, 5); await new Promise(() => {})", limits: { wallMs: 100 } },
    "computing, where there is more time to compute": { code: "for (;;);", limits: { wallMs: 100 } },
  },
  MEMORY_LIMIT: {
    "one large buffer": { code: "new Uint8Array(60 << 20)" },
    "many texts": { code: 'const all = []; for (let i = 0; ; i++) all.push("x".repeat(1e5) + i)' },
    "a text that doubles": { code: 'let text = "x"; for (;;) text = (text + text).toUpperCase()' },
    "a program that catches it": {
      code: "const all = []; for (;;) try { for (;;) all.push(new Uint8Array(1e6)) } catch {}",
    },
    "small objects": { code: "let last = {}; for (;;) last = { last, a: 1, b: 2 }", limits: { cpuMs: 20_000 } },
    "a limit of 2 MB": {
      code: "const all = []; for (;;) all.push(new Uint8Array(1e5))",
      limits: { memoryBytes: 2 << 20 },
    },
    "a limit of 1 MB, with a program that catches it": {
      code: "const all = []; for (;;) try { for (;;) all.push(new Uint8Array(1e4)) } catch {}",
      limits: { memoryBytes: 1 << 20 },
    },
    promises: { code: "const all = []; for (;;) all.push(new Promise(() => {}))", limits: { memoryBytes: 4 << 20 } },
  },
  CALL_LIMIT: {
    "a loop": { code: "for (;;) await device.Echo.back(1)", limits: { calls: 10 } },
    "a loop that catches everything": {
      code: "for (;;) try { await device.Echo.back(1) } catch {}",
      limits: { calls: 10 },
    },
    "blocking calls": { code: "for (;;) __waitFor(device.Echo.back(1))", limits: { calls: 10 } },
  },
  CALLS_IN_FLIGHT_LIMIT: {
    "arguments of too many bytes at once": {
      code: 'await Promise.all(Array.from({ length: 9 }, () => device.Echo.back("x".repeat(900))))',
      limits: { callsInFlight: 4, argumentBytes: 1_000 },
    },
    "arguments of too many bytes over two turns": {
      code: 'const call = () => device.Echo.slow(1e5, "x".repeat(900)); const slow = [call(), call(), call()]; await device.Echo.back(1); slow.push(call(), call(), call()); await Promise.all(slow)',
      limits: { callsInFlight: 4, argumentBytes: 1_000 },
    },
    "blocking calls beside them": {
      code: 'const slow = [1, 2, 3, 4].map(() => device.Echo.slow(1e5, "x".repeat(900))); __waitFor(device.Echo.back("x".repeat(900)))',
      limits: { callsInFlight: 4, argumentBytes: 1_000 },
    },
  },
  ARGUMENT_LIMIT: {
    "a long text": { code: 'await device.Echo.back("x".repeat(2000))', limits: { argumentBytes: 1_000 } },
    "a short text of long characters": {
      code: 'await device.Echo.back("語".repeat(400))',
      limits: { argumentBytes: 1_000 },
    },
    "a blocking call": { code: '__waitFor(device.Echo.back("x".repeat(2000)))', limits: { argumentBytes: 1_000 } },
  },
  RESULT_LIMIT: {
    "a long text": { code: 'return "x".repeat(2000)', limits: { resultBytes: 1_000 } },
  },
  NEVER_SETTLES: {
    "a promise that nothing settles": { code: "await new Promise(() => {})" },
    "one in the result": { code: "return [1, new Promise(() => {})]" },
    "one that is printed": { code: "print(new Promise(() => {}))" },
    "two that wait for each other": {
      code: "let a, b; a = (async () => { await null; await b })(); b = (async () => { await a })(); await a",
    },
    "after a call": { code: "await device.Echo.back(1); await new Promise(() => {})" },
    "a timer that was stopped": { code: "await new Promise((done) => clearTimeout(setTimeout(done, 5)))" },
  },
};

describe.each(Object.entries(ENDS))("ends %s [S7]", (reason, cases) => {
  test.each(Object.entries(cases))(
    "%s, and keeps the next run healthy",
    { tags: "rest" },
    async (_, { code, limits = {} }) => {
      const { end } = await run(sandbox, code, { limits });
      expect(end).toEqual({ kind: "stopped", reason });
      expect(await getValue(sandbox, "return 6 * (await device.Echo.back(7))")).toBe(42);
    },
  );
});

test("lets a guest catch a stack overflow, without harm to other runs [S7]", { tags: "rest" }, async () => {
  const code = `
    const errors = [];
    const attempt = (dive) => { try { dive(); errors.push("none") } catch (error) { errors.push(error.name + ": " + error.message) } };
    attempt(function dive() { dive() });
    attempt(() => { const o = { get x() { return this.x } }; o.x });
    attempt(() => { const o = { toString() { return "" + this } }; "" + o });
    attempt(() => { const p = new Proxy({}, { get(_, k, self) { return self[k] } }); p.x });
    attempt(() => { const o = { toJSON() { return JSON.stringify(o) } }; JSON.stringify(o) });
    attempt(() => "a".replace(/a/, function dive() { return "a".replace(/a/, dive) }));
    attempt(() => Reflect.construct(function dive() { Reflect.construct(dive, []) }, []));
    attempt(() => { const f = () => [1].map(f); f() });
    return errors`;
  const overflow = "InternalError: stack overflow";
  for (let round = 0; round < 20; round++) expect(await getValue(sandbox, code)).toEqual(Array(8).fill(overflow));
});

test("reports source that nests too deeply as an error, each time [S7]", { tags: "rest" }, async () => {
  const nests = ["(", "[", "{a:", "()=>", "!", "`${", "new ", "a?.["].map((open) => `return ${open.repeat(20_000)}`);
  for (const code of nests) {
    const { end } = await run(sandbox, code);
    expect(end.kind === "threw" || (end.kind === "stopped" && end.reason === "STACK_LIMIT")).toBe(true);
  }
  expect(await getValue(sandbox, "return 1")).toBe(1);
});

test("ends a run with uncaught recursion with a stack overflow [S7]", async () => {
  const { end } = await run(sandbox, "const dive = () => dive(); dive()");
  expect(end.kind === "threw" && JSON.parse(end.json)).toMatchObject({
    name: "InternalError",
    message: "stack overflow",
  });
});

test("reports an answer that is too large as an error that the program can catch [S7]", async () => {
  const code = "try { await device.Echo.back(3) } catch (error) { return [error.name, error.code, error.message] }";
  const { end } = await run(sandbox, code, { limits: { answerBytes: 100 } }, async () => answer("x".repeat(200)));
  const message = "Call result size limit exceeded: 202 bytes, at most 100 (ANSWER_LIMIT)";
  expect(end).toEqual({ kind: "returned", json: JSON.stringify(["CallError", "ANSWER_LIMIT", message]) });
});

test("cuts prints at their limit, and the run continues [S7]", async () => {
  const { end, output, outputCut } = await run(sandbox, 'for (let i = 0; i < 100; i++) print("äöü" + i); return 5', {
    limits: { outputBytes: 100 },
  });
  expect(end).toEqual({ kind: "returned", json: "5" });
  expect(outputCut).toBe(true);
  expect(output).toBe("äöü0\näöü1\näöü2\näöü3\näöü4\näöü5\näöü6\näöü7\näöü8\näöü9\näöü10\näöü11\nä");
});

test.each(["WALL_LIMIT", "CPU_LIMIT", "CANCELLED"] as const)(
  "keeps the output of a computing run that is ended: %s [S3]",
  { tags: "rest" },
  async (reason) => {
    const ending = new Cancellation();
    const limits = { WALL_LIMIT: { wallMs: 60 }, CPU_LIMIT: { cpuMs: 60 }, CANCELLED: {} }[reason];
    const afterWait = "print(1); __waitFor(device.Echo.back(1)); print(2); for (;;);";
    const print = (text: string): void => {
      if (reason === "CANCELLED" && text.includes("2")) ending.cancel();
    };
    const { end, output } = await run(sandbox, afterWait, { limits, cancellable: ending, print });
    expect([end, output]).toEqual([{ kind: "stopped", reason }, "1\n2"]);
  },
);

test("cuts a single print that is far too long [S7]", async () => {
  const { output, outputCut } = await run(sandbox, 'print("x".repeat(3e6)); print("y")', {
    limits: { outputBytes: 1_000 },
  });
  expect([output, outputCut]).toEqual(["x".repeat(1_000), true]);
});

test("does not cut output of exactly the limit [S7]", async () => {
  const { output, outputCut } = await run(sandbox, 'print("x".repeat(99))', { limits: { outputBytes: 100 } });
  expect([output, outputCut]).toEqual(["x".repeat(99), false]);
});

test("does not count waiting as computing [S7]", async () => {
  // An interruption by other work of the machine counts as computing, so the limit leaves time for some.
  const code = "for (let i = 0; i < 8; i++) { await device.Echo.slow(60); __waitFor(device.Echo.slow(60)) }";
  const { end, cpuMs, wallMs } = await run(sandbox, code, { limits: { cpuMs: 400 } });
  expect(end.kind).toBe("returned");
  expect(cpuMs).toBeLessThan(400);
  expect(wallMs).toBeGreaterThan(900);
});

test("a run reports its usage [S7, S12]", async () => {
  const spend =
    "const kept = new Uint8Array(5e6).fill(1); const end = Date.now() + 60; while (Date.now() < end); await device.Echo.back(kept.length); return 0";
  const outcome = await run(sandbox, spend);
  expect(outcome.calls).toBe(1);
  expect(outcome.memoryBytes).toBeGreaterThan(5e6);
  expect(outcome.memoryBytes).toBeLessThan(8e6);
  expect(outcome.cpuMs).toBeGreaterThan(55);
  expect(outcome.wallMs).toBeGreaterThanOrEqual(outcome.cpuMs);
});

test("reports the usage of a run that was ended by force [S7, S12]", async () => {
  const { cpuMs, wallMs } = await run(sandbox, 'await device.Echo.back(1); new Array(1e9) + ""', {
    limits: { cpuMs: 50 },
  });
  expect(cpuMs).toBeGreaterThanOrEqual(50);
  expect(wallMs).toBeGreaterThanOrEqual(cpuMs);
});

test("does not wait for a guest that keeps computing after its result [S7]", async () => {
  const { end } = await run(sandbox, "(async () => { for (;;) await null })(); return 5");
  expect(end).toEqual({ kind: "returned", json: "5" });
});

test("lets timers that are started and stopped endlessly cost the host nothing [S7]", async () => {
  const { end } = await run(sandbox, "for (;;) clearTimeout(setTimeout(() => {}, 1e5))", { limits: { cpuMs: 300 } });
  expect(end).toEqual({ kind: "stopped", reason: "CPU_LIMIT" });
  const { end: many } = await run(sandbox, "for (;;) setTimeout(() => {}, 1e5)");
  expect(many.kind === "threw" && JSON.parse(many.json)).toMatchObject({
    message: "Cannot have more than 1000 timers at once",
  });
});

const PHASES = {
  "before it starts": "return 1",
  "while it computes": "print(1); for (;;);",
  "in a native loop": 'print(1); new Array(1e9) + ""',
  "while it waits for a call": "await device.Echo.slow(1e6)",
  "while it stands still for a call": "__waitFor(device.Echo.slow(1e6))",
  "while it waits for a timer": "await new Promise((done) => setTimeout(done, 1e6))",
} as const;

test.each(Object.entries(PHASES))("cancels a run %s [S7]", async (phase, code) => {
  const ending = new Cancellation();
  if (phase === "before it starts") ending.cancel();
  const cancelled: string[] = [];
  const running = run(sandbox, code, { cancellable: ending }, async ({ path, signal }) => {
    signal.addEventListener("abort", () => cancelled.push(path));
    queueMicrotask(() => ending.cancel());
    await later(60_000, signal);
    return answer(1);
  });
  if (!code.includes("device")) setTimeout(() => ending.cancel(), 30);
  const { end, unfinished } = await running;
  expect(end).toEqual({ kind: "stopped", reason: "CANCELLED" });
  expect(cancelled).toEqual(code.includes("device") ? ["Echo.slow"] : []);
  expect(unfinished).toHaveLength(cancelled.length);
  expect(await getValue(sandbox, "return 1")).toBe(1);
});

test("cancels and names calls without an answer when a run ends [S7]", async () => {
  const cancelled: number[] = [];
  const { end, unfinished, calls } = await run(
    sandbox,
    "device.Echo.slow(1); device.Echo.slow(2); await device.Echo.back(3); return 4",
    {},
    async ({ id, path, signal }) => {
      signal.addEventListener("abort", () => cancelled.push(id));
      if (path === "Echo.slow") await later(60_000, signal);
      return answer(0);
    },
  );
  expect(end).toEqual({ kind: "returned", json: "4" });
  expect([unfinished, cancelled, calls]).toEqual([[1, 2], [1, 2], 3]);
});

test("cancels and names a call of the program's last step like others [S7]", async () => {
  const asked: string[] = [];
  const { end, unfinished } = await run(sandbox, "device.Echo.back(1); return 4", {}, async ({ path }) => {
    asked.push(path);
    return answer(0);
  });
  expect([end, unfinished, asked]).toEqual([{ kind: "returned", json: "4" }, [1], ["Echo.back"]]);
});

test("cancels the runs of a closed sandbox, and refuses new ones [S7]", async () => {
  const closed = openSandbox(1);
  await getValue(closed, "return 1");
  const open = run(closed, "await device.Echo.slow(1e6)");
  await closed.close();
  expect((await open).end).toEqual({ kind: "stopped", reason: "CANCELLED" });
  await expect(run(closed, "return 1")).rejects.toThrow("The sandbox is closed: create a new one");
});
