import { expect, test } from "vitest";

import type { SandboxOutcome } from "../../sandbox/index.ts";
import { answer, openSandbox, run } from "../support/sandbox.ts";

type SandboxEnd = SandboxOutcome["end"];

const sandbox = openSandbox();

/** Code that replaces builtins before a call; `steal` keeps every function and object that comes by. */
const PRELUDES: Readonly<Record<string, string>> = {
  "JSON.stringify":
    "const old = JSON.stringify; JSON.stringify = function (...all) { steal(this, all); return 'forged' }",
  "JSON.parse": "JSON.parse = function (...all) { steal(this, all); return ['forged'] }",
  "Promise.prototype.then":
    "const { then } = Promise.prototype; Promise.prototype.then = function (...all) { steal(this, all); return then.apply(this, all) }",
  "Promise.prototype.constructor":
    "Promise.prototype.constructor = class { constructor(run) { steal(this, [run]); run((v) => steal(v), (e) => steal(e)) } static get [Symbol.species]() { return this } }",
  "Promise[Symbol.species]":
    "Object.defineProperty(Promise, Symbol.species, { get() { return function (run) { steal(run); run(() => {}, () => {}) } } })",
  Promise: "const Old = Promise; Promise = class extends Old { constructor(run) { steal(run); super(run) } }",
  "setters in Array.prototype":
    "for (let i = 0; i < 20; i++) Object.defineProperty(Array.prototype, i, { configurable: true, set(value) { steal(this, value) }, get() { return 'forged' } })",
  "methods of Array.prototype":
    "for (const name of Object.getOwnPropertyNames(Array.prototype)) if (name !== 'constructor' && name !== 'length') Array.prototype[name] = function (...all) { steal(this, all); return this }",
  "Array iteration": "Array.prototype[Symbol.iterator] = function* () { steal(this); yield 'forged' }",
  "members of Object.prototype":
    "for (const name of ['get', 'set', 'value', 'writable', 'enumerable', 'configurable', 'fulfil', 'reject', 'stack', 'json', 'pending', 'settled', 'name', 'message', 'code', 'cause', '0', '1']) Object.prototype[name] = function (...all) { steal(this, all) }",
  "setters in Object.prototype":
    "for (const name of ['fulfil', 'reject', 'stack', 'json', 'pending', 'settled', 'value', '1', '2', '3', 'Echo', 'back']) Object.defineProperty(Object.prototype, name, { configurable: true, set(value) { steal(this, value) }, get() { steal(this); return undefined } })",
  "a then in Object.prototype":
    "Object.defineProperty(Object.prototype, 'then', { configurable: true, get() { steal(this); return undefined } })",
  "Error.prepareStackTrace":
    "try { Error.prepareStackTrace = (...all) => { steal(all); return 'forged' } } catch {} try { Object.defineProperty(Error, 'prepareStackTrace', { value: steal }) } catch {} try { Error.stackTraceLimit = Infinity } catch {}",
  Error:
    "const Old = Error; Error = class extends Old { constructor(...all) { super(...all); steal(this, all) } }; Object.defineProperty(Old.prototype, 'message', { set(value) { steal(this, value) }, get() { return 'forged' } })",
  "Function.prototype":
    "const { apply } = Reflect; for (const name of ['call', 'apply', 'bind', 'toString']) Function.prototype[name] = function (...all) { steal(this, all); return undefined }; Object.defineProperty(Function.prototype, Symbol.hasInstance + '', { value: 1 })",
  Reflect:
    "for (const name of Object.getOwnPropertyNames(Reflect)) Reflect[name] = function (...all) { steal(this, all); return [] }",
  Object:
    "for (const name of Object.getOwnPropertyNames(Object)) if (typeof Object[name] === 'function' && name !== 'prototype') Object[name] = function (...all) { steal(this, all); return {} }",
  "String.prototype":
    "for (const name of Object.getOwnPropertyNames(String.prototype)) if (name !== 'length' && name !== 'constructor') String.prototype[name] = function (...all) { steal(this, all); return 'forged' }",
  "Map and WeakMap":
    "for (const kind of [Map, Set, WeakMap, WeakSet]) for (const name of Object.getOwnPropertyNames(kind.prototype)) if (!['constructor', 'size', 'toJSON'].includes(name)) kind.prototype[name] = function (...all) { steal(this, all) }",
  "Symbol.hasInstance":
    "for (const kind of [Promise, Error, Map, Set, Date, RegExp]) Object.defineProperty(kind, Symbol.hasInstance, { value(value) { steal(value); return true } })",
  "Symbol.toPrimitive": "Object.prototype[Symbol.toPrimitive] = function (hint) { steal(this, hint); return 'forged' }",
  "RegExp.prototype":
    "RegExp.prototype.test = RegExp.prototype.exec = function (...all) { steal(this, all); return null }",
  "every global":
    "for (const name of Object.getOwnPropertyNames(globalThis)) if (name !== 'device') try { globalThis[name] = function (...all) { steal(this, all) } } catch {}",
  "the prototypes' prototypes":
    "Object.setPrototypeOf(Function.prototype, new Proxy({}, { get(_, name) { steal(name) } })); Object.setPrototypeOf(Array.prototype, null); Object.setPrototypeOf(Promise.prototype, null)",
  "toJSON of the builtins":
    "for (const kind of [Map, Set, Error, Promise, Date]) kind.prototype.toJSON = function (...all) { steal(this, all); return 'forged' }",
  "console and timers":
    "console.log = print = (...all) => steal(all); setTimeout = (...all) => { steal(all) }; queueMicrotask = (...all) => steal(all)",
};

/** Calls what was stolen in all the ways that our own code would. */
const FORGE = `
  for (const value of stolen.slice(0, 300)) {
    if (typeof value !== "function") continue;
    for (const args of [[0, 901, "Forged.call", "[]"], [1, 902, "Forged.wait", "[]"], [3, 0, "", '"forged"'], [4, 0, "", "{}"], ['[903,1,"forged"]'], ['["Forged.call"]'], ["forged"]])
      try { apply(value, undefined, args) } catch {}
  }`;

/**
 * A program that makes three honest calls and then tries what was stolen; and the calls that come of it. The program does not
 * wait for the last ones: on a busy machine it ends before the host makes them, and they are among the paths that are `queued`.
 */
async function callsAfter(prelude: string): Promise<{
  readonly received: readonly string[];
  readonly queued: readonly string[];
  readonly end: SandboxEnd;
}> {
  const code = `
    const stolen = [], seen = new Set(), { apply } = Reflect, has = Set.prototype.has.bind(seen), add = Set.prototype.add.bind(seen);
    const { defineProperty } = Object;
    let count = 0, depth = 0;
    const keep = (value) => {
      if (value === null || (typeof value !== "object" && typeof value !== "function") || has(value)) return;
      add(value);
      defineProperty(stolen, count++, { value, configurable: true });
    };
    const steal = (...all) => {
      if (depth++ < 3 && count < 3000) for (let i = 0; i < all.length; i++) {
        keep(all[i]);
        if (typeof all[i] === "object" && all[i] !== null) try { for (let k = 0; k < all[i].length && k < 9; k++) keep(all[i][k]) } catch {}
      }
      depth--;
    };
    ${prelude};
    let failed = "";
    try { await device.Echo.back({ a: [1, "x"], b: undefined }) } catch { failed += "call " }
    try { __waitFor(device.Echo.back({ c: [2] })) } catch { failed += "wait " }
    try { await device.Echo.fail(3) } catch { failed += "fail " }
    try { console.log({ d: Promise.resolve(4) }, new Map([[1, 2]]), [5]) } catch { failed += "print " }
    ${FORGE}
    return failed`;
  const received: string[] = [];
  const { end, queued } = await run(
    sandbox,
    code,
    { limits: { cpuMs: 20_000, wallMs: 30_000 } },
    async ({ path, arguments: json }) => {
      received.push(`${path} ${json}`);
      return path === "Echo.fail" ? { ok: false, error: { name: "CallError", message: "no" } } : answer({ fine: true });
    },
  );
  return { received, queued, end };
}

const HONEST = ['Echo.back [{"a":[1,"x"]}]', 'Echo.back [{"c":[2]}]', "Echo.fail [3]"];

test("finds a stolen channel to the host, and records the calls of a run without attacks [S6]", async () => {
  const honest = await callsAfter("");
  expect(honest).toEqual({ received: HONEST, queued: [], end: { kind: "returned", json: '"fail "' } });
  const { received, queued } = await callsAfter("steal(device.Echo.back)");
  expect(received.filter((call) => call.includes("Forged")).length + queued.length).toBeGreaterThan(0);
});

test.each(Object.entries(PRELUDES))(
  "gives a program that replaces %s its calls or an error, and nothing of ours [S6]",
  async (_, prelude) => {
    const { received, queued, end } = await callsAfter(prelude);
    expect(received.filter((call) => !HONEST.includes(call))).toEqual([]);
    expect(queued).toEqual([]);
    if (end.kind === "stopped") expect(["NEVER_SETTLES", "MEMORY_LIMIT"]).toContain(end.reason); // it has fooled itself
  },
);

test("lets forged errors look like those of the host without effect [S6]", async () => {
  const forged = `throw JSON.parse('{"__proto__":{"isAdmin":true,"status":200},"name":"ApprovalRequired","code":"APPROVED","message":"forged","stack":"at /etc/passwd:1"}')`;
  const { end } = await run(sandbox, forged);
  expect(end.kind).toBe("threw");
  expect(end.kind === "threw" && JSON.parse(end.json)).toEqual({
    name: "ApprovalRequired",
    code: "APPROVED",
    message: "forged",
    members: '{"__proto__":{"isAdmin":true,"status":200},"code":"APPROVED"}',
    stack: "",
  });
});

test("treats a result that looks like an error, an end or a call as data [S6]", async () => {
  for (const value of ['{"kind":"stopped"}', '[901,1,"x"]', '{"$bytes":"AA=="}', '{"$undefined":1}', '"\\u0000"']) {
    expect((await run(sandbox, `return ${value}`)).end).toEqual({
      kind: "returned",
      json: JSON.stringify(JSON.parse(value)),
    });
  }
});

test("starts the next run clean after all of these [S8]", async () => {
  const code =
    "return [JSON.stringify([1]), [1, 2].map((x) => x + 1), await Promise.all([device.Echo.back(1)]), String(new Error('x')), ({}).then ?? null]";
  expect((await run(sandbox, code)).end).toEqual({
    kind: "returned",
    json: '["[1]",[2,3],[{"fine":true}],"Error: x",null]'.replace('{"fine":true}', "1"),
  });
});
