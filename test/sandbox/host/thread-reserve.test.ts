import type { Worker } from "node:worker_threads";
import { expect, onTestFinished, test } from "vitest";

import { Cancellation, createSandbox, type Sandbox, type SandboxOptions } from "../../../sandbox/index.ts";
import { createRuntime } from "../../../src/index.ts";
import { answer, getValue, LIMITS, run, runInChild } from "../../support/sandbox.ts";

let memoryBytes = 40 << 20;

/** Returns a function that opens sandboxes with a limit of memory of their own, so that no thread of another test fits. */
function createOpen(): (options?: Partial<SandboxOptions>) => Sandbox {
  const limits = { ...LIMITS, memoryBytes: (memoryBytes += 1 << 16) };
  return (options) => createSandbox({ limits, workers: 1, keepMs: 60_000, ...options });
}

/** Begins a run, and says whether its sandbox took a thread that was kept or started one. Resolves to the value of the run. */
function beginRun(
  sandbox: Sandbox,
  code: string,
): { readonly thread: "kept" | "new"; readonly value: Promise<unknown> } {
  const value = getValue(sandbox, code);
  return { thread: sandbox.getLoad().workers.idle === 1 ? "kept" : "new", value };
}

/** Follows the threads of the process that start from now on. */
function followThreads(): { readonly started: ReadonlySet<Worker>; readonly ended: ReadonlySet<Worker> } {
  const started = new Set<Worker>();
  const ended = new Set<Worker>();
  const note = (worker: Worker): void => {
    started.add(worker);
    worker.once("exit", () => ended.add(worker));
  };
  process.on("worker", note);
  onTestFinished(() => void process.off("worker", note));
  return { started, ended };
}

test("gives the thread of a closed sandbox to the next one, whose program finds nothing of earlier ones [S7, S8]", async () => {
  const open = createOpen();
  for (const expected of ["new", "kept", "kept"]) {
    const sandbox = open();
    const { thread, value } = beginRun(sandbox, "return globalThis.left");
    expect(thread).toBe(expected);
    expect(await value).toBeUndefined();
    expect(await getValue(sandbox, "globalThis.left = 1; return device.Echo.back(2)")).toBe(2);
    await sandbox.close();
  }
});

test(
  "starts a thread for another limit of memory, and for another description of results [S7]",
  { tags: "rest" },
  async () => {
    const open = createOpen();
    const file = new URL("../../../dist/lib/describe-result.cjs", import.meta.url);
    for (const options of [{}, { limits: { ...LIMITS, memoryBytes: 8 << 20 } }, { describer: () => file }]) {
      const sandbox = open(options);
      const { thread, value } = beginRun(sandbox, "return 1");
      expect(thread).toBe("new");
      expect(await value).toBe(1);
      await sandbox.close();
    }
  },
);

test("ends a thread that no sandbox takes in time [S7]", async () => {
  const { started, ended } = followThreads();
  const open = createOpen();
  const first = open({ keepMs: 1 });
  expect(await getValue(first, "return 1")).toBe(1);
  await first.close();
  await expect.poll(() => ended).toEqual(started);
  const second = open();
  const { thread, value } = beginRun(second, "return 1");
  expect(thread).toBe("new");
  expect(await value).toBe(1);
  await second.close();
});

test("ends a thread whose program still computes when its sandbox is closed [S7]", async () => {
  const { started, ended } = followThreads();
  const sandbox = createOpen()();
  const running = run(sandbox, "for (;;);");
  await expect.poll(() => sandbox.getLoad().workers.busy).toBe(1);
  const [computing] = started;
  await sandbox.close();
  expect((await running).end).toEqual({ kind: "stopped", reason: "CANCELLED" });
  expect(ended).toContain(computing);
});

test("keeps a thread whose program waits for a call when its sandbox is closed, and drops the program [S7, S8]", async () => {
  const open = createOpen();
  const sandbox = open();
  await new Promise<void>((resolve) => {
    const code = "globalThis.left = 1; await device.plain()";
    void run(sandbox, code, {}, () => new Promise(() => resolve()));
  });
  await expect.poll(() => sandbox.getLoad().workers.busy).toBe(0);
  await sandbox.close();
  const next = open();
  const { thread, value } = beginRun(next, "return [globalThis.left, await device.Echo.back(2)]");
  expect(thread).toBe("kept");
  expect(await value).toEqual([null, 2]);
  await next.close();
});

test("stops no program of the next sandbox after the cancellation of an earlier one [S7]", async () => {
  const open = createOpen();
  const sandbox = open();
  const cancellable = new Cancellation();
  const running = run(sandbox, "for (;;);", { cancellable });
  await expect.poll(() => sandbox.getLoad().workers.busy).toBe(1);
  cancellable.cancel();
  expect((await running).end).toEqual({ kind: "stopped", reason: "CANCELLED" });
  await expect.poll(() => sandbox.getLoad().workers.busy).toBe(0);
  await sandbox.close();
  const next = open();
  const { thread, value } = beginRun(next, "let n = 0; while (n < 1e5) n++; return n");
  expect(thread).toBe("kept");
  expect(await value).toBe(1e5);
  await next.close();
});

test(
  "gives a thread on in the moment in which its program ends, beside others that are stopped [S7]",
  { tags: "rest" },
  async () => {
    const open = createOpen();
    for (let round = 0; round < 50; round++) {
      const sandbox = open({ workers: 2 });
      const programs = [1, 2_000, 4_000, 6_000].map((steps) =>
        run(sandbox, `let n = 0; while (n < ${steps}) n++; return await device.Echo.back(n)`),
      );
      expect((await Promise.race(programs)).end.kind).toBe("returned");
      void sandbox.close(); // its threads are given on in this turn
      await Promise.all(programs);
    }
  },
);

test("keeps two threads at most, the newest [S7]", { tags: "rest" }, async () => {
  const { started, ended } = followThreads();
  const open = createOpen();
  const sandboxes = [open(), open(), open(), open()];
  const values = await Promise.all(sandboxes.map((sandbox, index) => getValue(sandbox, `return ${index}`)));
  expect(values).toEqual([0, 1, 2, 3]);
  for (const sandbox of sandboxes) await sandbox.close();
  await expect.poll(() => started.size - ended.size).toBe(2);
  expect(ended).toContain([...started][0]);
});

test("starts a thread in place of one that ended while it was kept [S7]", async () => {
  const { started, ended } = followThreads();
  const open = createOpen();
  const sandbox = open();
  expect(await getValue(sandbox, "return 1")).toBe(1);
  await sandbox.close();
  await Promise.all([...started].map((worker) => worker.terminate()));
  await expect.poll(() => ended).toEqual(started);
  const next = open();
  const { thread, value } = beginRun(next, "return 2");
  expect(thread).toBe("new");
  expect(await value).toBe(2);
  await next.close();
});

test("does not keep the process alive for a thread that is kept [S7]", async () => {
  const file = new URL("../../../dist/sandbox/index.js", import.meta.url).href;
  const status = await runInChild(
    [],
    `const { createSandbox } = await import(${JSON.stringify(file)});
    const sandbox = createSandbox({ limits: ${JSON.stringify(LIMITS)}, workers: 1, keepMs: 1e6 });
    const { end } = await sandbox.run({ code: "return 42", paths: [] }, async () => (${JSON.stringify(answer(1))}));
    await sandbox.close();
    process.stdout.write(end.json);`,
  );
  expect(status).toEqual([0, "42"]);
});

test("keeps a thread of a closed runtime [S7]", async () => {
  const { started, ended } = followThreads();
  const limits = { memoryBytes: (memoryBytes += 1 << 16) };
  const runtime = await createRuntime({ skillsDir: false, workers: 1, typecheck: false, limits });
  expect(await runtime.run("1 + 1")).toMatchObject({ kind: "completed", value: 2 });
  await runtime.close();
  expect(started.size - ended.size).toBe(1);
});
