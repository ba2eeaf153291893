import { readFileSync } from "node:fs";
import type { Worker } from "node:worker_threads";
import { expect, test } from "vitest";

import { Cancellation, createSandbox, type Sandbox } from "../../sandbox/index.ts";
import { repetitions } from "../support/repetitions.ts";
import { answer, later, LIMITS, openSandbox, run, runInChild, getValue } from "../support/sandbox.ts";

const HOSTILE = [
  "for (;;);",
  "for (;;) await null",
  'new Array(1e9) + ""',
  "const all = []; for (;;) all.push('x'.repeat(1e5) + all.length)",
  "for (;;) setTimeout(() => {}, 1)",
  "const dive = () => dive(); dive()",
  "Promise.reject(new Error('nobody listens')); device.Echo.fail(1); return 1",
  "for (;;) print('x'.repeat(1000))",
  "for (let i = 0; ; i++) device.Echo.back('x'.repeat(1e5))",
  "const list = Array.from({ length: 3e5 }, Math.random); for (;;) list.sort(() => Math.random() - 0.5)",
  "return { toJSON() { for (;;); } }",
  "Object.defineProperty(Object.prototype, 'then', { get() { throw new Error('forged') } }); await device.Echo.back({}); return {}",
  "throw new Proxy({}, { get() { for (;;); } })",
  "(async () => { throw 1 })(); setTimeout(() => { throw 2 }, 1); await device.Echo.slow(1e5)",
];

test("gives a worker thread neither files nor network, and the compiled engine [S6]", () => {
  const code = readFileSync(new URL("../../dist/sandbox/worker.cjs", import.meta.url), "utf8");
  const modules = [...code.matchAll(/\b(?:require|import)\("([^"]+)"\)/g)].map(([, name]) => name);
  expect(new Set(modules)).toEqual(new Set(["node:crypto", "node:worker_threads"]));
  expect(code).not.toMatch(/WebAssembly\.(?:Module\b|compile)/);
  // The thread evaluates it, too.
  const describer = readFileSync(new URL("../../dist/lib/describe-result.cjs", import.meta.url), "utf8");
  expect(describer).toContain("describeResult");
  expect(describer).not.toMatch(/\b(?:require|import)\(|\bprocess\b/);
});

test("keeps the host's event loop free, whatever guests do [S7]", { tags: "repeated", timeout: 60_000 }, async () => {
  const sandbox = openSandbox(2);
  await getValue(sandbox, "return 1");
  let turns = 0;
  const turn = (): void => {
    turns++;
    next = setImmediate(turn);
  };
  let next = setImmediate(turn);
  await Promise.all(
    HOSTILE.map((code) => run(sandbox, code, { limits: { cpuMs: repetitions(60, 200), wallMs: 2_000 } })),
  );
  clearImmediate(next);
  expect(turns).toBeGreaterThan(repetitions(30, 100) * HOSTILE.length);
});

test("keeps the host's event loop turning while a guest makes calls without end [S7]", { tags: "rest" }, async () => {
  const sandbox = openSandbox(1);
  let [answered, before, most] = [0, 0, 0];
  const turn = (): void => {
    most = Math.max(most, answered - before);
    before = answered;
    next = setImmediate(turn);
  };
  let next = setImmediate(turn);
  await getValue(sandbox, "for (let i = 0; i < 900; i++) await device.plain(i)", async () => answer(++answered));
  clearImmediate(next);
  expect(answered).toBe(900);
  expect(most).toBeLessThan(500);
});

test("delivers messages of every length complete and in order [S9]", { tags: "rest" }, async () => {
  const sandbox = openSandbox(2);
  const lengths = [0, 1, 60_000, 65_530, 70_000, 90_000, 300_000, 5, 262_000, 64, 87_000];
  for (const letter of ["a", "é", "中", "\u0000", "\ud800", '"']) {
    const code = `
      const texts = ${JSON.stringify(lengths)}.map((length) => ${JSON.stringify(letter)}.repeat(length));
      const seen = [];
      for (const text of texts) { print(text.length); seen.push((await device.Echo.back(text)) === text) }
      const together = await Promise.all(texts.map((text) => device.Echo.back(text)));
      seen.push(together.every((text, i) => text === texts[i]), __waitFor(device.Echo.back(texts[4])) === texts[4]);
      return seen`;
    const limits = { argumentBytes: 4 << 20, answerBytes: 4 << 20 };
    const { end, output } = await run(sandbox, code, { limits });
    expect(end.kind === "returned" && JSON.parse(end.json)).toEqual(Array(lengths.length + 2).fill(true));
    expect(output).toBe(lengths.join("\n"));
  }
});

test("accepts infinite limits [S7]", async () => {
  const none = { cpuMs: Infinity, wallMs: 2 ** 31 - 1, calls: Infinity, callsInFlight: Infinity };
  const bytes = { argumentBytes: Infinity, answerBytes: Infinity, resultBytes: Infinity, outputBytes: Infinity };
  const code = "print('x'); return device.Echo.back(await device.Echo.slow(1))";
  const { end, output } = await run(openSandbox(1), code, { limits: { ...none, ...bytes } });
  expect(end).toEqual({ kind: "returned", json: "1" });
  expect(output).toBe("x");
});

test("leaves the process intact after hostile programs [S7]", { tags: "rest", timeout: 60_000 }, async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);
  process.on("unhandledRejection", note).on("uncaughtExceptionMonitor", note).on("warning", note);
  const sandbox = openSandbox(2);
  for (let round = 0; round < repetitions(1, 3); round++) {
    await Promise.all(HOSTILE.map((code) => run(sandbox, code, { limits: { cpuMs: 60, wallMs: 1_000 } })));
    expect(await getValue(sandbox, "return device.Echo.back(1)")).toBe(1);
  }
  await later(20);
  process.off("unhandledRejection", note).off("uncaughtExceptionMonitor", note).off("warning", note);
  expect(unhandled).toEqual([]);
});

test("gives every honest run beside hostile ones its own result [S7]", { tags: "rest", timeout: 60_000 }, async () => {
  const sandbox = openSandbox(3);
  const honest = Array.from({ length: 200 }, (_, n) =>
    getValue(
      sandbox,
      `let sum = 0; for (let i = 0; i < 1e4; i++) sum += i; return [${n}, sum, await device.Echo.back(${n})]`,
    ),
  );
  const hostile = HOSTILE.flatMap((code) => [code, code]).map((code) =>
    run(sandbox, code, { limits: { cpuMs: 40, wallMs: 1_000 } }),
  );
  expect(await Promise.all(honest)).toEqual(Array.from({ length: 200 }, (_, n) => [n, 49_995_000, n]));
  expect(await Promise.all(hostile)).toHaveLength(HOSTILE.length * 2);
});

test(
  "loses only the runs of ended threads when threads end at random [S7]",
  { tags: "rest", timeout: 60_000 },
  async () => {
    const workers = new Set<Worker>();
    const note = (worker: Worker): void => {
      workers.add(worker);
      worker.once("exit", () => workers.delete(worker));
    };
    process.on("worker", note);
    const sandbox = openSandbox(3);
    const count = repetitions(200, 400, 1_000);
    let killed = 0;
    let finished = 0;
    const killer = setInterval(() => {
      const victim = [...workers][killed % Math.max(1, workers.size)];
      // On a machine that is busy, threads must not die faster than they start.
      if (victim === undefined || workers.size < 2 || finished < killed * 4) return;
      killed++;
      void victim.terminate();
    }, 60);
    const outcomes = await Promise.all(
      Array.from({ length: count }, async (_, n) => {
        await later(n / 2);
        const { end } = await run(
          sandbox,
          `const list = Array.from({ length: 300 }, (_, i) => i * ${n}); await device.Echo.slow(${n % 7}); return [list[299], await device.Echo.back(${n})]`,
          { limits: { wallMs: 60_000 } },
        );
        finished++;
        return { n, end };
      }),
    );
    clearInterval(killer);
    process.off("worker", note);
    const lost = outcomes.filter(({ end }) => end.kind !== "returned");
    expect(finished).toBe(count);
    expect(killed).toBeGreaterThan(repetitions(1, 2, 5));
    // A thread holds the run that computes in it, and perhaps one whose pages it is about to hand over.
    expect(lost.length).toBeLessThanOrEqual(killed * 2);
    expect(new Set(lost.map(({ end }) => JSON.stringify(end)))).toEqual(
      new Set(lost.length === 0 ? [] : ['{"kind":"stopped","reason":"ENGINE_TRAP"}']),
    );
    for (const { n, end } of outcomes.filter(({ end }) => end.kind === "returned"))
      expect(end).toEqual({ kind: "returned", json: `[${299 * n},${n}]` });
    expect(await getValue(sandbox, "return 1")).toBe(1);
  },
);

test("has another thread ready after one was ended by force [S7]", { tags: "rest" }, async () => {
  const sandbox = openSandbox(1);
  await getValue(sandbox, "return 1");
  for (let round = 0; round < 5; round++) {
    await run(sandbox, 'new Array(1e9) + ""', { limits: { cpuMs: 20 } });
    expect(await getValue(sandbox, "return 1")).toBe(1);
  }
});

test("starts a replacement thread before it is needed [S7]", { tags: "rest" }, async () => {
  const events: string[] = [];
  const note = (worker: Worker): void => {
    events.push("starts");
    worker.once("exit", () => events.push("ends"));
  };
  process.on("worker", note);
  const sandbox = openSandbox(1);
  const { end } = await run(sandbox, 'new Array(1e9) + ""', { limits: { cpuMs: 400 } });
  events.push("limit");
  expect(await getValue(sandbox, "return 1")).toBe(1);
  process.off("worker", note);
  expect(end).toEqual({ kind: "stopped", reason: "CPU_LIMIT" });
  // The second is the spare; that it answered before it had ended, a third one cannot have been waited for.
  expect(events.slice(0, 3)).toEqual(["starts", "starts", "limit"]);
});

test("starts no spare thread for programs that run one after another [S7]", async () => {
  const counts: number[] = [];
  // On a busy machine a run can take so long that a spare is started for that: one attempt of several is enough.
  for (let attempt = 0; attempt < 5 && counts.at(-1) !== 1; attempt++) {
    let count = 0;
    const note = (): void => void count++;
    process.on("worker", note);
    const sandbox = createSandbox({ limits: LIMITS, workers: 1 });
    for (let round = 0; round < 3; round++) expect(await getValue(sandbox, "return 1")).toBe(1);
    process.off("worker", note);
    counts.push(count);
    await sandbox.close();
  }
  expect(counts.at(-1)).toBe(1);
});

test(
  "stops a run that is cancelled while it computes between two blocking calls at its next wait [S7]",
  { tags: "rest" },
  async () => {
    let killed = 0;
    const note = (worker: Worker): void => void worker.once("exit", () => killed++);
    process.on("worker", note);
    const sandbox = openSandbox(1);
    // A native loop of at most 40 ms, also on a slow machine: far shorter than the grace.
    const length = await getValue(
      sandbox,
      `const list = new Array(2e6).fill(1);
      const start = Date.now();
      list.indexOf(2);
      return Math.round(2e6 * Math.min(1, 40 / Math.max(1, Date.now() - start)))`,
    );
    for (let round = 0; round < 3; round++) {
      const ending = new Cancellation();
      let resolve = (): void => {};
      const promise = new Promise<void>((done) => (resolve = done));
      // The engine does not look at the clock in a native loop, nor between it and the call.
      const code = `const list = new Array(${String(length)}).fill(1);
        __waitFor(device.plain()); list.indexOf(2); __waitFor(device.plain())`;
      const ran = run(sandbox, code, { cancellable: ending }, async () => {
        setImmediate(() => setImmediate(resolve));
        return answer(1);
      });
      await promise;
      ending.cancel();
      expect((await ran).end).toEqual({ kind: "stopped", reason: "CANCELLED" });
      await later(200); // longer than the grace that a deaf guest gets
    }
    process.off("worker", note);
    expect(killed).toBe(0);
  },
);

test("loses only its own call if an output listener throws [S7]", async () => {
  const sandbox = openSandbox(2);
  await Promise.all([getValue(sandbox, "return 1"), getValue(sandbox, "return 1")]);
  const heard: unknown[] = [];
  const uncaught = process.listeners("uncaughtException");
  process.removeAllListeners("uncaughtException").on("uncaughtException", (error) => heard.push(error.message));
  try {
    const print = (text: string): void => {
      throw new Error(`cannot show ${text}`);
    };
    const failing = run(sandbox, "print('x'); await device.Echo.back(1); print('y'); return 1", { print });
    const others = Promise.all([1, 2, 3].map((n) => getValue(sandbox, `return device.Echo.back(${n})`)));
    expect(await failing).toMatchObject({ end: { kind: "returned", json: "1" }, output: "x\ny" });
    expect(await others).toEqual([1, 2, 3]);
    await later(0);
  } finally {
    process.removeAllListeners("uncaughtException");
    for (const listener of uncaught) process.on("uncaughtException", listener);
  }
  expect(heard).toEqual(["cannot show x", "cannot show y"]);
});

test("does not keep the process alive for a sandbox without runs [S7]", async () => {
  const status = await program(`
    const { end } = await sandbox.run({ code: "return 42", paths: [] }, async () => ({ ok: true, json: "1" }));
    process.stdout.write(end.json);`);
  expect(status).toEqual([0, "42"]);
});

test("resolves `close` even if the threads have just sent messages [S7]", { tags: "rest" }, async () => {
  const status = await program(`
    const run = sandbox.run({ code: "", paths: [] }, async () => ({ ok: true, json: "1" }));
    await new Promise(setImmediate);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500); // the thread reports that it is ready; the message stays unread
    await sandbox.close();
    await run;
    process.stdout.write("closed");`);
  expect(status).toEqual([0, "closed"]);
});

test("ends the threads of a closed sandbox [S7]", async () => {
  const seen: Worker[] = [];
  const note = (worker: Worker): void => void seen.push(worker);
  process.on("worker", note);
  const sandbox = createSandbox({ limits: LIMITS, workers: 1 });
  const program = { code: "", paths: [] };
  // The second run has a spare thread started: it is still on its way when everything ends.
  await Promise.all([sandbox.run(program, async () => answer(1)), sandbox.run(program, async () => answer(1))]);
  await sandbox.close();
  process.off("worker", note);
  expect(seen.map(({ threadId }) => threadId)).toEqual([-1, -1]);
});

test("ends the threads that a burst has started when no run needs them [S7]", { tags: "rest" }, async () => {
  const alive = new Set<Worker>();
  let most = 0;
  let exited = (): void => {};
  const note = (worker: Worker): void => {
    most = Math.max(most, alive.add(worker).size);
    worker.once("exit", () => alive.delete(worker) && exited());
  };
  process.on("worker", note);
  const sandbox = createSandbox({ limits: LIMITS, workers: 1, idleMs: 20 });
  await Promise.all(rush(sandbox, 6));
  expect(most).toBeGreaterThanOrEqual(6);
  while (alive.size > 2) await new Promise<void>((resolve) => (exited = resolve));
  expect(await getValue(sandbox, "return device.Echo.back(1)")).toBe(1);
  expect(await Promise.all(rush(sandbox, 6))).toHaveLength(6);
  await sandbox.close();
  process.off("worker", note);
  expect(alive.size).toBe(0);
});

test("does not keep the process alive for threads that a burst has started [S7]", { tags: "rest" }, async () => {
  const status = await program(`
    let waiting = 0;
    let open;
    const all = new Promise((resolve) => (open = resolve));
    const answer = async () => (++waiting === 8 && open(), await all, { ok: true, json: "1" });
    const code = "return __waitFor(device.plain())";
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => sandbox.run({ code, paths: ["plain"] }, answer)));
    process.stdout.write(outcomes.map(({ end }) => end.json).join(""));`);
  expect(status).toEqual([0, "11111111"]);
});

/** Runs that stand still for a call until all of them do. */
function rush(sandbox: Sandbox, count: number): readonly Promise<unknown>[] {
  let waiting = 0;
  let open = (): void => {};
  const all = new Promise<void>((resolve) => (open = resolve));
  return Array.from({ length: count }, () =>
    getValue(sandbox, "return __waitFor(device.plain())", async () => {
      if (++waiting === count) open();
      await all;
      return answer(1);
    }),
  );
}

/** Exit code and output of a program that has a `sandbox`. */
function program(body: string): Promise<readonly [exit: number, output: string]> {
  const file = new URL("../../dist/sandbox/index.js", import.meta.url).href;
  const code = `
    const { createSandbox } = await import(${JSON.stringify(file)});
    const limits = ${JSON.stringify(LIMITS)};
    const sandbox = createSandbox({ limits, workers: 3, idleMs: 1e6 });
    ${body}`;
  return runInChild([], code);
}
