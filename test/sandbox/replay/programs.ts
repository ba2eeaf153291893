import type { SandboxProgram } from "../../../sandbox/index.ts";

/** The guest's clock at the start of these programs. */
export const START = Date.UTC(2026, 0, 1);

/** Programs whose value, output or calls depend on the order in which answers and timers arrive. */
const ORDER_SENSITIVE: Readonly<Record<string, string>> = {
  "parallel pipelines": `const out = [];
    await Promise.all([1, 2, 3, 4, 5, 6].map(async (x) => { const a = await device.T.read(x); out.push(await device.T.write(a)) }));
    return out`,
  "parallel loops": `const log = [];
    const loop = async (x, n) => { for (let i = 0; i < n; i++) { const v = await device.T.read(x * 100 + i); log.push(v); if (v % 2) await null } };
    await Promise.all([loop(1, 5), loop(2, 3), loop(3, 4)]); return log`,
  "races of calls": `const won = [];
    for (let i = 0; i < 5; i++) won.push(await Promise.race([1, 2, 3].map((x) => device.T.read(i * 10 + x)))); return won`,
  "a branch on a race": `const first = await Promise.any([device.T.read(1), device.T.read(2)]);
    return first === 1 ? await device.T.write("one") : await device.T.write("two")`,
  "a pool of workers": `const queue = [1, 2, 3, 4, 5, 6, 7, 8, 9], done = [];
    await Promise.all([0, 1, 2].map(async (w) => { while (queue.length) { const x = queue.shift(); done.push([w, await device.T.read(x)]) } }));
    return done`,
  "races of calls and timers": `const sleep = (ms) => new Promise((done) => setTimeout(() => done("timer"), ms)); const won = [];
    for (let i = 0; i < 6; i++) won.push(await Promise.race([device.T.read(i), sleep(i % 3)])); return won`,
  "steps of timers beside calls": `const steps = [], sleep = (ms) => new Promise((done) => setTimeout(done, ms));
    const timers = async () => { for (let i = 0; i < 4; i++) { await sleep(2); steps.push("s" + i); await device.T.write("s" + i) } };
    const calls = async () => { for (let i = 0; i < 4; i++) { await device.T.read(i); steps.push("a" + i) } };
    await Promise.all([timers(), calls()]); return steps`,
  "an interval": `let n = 0; const interval = setInterval(() => n++, 1); const counts = [];
    for (let i = 0; i < 4; i++) { await device.T.read(i); counts.push(n) } clearInterval(interval); return counts`,
  "timers that are cleared": `const fired = [];
    for (let i = 0; i < 5; i++) { const timer = setTimeout(() => fired.push(i), 1); await device.T.read(i); clearTimeout(timer) } return fired`,
  "random numbers in the order of answers": `const out = [];
    await Promise.all([1, 2, 3, 4].map(async (x) => { await device.T.read(x); out.push([x, Math.random()]) })); return out`,
  "the time of calls": `const out = [];
    for (let i = 0; i < 4; i++) { const t = Date.now(); await device.T.read(i); out.push(Date.now() - t); await device.T.write(new Date().toISOString()) } return out`,
  "a measured call": `const t = performance.now(); await device.T.read(1); const d = performance.now() - t; print("took", d); return await device.T.write(d)`,
  "a loop that waits for the clock": `const t = Date.now(); await device.T.read(1); const s = Date.now(); while (Date.now() - s < 50);
    return [await device.T.write(Date.now() - t)]`,
  "blocking calls": `const a = __waitFor(device.T.read(1)); const calls = [device.T.read(2), device.T.read(3)]; const b = __waitFor(device.T.write(a));
    const out = []; calls.map((p) => p.then((v) => out.push(v))); const c = __waitFor(device.T.read(9)); await Promise.all(calls); return [a, b, c, out]`,
  "blocking calls in parallel functions": `const out = [];
    await Promise.all([1, 2, 3].map(async (x) => { await device.T.read(x); out.push(x); out.push(__waitFor(device.T.write(x)), Date.now()) })); return out`,
  "a blocking function": `const out = []; const f = async (x) => { out.push(await device.T.read(x), Math.random()); return x };
    const g = async () => { await device.T.write("g"); out.push("g") }; void g(); return [__waitFor(f(1)), __waitFor(f(2)), out]`,
  "a blocking wait for a timer": `const sleep = new Promise((done) => setTimeout(() => done("slept"), 3)); const out = [];
    device.T.read(1).then((v) => out.push(v)); return [__waitFor(sleep), out, __waitFor(device.T.read(2)), out.length]`,
  "calls that are not awaited": `__waitForCalls(true); device.T.write(1); device.T.write(2); device.T.read(3); device.T.read(4); device.T.write(5);
    const a = __waitFor(device.T.read(6)); device.T.write(7); print("end", a); return a`,
  "a wait that cannot end": `let cause; try { __waitFor(new Promise(() => {})) } catch (error) { cause = error.code }
    const a = await device.T.read(1); try { __waitFor(new Promise(() => {})) } catch (error) { cause += error.code } return [a, cause, await device.T.write(2)]`,
  "interleaved functions": `const out = [];
    const step = async (x) => { await device.T.read(x); out.push(x + ".0"); await null; out.push(x + ".1"); await device.T.write(x) };
    await Promise.all([step("p"), step("q"), step("r")]); return out`,
  "settled calls": `const ends = await Promise.allSettled([device.T.fail(1), device.T.read(2)]); return ends.map((x) => x.status + (x.reason?.message ?? x.value))`,
  "async generators": `async function* g(x) { for (let i = 0; i < 3; i++) yield await device.T.read(x * 10 + i) } const out = [];
    await Promise.all([g(1), g(2)].map(async (it) => { for await (const v of it) out.push(v) })); return out`,
  "stacks of errors": `const stacks = [];
    await Promise.all([1, 2].map(async (x) => { try { await device.T.fail(x) } catch (error) { stacks.push(error.stack) } })); return stacks`,
  "keys in the order of answers": `const map = new Map();
    await Promise.all([..."cab"].map(async (k) => map.set(k, await device.T.read(k)))); return [[...map.keys()], Object.keys(Object.fromEntries(map))]`,
  "output in the order of answers": `print("begin"); const calls = [3, 1, 2].map((x) => device.T.read(x)); print("later", calls[0]);
    await Promise.all(calls.map(async (p) => print(await p))); console.error("end", await device.T.write(0)); return 1`,
  questions: `const found = await Promise.all(["a", "b", "c"].map((q) => device.search(q))); print(found.length);
    const first = await Promise.race([device.search("x"), device.T.read("y")]); return [found, first]`,
  "an error at the end": `const first = await Promise.race([device.T.read(1), device.T.read(2)]); throw new Error("lost " + first)`,
  "more calls than may be under way": `return Promise.all(Array.from({ length: 12 }, async (_, i) => [await device.T.read(i), Math.random()]))`,
  "a program without calls": `print(Math.random()); return Date.now()`,
};

export const programs = Object.entries(ORDER_SENSITIVE).map(([name, code]) => ({ name, program: createProgram(code) }));

export function createProgram(code: string): RecordableProgram {
  return {
    code,
    paths: ["T.read", "T.write", "T.fail", "T.person", "search"],
    readOnly: ["T.read"],
    seed: new Uint8Array([1, 2, 3, 4, 5, 6, 7, 8]),
    time: START,
  };
}

/** A program whose deliveries can be recorded. */
export type RecordableProgram = SandboxProgram & Required<Pick<SandboxProgram, "seed" | "time">>;
