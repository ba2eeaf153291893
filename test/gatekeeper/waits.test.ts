import { afterAll, expect, test } from "vitest";

import { createSandbox } from "../../sandbox/index.ts";
import { DEFAULT_LIMITS } from "../../src/model/limits.ts";
import { check, emitCode } from "./stubs.ts";

const sandbox = createSandbox({ limits: { ...DEFAULT_LIMITS, wallMs: 60_000 }, workers: 1 });
afterAll(() => sandbox.close());

const METHODS: Readonly<Record<string, (a: never, b: never) => unknown>> = {
  "UserSkill.get": (id: number) => ({ id, name: `user ${id}`, age: 30 + Number(id) }),
  "MathSkill.add": (a: number, b: number) => a + b,
  "MathSkill.subtract": (a: number, b: number) => a - b,
  "TextSkill.uppercase": (text: string) => text.toUpperCase(),
  "TestSkill.echo": (value: unknown) => value,
};

/** What a program prints, or else its value, and how many calls it makes. */
async function runCheckedProgram(source: string): Promise<{ readonly value: unknown; readonly calls: number }> {
  const { program, violations } = check(source);
  if (program === undefined) throw new Error(violations.map(({ message }) => message).join("\n"));
  const { end, output, calls } = await sandbox.run(program, ({ path, arguments: json }) => {
    const [a, b] = JSON.parse(json) as [never, never];
    return Promise.resolve({ ok: true, json: JSON.stringify(METHODS[path]?.(a, b)) ?? "null" });
  });
  if (end.kind !== "returned") throw new Error(JSON.stringify(end));
  const value: unknown = end.json === "" ? undefined : JSON.parse(end.json);
  return { value: output === "" ? value : output, calls };
}

/** Without some of their awaits, these give the value that they have when every call gives its value at once. */
const CASES: readonly (readonly [place: string, source: string, value: unknown, calls: number])[] = [
  ["a member", "return device.UserSkill.get(1).name", "user 1", 1],
  ["a computed member", 'return device.UserSkill.get(1)["name"]', "user 1", 1],
  ["an optional member", "return device.UserSkill.get(1)?.name", "user 1", 1],
  ["a method of the value", "return device.UserSkill.get(1).name.toUpperCase()", "USER 1", 1],
  ["an operator", "return device.MathSkill.add(1, 2) + 1", 4, 1],
  ["a comparison", "return 3 === device.MathSkill.add(1, 2)", true, 1],
  ["a negation", "return !device.MathSkill.add(1, 2)", false, 1],
  ["typeof", "return typeof device.MathSkill.add(1, 2)", "number", 1],
  ["in", 'return "name" in device.UserSkill.get(1)', true, 1],
  ["instanceof", "return device.UserSkill.get(1) instanceof Object", true, 1],
  ["a compound assignment", "let t = 0; t += device.MathSkill.add(1, 2); return t", 3, 1],
  ["the condition of if", "if (device.MathSkill.add(1, 2)) return 1", 1, 1],
  ["the condition of a ternary", "return device.MathSkill.add(1, 2) ? 1 : 2", 1, 1],
  ["the left of &&", "return device.MathSkill.add(1, 2) && 1", 1, 1],
  ["the left of ??", "return device.MathSkill.add(1, 2) ?? 1", 3, 1],
  ["the condition of while", "while (device.MathSkill.add(1, 2) > 5);", undefined, 1],
  ["switch", "switch (device.MathSkill.add(1, 2)) { case 3: return 1 }", 1, 1],
  ["case", "switch (3) { case device.MathSkill.add(1, 2): return 1 }", 1, 1],
  ["a template string", "return `${device.MathSkill.add(1, 2)}`", "3", 1],
  ["a spread in an object", "return { ...device.UserSkill.get(1) }", { id: 1, name: "user 1", age: 31 }, 1],
  ["for in", "for (const x in device.UserSkill.get(1)) print(x)", "id\nname\nage", 1],
  ["a computed key", "return { [device.MathSkill.add(1, 2)]: 1 }", { "3": 1 }, 1],
  ["destructuring", "const { name } = device.UserSkill.get(1); return name", "user 1", 1],
  [
    "an argument of a builtin",
    "return JSON.stringify(device.UserSkill.get(1))",
    '{"id":1,"name":"user 1","age":31}',
    1,
  ],
  [
    "an argument of another call",
    "return device.UserSkill.get(device.MathSkill.add(1, 2))",
    { id: 3, name: "user 3", age: 33 },
    2,
  ],
  [
    "a named argument of another call",
    "return device.UserSkill.get({ id: device.MathSkill.add(1, 2) })",
    { id: { id: 3 }, name: "user [object Object]", age: null },
    2,
  ],
  ["an argument of a method of a list", "return [3].includes(device.MathSkill.add(1, 2))", true, 1],
  ["a search in the value", "return device.TestSkill.echo([3]).includes(3)", true, 1],
  ["a search in the value for another", "return device.TestSkill.echo([3]).indexOf(device.MathSkill.add(1, 2))", 0, 2],
  ["an argument of an own function", "const f = (x) => x.name; return f(device.UserSkill.get(1))", "user 1", 1],
  [
    "an argument of an own function that awaits it",
    "const f = async (p) => (await p).name; return await f(device.UserSkill.get(1))",
    "user 1",
    1,
  ],
  ["a variable used as a value", "const u = device.UserSkill.get(1); return u.name", "user 1", 1],
  ["a variable awaited later", "const u = device.UserSkill.get(1); return (await u).name", "user 1", 1],
  [
    "a variable handed to Promise.all",
    "const a = device.MathSkill.add(1, 2), b = device.MathSkill.add(1, 2); return Promise.all([a, b])",
    [3, 3],
    2,
  ],
  ["a variable with then", "const u = device.UserSkill.get(1); return u.then((x) => x.name)", "user 1", 1],
  ["a variable that is returned", "const u = device.UserSkill.get(1); return u", { id: 1, name: "user 1", age: 31 }, 1],
  ["a variable that is not used", "const u = device.UserSkill.get(1); return 1", 1, 1],
  ["a variable set later", "let u; u = device.UserSkill.get(1); return u.name", "user 1", 1],
  ["a statement", "device.UserSkill.get(1); return 1", 1, 1],
  ["a statement in a plain function", "const f = () => { device.UserSkill.get(1); return 1 }; return f()", 1, 1],
  ["a statement in an async function", "const f = async () => { device.UserSkill.get(1); return 1 }; return f()", 1, 1],
  [
    "a statement with a condition",
    'const kv = {}; const put = async (k) => { await device.TestSkill.echo(k); kv[k] = 1 };\n1 && put("a"); 0 ? put("b") : put("c"); return { ...kv }',
    { a: 1, c: 1 },
    2,
  ],
  ["await", "return (await device.UserSkill.get(1)).name", "user 1", 1],
  ["then", "return device.UserSkill.get(1).then((u) => u.name)", "user 1", 1],
  ["catch", "return device.UserSkill.get(1).catch(() => 1)", { id: 1, name: "user 1", age: 31 }, 1],
  ["finally", "return device.UserSkill.get(1).finally(() => 1)", { id: 1, name: "user 1", age: 31 }, 1],
  ["Promise.all", "return Promise.all([device.MathSkill.add(1, 2), device.MathSkill.add(1, 2)])", [3, 3], 2],
  [
    "Promise.allSettled",
    "return Promise.allSettled([device.MathSkill.add(1, 2)])",
    [{ status: "fulfilled", value: 3 }],
    1,
  ],
  ["Promise.race", "return Promise.race([device.MathSkill.add(1, 2)])", 3, 1],
  ["Promise.any", "return Promise.any([device.MathSkill.add(1, 2)])", 3, 1],
  ["return", "return device.MathSkill.add(1, 2)", 3, 1],
  ["return in an async function", "const f = async () => { return device.MathSkill.add(1, 2) }; return f()", 3, 1],
  ["return in try", "try { return device.MathSkill.add(1, 2) } catch { return 0 }", 3, 1],
  ["return in a plain function", "const f = () => { return device.UserSkill.get(1) }; return f().name", "user 1", 1],
  ["an arrow whose result is awaited", "const f = () => device.UserSkill.get(1); return (await f()).name", "user 1", 1],
  ["print", "print(device.MathSkill.add(1, 2))", "3", 1],
  ["console.log", 'console.log("sum", device.MathSkill.add(1, 2))', "sum 3", 1],
  ["the last expression", "device.MathSkill.add(1, 2)", 3, 1],
  ["a list that is the result", "return [device.MathSkill.add(1, 2), device.MathSkill.add(1, 2)]", [3, 3], 2],
  ["an object that is the result", "return { sum: device.MathSkill.add(1, 2) }", { sum: 3 }, 1],
  [
    "map as the result",
    "return [1, 2].map((id) => device.UserSkill.get(id))",
    [
      { id: 1, name: "user 1", age: 31 },
      { id: 2, name: "user 2", age: 32 },
    ],
    2,
  ],
  [
    "map in Promise.all",
    "return Promise.all([1, 2].map((id) => device.UserSkill.get(id)))",
    [
      { id: 1, name: "user 1", age: 31 },
      { id: 2, name: "user 2", age: 32 },
    ],
    2,
  ],
  [
    "map, then values",
    "const us = [1, 2].map((id) => device.UserSkill.get(id)); return us.map((u) => u.name)",
    ["user 1", "user 2"],
    2,
  ],
  [
    "map, then Promise.all",
    "const us = [1, 2].map((id) => device.UserSkill.get(id)); return (await Promise.all(us)).length",
    2,
    2,
  ],
  ["filter", "return [1, 2].filter((id) => device.UserSkill.get(id))", [1, 2], 2],
  ["find", "return [1, 2].find((id) => device.UserSkill.get(id))", 1, 1],
  ["some", "return [1, 2].some((id) => device.UserSkill.get(id))", true, 1],
  ["every", "return [1, 2].every((id) => device.UserSkill.get(id))", true, 2],
  ["sort", "return [1, 2].sort((a, b) => device.MathSkill.subtract(a, b))", [1, 2], 1],
  ["reduce", "return [1, 2].reduce((a, b) => device.MathSkill.add(a, b))", 3, 1],
  ["forEach", "[1, 2].forEach((id) => device.UserSkill.get(id)); return 1", 1, 2],
  [
    "flatMap",
    "return [1, 2].flatMap((id) => device.UserSkill.get(id))",
    [
      { id: 1, name: "user 1", age: 31 },
      { id: 2, name: "user 2", age: 32 },
    ],
    2,
  ],
  ["replace", 'return "a".replace(/a/, (x) => device.TextSkill.uppercase(x))', "A", 1],
  [
    "push, then Promise.all",
    "const ps = []; for (const id of [1, 2]) ps.push(device.UserSkill.get(id)); return Promise.all(ps)",
    [
      { id: 1, name: "user 1", age: 31 },
      { id: 2, name: "user 2", age: 32 },
    ],
    2,
  ],
  [
    "entries of an object, one after the other",
    "const ps = { a: device.UserSkill.get(1) }, o = {}; for (const [k, p] of Object.entries(ps)) o[k] = (await p).name; return o",
    { a: "user 1" },
    1,
  ],
  [
    "entries of an object, mapped",
    "const ps = { a: device.UserSkill.get(1) }, o = {}; await Promise.all(Object.entries(ps).map(async ([k, p]) => { o[k] = (await p).name; })); return o",
    { a: "user 1" },
    1,
  ],
  [
    "entries of an object whose values are used",
    "const ps = { a: device.UserSkill.get(1) }; for (const [k, p] of Object.entries(ps)) print(k + p.name); return 1",
    "auser 1",
    1,
  ],
  [
    "a set, in which equal values are one",
    "const ps = new Set([device.UserSkill.get(1), device.UserSkill.get(2)]); return Promise.all(ps)",
    [
      { id: 1, name: "user 1", age: 31 },
      { id: 2, name: "user 2", age: 32 },
    ],
    2,
  ],
  ["a set that is counted", "const s = new Set([1, 2].map((id) => device.UserSkill.get(id))); return s.size", 2, 2],
  [
    "a set that is asked",
    "const s = new Set([device.MathSkill.add(1, 2)]); await Promise.all(s); return s.has(3)",
    true,
    1,
  ],
  [
    "a map whose values are awaited",
    'const m = new Map([["a", device.UserSkill.get(1)]]); await Promise.all(m.values()); return (await m.get("a")).name',
    "user 1",
    1,
  ],
  ["keys of a map", "const m = new Map([[device.MathSkill.add(1, 2), 0]]); return Promise.all(m.values())", [0], 1],
  [
    "a map whose values are used",
    'const m = new Map([["a", device.UserSkill.get(1)]]); return m.get("a").name',
    "user 1",
    1,
  ],
  [
    "async callbacks for which nobody can wait",
    "let v = []; await device.TestSkill.echo(0); return [[1].filter(() => { [0].map(async () => { v = Promise.all([0, 1]); }); }).length, v]",
    [0, [0, 1]],
    1,
  ],
  [
    "push, then values",
    "const us = []; for (const id of [1, 2]) us.push(device.UserSkill.get(id)); return us[0].name",
    "user 1",
    2,
  ],
  [
    "push, then the result",
    "const us = []; for (const id of [1, 2]) us.push(device.UserSkill.get(id)); return us",
    [
      { id: 1, name: "user 1", age: 31 },
      { id: 2, name: "user 2", age: 32 },
    ],
    2,
  ],
  [
    "a callback: map",
    "return [1, 2].map(device.UserSkill.get)",
    [
      { id: 1, name: "user 1", age: 31 },
      { id: 2, name: "user 2", age: 32 },
    ],
    2,
  ],
  ["a callback: filter", "return [1, 2].filter(device.UserSkill.get)", [1, 2], 2],
  ["a callback: reduce", "return [1, 2].reduce(device.MathSkill.add)", 3, 1],
  [
    "a callback: then",
    "return device.MathSkill.add(1, 2).then(device.UserSkill.get)",
    { id: 3, name: "user 3", age: 33 },
    2,
  ],
  ["an alias", "const add = device.MathSkill.add; return add(1, 2) + 1", 4, 1],
  ["an async callback of filter", "return [1].filter(async (id) => (await device.UserSkill.get(id)).age > 3)", [1], 1],
  [
    "an async callback of forEach",
    "const out = []; [1].forEach(async (id) => { out.push(await device.UserSkill.get(id)) }); return out",
    [{ id: 1, name: "user 1", age: 31 }],
    1,
  ],
  [
    "await in a plain callback",
    "return [1].map((id) => await device.UserSkill.get(id))",
    [{ id: 1, name: "user 1", age: 31 }],
    1,
  ],
  [
    "await in a plain function",
    "function f(id) { const u = await device.UserSkill.get(id); return u.name } return f(1)",
    "user 1",
    1,
  ],
  [
    "await of an own function in a plain function",
    "async function g() { return 1 } function f() { return await g() } return f()",
    1,
    0,
  ],
  [
    "an own async function used as a value",
    "async function f() { return await device.UserSkill.get(1) } return f().name",
    "user 1",
    1,
  ],
  [
    "a list of own promises used as values",
    "const us = [1, 2].map(async (id) => await device.UserSkill.get(id)); return us[0].name",
    "user 1",
    2,
  ],
  ["Promise.all used as a value", "const [a] = Promise.all([device.MathSkill.add(1, 2)]); return a + 1", 4, 1],
  [
    "a method of a class",
    "class A { get(id) { return device.UserSkill.get(id) } } return new A().get(1).name",
    "user 1",
    1,
  ],
  ["a field of a class", "class A { user = device.UserSkill.get(1) } return new A().user.name", "user 1", 1],
  ["a default value", "const f = (u = device.UserSkill.get(1)) => u.name; return f()", "user 1", 1],
  ["yield", "function* g() { yield device.UserSkill.get(1) } for (const u of g()) print(u.name)", "user 1", 1],
  [
    "a statement at the top that starts calls",
    "async function f() { await device.MathSkill.add(1, 2) } f(); return 1",
    1,
    1,
  ],
  ["then at the top", "device.MathSkill.add(1, 2).then(print); return 1", "3", 1],
  ["a variable set in try", "let r; try { r = device.MathSkill.add(1, 2) } catch { r = 0 } return r", 3, 1],
  ["a list given back in try", "try { return [device.MathSkill.add(1, 2)] } catch { return 0 }", [3], 1],
  ["a result in try", "try { device.MathSkill.add(1, 2) } catch { 0 }", 3, 1],
  [
    "promises of try that are awaited there",
    "try { const p = device.MathSkill.add(1, 2), q = device.MathSkill.add(1, 2); return await Promise.all([p, q]) } catch { return 0 }",
    [3, 3],
    2,
  ],
  [
    "an async method of an object",
    "const api = { load: async (id) => await device.UserSkill.get(id) }; return api.load(1).name",
    "user 1",
    1,
  ],
  [
    "an async method of a class",
    "class A { async load(id) { return await device.UserSkill.get(id) } } return new A().load(1).name",
    "user 1",
    1,
  ],
  [
    "a helper that returns Promise.all",
    "const all = (ids) => Promise.all(ids.map((id) => device.UserSkill.get(id))); return all([1]).map((u) => u.name)",
    ["user 1"],
    1,
  ],
  [
    "Promise.all where await cannot stand",
    "const f = (ids) => Promise.all(ids.map((id) => device.UserSkill.get(id))).map((u) => u.name); return f([1])",
    ["user 1"],
    1,
  ],
  [
    "a list made on the way",
    "const by = {}; (by.a ??= []).push(device.UserSkill.get(1)); return by.a[0].name",
    "user 1",
    1,
  ],
  [
    "an argument of a constructor of the program",
    "class A { constructor(u) { this.name = u.name } } return new A(device.UserSkill.get(1)).name",
    "user 1",
    1,
  ],
  [
    "an own async function in a callback",
    "const load = async (id) => (await device.UserSkill.get(id)).age; return [1].filter((id) => load(id) > 3)",
    [1],
    1,
  ],
  [
    "an own async function that an async callback awaits",
    "const load = async (id) => (await device.UserSkill.get(id)).age; return [1].filter(async (id) => (await load(id)) > 3)",
    [1],
    1,
  ],
  [
    "async functions of a program that never waits",
    "async function f(id) { return device.UserSkill.get(id).age } return f(1) + f(2)",
    63,
    2,
  ],
  [
    "the same, side by side",
    "async function f(id) { return device.UserSkill.get(id).age } return [f(1), f(2)]",
    [31, 32],
    2,
  ],
  [
    "the same, if others see what it does",
    "let sum = 0; async function f(id) { sum += device.UserSkill.get(id).age } const all = [f(1), f(2)]; return [all, sum]",
    [[null, null], 63],
    2,
  ],
  [
    "an async member of a class after a field",
    "class A { x = 1\n async get(id) { return device.UserSkill.get(id).age } } return [1].map((id) => new A().get(id) + 1)",
    [32],
    1,
  ],
  ["an async function that is a statement", "let a = 1\na\nasync (b) => b\nreturn a", 1, 0],
  ["what then gives", "const n = device.UserSkill.get(1).then((u) => u.age); return n + 1", 32, 1],
  [
    "promises in promises at the start of a statement",
    "Promise.all([1].map(async (x) => x)).map((x) => x + 1).forEach(print); return 1",
    "2 0 [2]",
    0,
  ],
  [
    "a list of promises that a helper gives back, awaited as a whole",
    "const f = (l) => l.map(async (x) => device.MathSkill.add(x, 1)); return (await f([1])).reduce((a, b) => a + b, 0)",
    2,
    1,
  ],
  [
    "a list of promises that a method gives back",
    "const h = { run(l) { return l.map(async (x) => x) } }; return h.run([device.MathSkill.add(1, 2)])[0] + (await 1)",
    4,
    1,
  ],
  [
    "a variable that an async callback of map changes",
    "let t = 0; [1].map(async (x) => { t += await device.MathSkill.add(x, 1) }); return t",
    2,
    1,
  ],
  [
    "a variable that an async function changes",
    "let t = 0; const f = async () => { t = await device.MathSkill.add(1, 1) }; f(); return t",
    2,
    1,
  ],
  [
    "a variable that an async function changes meanwhile",
    "let t = 0; const f = async () => { t = await device.MathSkill.add(1, 1) }; f(); await 1; return t",
    0,
    1,
  ],
  [
    "a helper that catches",
    "const f = (g) => { try { return g() } catch { return 0 } }; return f(() => device.MathSkill.add(1, 2))",
    3,
    1,
  ],
  [
    "a memo in an object",
    "const c = {}; async function f(k) { if (!c[k]) c[k] = device.UserSkill.get(k); return c[k] } return await Promise.all([f(1), f(1)])",
    [
      { id: 1, name: "user 1", age: 31 },
      { id: 1, name: "user 1", age: 31 },
    ],
    1,
  ],
  [
    "a memo in a map",
    "const c = new Map(); async function f(k) { if (c.has(k)) return c.get(k); const p = device.UserSkill.get(k); c.set(k, p); return p } return await Promise.all([f(1), f(1)])",
    [
      { id: 1, name: "user 1", age: 31 },
      { id: 1, name: "user 1", age: 31 },
    ],
    1,
  ],
  [
    "a memo that a function looks up",
    "const c = {}; const hit = (k) => c[k]; async function f(k) { const h = hit(k); if (h) return h; const p = device.UserSkill.get(k); c[k] = p; return p } return await Promise.all([f(1), f(1)])",
    [
      { id: 1, name: "user 1", age: 31 },
      { id: 1, name: "user 1", age: 31 },
    ],
    1,
  ],
  [
    "a memo that typeof asks for",
    'const c = {}; async function f(k) { if (typeof c[k] === "undefined") c[k] = device.UserSkill.get(k); return c[k] } return await Promise.all([f(1), f(1)])',
    [
      { id: 1, name: "user 1", age: 31 },
      { id: 1, name: "user 1", age: 31 },
    ],
    1,
  ],
  [
    "in, and Object.hasOwn",
    "const c = {}; async function f(k) { if (k in c || Object.hasOwn(c, k)) return c[k]; c[k] = device.UserSkill.get(k); return c[k] } return await Promise.all([f(1), f(1)])",
    [
      { id: 1, name: "user 1", age: 31 },
      { id: 1, name: "user 1", age: 31 },
    ],
    1,
  ],
  [
    "a private field",
    "class A { #p = null; async f() { if (this.#p === null) this.#p = device.UserSkill.get(1); return await this.#p } } const a = new A(); return await Promise.all([a.f(), a.f()])",
    [
      { id: 1, name: "user 1", age: 31 },
      { id: 1, name: "user 1", age: 31 },
    ],
    1,
  ],
  [
    "a variable that is awaited as well",
    "const p = device.UserSkill.get(1); const is = [!!p, Boolean(p), p === null, p ? 1 : 2]; return [is, await p]",
    [[true, true, false, 1], { id: 1, name: "user 1", age: 31 }],
    1,
  ],
  [
    "a comparison of promises",
    "const p = device.UserSkill.get(1), q = device.UserSkill.get(2); const same = p === q; return [same, await p, await q]",
    [false, { id: 1, name: "user 1", age: 31 }, { id: 2, name: "user 2", age: 32 }],
    2,
  ],
  [
    "a key of a map",
    "const m = new Map(); const p = device.UserSkill.get(1); m.set(p, 1); const n = m.get(p); m.delete(p); return [n, await p]",
    [1, { id: 1, name: "user 1", age: 31 }],
    1,
  ],
  [
    "instanceof Promise",
    "const p = device.UserSkill.get(1); return (p instanceof Promise ? await p : p).name",
    "user 1",
    1,
  ],
  [
    "of what may be a method: a member",
    "const list = [device.UserSkill]; return list.map((s) => s.get(1).name)",
    ["user 1"],
    1,
  ],
  [
    "of what may be a method: a member over lines",
    "const list = [device.UserSkill]; return list.map((s) => s\n  .get(1).name)",
    ["user 1"],
    1,
  ],
  [
    "of what may be a method: a member in brackets",
    'const list = [device.UserSkill]; return list.map((s) => s["get"](1).name)',
    ["user 1"],
    1,
  ],
  [
    "of what may be a method: a computed member",
    'const list = [device.UserSkill]; const key = () => "get"; return list.map((s) => s[key(s)](1).name)',
    ["user 1"],
    1,
  ],
  [
    "of what may be a method: a member of what is in brackets",
    "const list = [device.UserSkill]; return list.map((s) => (s || 0).get(1).name)",
    ["user 1"],
    1,
  ],
  [
    "of what may be a method: a member that may be missing",
    "const list = [device.UserSkill]; return list.map((s) => s?.get(1).name)",
    ["user 1"],
    1,
  ],
  [
    "of what may be a method: a member in brackets that may be missing",
    'const list = [device.UserSkill]; return list.map((s) => s?.["get"]?.(1).name)',
    ["user 1"],
    1,
  ],
  [
    "of what may be a method: what a call gives",
    "const list = [device.UserSkill]; const f = () => list[0].get; return f()(1).name",
    "user 1",
    1,
  ],
  [
    "of what may be a method: what a condition gives",
    "const list = [device.UserSkill]; return (list[0] ? list[0].get : 0)(1).name",
    "user 1",
    1,
  ],
  [
    "of what may be a method: a parameter",
    "const list = [device.UserSkill]; const g = (f) => f(1).name; return g(list[0].get)",
    "user 1",
    1,
  ],
  [
    "of what may be a method: an optional call of a parameter",
    "const list = [device.UserSkill]; const g = (f) => f?.(1).name; return g(list[0].get)",
    "user 1",
    1,
  ],
  [
    "of what may be a method: a name that an own object has too",
    "const list = [device.UserSkill]; const own = { get: () => 1 }; return own.get(1) + list[0].get(1).name",
    "1user 1",
    1,
  ],
  [
    "of what may be a method: nothing that uses it",
    "const list = [device.UserSkill]; for (const s of list) s.get(1);",
    { id: 1, name: "user 1", age: 31 },
    1,
  ],
  [
    "of what may be a method: in a loop",
    "const list = [device.UserSkill]; const names = []; for (const s of list) names.push(s.get(1).name); return names",
    ["user 1"],
    1,
  ],
  [
    "a memo that is used as a value",
    "const c = {}; async function f(k) { if (!c[k]) c[k] = device.UserSkill.get(k); return c[k].name } return await Promise.all([f(1), f(1)])",
    ["user 1", "user 1"],
    1,
  ],
  [
    "a test of what is there for certain",
    "const up = device.UserSkill.get(1); if (!up) return up; const [a] = await Promise.all([device.UserSkill.get(2)]); return [up, a]",
    [
      { id: 1, name: "user 1", age: 31 },
      { id: 2, name: "user 2", age: 32 },
    ],
    2,
  ],
  [
    "a value inside of an async function among others",
    "let total = 0;\nawait Promise.all([1, 2].map(async (id) => { total += device.MathSkill.add(id, 1) }));\nreturn total",
    5,
    2,
  ],
  ["a spread in a list", "return [...device.TestSkill.echo([1, 2])]", [1, 2], 1],
  ["a spread in a call", "return Math.max(...device.TestSkill.echo([1, 2]))", 2, 1],
  ["for of", "for (const x of device.TestSkill.echo([1, 2])) print(x)", "1\n2", 1],
  ["for await", "for await (const x of device.TestSkill.echo([1, 2])) print(x)", "1\n2", 1],
  ["destructuring an element", "const [a] = device.TestSkill.echo([1, 2]); return a", 1, 1],
  ["an argument of a constructor", "return new Set(device.TestSkill.echo([1, 2])).size", 2, 1],
];

/** The methods of a store whose changes take longer than its reads, and one that fails. */
const STORE: Readonly<Record<string, (values: Map<unknown, unknown>, a: unknown, b: unknown) => unknown>> = {
  "MathSkill.add": (values, a, b) => values.set(a, b).get(a),
  "UserSkill.get": (values, a) => values.get(a) ?? null,
  "TestSkill.echo": (_values, a) => {
    throw new Error(`failed with ${a as string}`);
  },
};

async function runWithStore(source: string): Promise<unknown> {
  const { program, violations } = check(source);
  if (program === undefined) throw new Error(violations.map(({ message }) => message).join("\n"));
  const values = new Map<unknown, unknown>();
  const { end, output } = await sandbox.run(program, async ({ path, arguments: json }) => {
    const [a, b] = JSON.parse(json) as [unknown, unknown];
    if (path === "MathSkill.add") await new Promise((done) => setTimeout(done, 20 - Number(a)));
    try {
      return { ok: true, json: JSON.stringify(STORE[path]?.(values, a, b)) };
    } catch (error) {
      return { ok: false, error: { code: "CALL_FAILED", message: (error as Error).message } };
    }
  });
  if (end.kind !== "returned") throw new Error(JSON.stringify(end));
  return output === "" ? JSON.parse(end.json) : output;
}

/** The promises of these are printed, stored or returned as if they were values, so that later calls must see their effects. */
const FORGOTTEN: readonly (readonly [place: string, source: string, value: unknown])[] = [
  [
    "a variable in the result",
    "const a = device.MathSkill.add(1, 2), b = device.UserSkill.get(1); return { a, b }",
    { a: 2, b: 2 },
  ],
  [
    "a variable that is printed",
    "const a = device.MathSkill.add(1, 2); print(a); print(device.UserSkill.get(1))",
    "2\n2",
  ],
  ["a printed call", "console.log(device.MathSkill.add(1, 2)); console.log(device.UserSkill.get(1))", "2\n2"],
  [
    "a variable that is put into a list",
    "const l = []; for (const n of [1, 9]) { const a = device.MathSkill.add(0, n); l.push({ a, b: device.UserSkill.get(0) }) } return l",
    [
      { a: 1, b: 1 },
      { a: 9, b: 9 },
    ],
  ],
  [
    "a call in a list",
    "const l = []; l.push(device.MathSkill.add(1, 2)); l.push(device.UserSkill.get(1)); return l",
    [2, 2],
  ],
  [
    "a member",
    "const o = {}; o.a = device.MathSkill.add(1, 2); o.b = device.UserSkill.get(1); return o",
    { a: 2, b: 2 },
  ],
  [
    "map",
    "const l = [1, 2].map((n) => device.MathSkill.add(n, n)); const b = device.UserSkill.get(1); return [l, b]",
    [[1, 2], 1],
  ],
  [
    "a plain helper",
    "const put = (n) => device.MathSkill.add(n, n); const a = put(3), b = device.UserSkill.get(3); return [a, b]",
    [3, 3],
  ],
  [
    "a failure in try",
    'try { const a = device.TestSkill.echo("x"); print(a); return 1 } catch (e) { return e.message }',
    "failed with x",
  ],
  [
    "a failure in a list",
    'const l = []; try { const a = device.TestSkill.echo("x"); l.push({ a }) } catch (e) { l.push(e.message) } return l',
    ["failed with x"],
  ],
  [
    "a failure in an object",
    'try { const o = { a: device.TestSkill.echo("x") }; print(o); return 1 } catch (e) { return e.message }',
    "failed with x",
  ],
  [
    "a failure in map",
    'try { const l = ["x"].map((t) => device.TestSkill.echo(t)); print(l); return 1 } catch (e) { return e.message }',
    "failed with x",
  ],
];

test.each(FORGOTTEN)(
  "ends a call before the next one if its await was forgotten: %s [S2]",
  async (_place, source, value) => {
    expect(await runWithStore(source)).toEqual(value);
  },
);

/** How an own function fails after a call. */
const FAIL = 'const fail = async (id) => { await device.MathSkill.add(id, 1); throw new Error("no") };';

/** These keep promises in lists, and await them later: each gives the value that the language defines. */
const KEPT: readonly (readonly [place: string, source: string, value: unknown, calls: number])[] = [
  [
    "flatMap in Promise.all",
    "return (await Promise.all([1, 2].flatMap(async (id) => [[id, await device.MathSkill.add(id, 1)]]))).flat()",
    [
      [1, 2],
      [2, 3],
    ],
    2,
  ],
  ["flat", `${FAIL} return (await Promise.allSettled([fail(1), [fail(2)]].flat())).length`, 2, 2],
  ["filter(Boolean)", `${FAIL} return (await Promise.allSettled([fail(1), null].filter(Boolean))).length`, 1, 1],
  [
    "a comparison in filter",
    `${FAIL} const jobs = [fail(1), null].filter((p) => p !== null); return (await Promise.allSettled(jobs)).length`,
    1,
    1,
  ],
  ["a set", `${FAIL} const jobs = new Set([fail(1)]); return (await Promise.allSettled(jobs)).length`, 1, 1],
  [
    "a set in a race",
    "const left = new Set([1, 2].map((id) => device.MathSkill.add(id, 1))); const sums = [];\n" +
      "while (left.size > 0) { const { p, sum } = await Promise.race([...left].map((p) => p.then((sum) => ({ p, sum })))); left.delete(p); sums.push(sum) }\n" +
      "return sums",
    [2, 3],
    2,
  ],
  [
    "a test before it is added to a list",
    `${FAIL} const jobs = []; const p = fail(1); if (p) jobs.push(p); return (await Promise.allSettled(jobs)).length`,
    1,
    1,
  ],
  [
    "a loop that awaits each",
    `${FAIL} const a = fail(1), b = fail(2), errors = []; for (const p of [a, b]) await p.catch((e) => errors.push(e.message)); return errors`,
    ["no", "no"],
    2,
  ],
  [
    "a loop over objects with promises",
    `${FAIL} const jobs = [1].map((id) => ({ id, p: fail(id) })); const ids = []; for (const { id, p } of jobs) try { await p } catch { ids.push(id) } return ids`,
    [1],
    1,
  ],
  [
    "a list that an async callback fills",
    "const l = []; await Promise.all([1, 2].map(async (id) => { const p = device.MathSkill.add(id, 1); l.push(p) })); return l.map((p) => p instanceof Promise)",
    [true, true],
    2,
  ],
  [
    "a job in an object that a helper gives back",
    "const start = (id) => { const p = device.MathSkill.add(id, 1); return { id, p } }; return (await start(1).p) + (start(2).p instanceof Promise)",
    3,
    2,
  ],
  [
    "a race in try",
    "const first = (p) => Promise.race([p, 0]); try { const p = device.MathSkill.add(1, 1); return await first(p) } catch { return 9 }",
    0,
    1,
  ],
  [
    "an assignment in forEach",
    `${FAIL} const jobs = {}; [1].forEach((id) => (jobs[id] = fail(id))); return (await Promise.allSettled(Object.values(jobs))).length`,
    1,
    1,
  ],
];

test.each(KEPT)("leaves a promise that is awaited later as it is: %s [S2]", async (_place, source, value, calls) => {
  expect(await runCheckedProgram(source)).toEqual({ value, calls });
});

test.each(CASES)("waits for a value where the program needs one: %s [S2]", async (_place, source, value, calls) => {
  expect(await runCheckedProgram(source)).toEqual({ value, calls });
});

/** What is written into the text: the rest is found out by the promises themselves. */
const GOLDENS: readonly (readonly [place: string, source: string, code: string])[] = [
  ["a member", "return device.UserSkill.get(1).name", "return (await device.UserSkill.get(1)).name"],
  ["a comparison", "return 3 === device.MathSkill.add(1, 2)", "return 3 === (await device.MathSkill.add(1, 2))"],
  [
    "the condition of if",
    "if (device.MathSkill.add(1, 2)) return 1",
    "if (__waitFor(device.MathSkill.add(1, 2))) return 1",
  ],
  ["typeof", "return typeof device.MathSkill.add(1, 2)", "return typeof (await device.MathSkill.add(1, 2))"],
  ["in", 'return "name" in device.UserSkill.get(1)', 'return "name" in (await device.UserSkill.get(1))'],
  [
    "a spread in an object",
    "return { ...device.UserSkill.get(1) }",
    "return { ...__waitFor(device.UserSkill.get(1)) }",
  ],
  ["a statement", "device.UserSkill.get(1); return 1", "await device.UserSkill.get(1); return 1"],
  ["a statement after &&", "1 && device.UserSkill.get(1); return 1", "1 && await device.UserSkill.get(1); return 1"],
  [
    "the branches of a statement",
    "1 ? device.UserSkill.get(1) : device.UserSkill.get(2); return 1",
    "1 ? await device.UserSkill.get(1) : await device.UserSkill.get(2); return 1",
  ],
  [
    "a sequence",
    "return device.UserSkill.get(1), device.UserSkill.get(2)",
    "return await device.UserSkill.get(1), device.UserSkill.get(2)",
  ],
  [
    "the last part of a for",
    "for (let i = 0; i < 1; i++, device.UserSkill.get(i)); return 1",
    "for (let i = 0; i < 1; i++, await device.UserSkill.get(i)); return 1",
  ],
  [
    "a statement in a plain function",
    "const f = () => { device.UserSkill.get(1); return 1 }; return f()",
    "const f = () => { __waitFor(device.UserSkill.get(1)); return 1 }; return f()",
  ],
  [
    "some",
    "return [1, 2].some((id) => device.UserSkill.get(id))",
    "return [1, 2].some(__waitTested((id) => device.UserSkill.get(id)))",
  ],
  [
    "a set that is asked",
    "const s = new Set([device.MathSkill.add(1, 2)]); await Promise.all(s); return s.has(3)",
    'const s = new Set(__waitForAll([device.MathSkill.add(1, 2)])); await Promise.all(s); return __waitSeek(s, "has", 3)',
  ],
  [
    "a set that is awaited as a whole",
    "const s = new Set(); s.add(device.MathSkill.add(1, 2)); return Promise.all(s)",
    "const s = new Set(); s.add(device.MathSkill.add(1, 2)); return Promise.all(s)",
  ],
  [
    "return in try",
    "try { return device.MathSkill.add(1, 2) } catch { return 0 }",
    "try { return await (device.MathSkill.add(1, 2)) } catch { return 0 }",
  ],
  [
    "a statement at the top that starts calls",
    "async function f() { await device.MathSkill.add(1, 2) } f(); return 1",
    "async function f() { await device.MathSkill.add(1, 2) } __waitForAll(f()); return 1",
  ],
  [
    "await in a plain function",
    "function f(id) { const u = await device.UserSkill.get(id); return u.name } return f(1)",
    "function f(id) { const u = __waitFor( device.UserSkill.get(id)); return u.name } return f(1)",
  ],
  [
    "Promise.all",
    "return Promise.all([device.MathSkill.add(1, 2), device.MathSkill.add(1, 2)])",
    "return Promise.all([device.MathSkill.add(1, 2), device.MathSkill.add(1, 2)])",
  ],
  [
    "a variable awaited later",
    "const u = device.UserSkill.get(1); return (await u).name",
    "const u = device.UserSkill.get(1); return (await u).name",
  ],
];

test.each(GOLDENS)("inserts the wait into the text: %s [S2]", (_place, source, code) => {
  expect(emitCode(source)).toBe(code);
});

test("notes an awaited call once, by its path [S2]", () => {
  const source =
    "const a = device.UserSkill.get(1).name; const b = device.UserSkill.get(2).name; return device.MathSkill.add(1, 2) + 1";
  expect(check(source).notes).toEqual(["Waited for UserSkill.get, MathSkill.add, as await was missing"]);
});

test("leaves a program that awaits all of its calls unchanged [S2]", () => {
  const source =
    "const u = await device.UserSkill.get(1); const [a] = await Promise.all([device.UserSkill.get(u.id)]); return a.name";
  expect(emitCode(source)).toBe(source.replace("const [a]", "0+0;const [a]"));
  expect(check(source).notes).toEqual([]);
});

test.each([
  ["in a static block", "class A { static { await device.UserSkill.get(1) } }\nreturn 1"],
  ["in a field", "class A { user = await device.UserSkill.get(1) }\nreturn 1"],
  ["in a default value", "const f = (u = await device.UserSkill.get(1)) => u;\nreturn f()"],
  [
    "as for await in a plain function",
    "const f = () => { for await (const x of [device.UserSkill.get(1)]) print(x) };\nf()",
  ],
])("refuses await %s [S2]", (_where, source) => {
  expect(check(source).violations.map(({ code }) => code)).toContain("SYNTAX");
});
