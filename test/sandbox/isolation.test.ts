import { expect, test } from "vitest";

import { repetitions } from "../support/repetitions.ts";
import { openSandbox, run, getValue } from "../support/sandbox.ts";

const sandbox = openSandbox();

/** Everything that a later run could notice, as one text: names, attributes and kinds of all that can be reached. */
const CENSUS = `
  const seen = new Map(), lines = [];
  const walk = (value, path) => {
    if ((typeof value !== "object" && typeof value !== "function") || value === null) {
      lines.push(path + " = " + (typeof value === "symbol" ? String(value) : typeof value + " " + String(value)));
      return;
    }
    if (seen.has(value)) return;
    seen.set(value, path);
    lines.push(path + ": " + typeof value + (Object.isFrozen(value) ? " frozen" : Object.isExtensible(value) ? "" : " sealed"));
    const prototype = Object.getPrototypeOf(value);
    walk(prototype, path + ".<prototype>");
    for (const key of Reflect.ownKeys(value)) {
      const { value: inner, get, set, writable, enumerable, configurable } = Object.getOwnPropertyDescriptor(value, key);
      const name = path + "." + String(key);
      lines.push(name + " " + [writable, enumerable, configurable].map((flag) => (flag ? 1 : 0)).join(""));
      if (get || set) { walk(get, name + ".<get>"); walk(set, name + ".<set>"); } else walk(inner, name);
    }
  };
  walk(globalThis, "");
  return lines`;

const ROUNDS = repetitions(5, 5, 20);

/** Each leaves as many marks as it can. */
const SCRIBBLES = [
  "globalThis.mark = 'secret'; globalThis[Symbol.for('mark')] = 'secret'; return Symbol.for('mark').description",
  "Object.prototype.mark = 'secret'; Array.prototype.mark = 'secret'; Function.prototype.mark = 'secret'; String.prototype.mark = 'secret'",
  "JSON.stringify = () => 'secret'; JSON.parse = () => 'secret'; Math.random = () => 0.5; Date.now = () => 1; Promise.prototype.then = function () { return this }",
  "for (const name of Object.getOwnPropertyNames(globalThis)) try { globalThis[name] = 'secret' } catch {}",
  "for (const name of Object.getOwnPropertyNames(globalThis)) if (name !== 'device') delete globalThis[name]",
  "const walk = (o, d) => { if (d > 4 || Object(o) !== o) return; for (const k of Reflect.ownKeys(o)) { try { walk(o[k], d + 1) } catch {} try { o[k] = 'secret' } catch {} try { delete o[k] } catch {} } }; walk(globalThis, 0)",
  "Object.freeze(Object.prototype); Object.freeze(Array.prototype); Object.freeze(globalThis)",
  "Object.setPrototypeOf(Array.prototype, null); Object.setPrototypeOf(Function.prototype, { mark: 'secret' })",
  "const kept = []; for (let i = 0; i < 20000; i++) kept.push({ ['secret' + i]: Symbol('secret' + i) }); globalThis.kept = kept",
  "globalThis.big = new Uint8Array(12e6).fill(115); globalThis.text = 'secret'.repeat(1e5)",
  "console.log = () => {}; print = () => {}; setTimeout = () => {}; URL.canParse = () => true; TextDecoder.prototype.decode = () => 'secret'",
  "RegExp.prototype.exec = () => null; RegExp.prototype[Symbol.replace] = () => 'secret'; /secret/.test('secret'); Error.prototype.message = 'secret'",
  "setTimeout(() => { globalThis.late = 'secret' }, 1); setInterval(() => {}, 1); device.Echo.slow(1); return 1",
  "class Base extends Array { constructor() { super(); Base.mark = 'secret' } } new Base(); Object.defineProperty(Object.prototype, 'then', { get() { return undefined } })",
  "throw Object.assign(new Error('secret'), { secret: 'secret' })",
  "Object.defineProperty(Array.prototype, 0, { set(value) { globalThis.stolen = value } }); await device.Echo.back('secret')",
  "for (let i = 0; i < 300; i++) await device.Echo.back('secret' + i)",
  "const dive = () => dive(); dive()",
  "new RegExp('(secret)+$').test('secret'.repeat(1000)); RegExp.lastMatch; return 1",
  "const map = new WeakMap(); map.set(Object.prototype, 'secret'); globalThis.map = map; new Date().constructor.mark = 'secret'",
] as const;

test(
  "leaves nothing for the next run after a thousand runs that overwrite everything [S8]",
  { tags: "rest", timeout: 120_000 },
  async () => {
    const before = await getValue(sandbox, CENSUS);
    expect(before).toHaveLength(Number(new Set(before as string[]).size));
    for (let round = 0; round < ROUNDS; round++) {
      const scribbled = SCRIBBLES.flatMap((code) => Array.from({ length: 10 }, () => run(sandbox, code)));
      expect((await Promise.all(scribbled)).map(({ end }) => end.kind)).not.toContain("stopped");
      const [first, second] = await Promise.all([getValue(sandbox, CENSUS), getValue(sandbox, CENSUS)]);
      expect(first).toEqual(before);
      expect(second).toEqual(before);
    }
  },
);

test("offers a program exactly the listed globals [S8]", async () => {
  const census = (await getValue(sandbox, CENSUS)) as string[];
  const names = census
    .map((line) => line.split(" ")[0] as string)
    .filter((name) => !/:$|<|\.(?:length|name|constructor)$/.test(name));
  await expect(`${[...new Set(names)].sort().join("\n")}\n`).toMatchFileSnapshot("guest-globals.txt");
});

test("gives every run its own random numbers, and the same ones for the same seed [S8]", async () => {
  const dice = "return Array.from({ length: 4 }, Math.random)";
  const drawn = await Promise.all(Array.from({ length: 200 }, () => getValue(sandbox, dice)));
  expect(new Set(drawn.flat() as number[]).size).toBe(800);
  const seed = Uint8Array.from([1, 2, 3, 4, 5, 6, 7, 8]);
  const [first, second, other] = await Promise.all(
    [seed, seed, seed.toReversed()].map(async (bytes) => (await run(sandbox, dice, { seed: bytes })).end),
  );
  expect(first).toEqual(second);
  expect(first).not.toEqual(other);
});

test("repeats a run exactly with the same seed and time, even after it was suspended [S8]", async () => {
  const code = `
    const seen = () => [Math.random(), Date.now(), new Date().toISOString(), Number(new Date()), performance.now()];
    const first = seen(); await device.Echo.slow(5); await new Promise((done) => setTimeout(done, 5));
    return [first, seen(), new Date(0).getTime()]`;
  const [seed, time] = [Uint8Array.from([1, 2, 3, 4, 5, 6, 7, 8]), Date.UTC(2001, 8, 9, 1, 46, 40)];
  const [first, second] = await Promise.all([1, 2].map(async () => (await run(sandbox, code, { seed, time })).end));
  expect(first).toEqual(second);
  const [before, after] = first?.kind === "returned" ? JSON.parse(first.json) : [];
  const day = [1_000_000_000_000, "2001-09-09T01:46:40.000Z", 1_000_000_000_000, 0];
  expect([before.slice(1), after.slice(1)]).toEqual([day, day]);
  // Others move in: the pages of the runs that wait go to other threads.
  const many = Array.from({ length: 30 }, async (_, n) => (await run(sandbox, code, n % 2 ? { seed, time } : {})).end);
  const ends = await Promise.all(many);
  expect(ends.filter((_, n) => n % 2)).toEqual(Array.from({ length: 15 }, () => first));
  for (const end of ends.filter((_, n) => n % 2 === 0))
    expect(end.kind === "returned" && Math.abs(JSON.parse(end.json)[0][1] - Date.now())).toBeLessThan(60_000);
  expect((await run(sandbox, "return [Date.now(), new Date(2020, 0)]", { time: 0 })).end).toMatchObject({
    kind: "returned",
    json: '[0,"2020-01-01T00:00:00.000Z"]',
  });
});

test("uses the host's time in UTC [S8]", async () => {
  const [now, zone, text] = (await getValue(
    sandbox,
    "return [Date.now(), new Date().getTimezoneOffset(), String(new Date(0))]",
  )) as [number, number, string];
  expect(Math.abs(now - Date.now())).toBeLessThan(5_000);
  expect([zone, text]).toEqual([0, "Thu Jan 01 1970 00:00:00 GMT+0000"]);
});
