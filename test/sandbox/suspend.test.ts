import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { serialize } from "node:v8";
import { expect, test } from "vitest";

import type { AnswerCall, SandboxOutcome } from "../../sandbox/index.ts";
import { answer, later, LIMITS, openSandbox, run, getValue } from "../support/sandbox.ts";

const sandbox = openSandbox(2);

/** Runs some code until its first call to `Echo.slow`, and suspends it there. */
async function parkedAt(
  code: string,
  limits = {},
  respond?: AnswerCall,
): Promise<{ readonly bytes: Uint8Array; readonly outcome: SandboxOutcome }> {
  const park = new AbortController();
  const outcome = await run(sandbox, code, { park: park.signal, limits }, async (call) => {
    if (call.path !== "Echo.slow") return respond === undefined ? answer(JSON.parse(call.arguments)[0]) : respond(call);
    park.abort();
    await later(60_000, call.signal);
    return answer("too late");
  });
  if (outcome.end.kind !== "parked") throw new Error(`did not park: ${JSON.stringify(outcome.end)}`);
  return { bytes: sandbox.serialize(outcome.end.state), outcome };
}

const CODE = `
  const mine = { list: [1, 2, 3], map: new Map([["k", new Date(5)]]), f: (x) => x + 1 };
  globalThis.mark = "kept"; print("before"); const before = await device.Echo.back("b");
  const answered = await device.Echo.slow("please");
  print("after");
  return [mine.list, mine.map.get("k").getTime(), mine.f(1), mark, before, answered, await device.Echo.back("c")]`;

test("suspends a waiting run as bytes, and continues it in another sandbox [S7]", async () => {
  const { bytes, outcome } = await parkedAt(CODE);
  expect([outcome.unfinished, outcome.calls, outcome.output]).toEqual([[2], 2, "before"]);
  expect(bytes.length).toBeLessThan(200_000);
  const other = openSandbox(1);
  const asked: unknown[] = [];
  const { end, output, calls } = await other.resume(bytes, async ({ path, arguments: json, id, resumed }) => {
    asked.push([id, path, json, resumed]);
    return answer(resumed ? "granted" : JSON.parse(json)[0]);
  });
  expect(asked).toEqual([
    [2, "Echo.slow", '["please"]', true],
    [3, "Echo.back", '["c"]', false],
  ]);
  expect(end).toEqual({ kind: "returned", json: '[[1,2,3],5,2,"kept","b","granted","c"]' });
  expect([output, calls]).toEqual(["before\nafter", 3]);
});

test("keeps dates of a waiting call as dates, and never converts similar values [S7]", async () => {
  const list = "Array.from({ length: 2_000 }, () => new Date(0))";
  for (const given of ["[new Date(0)]", list]) {
    const { bytes } = await parkedAt(`await device.Echo.slow({ dates: ${given}, other: { $date: "x" } })`);
    const asked: unknown[] = [];
    await sandbox.resume(bytes, async (call) => {
      asked.push(call.readArguments("dates").value);
      return answer(null);
    });
    const [[{ dates, other }]] = asked as [[{ dates: unknown[]; other: unknown }]];
    expect([dates[0], other]).toEqual([new Date(0), { $date: "x" }]);
  }
});

test("resumes the same bytes more than once, each time from the same state [S7]", async () => {
  const { bytes } = await parkedAt(CODE);
  const resume = (word: string): Promise<SandboxOutcome> =>
    sandbox.resume(bytes, async ({ resumed }) => answer(resumed ? word : 0));
  const ends = (await Promise.all([resume("x"), resume("y")])).map(({ end }) => end);
  expect(ends).toEqual(["x", "y"].map((word) => ({ kind: "returned", json: `[[1,2,3],5,2,"kept","b","${word}",0]` })));
});

test("resumes a suspended run in another process of the same version [S7]", async () => {
  const { bytes } = await parkedAt(CODE);
  const code = `
    const { createSandbox } = await import(${JSON.stringify(new URL("../../dist/sandbox/index.js", import.meta.url).href)});
    const { buffer } = await import("node:stream/consumers");
    const sandbox = createSandbox({ limits: ${JSON.stringify(LIMITS)}, workers: 1 });
    const { end } = await sandbox.resume(await buffer(process.stdin), async () => ({ ok: true, json: '"there"' }));
    process.stdout.write(end.json);`;
  const child = promisify(execFile)(process.execPath, ["--input-type=module", "-e", code]);
  child.child.stdin?.end(bytes);
  const { stdout } = await child;
  expect(stdout).toBe('[[1,2,3],5,2,"kept","b","there","there"]');
});

test("transfers the usage and the remaining limits of a run with it [S7]", async () => {
  const spend = "{ const end = Date.now() + 800; while (Date.now() < end); }";
  const { bytes } = await parkedAt(`${spend} await device.Echo.slow(1); for (;;);`, { cpuMs: 1_200 });
  const { end, cpuMs, wallMs } = await sandbox.resume(bytes, async () => answer(1));
  expect(end).toEqual({ kind: "stopped", reason: "CPU_LIMIT" });
  expect(cpuMs).toBeGreaterThanOrEqual(1_200);
  expect(wallMs).toBeLessThan(1_200);
  const limited = await parkedAt(
    "await device.Echo.back(1); await device.Echo.slow(1); await device.Echo.back(2); await device.Echo.back(3)",
    { calls: 3 },
  );
  expect((await sandbox.resume(limited.bytes, async () => answer(1))).end).toEqual({
    kind: "stopped",
    reason: "CALL_LIMIT",
  });
  const small = await parkedAt("await device.Echo.slow(1); const all = []; for (;;) all.push(new Uint8Array(1e5))", {
    memoryBytes: 2 << 20,
  });
  const outcome = await sandbox.resume(small.bytes, async () => answer(1));
  expect(outcome.end).toEqual({ kind: "stopped", reason: "MEMORY_LIMIT" });
  expect(outcome.memoryBytes).toBeLessThanOrEqual(2 << 20);
});

test("continues timers and other open calls of a suspended run [S7]", async () => {
  const code = `
    const order = [];
    const timer = new Promise((done) => setTimeout(() => done(order.push("timer")), 40));
    const open = device.Echo.back("open").then((v) => order.push(v));
    order.push(await device.Echo.slow(1));
    await open; await timer;
    return order`;
  const { bytes } = await parkedAt(code, {}, async ({ signal }) => {
    await later(60_000, signal);
    return answer(0);
  });
  const { end } = await sandbox.resume(bytes, async ({ path }) => answer(path));
  expect(end.kind === "returned" && JSON.parse(end.json).toSorted()).toEqual(["Echo.back", "Echo.slow", "timer"]);
});

test("suspends a resumed run again [S7]", async () => {
  const { bytes } = await parkedAt("let n = 0; for (let i = 0; i < 3; i++) n += await device.Echo.slow(i); return n");
  const park = new AbortController();
  const again = await sandbox.resume(
    bytes,
    async ({ arguments: json, signal }) => {
      if (json === "[0]") return answer(10);
      park.abort();
      await later(60_000, signal);
      return answer(0);
    },
    { park: park.signal },
  );
  if (again.end.kind !== "parked") throw new Error("did not park");
  const { end } = await sandbox.resume(sandbox.serialize(again.end.state), async ({ arguments: json }) =>
    answer(json === "[1]" ? 20 : 30),
  );
  expect(end).toEqual({ kind: "returned", json: "60" });
});

test("completes a run that never waits although it was to be suspended [S7]", async () => {
  const park = new AbortController();
  park.abort();
  expect((await run(sandbox, "return 1 + 1", { park: park.signal })).end).toEqual({ kind: "returned", json: "2" });
  expect((await run(sandbox, "for (;;);", { park: park.signal, limits: { cpuMs: 30 } })).end).toEqual({
    kind: "stopped",
    reason: "CPU_LIMIT",
  });
});

/** Recomputes the digest at the start of the bytes. */
function sealed(bytes: Uint8Array): Buffer {
  const rest = bytes.subarray(32);
  return Buffer.concat([createHash("sha256").update(rest).digest(), rest]);
}

/** The same bytes, with another JSON of what the host knew. */
function saying(bytes: Uint8Array, change: (state: Record<string, unknown>) => void): Buffer {
  const length = Buffer.from(bytes).readUInt32LE(64);
  const state = JSON.parse(Buffer.from(bytes.subarray(68, 68 + length)).toString()) as Record<string, unknown>;
  change(state);
  const json = Buffer.from(JSON.stringify(state));
  const size = Buffer.alloc(4);
  size.writeUInt32LE(json.length);
  return sealed(Buffer.concat([bytes.subarray(0, 64), size, json, bytes.subarray(68 + length)]));
}

const resumed = async (bytes: Uint8Array): Promise<unknown> =>
  sandbox
    .resume(bytes, async () => answer(1))
    .then(
      ({ end }) => end,
      (error: Error) => error.message,
    );

test("refuses bytes of another version as such [S7]", async () => {
  const { bytes } = await parkedAt(CODE);
  const other = Buffer.from(bytes);
  other[40] = (other[40] as number) ^ 1;
  expect(await resumed(sealed(other))).toBe("Cannot resume a run that was parked by another version");
});

test("rejects bytes that were changed at any position, without harm to other runs [S7]", async () => {
  const { bytes } = await parkedAt(CODE);
  const damaged = "Cannot resume a run from these bytes: they are damaged, or do not hold a parked run";
  const ends = [0, 1, 31, 32, 67, 68, 100, 1_000, bytes.length - 1].map((length) => bytes.subarray(0, length));
  const flips = Array.from({ length: 300 }, (_, n) => {
    const flipped = Buffer.from(bytes);
    const at = n < 150 ? n : Math.floor((n * bytes.length) / 300);
    flipped[at] = (flipped[at] as number) ^ (1 << (n % 8));
    return flipped;
  });
  const others = [new Uint8Array(10), Buffer.concat([bytes, Buffer.alloc(1)]), serialize({ key: "a", state: {} })];
  for (const wrong of [...ends, ...flips, ...others]) expect(await resumed(wrong)).toBe(damaged);
  expect(await resumed(bytes)).toMatchObject({ kind: "returned" });
});

test("forged bytes are rejected, or end only their own run [S7]", async () => {
  const { bytes } = await parkedAt(CODE);
  const meaningless = "Cannot resume a run from these bytes: they do not describe a run";
  const forged = (change: (state: Record<string, unknown>) => void): Promise<unknown> => resumed(saying(bytes, change));
  for (const name of ["limits", "range", "pending", "answers", "timers", "prints", "cpuMs", "memoryBytes", "calls"]) {
    for (const value of [undefined, "1", -1, [5], { cpuMs: 1 }, [{ id: 1 }]])
      expect(await forged((state) => (state[name] = value))).toBe(meaningless);
  }
  const trapped = { kind: "stopped", reason: "ENGINE_TRAP" };
  expect(await forged((state) => (state["range"] = { extra: 0, end: 2 ** 40 }))).toEqual(trapped);
  const [pages] = [68 + Buffer.from(bytes).readUInt32LE(64)];
  for (const lie of [0xff, 0x7f]) {
    const wrong = Buffer.from(bytes);
    wrong.fill(lie, pages, pages + 12);
    expect(await resumed(sealed(wrong))).toEqual(trapped);
  }
  expect(await resumed(sealed(bytes.subarray(0, pages)))).toEqual(trapped);
  expect(await forged((state) => (state["answers"] = ["]]"]))).toMatchObject({ kind: "threw" });
  expect(await getValue(sandbox, "return 1")).toBe(1);
  expect(await resumed(bytes)).toMatchObject({ kind: "returned" });
});

test("suspends a run without limits, and continues it without limits [S7]", async () => {
  const code = "await device.Echo.slow(1); return 1";
  const { bytes } = await parkedAt(code, { cpuMs: Infinity, calls: Infinity, outputBytes: Infinity });
  expect(await resumed(bytes)).toEqual({ kind: "returned", json: "1" });
});
