import { expect, test } from "vitest";

import { codeOf, check } from "./stubs.ts";

const SKILL = "const list = [device.UserSkill]; ";

/** A skill that cannot be followed: whether its methods are called, only the run can tell. */
test.each([
  ["a member", "list.map((s) => s.get(1).name)", '(s) => __wait(s, "get")(1).name'],
  ["a member over lines", "list.map((s) => s\n  .get(1).name)", '(s) => __wait(s\n  , "get")(1).name'],
  ["a member in brackets", 'list.map((s) => s["get"](1).name)', '(s) => __wait(s, ("get"))(1).name'],
  ["a computed member", "list.map((s) => s[key(s)](1).name)", "(s) => __wait(s, (key(s)))(1).name"],
  [
    "a member of what is in brackets",
    "list.map((s) => (s || 0).get(1).name)",
    '(s) => __wait((s || 0), "get")(1).name',
  ],
  [
    "a member that may be missing",
    "list.map((s) => s?.get(1).name)",
    '(s) => (s == null ? undefined : __wait(s, "get"))?.(1).name',
  ],
  [
    "a member in brackets that may be missing",
    'list.map((s) => s?.["get"]?.(1).name)',
    '(s) => (s == null ? undefined : __wait(s, ("get")))?.(1).name',
  ],
  ["what a call gives", "const f = () => list[0].get; f()(1).name", "__wait(f())(1).name"],
  ["what a condition gives", "(list[0] ? list[0].get : 0)(1).name", "(__wait(list[0] ? list[0].get : 0))(1).name"],
  ["a parameter", "const g = (f) => f(1).name; g(list[0].get)", "(f) => __wait(f)(1).name"],
  ["an optional call of a parameter", "const g = (f) => f?.(1).name; g(list[0].get)", "(f) => __wait(f)?.(1).name"],
  [
    "a value inside of an async function",
    "await Promise.all(list.map(async (s) => 1 + s.get(1).n))",
    "1 + (await s.get(1)).n",
  ],
  [
    "a name that an own object has too",
    "const own = { get: () => 1 }; own.get(1) + list[0].get(1).name",
    '__wait(own, "get")(1) + __wait(list[0], "get")(1).name',
  ],
  ["nothing that uses it", "for (const s of list) s.get(1);", "for (const s of list) await s.get(1);"],
])("S2: a call of what may be a method waits if it is one: %s", (_place, source, code) => {
  const key = source.includes("key(") ? 'const key = () => "get"; ' : "";
  expect(codeOf(`${SKILL}${key}${source}; return 1`)).toContain(code);
});

test.each([
  ["awaited", "return Promise.all(list.map((s) => s.get(1)))"],
  ["of another name", "return list.map((s) => s.slice(1).name)"],
  ["a private member", "class A { #get() { return {} } name() { return this.#get().name } }; return new A().name()"],
  ["in a chain that may end before", "return list.map((s) => s?.at(0).get(1).name)"],
  ["with a comment inside", "return list.map((s) => s/* . */.get(1).name)"],
  ["of an own function", "const get = () => ({ name: 1 }); return get(1).name"],
  ["of own functions alone", "const own = { async got() { return list } }; return own.got(1)"],
])("S2: a call that is %s is left alone", (_what, source) => {
  expect(codeOf(SKILL + source)).toBe(SKILL + source);
});

test("S2: without a skill or method that goes away, no call is in doubt", () => {
  const source = "const f = (s) => s.get(1).name; return [f({ get: () => ({}) }), device.UserSkill.get(1)]";
  expect(codeOf(source)).toBe(source);
});

test("S2: of what may be a method, nothing is told", () => {
  expect(check(`${SKILL}return list.map((s) => s.get(1).name)`).notes).toEqual([]);
});
