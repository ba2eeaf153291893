import { describe, expect, test } from "vitest";

import { check, codeOf } from "./stubs.ts";

/** Where the value itself is needed, the call blocks; where a promise will do, it stays one. */
const CASES: readonly (readonly [place: string, source: string, code: string])[] = [
  ["a member", "return device.UserSkill.get(1).name", "return __wait(device.UserSkill.get)(1).name"],
  ["a computed member", 'return device.UserSkill.get(1)["name"]', 'return __wait(device.UserSkill.get)(1)["name"]'],
  ["an optional member", "return device.UserSkill.get(1)?.name", "return __wait(device.UserSkill.get)(1)?.name"],
  [
    "a method of the value",
    "return device.UserSkill.get(1).name.toUpperCase()",
    "return __wait(device.UserSkill.get)(1).name.toUpperCase()",
  ],
  ["an operator", "return device.MathSkill.add(1, 2) + 1", "return __wait(device.MathSkill.add)(1, 2) + 1"],
  ["a comparison", "return 3 === device.MathSkill.add(1, 2)", "return 3 === __wait(device.MathSkill.add)(1, 2)"],
  ["a negation", "return !device.MathSkill.add(1, 2)", "return !__wait(device.MathSkill.add)(1, 2)"],
  ["typeof", "return typeof device.MathSkill.add(1, 2)", "return typeof __wait(device.MathSkill.add)(1, 2)"],
  ["in", 'return "name" in device.UserSkill.get(1)', 'return "name" in __wait(device.UserSkill.get)(1)'],
  [
    "instanceof",
    "return device.UserSkill.get(1) instanceof Object",
    "return __wait(device.UserSkill.get)(1) instanceof Object",
  ],
  [
    "a compound assignment",
    "let t = 0; t += device.MathSkill.add(1, 2); return t",
    "let t = 0; t += __wait(device.MathSkill.add)(1, 2); return t",
  ],
  [
    "the condition of if",
    "if (device.MathSkill.add(1, 2)) return 1",
    "if (__wait(device.MathSkill.add)(1, 2)) return 1",
  ],
  [
    "the condition of a ternary",
    "return device.MathSkill.add(1, 2) ? 1 : 2",
    "return __wait(device.MathSkill.add)(1, 2) ? 1 : 2",
  ],
  ["the left of &&", "return device.MathSkill.add(1, 2) && 1", "return __wait(device.MathSkill.add)(1, 2) && 1"],
  ["the left of ??", "return device.MathSkill.add(1, 2) ?? 1", "return __wait(device.MathSkill.add)(1, 2) ?? 1"],
  [
    "the condition of while",
    "while (device.MathSkill.add(1, 2) > 5);",
    "while (__wait(device.MathSkill.add)(1, 2) > 5);",
  ],
  [
    "switch",
    "switch (device.MathSkill.add(1, 2)) { case 3: return 1 }",
    "switch (__wait(device.MathSkill.add)(1, 2)) { case 3: return 1 }",
  ],
  [
    "case",
    "switch (3) { case device.MathSkill.add(1, 2): return 1 }",
    "switch (3) { case __wait(device.MathSkill.add)(1, 2): return 1 }",
  ],
  ["a template string", "return `${device.MathSkill.add(1, 2)}`", "return `${__wait(device.MathSkill.add)(1, 2)}`"],
  ["a spread in a list", "return [...device.UserSkill.get(1)]", "return [...__wait(device.UserSkill.get)(1)]"],
  [
    "a spread in a call",
    "return Math.max(...device.UserSkill.get(1))",
    "return Math.max(...__wait(device.UserSkill.get)(1))",
  ],
  ["a spread in an object", "return { ...device.UserSkill.get(1) }", "return { ...__wait(device.UserSkill.get)(1) }"],
  [
    "for of",
    "for (const x of device.UserSkill.get(1)) print(x)",
    "let __waitedRound;{for (const x of __wait(device.UserSkill.get)(1)) __waitedRound = (print(x)); return __waitedRound;}",
  ],
  [
    "for in",
    "for (const x in device.UserSkill.get(1)) print(x)",
    "let __waitedRound;{for (const x in __wait(device.UserSkill.get)(1)) __waitedRound = (print(x)); return __waitedRound;}",
  ],
  [
    "for await",
    "for await (const x of device.UserSkill.get(1)) print(x)",
    "let __waitedRound;{for await (const x of __wait(device.UserSkill.get)(1)) __waitedRound = (print(x)); return __waitedRound;}",
  ],
  ["throw", "throw device.UserSkill.get(1)", "throw __waitThrown(__wait(device.UserSkill.get)(1))"],
  [
    "a computed key",
    "return { [device.MathSkill.add(1, 2)]: 1 }",
    "return { [__wait(device.MathSkill.add)(1, 2)]: 1 }",
  ],
  [
    "destructuring",
    "const { name } = device.UserSkill.get(1); return name",
    "0+0;const { name } = __wait(device.UserSkill.get)(1); return name",
  ],
  [
    "destructuring an element",
    "const [a] = device.UserSkill.get(1); return a",
    "0+0;const [a] = __wait(device.UserSkill.get)(1); return a",
  ],
  [
    "an argument of a builtin",
    "return JSON.stringify(device.UserSkill.get(1))",
    "return JSON.stringify(__wait(device.UserSkill.get)(1))",
  ],
  [
    "an argument of a constructor",
    "return new Set(device.UserSkill.get(1))",
    "return new Set(__wait(device.UserSkill.get)(1))",
  ],
  [
    "an argument of another call",
    "return device.UserSkill.get(device.MathSkill.add(1, 2))",
    "return device.UserSkill.get(__wait(device.MathSkill.add)(1, 2))",
  ],
  [
    "a named argument of another call",
    "return device.UserSkill.get({ id: device.MathSkill.add(1, 2) })",
    "return device.UserSkill.get({ id: __wait(device.MathSkill.add)(1, 2) })",
  ],
  [
    "an argument of a method of a list",
    "return [3].includes(device.MathSkill.add(1, 2))",
    "return [3].includes(__wait(device.MathSkill.add)(1, 2))",
  ],
  [
    "an argument of an own function",
    "const f = (x) => x.name; return f(device.UserSkill.get(1))",
    "const f = (x) => x.name; return f(__wait(device.UserSkill.get)(1))",
  ],
  [
    "an argument of an own function that awaits it",
    "const f = async (p) => (await p).name; return await f(device.UserSkill.get(1))",
    "const f = async (p) => (await p).name; return await f(device.UserSkill.get(1))",
  ],
  [
    "a variable used as a value",
    "const u = device.UserSkill.get(1); return u.name",
    "const u = __wait(device.UserSkill.get)(1); return u.name",
  ],
  [
    "a variable awaited later",
    "const u = device.UserSkill.get(1); return (await u).name",
    "const u = device.UserSkill.get(1); return (await u).name",
  ],
  [
    "a variable handed to Promise.all",
    "const a = device.MathSkill.add(1, 2), b = device.MathSkill.add(1, 2); return Promise.all([a, b])",
    "const a = device.MathSkill.add(1, 2), b = device.MathSkill.add(1, 2); return Promise.all([a, b])",
  ],
  [
    "a variable with then",
    "const u = device.UserSkill.get(1); return u.then((x) => x.name)",
    "const u = device.UserSkill.get(1); return u.then((x) => x.name)",
  ],
  [
    "a variable that is returned",
    "const u = device.UserSkill.get(1); return u",
    "const u = device.UserSkill.get(1); return u",
  ],
  [
    "a variable that is not used",
    "const u = device.UserSkill.get(1); return 1",
    "const u = await device.UserSkill.get(1); return 1",
  ],
  [
    "a variable set later",
    "let u; u = device.UserSkill.get(1); return u.name",
    "let u; u = __wait(device.UserSkill.get)(1); return u.name",
  ],
  ["a statement", "device.UserSkill.get(1); return 1", "await device.UserSkill.get(1); return 1"],
  [
    "a statement in a plain function",
    "const f = () => { device.UserSkill.get(1); return 1 }; return f()",
    "const f = () => { __wait(device.UserSkill.get)(1); return 1 }; return f()",
  ],
  [
    "a statement in an async function",
    "const f = async () => { device.UserSkill.get(1); return 1 }; return f()",
    "const f = async () => { await device.UserSkill.get(1); return 1 }; return f()",
  ],
  ["await", "return (await device.UserSkill.get(1)).name", "return (await device.UserSkill.get(1)).name"],
  ["then", "return device.UserSkill.get(1).then((u) => u.name)", "return device.UserSkill.get(1).then((u) => u.name)"],
  ["catch", "return device.UserSkill.get(1).catch(() => 1)", "return device.UserSkill.get(1).catch(() => 1)"],
  ["finally", "return device.UserSkill.get(1).finally(() => 1)", "return device.UserSkill.get(1).finally(() => 1)"],
  [
    "Promise.all",
    "return Promise.all([device.MathSkill.add(1, 2), device.MathSkill.add(1, 2)])",
    "return Promise.all([device.MathSkill.add(1, 2), device.MathSkill.add(1, 2)])",
  ],
  [
    "Promise.allSettled",
    "return Promise.allSettled([device.MathSkill.add(1, 2)])",
    "return Promise.allSettled([device.MathSkill.add(1, 2)])",
  ],
  [
    "Promise.race",
    "return Promise.race([device.MathSkill.add(1, 2)])",
    "return Promise.race([device.MathSkill.add(1, 2)])",
  ],
  [
    "Promise.any",
    "return Promise.any([device.MathSkill.add(1, 2)])",
    "return Promise.any([device.MathSkill.add(1, 2)])",
  ],
  ["return", "return device.MathSkill.add(1, 2)", "return device.MathSkill.add(1, 2)"],
  [
    "return in an async function",
    "const f = async () => { return device.MathSkill.add(1, 2) }; return f()",
    "const f = async () => { return device.MathSkill.add(1, 2) }; return f()",
  ],
  [
    "return in try",
    "try { return device.MathSkill.add(1, 2) } catch { return 0 }",
    "try { return await device.MathSkill.add(1, 2) } catch { return 0 }",
  ],
  [
    "return in a plain function",
    "const f = () => { return device.UserSkill.get(1) }; return f().name",
    "const f = () => { return __wait(device.UserSkill.get)(1) }; return f().name",
  ],
  [
    "an arrow whose result is awaited",
    "const f = () => device.UserSkill.get(1); return (await f()).name",
    "const f = () => device.UserSkill.get(1); return (await f()).name",
  ],
  ["print", "print(device.MathSkill.add(1, 2))", "return (print(device.MathSkill.add(1, 2)))"],
  [
    "console.log",
    'console.log("sum", device.MathSkill.add(1, 2))',
    'return (console.log("sum", device.MathSkill.add(1, 2)))',
  ],
  ["the last expression", "device.MathSkill.add(1, 2)", "return (device.MathSkill.add(1, 2))"],
  [
    "a list that is the result",
    "return [device.MathSkill.add(1, 2), device.MathSkill.add(1, 2)]",
    "return [device.MathSkill.add(1, 2), device.MathSkill.add(1, 2)]",
  ],
  [
    "an object that is the result",
    "return { sum: device.MathSkill.add(1, 2) }",
    "return { sum: device.MathSkill.add(1, 2) }",
  ],
  [
    "map as the result",
    "return [1, 2].map((id) => device.UserSkill.get(id))",
    "return [1, 2].map((id) => device.UserSkill.get(id))",
  ],
  [
    "map in Promise.all",
    "return Promise.all([1, 2].map((id) => device.UserSkill.get(id)))",
    "return Promise.all([1, 2].map((id) => device.UserSkill.get(id)))",
  ],
  [
    "map, then values",
    "const us = [1, 2].map((id) => device.UserSkill.get(id)); return us.map((u) => u.name)",
    "const us = [1, 2].map((id) => __wait(device.UserSkill.get)(id)); return us.map((u) => u.name)",
  ],
  [
    "map, then Promise.all",
    "const us = [1, 2].map((id) => device.UserSkill.get(id)); return (await Promise.all(us)).length",
    "const us = [1, 2].map((id) => device.UserSkill.get(id)); return (await Promise.all(us)).length",
  ],
  [
    "filter",
    "return [1, 2].filter((id) => device.UserSkill.get(id))",
    "return [1, 2].filter((id) => __wait(device.UserSkill.get)(id))",
  ],
  [
    "find",
    "return [1, 2].find((id) => device.UserSkill.get(id))",
    "return [1, 2].find((id) => __wait(device.UserSkill.get)(id))",
  ],
  [
    "some",
    "return [1, 2].some((id) => device.UserSkill.get(id))",
    "return [1, 2].some((id) => __wait(device.UserSkill.get)(id))",
  ],
  [
    "every",
    "return [1, 2].every((id) => device.UserSkill.get(id))",
    "return [1, 2].every((id) => __wait(device.UserSkill.get)(id))",
  ],
  [
    "sort",
    "return [1, 2].sort((a, b) => device.MathSkill.subtract(a, b))",
    "return [1, 2].sort((a, b) => __wait(device.MathSkill.subtract)(a, b))",
  ],
  [
    "reduce",
    "return [1, 2].reduce((a, b) => device.MathSkill.add(a, b))",
    "return [1, 2].reduce((a, b) => __wait(device.MathSkill.add)(a, b))",
  ],
  [
    "forEach",
    "[1, 2].forEach((id) => device.UserSkill.get(id)); return 1",
    "[1, 2].forEach((id) => __wait(device.UserSkill.get)(id)); return 1",
  ],
  [
    "flatMap",
    "return [1, 2].flatMap((id) => device.UserSkill.get(id))",
    "return [1, 2].flatMap((id) => __wait(device.UserSkill.get)(id))",
  ],
  [
    "replace",
    'return "a".replace(/a/, (x) => device.TextSkill.uppercase(x))',
    'return "a".replace(/a/, (x) => __wait(device.TextSkill.uppercase)(x))',
  ],
  [
    "push, then Promise.all",
    "const ps = []; for (const id of [1, 2]) ps.push(device.UserSkill.get(id)); return Promise.all(ps)",
    "const ps = []; for (const id of [1, 2]) ps.push(device.UserSkill.get(id)); return Promise.all(ps)",
  ],
  [
    "entries of an object, one after the other",
    "const ps = { a: device.UserSkill.get(1) }, o = {}; for (const [k, p] of Object.entries(ps)) o[k] = (await p).name; return o",
    "const ps = { a: device.UserSkill.get(1) }, o = {}; 0+0;for (const [k, p] of Object.entries(ps)) o[k] = (await p).name; return o",
  ],
  [
    "entries of an object, mapped",
    "const ps = { a: device.UserSkill.get(1) }, o = {}; await Promise.all(Object.entries(ps).map(async ([k, p]) => { o[k] = (await p).name; })); return o",
    "const ps = { a: device.UserSkill.get(1) }, o = {}; await Promise.all(Object.entries(ps).map(async ([k, p]) => { o[k] = (await p).name; })); return o",
  ],
  [
    "entries of an object whose values are used",
    "const ps = { a: device.UserSkill.get(1) }; for (const [k, p] of Object.entries(ps)) print(k + p.name); return 1",
    "const ps = { a: __wait(device.UserSkill.get)(1) }; 0+0;for (const [k, p] of Object.entries(ps)) print(k + p.name); return 1",
  ],
  [
    "a set, in which equal values are one",
    "const ps = new Set([device.UserSkill.get(1), device.UserSkill.get(2)]); return Promise.all(ps)",
    "const ps = new Set([__wait(device.UserSkill.get)(1), __wait(device.UserSkill.get)(2)]); return Promise.all(ps)",
  ],
  [
    "a set that is counted",
    "const s = new Set([1, 2].map((id) => device.UserSkill.get(id))); return s.size",
    "const s = new Set([1, 2].map((id) => __wait(device.UserSkill.get)(id))); return s.size",
  ],
  [
    "a set that is asked",
    "const s = new Set([device.MathSkill.add(1, 2)]); await Promise.all(s); return s.has(3)",
    "const s = new Set([__wait(device.MathSkill.add)(1, 2)]); await Promise.all(s); return s.has(3)",
  ],
  [
    "a map whose values are awaited",
    'const m = new Map([["a", device.UserSkill.get(1)]]); await Promise.all(m.values()); return (await m.get("a")).name',
    'const m = new Map([["a", device.UserSkill.get(1)]]); await Promise.all(m.values()); return (await m.get("a")).name',
  ],
  [
    "keys of a map",
    "const m = new Map([[device.MathSkill.add(1, 2), 0]]); return Promise.all(m.values())",
    "const m = new Map([[__wait(device.MathSkill.add)(1, 2), 0]]); return Promise.all(m.values())",
  ],
  [
    "a map whose values are used",
    'const m = new Map([["a", device.UserSkill.get(1)]]); return m.get("a").name',
    'const m = new Map([["a", __wait(device.UserSkill.get)(1)]]); return m.get("a").name',
  ],
  [
    "async callbacks for which nobody can wait",
    "let v = []; await device.TestSkill.echo(0); return [[1].filter(() => { [0].map(async () => { v = Promise.all([0, 1]); }); }).length, v]",
    "let v = []; await device.TestSkill.echo(0); return [[1].filter(() => { [0].map( () => { v = Promise.all([0, 1]); }); }).length, v]",
  ],
  [
    "push, then values",
    "const us = []; for (const id of [1, 2]) us.push(device.UserSkill.get(id)); return us[0].name",
    "const us = []; for (const id of [1, 2]) us.push(__wait(device.UserSkill.get)(id)); return us[0].name",
  ],
  [
    "push, then the result",
    "const us = []; for (const id of [1, 2]) us.push(device.UserSkill.get(id)); return us",
    "const us = []; for (const id of [1, 2]) us.push(device.UserSkill.get(id)); return us",
  ],
  [
    "a callback: map",
    "return [1, 2].map(device.UserSkill.get)",
    "return [1, 2].map((__waitedFirst) => device.UserSkill.get(__waitedFirst))",
  ],
  [
    "a callback: filter",
    "return [1, 2].filter(device.UserSkill.get)",
    "return [1, 2].filter((__waitedFirst) => __wait(device.UserSkill.get)(__waitedFirst))",
  ],
  [
    "a callback: reduce",
    "return [1, 2].reduce(device.MathSkill.add)",
    "return [1, 2].reduce((__waitedFirst, __waitedSecond) => __wait(device.MathSkill.add)(__waitedFirst, __waitedSecond))",
  ],
  [
    "a callback: then",
    "return device.MathSkill.add(1, 2).then(device.UserSkill.get)",
    "return device.MathSkill.add(1, 2).then(device.UserSkill.get)",
  ],
  [
    "an alias",
    "const add = device.MathSkill.add; return add(1, 2) + 1",
    "const add = device.MathSkill.add; return __wait(add)(1, 2) + 1",
  ],
  [
    "an async callback of filter",
    "return [1].filter(async (id) => (await device.UserSkill.get(id)).age > 3)",
    "return [1].filter( (id) => ( __wait(device.UserSkill.get)(id)).age > 3)",
  ],
  [
    "an async callback of forEach",
    "const out = []; [1].forEach(async (id) => { out.push(await device.UserSkill.get(id)) }); return out",
    "const out = []; [1].forEach( (id) => { out.push( __wait(device.UserSkill.get)(id)) }); return out",
  ],
  [
    "await in a plain callback",
    "return [1].map((id) => await device.UserSkill.get(id))",
    "return [1].map((id) =>  __wait(device.UserSkill.get)(id))",
  ],
  [
    "await in a plain function",
    "function f(id) { const u = await device.UserSkill.get(id); return u.name } return f(1)",
    "function f(id) { const u =  __wait(device.UserSkill.get)(id); return u.name } return f(1)",
  ],
  [
    "await of an own function in a plain function",
    "async function g() { return 1 } function f() { return await g() } return f()",
    "async function g() { return 1 } async function f() { return await g() } return f()",
  ],
  [
    "an own async function used as a value",
    "async function f() { return await device.UserSkill.get(1) } return f().name",
    "async function f() { return await device.UserSkill.get(1) } return (await f()).name",
  ],
  [
    "a list of own promises used as values",
    "const us = [1, 2].map(async (id) => await device.UserSkill.get(id)); return us[0].name",
    "const us = (await Promise.all([1, 2].map(async (id) => await device.UserSkill.get(id)))); return us[0].name",
  ],
  [
    "Promise.all used as a value",
    "const [a] = Promise.all([device.MathSkill.add(1, 2)]); return a + 1",
    "0+0;const [a] = (await Promise.all([device.MathSkill.add(1, 2)])); return a + 1",
  ],
  [
    "a method of a class",
    "class A { get(id) { return device.UserSkill.get(id) } } return new A().get(1).name",
    "class A { get(id) { return __wait(device.UserSkill.get)(id) } } return new A().get(1).name",
  ],
  [
    "a field of a class",
    "class A { user = device.UserSkill.get(1) } return new A().user.name",
    "class A { user = __wait(device.UserSkill.get)(1) } return new A().user.name",
  ],
  [
    "a default value",
    "const f = (u = device.UserSkill.get(1)) => u.name; return f()",
    "const f = (u = __wait(device.UserSkill.get)(1)) => u.name; return f()",
  ],
  [
    "yield",
    "function* g() { yield device.UserSkill.get(1) } for (const u of g()) print(u.name)",
    "let __waitedRound;function* g() { yield __wait(device.UserSkill.get)(1) } {for (const u of g()) __waitedRound = (print(u.name)); return __waitedRound;}",
  ],
  [
    "a statement at the top that starts calls",
    "async function f() { await device.MathSkill.add(1, 2) } f(); return 1",
    "const __waitedLater = [], __waitedLaterResult = await (async () => {async function f() { await device.MathSkill.add(1, 2) } __waitedLater.push(f()); return 1\n})();await Promise.all(__waitedLater);return __waitedLaterResult",
  ],
  [
    "then at the top",
    "device.MathSkill.add(1, 2).then(print); return 1",
    "const __waitedLater = [], __waitedLaterResult = await (async () => {__waitedLater.push(device.MathSkill.add(1, 2).then(print)); return 1\n})();await Promise.all(__waitedLater);return __waitedLaterResult",
  ],
  [
    "a variable set in try",
    "let r; try { r = device.MathSkill.add(1, 2) } catch { r = 0 } return r",
    "let r; try { r = await device.MathSkill.add(1, 2) } catch { r = 0 } return r",
  ],
  [
    "a list given back in try",
    "try { return [device.MathSkill.add(1, 2)] } catch { return 0 }",
    "try { return [await device.MathSkill.add(1, 2)] } catch { return 0 }",
  ],
  [
    "a result in try",
    "try { device.MathSkill.add(1, 2) } catch { 0 }",
    "try { return await (device.MathSkill.add(1, 2)) } catch { return (0) }",
  ],
  [
    "promises of try that are awaited there",
    "try { const p = device.MathSkill.add(1, 2), q = device.MathSkill.add(1, 2); return await Promise.all([p, q]) } catch { return 0 }",
    "try { const p = device.MathSkill.add(1, 2), q = device.MathSkill.add(1, 2); return await Promise.all([p, q]) } catch { return 0 }",
  ],
  [
    "an async method of an object",
    "const api = { load: async (id) => await device.UserSkill.get(id) }; return api.load(1).name",
    "const api = { load: async (id) => await device.UserSkill.get(id) }; return (await api.load(1)).name",
  ],
  [
    "an async method of a class",
    "class A { async load(id) { return await device.UserSkill.get(id) } } return new A().load(1).name",
    "class A { async load(id) { return await device.UserSkill.get(id) } } return (await new A().load(1)).name",
  ],
  [
    "a helper that returns Promise.all",
    "const all = (ids) => Promise.all(ids.map((id) => device.UserSkill.get(id))); return all([1]).map((u) => u.name)",
    "const all = (ids) => Promise.all(ids.map((id) => device.UserSkill.get(id))); return (await all([1])).map((u) => u.name)",
  ],
  [
    "Promise.all where await cannot stand",
    "const f = (ids) => Promise.all(ids.map((id) => device.UserSkill.get(id))).map((u) => u.name); return f([1])",
    "const f = (ids) => Array.from(ids.map((id) => __wait(device.UserSkill.get)(id))).map((u) => u.name); return f([1])",
  ],
  [
    "a list made on the way",
    "const by = {}; (by.a ??= []).push(device.UserSkill.get(1)); return by.a[0].name",
    "const by = {}; (by.a ??= []).push(__wait(device.UserSkill.get)(1)); return by.a[0].name",
  ],
  [
    "an argument of a constructor of the snippet",
    "class A { constructor(u) { this.name = u.name } } return new A(device.UserSkill.get(1)).name",
    "class A { constructor(u) { this.name = u.name } } return new A(__wait(device.UserSkill.get)(1)).name",
  ],
  [
    "an own async function in a callback",
    "const load = async (id) => (await device.UserSkill.get(id)).age; return [1].filter((id) => load(id) > 3)",
    "const load =  (id) => ( __wait(device.UserSkill.get)(id)).age; return [1].filter((id) => load(id) > 3)",
  ],
  [
    "an own async function that an async callback awaits",
    "const load = async (id) => (await device.UserSkill.get(id)).age; return [1].filter(async (id) => (await load(id)) > 3)",
    "const load =  (id) => ( __wait(device.UserSkill.get)(id)).age; return [1].filter( (id) => ( load(id)) > 3)",
  ],
  [
    "async functions of a program that never waits",
    "async function f(id) { return device.UserSkill.get(id).age } return f(1) + f(2)",
    " function f(id) { return __wait(device.UserSkill.get)(id).age } return f(1) + f(2)",
  ],
  [
    "the same, side by side",
    "async function f(id) { return device.UserSkill.get(id).age } return [f(1), f(2)]",
    "async function f(id) { return (await device.UserSkill.get(id)).age } return [f(1), f(2)]",
  ],
  [
    "the same, if others see what it does",
    "let sum = 0; async function f(id) { sum += device.UserSkill.get(id).age } const all = [f(1), f(2)]; return [all, sum]",
    "let sum = 0;  function f(id) { sum += __wait(device.UserSkill.get)(id).age } const all = [f(1), f(2)]; return [all, sum]",
  ],
  [
    "an async member of a class after a field",
    "class A { x = 1\n async get(id) { return device.UserSkill.get(id).age } } return [1].map((id) => new A().get(id) + 1)",
    "class A { x = 1\n ; get(id) { return __wait(device.UserSkill.get)(id).age } } return [1].map((id) => new A().get(id) + 1)",
  ],
  [
    "an async function that is a statement",
    "let a = 1\na\nasync (b) => b\nreturn a",
    "let a = 1\na\n0, (b) => b\nreturn a",
  ],
  [
    "what then gives",
    "const n = device.UserSkill.get(1).then((u) => u.age); return n + 1",
    "const n = (await device.UserSkill.get(1).then((u) => u.age)); return n + 1",
  ],
  [
    "promises in promises at the start of a statement",
    "Promise.all([1].map(async (x) => x)).map((x) => x + 1).forEach(print); return 1",
    "0,(await Promise.all([1].map(async (x) => x))).map((x) => x + 1).forEach(print); return 1",
  ],
  [
    "a list of promises that a helper gives back, awaited as a whole",
    "const f = (l) => l.map(async (x) => device.MathSkill.add(x, 1)); return (await f([1])).reduce((a, b) => a + b, 0)",
    "const f = (l) => l.map( (x) => __wait(device.MathSkill.add)(x, 1)); return (await f([1])).reduce((a, b) => a + b, 0)",
  ],
  [
    "a list of promises that a method gives back",
    "const h = { run(l) { return l.map(async (x) => x) } }; return h.run([device.MathSkill.add(1, 2)])[0] + (await 1)",
    "const h = { run(l) { return l.map( (x) => x) } }; return h.run([__wait(device.MathSkill.add)(1, 2)])[0] + (await 1)",
  ],
  [
    "a variable that an async callback of map changes",
    "let t = 0; [1].map(async (x) => { t += await device.MathSkill.add(x, 1) }); return t",
    "let t = 0; [1].map( (x) => { t +=  __wait(device.MathSkill.add)(x, 1) }); return t",
  ],
  [
    "a variable that an async function changes",
    "let t = 0; const f = async () => { t = await device.MathSkill.add(1, 1) }; f(); return t",
    "let t = 0; const f = async () => { t = await device.MathSkill.add(1, 1) }; 0,(await f()); return t",
  ],
  [
    "a variable that an async function changes meanwhile",
    "let t = 0; const f = async () => { t = await device.MathSkill.add(1, 1) }; f(); await 1; return t",
    "const __waitedLater = [], __waitedLaterResult = await (async () => {let t = 0; const f = async () => { t = await device.MathSkill.add(1, 1) }; __waitedLater.push(f()); await 1; return t\n})();await Promise.all(__waitedLater);return __waitedLaterResult",
  ],
  [
    "a helper that catches",
    "const f = (g) => { try { return g() } catch { return 0 } }; return f(() => device.MathSkill.add(1, 2))",
    "const f = (g) => { try { return g() } catch { return 0 } }; return f(() => __wait(device.MathSkill.add)(1, 2))",
  ],
];

test.each(CASES)("S2: %s", (_place, source, code) => {
  expect(codeOf(source)).toBe(code);
});

test("S2: what was waited for is said once, by its path", () => {
  const source =
    "const a = device.UserSkill.get(1).name; const b = device.UserSkill.get(2).name; return device.MathSkill.add(1, 2) + 1";
  expect(check(source).notes).toEqual(["Waited for UserSkill.get, MathSkill.add, as await was missing"]);
});

test("S2: a call that is awaited, or given back as it is, needs no words", () => {
  expect(check("const u = await device.UserSkill.get(1); device.UserSkill.get(u.id)").notes).toEqual([]);
});

test.each([
  [
    "a value",
    "return { name: device.UserSkill.get(id).name }",
    "return { name: (await device.UserSkill.get(id)).name }",
  ],
  ["a sum that others change", "total += device.MathSkill.add(id, 1)", "total += __wait(device.MathSkill.add)(id, 1)"],
  [
    "the same in full",
    "total = total + device.MathSkill.add(id, 1)",
    "total = total + __wait(device.MathSkill.add)(id, 1)",
  ],
  ["the start of a statement", "device.UserSkill.get(id).name", "__wait(device.UserSkill.get)(id).name"],
])(
  "S2: inside of an async function a call holds up nothing else, but for %s where it has to",
  (_what, inside, code) => {
    const around = (body: string): string =>
      `let total = 0;\nawait Promise.all([1].map(async (id) => { ${body} }));\nreturn total`;
    expect(codeOf(around(inside))).toBe(around(code));
  },
);

test("S2: variables and functions that lead to each other come to an end", () => {
  expect(codeOf("let f = () => device.MathSkill.add(1, 2), g = f; f = g; return g()")).toBe(
    "let f = () => device.MathSkill.add(1, 2), g = f; f = g; return g()",
  );
});

test("S2: await that waits for nothing of ours in a plain function of a class is a mistake", () => {
  const [violation] = check("class A { get() { return await load() } }\nasync function load() {}").violations;
  expect(violation).toMatchObject({
    code: "SYNTAX",
    line: 1,
    column: 25,
    message: "Cannot parse the snippet: await in a function that is not async (SYNTAX)",
    fix: "Write async before the parameters of the function: async (…) => …",
  });
});

test("S2: a callback that nobody waits for and that awaits more than methods is noted", () => {
  const source =
    "const wait = () => new Promise((done) => setTimeout(done, 1));\n[1].forEach(async () => { await wait() });\nreturn 1";
  expect(check(source).notes).toEqual([
    "forEach does not wait for its async callback: write for (const … of …) { await … }",
  ]);
});

describe("S2: whether there is a promise can be asked without its value", () => {
  test.each([
    [
      "a memo in an object",
      "const c = {}; async function f(k) { if (!c[k]) c[k] = device.UserSkill.get(k); return c[k] } return await Promise.all([f(1), f(1)])",
    ],
    [
      "a memo in a map",
      "const c = new Map(); async function f(k) { if (c.has(k)) return c.get(k); const p = device.UserSkill.get(k); c.set(k, p); return p } return await Promise.all([f(1), f(1)])",
    ],
    [
      "a memo that a function looks up",
      "const c = {}; const hit = (k) => c[k]; async function f(k) { const h = hit(k); if (h) return h; const p = device.UserSkill.get(k); c[k] = p; return p } return await Promise.all([f(1), f(1)])",
    ],
    [
      "a memo that typeof asks for",
      'const c = {}; async function f(k) { if (typeof c[k] === "undefined") c[k] = device.UserSkill.get(k); return c[k] } return await Promise.all([f(1), f(1)])',
    ],
    [
      "in, and Object.hasOwn",
      "const c = {}; async function f(k) { if (k in c || Object.hasOwn(c, k)) return c[k]; c[k] = device.UserSkill.get(k); return c[k] } return await Promise.all([f(1), f(1)])",
    ],
    [
      "a private field",
      "class A { #p = null; async f() { if (this.#p === null) this.#p = device.UserSkill.get(1); return await this.#p } } const a = new A(); return await Promise.all([a.f(), a.f()])",
    ],
    [
      "a variable that is awaited as well",
      "const p = device.UserSkill.get(1); const is = [!!p, Boolean(p), p === null, p ? 1 : 2]; return [is, await p]",
    ],
    [
      "a comparison of promises",
      "const p = device.UserSkill.get(1), q = device.UserSkill.get(2); const same = p === q; return [same, await p, await q]",
    ],
    [
      "a key of a map",
      "const m = new Map(); const p = device.UserSkill.get(1); m.set(p, 1); const n = m.get(p); m.delete(p); return [n, await p]",
    ],
    ["instanceof Promise", "const p = device.UserSkill.get(1); return (p instanceof Promise ? await p : p).name"],
    [
      "a promise whose own function takes it out of a set",
      "const s = new Set(); const p = device.UserSkill.get(1).then(() => { s.delete(p) }); s.add(p); while (s.size) await 0; return 1",
    ],
  ])("S2: %s leaves the promise as it is", (_what, source) => {
    expect(codeOf(source)).toBe(source);
  });

  test("S2: a memo that is used as a value blocks, so that nobody finds it missing meanwhile", () => {
    const source =
      "const c = {}; async function f(k) { if (!c[k]) c[k] = device.UserSkill.get(k); return c[k].name } return await Promise.all([f(1), f(1)])";
    expect(codeOf(source)).toBe(source.replace("device.UserSkill.get", "__wait(device.UserSkill.get)"));
  });

  test("S2: a test of what is there for certain needs the value, though it is given back as well", () => {
    const source =
      "const up = device.UserSkill.get(1); if (!up) return up; const [a] = await Promise.all([device.UserSkill.get(2)]); return [up, a]";
    const expected = source.replace("device.UserSkill.get", "__wait(device.UserSkill.get)");
    expect(codeOf(source)).toBe(expected.replace("const [a]", "0+0;const [a]"));
  });
});
