import { expect, test } from "vitest";

import type { AnswerCall, SandboxAnswer } from "../../sandbox/index.ts";
import { repetitions } from "../support/repetitions.ts";
import { answer, later, openSandbox, run, getValue } from "../support/sandbox.ts";

const sandbox = openSandbox(3);

/** Answers calls only on request: by their first argument, in any order. */
function switchboard(): {
  readonly respond: AnswerCall;
  readonly open: Map<unknown, (value: unknown) => void>;
  readonly count: (calls: number) => Promise<void>;
} {
  const open = new Map<unknown, (value: unknown) => void>();
  let waiting: (() => void)[] = [];
  const respond: AnswerCall = ({ arguments: json }) =>
    new Promise<SandboxAnswer>((resolve) => {
      open.set((JSON.parse(json) as unknown[])[0], (value) => resolve(answer(value)));
      const tell = waiting;
      waiting = [];
      for (const next of tell) next();
    });
  const count = async (calls: number): Promise<void> => {
    while (open.size < calls) await new Promise<void>((resolve) => waiting.push(resolve));
  };
  return { respond, open, count };
}

test("makes all parallel calls before an answer arrives, and keeps the order of answers [S2]", async () => {
  const { respond, open, count } = switchboard();
  const running = getValue(sandbox, "return Promise.all([1, 2, 3, 4].map((n) => device.Echo.back(n)))", respond);
  await count(4);
  for (const n of [3, 1, 4, 2]) open.get(n)?.(n * 10);
  expect(await running).toEqual([10, 20, 30, 40]);
});

test("delivers answers in the order in which they arrive [S2]", async () => {
  const { respond, open, count } = switchboard();
  const code =
    "const seen = []; await Promise.all([1, 2, 3].map((n) => device.Echo.back(n).then((v) => seen.push(v)))); return seen";
  const running = getValue(sandbox, code, respond);
  await count(3);
  for (const n of [2, 3, 1]) open.get(n)?.(n);
  expect(await running).toEqual([2, 3, 1]);
});

test("passes calls to `race`, `any` and `allSettled` as promises [S2]", async () => {
  const code = `return [
    await Promise.race([device.Echo.slow(10000), device.Echo.back(1)]),
    await Promise.any([device.Echo.fail(1), device.Echo.back(2)]),
    (await Promise.allSettled([device.Echo.fail(1), device.Echo.back(3)])).map((r) => r.value ?? r.reason.code),
    await Promise.race([device.Echo.slow(10000), new Promise((done) => setTimeout(() => done("late"), 20))]),
  ]`;
  expect(await getValue(sandbox, code)).toEqual([1, 2, ["REFUSED", 3], "late"]);
});

test("waits for promises in the result, in prints and in arguments at any depth [S2]", async () => {
  const code = `
    const deep = { a: device.Echo.back(1), b: [device.Echo.back({ c: [2] }), (async () => ({ d: device.Echo.back(3) }))()] };
    print("printed", deep, device.Echo.back("x")); print("after");
    return { deep, passed: device.Echo.back([device.Echo.back(4)]), map: new Map([["k", device.Echo.back(5)]]) }`;
  const { end, output } = await run(sandbox, code);
  expect(end).toEqual({
    kind: "returned",
    json: '{"deep":{"a":1,"b":[{"c":[2]},{"d":3}]},"passed":[4],"map":{"k":5}}',
  });
  expect(output).toBe("printed {a: 1, b: [{c: [2]}, {d: 3}]} x\nafter");
});

test("transfers the bytes or date that a promise settles to [S2]", async () => {
  const tagged: AnswerCall = async () => ({
    ok: true,
    json: '[{"$bytes":"AQI="},{"$date":"2001-09-09T01:46:40.000Z"}]',
    tagged: true,
  });
  const code =
    "const call = device.Echo.back(); return [call, call.then(([bytes]) => bytes), call.then(([, date]) => date), Promise.resolve(2n)]";
  const day = "2001-09-09T01:46:40.000Z";
  expect(await getValue(sandbox, code, tagged)).toEqual([[{ $bytes: "AQI=" }, day], { $bytes: "AQI=" }, day, 2]);
});

test("waits for a promise that is used as a string or a number [S2]", async () => {
  const code = `return [() => "" + device.Echo.back(1), () => \`\${device.Echo.back(1)}\`, () => device.Echo.back(1) * 2, () => device.Echo.back(1) > 0,
    () => "" + device.Echo.back([1, 2]), () => JSON.stringify([device.Echo.back({ a: 1 })])].map((use) => use())`;
  expect(await getValue(sandbox, code)).toEqual(["1", "1", 2, true, "1,2", '[{"a":1}]']);
});

test("reads a member that promises do not have from the value [S2]", async () => {
  const code = `const call = device.Echo.back({ name: "one" }), list = device.Echo.back([1, 2]);
    return [() => call.name, () => call["name"], () => call?.name.length, () => { const { name } = call; return name },
      () => [...list], () => { for (const x of list) return x }, () => list.map((x) => x + 1), () => { call.age = 5; return call.age },
      () => [0].concat(list)].map((use) => use())`;
  expect(await getValue(sandbox, code)).toEqual(["one", "one", 3, "one", [1, 2], 1, [2, 3], 5, [0, 1, 2]]);
});

test("throws the reason of a rejected promise where its value is used [S2]", async () => {
  const code = `const failing = async () => { await device.Echo.back(1); throw new Error("mine") };
    try { return failing().name } catch (error) { return error.message }`;
  expect(await getValue(sandbox, code)).toBe("mine");
});

test("runs the other code of a program while one of its own promises is awaited [S2]", async () => {
  const code = `const order = [];
    const first = (async () => { order.push(await device.Echo.back("first")); return "1" })();
    const second = (async () => { order.push(await device.Echo.back("second")); return "2" })();
    return ["" + second + first, order]`;
  expect(await getValue(sandbox, code)).toEqual(["21", ["first", "second"]]);
});

test("reports a wait that cannot end as an error with its position, which the program can catch [S2]", async () => {
  const code = "let done; const never = new Promise((resolve) => { done = resolve });\nreturn never.name";
  const { end } = await run(sandbox, code);
  expect(end.kind === "threw" && JSON.parse(end.json)).toMatchObject({
    code: "WAIT_CYCLE",
    stack: expect.stringContaining("program.js:3:"),
  });
  const caught = code.replace("return never.name", "try { never.name } catch { done({ name: 1 }) } return never.name");
  expect(await getValue(sandbox, caught)).toBe(1);
});

test("nests waits deeply, and ends endless ones at their limit [S2]", async () => {
  const deep = "const f = async (n) => { await 0; return n === 0 ? 0 : 1 + f(n - 1) }; return __waitFor(f(500))";
  expect(await getValue(sandbox, deep)).toBe(500);
  const endless = "const f = async () => { for (;;) await 0 }; return __waitFor(f())";
  expect((await run(sandbox, endless, { limits: { cpuMs: 50 } })).end).toEqual({
    kind: "stopped",
    reason: "CPU_LIMIT",
  });
  const late = "const f = async () => { await device.Echo.slow(1e6) }; return __waitFor(f())";
  expect((await run(sandbox, late, { limits: { wallMs: 100 } })).end).toEqual({
    kind: "stopped",
    reason: "WALL_LIMIT",
  });
  expect(await getValue(sandbox, "return 1")).toBe(1);
});

test("keeps the members of promises and of their subclasses [S2]", async () => {
  const code = `const call = device.Echo.back(1);
    class Job extends Promise { get done() { return this.state ?? "no" } }
    const own = Job.resolve(2);
    return [typeof call.then, call.constructor === Promise, call.hasOwnProperty("x"), String(Promise.prototype.done),
      Object.prototype.toString.call(call), call instanceof Promise, call instanceof Object, own.done, await own, await call,
      [].concat(call).length, Object.keys(call), { ...call }]`;
  const members = ["function", true, false, "undefined", "[object Promise]", true, true];
  expect(await getValue(sandbox, code)).toEqual([...members, "no", 2, 1, 1, [], {}]);
});

test.each([
  ["an object made from Promise.prototype", "Object.create(Promise.prototype)"],
  ["a list with that prototype", "Object.setPrototypeOf([1], Promise.prototype)"],
  ["a function with that prototype", "Object.setPrototypeOf(() => 1, Promise.prototype)"],
  ["a proxy of a promise", "new Proxy(Promise.resolve(1), {})"],
  ["a proxy that names that prototype", "new Proxy({}, { getPrototypeOf: () => Promise.prototype })"],
  ["a promise of a class of the program", "(class Job extends Promise {}).resolve(4)"],
  ["a promise without a prototype", "Object.setPrototypeOf(Promise.resolve(1), null)"],
  ["an object with a getter named then", '({ get then() { throw new Error("read") } })'],
])("leaves what only looks like a promise as it is: %s [S2]", async (_what, made) => {
  const code = `const it = ${made};
    const uses = [() => __waitFor(it) === it, () => __waitForAll(it) === it, () => String(it.missing), () => { it.age = 5; return it.age },
      () => __waitTested(() => it)() === it];
    return uses.map((use) => use())`;
  expect(await getValue(sandbox, code)).toEqual([true, true, "undefined", 5, true]);
});

test("shows what only looks like a promise as text and number, without an end in itself [S2]", async () => {
  const code = `class Job extends Promise {}
    return [Job.resolve(4), Object.create(Promise.prototype)].map((it) => [\`\${it}\`, it + "!", Number.isNaN(+it)])`;
  expect(await getValue(sandbox, code)).toEqual([
    ["[object Promise]", "[object Promise]!", true],
    ["[object Promise]", "[object Promise]!", true],
  ]);
});

test("reads then of a promise never, when its value is needed [S2]", async () => {
  const code = `const call = Object.defineProperty(device.Echo.back({ n: 1 }), "then", { get() { throw new Error("read") } });
    return [call.n, __waitFor(call).n]`;
  expect(await getValue(sandbox, code)).toEqual([1, 1]);
});

test("keeps no reference to what only looks like a promise [S2]", async () => {
  const code = `for (let i = 0; i < 100_000; i++) __waitFor(Object.assign(Object.create(Promise.prototype), {}));
    return 1`;
  expect((await run(sandbox, code, { limits: { memoryBytes: 4 << 20 } })).end).toEqual({ kind: "returned", json: "1" });
});

test("returns the value of a blocking call at once, in any expression [S2]", async () => {
  const code = `
    const now = (value) => __waitFor(device.Echo.back(value));
    const text = "got " + now(1) + [2, 3].map((n) => now(n)).join() + (now(true) ? "yes" : "no");
    const lazy = { get value() { return now(4) }, toString() { return String(now(5)) } };
    const sorted = [3, 1, 2].sort((a, b) => now(a) - now(b));
    const order = []; const promise = device.Echo.back("late").then((v) => order.push(v)); order.push(now("first")); await promise;
    setTimeout(() => order.push(now("in a timer")), 1); await new Promise((done) => setTimeout(done, 30));
    return [text, lazy.value, \`\${lazy}\`, sorted, order, now(undefined), (await Promise.all([1].map(async (n) => now(n))))]`;
  expect(await getValue(sandbox, code)).toEqual([
    "got 12,3yes",
    4,
    "5",
    [1, 2, 3],
    ["first", "late", "in a timer"],
    null,
    [1],
  ]);
});

test("leaves a value that is not a promise unchanged [S2]", async () => {
  const code = "return [__waitFor(5), __waitFor(undefined) ?? null, __waitFor([1]), __waitFor(device.plain('p'))]";
  expect(await getValue(sandbox, code)).toEqual([5, null, [1], "p"]);
});

test("stores answers to other calls while one call blocks [S2]", async () => {
  const { respond, open, count } = switchboard();
  const code =
    "const a = device.Echo.back('a').then((v) => v + '!'); const b = __waitFor(device.Echo.back('b')); return [await a, b]";
  const running = getValue(sandbox, code, respond);
  await count(2);
  open.get("a")?.("A");
  await later(20);
  open.get("b")?.("B");
  expect(await running).toEqual(["A!", "B"]);
});

test("makes calls that are not awaited one after the other, and read-only ones together [S2]", async () => {
  const order = async (readOnly: readonly string[]): Promise<readonly string[]> => {
    const seen: string[] = [];
    const respond: AnswerCall = async (call) => {
      seen.push(`begin ${call.arguments}`);
      await later(5);
      seen.push(`end ${call.arguments}`);
      return { ok: true, json: "1" };
    };
    const code = "const [a, b] = [device.Echo.back(1), device.Echo.back(2)]; return '' + b + a";
    const { end } = await sandbox.run({ code, paths: ["Echo.back"], readOnly }, respond);
    expect(end).toEqual({ kind: "returned", json: '"11"' });
    return seen;
  };
  expect(await order([])).toEqual(["begin [1]", "end [1]", "begin [2]", "end [2]"]);
  expect(await order(["Echo.back"])).toEqual(["begin [1]", "begin [2]", "end [1]", "end [2]"]);
});

test("makes calls that are awaited elsewhere together while another one is awaited [S2]", async () => {
  const seen: string[] = [];
  const respond: AnswerCall = async (call) => {
    seen.push(`begin ${call.arguments}`);
    await later(5);
    seen.push(`end ${call.arguments}`);
    return { ok: true, json: "1" };
  };
  const code =
    "const all = Promise.all([device.Echo.back(1), device.Echo.back(2)]); const c = '' + device.Echo.back(3); await all; return c";
  await sandbox.run({ code, paths: ["Echo.back"] }, respond);
  expect(seen.slice(0, 3).toSorted()).toEqual(["begin [1]", "begin [2]", "begin [3]"]);
});

test("ends a program with forgotten calls when the calls have ended [S2]", async () => {
  const made: string[] = [];
  const respond: AnswerCall = async (call) => {
    await later(5);
    made.push(call.arguments);
    return { ok: true, json: "1" };
  };
  const code = "(async () => { await device.Echo.back(1); await device.Echo.back(2) })(); return 1";
  await sandbox.run({ code, paths: ["Echo.back"] }, respond);
  expect(made).toEqual([]);
  await sandbox.run({ code: `__waitForCalls(true);${code}`, paths: ["Echo.back"] }, respond);
  expect(made).toEqual(["[1]", "[1]", "[2]"].slice(-made.length));
});

test("keeps other runs going while many runs block [S7]", { tags: "rest" }, async () => {
  const blocked = Array.from({ length: 12 }, (_, n) =>
    getValue(sandbox, `return __waitFor(device.Echo.slow(${300 + n}))`),
  );
  const quick = await Promise.all(
    Array.from({ length: 20 }, (_, n) => getValue(sandbox, `return device.Echo.back(${n})`)),
  );
  expect(quick).toEqual(Array.from({ length: 20 }, (_, n) => n));
  expect(await Promise.all(blocked)).toEqual(Array.from({ length: 12 }, (_, n) => 300 + n));
});

test(
  "suspends a thousand runs at once, and continues each with its own state in any order [S7]",
  { tags: "rest", timeout: 60_000 },
  async () => {
    const { respond, open, count } = switchboard();
    const code = (n: number): string => `
    const mine = { n: ${n}, list: Array.from({ length: 20 }, (_, i) => ${n} * 1000 + i) };
    globalThis.mark = ${n};
    const first = await device.Echo.back("a${n}");
    mine.list.push(first);
    const [second, third] = await Promise.all([device.Echo.back("b${n}"), device.Echo.back("c${n}")]);
    return [mine.n, globalThis.mark, mine.list.length, mine.list[20], mine.list[19], second, third, typeof globalThis.other]`;
    const numbers = Array.from({ length: 1_000 }, (_, n) => n);
    const running = numbers.map((n) => getValue(sandbox, code(n), respond));
    await count(1_000);
    expect(await getValue(sandbox, "return 1")).toBe(1);
    const shuffled = numbers.toSorted((a, b) => ((a * 7_919) % 1_000) - ((b * 7_919) % 1_000));
    for (const n of shuffled) open.get(`a${n}`)?.(`first ${n}`);
    await count(3_000);
    for (const n of shuffled.toReversed()) {
      open.get(`c${n}`)?.(-n);
      open.get(`b${n}`)?.(n);
    }
    expect(await Promise.all(running)).toEqual(
      numbers.map((n) => [n, n, 21, `first ${n}`, n * 1_000 + 19, n, n === 0 ? 0 : -n, "undefined"]),
    );
  },
);

test("keeps the memory limit and the usage of a waiting run that has moved [S7]", { tags: "rest" }, async () => {
  const seed = Uint8Array.from([9, 9, 9, 9, 9, 9, 9, 9]);
  const code =
    "const draw = () => Math.random(); const first = draw(); await device.Echo.slow(5); return [first, draw(), draw()]";
  const still = (await run(sandbox, code.replace("await device.Echo.slow(5)", ""), { seed })).end;
  const moved = await Promise.all(Array.from({ length: 40 }, () => run(sandbox, code, { seed })));
  expect(new Set(moved.map(({ end }) => JSON.stringify(end)))).toEqual(new Set([JSON.stringify(still)]));
  const greedy =
    "const kept = new Uint8Array(5e5); await device.Echo.slow(5); const all = []; for (;;) all.push(new Uint8Array(1e5))";
  const ends = await Promise.all(
    Array.from({ length: 12 }, () => run(sandbox, greedy, { limits: { memoryBytes: 3 << 20 } })),
  );
  for (const { end, memoryBytes } of ends) {
    expect(end).toEqual({ kind: "stopped", reason: "MEMORY_LIMIT" });
    expect(memoryBytes).toBeLessThanOrEqual(3 << 20);
  }
});

test("suspends large runs beside small ones [S7]", { tags: "rest" }, async () => {
  const code = (bytes: number): string =>
    `const mine = new Uint8Array(${bytes}).fill(7); await device.Echo.slow(20); let sum = 0; for (let i = 0; i < mine.length; i += 4096) sum += mine[i]; return sum`;
  const sizes = [100, 2e7, 5e5, 3e7, 10, 1e7, 2e7, 1_000, 3e7, 5e6];
  expect(await Promise.all(sizes.map((bytes) => getValue(sandbox, code(bytes))))).toEqual(
    sizes.map((bytes) => Math.ceil(bytes / 4_096) * 7),
  );
});

test(
  "gives each of several blocking calls its own answer, in any schedule of threads [S2]",
  { tags: "rest", timeout: 60_000 },
  async () => {
    const calls = repetitions(300, 300, 900);
    const code = `let sum = 0; for (let i = 0; i < ${calls}; i++) sum += __waitFor(device.Echo.back(1)); return sum`;
    // On a busy machine, a thread is billed for the time in which it waits for a core.
    const limits = { cpuMs: 50_000, wallMs: 50_000 };
    const outcomes = await Promise.all(Array.from({ length: 30 }, () => run(sandbox, code, { limits })));
    expect(outcomes.map(({ end }) => end)).toEqual(outcomes.map(() => ({ kind: "returned", json: String(calls) })));
  },
);
