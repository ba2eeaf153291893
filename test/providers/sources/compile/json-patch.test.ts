import { expect, test } from "vitest";

import { applyPatch } from "../../../../src/providers/sources/compile/json-patch.ts";

// Cases of RFC 6902, appendix A, and of https://github.com/json-patch/json-patch-tests.
test.each<readonly [title: string, document: unknown, patch: readonly object[], result: unknown]>([
  ["A.1", { foo: "bar" }, [{ op: "add", path: "/baz", value: "qux" }], { baz: "qux", foo: "bar" }],
  ["A.2", { foo: ["bar", "baz"] }, [{ op: "add", path: "/foo/1", value: "qux" }], { foo: ["bar", "qux", "baz"] }],
  ["A.3", { baz: "qux", foo: "bar" }, [{ op: "remove", path: "/baz" }], { foo: "bar" }],
  ["A.4", { foo: ["bar", "qux", "baz"] }, [{ op: "remove", path: "/foo/1" }], { foo: ["bar", "baz"] }],
  ["A.5", { baz: "qux" }, [{ op: "replace", path: "/baz", value: "boo" }], { baz: "boo" }],
  [
    "A.6",
    { foo: { bar: "baz", waldo: "fred" }, qux: { corge: "grault" } },
    [{ op: "move", from: "/foo/waldo", path: "/qux/thud" }],
    { foo: { bar: "baz" }, qux: { corge: "grault", thud: "fred" } },
  ],
  [
    "A.7",
    { foo: ["all", "grass", "cows", "eat"] },
    [{ op: "move", from: "/foo/1", path: "/foo/3" }],
    { foo: ["all", "cows", "eat", "grass"] },
  ],
  [
    "A.8",
    { baz: "qux", foo: ["a", 2, "c"] },
    [{ op: "test", path: "/foo/1", value: 2 }],
    { baz: "qux", foo: ["a", 2, "c"] },
  ],
  ["A.10", { foo: "bar" }, [{ op: "add", path: "/child", value: { a: {} } }], { foo: "bar", child: { a: {} } }],
  ["A.14", { "/": 9, "~1": 10 }, [{ op: "test", path: "/~01", value: 10 }], { "/": 9, "~1": 10 }],
  ["A.16", { foo: ["bar"] }, [{ op: "add", path: "/foo/-", value: ["abc", "def"] }], { foo: ["bar", ["abc", "def"]] }],
  ["of the whole document", { foo: 1 }, [{ op: "replace", path: "", value: { bar: 2 } }], { bar: 2 }],
  [
    "of a copy, which is another value",
    { a: { b: 1 } },
    [
      { op: "copy", from: "/a", path: "/c" },
      { op: "add", path: "/c/b", value: 2 },
    ],
    { a: { b: 1 }, c: { b: 2 } },
  ],
  ["of null", { a: 1 }, [{ op: "replace", path: "/a", value: null }], { a: null }],
])("applies the patch %s", (_title, document, patch, result) => {
  expect(applyPatch(structuredClone(document), patch)).toEqual(result);
});

test.each<readonly [patch: unknown, error: string]>([
  [{}, "it must be a list"],
  [[5], "operation 1 (undefined undefined): it is no object"],
  [[{ op: "spam", path: "/a" }], 'operation 1 (spam /a): its "op" must be add, remove, replace, move, copy or test'],
  [[{ op: "add", path: "/a" }], 'operation 1 (add /a): it has no "value"'],
  [[{ op: "add", path: "a", value: 1 }], 'its "path" must be a JSON pointer'],
  [[{ op: "add", path: "/a~2", value: 1 }], 'its "path" must be a JSON pointer'],
  [[{ op: "copy", path: "/a" }], 'its "from" must be a JSON pointer'],
  [
    [
      { op: "remove", path: "/list/0" },
      { op: "replace", path: "/x/y", value: 1 },
    ],
    "operation 2 (replace /x/y): the document has nothing at /x",
  ],
  [[{ op: "add", path: "/list/2", value: 1 }], "the list has 1 items, and no place 2"],
  [[{ op: "add", path: "/list/01", value: 1 }], "the list has 1 items, and no place 01"],
  [[{ op: "add", path: "/text/0", value: 1 }], "the document has no object at /text"],
  [[{ op: "remove", path: "" }], "it removes the whole document"],
  [[{ op: "move", from: "/o", path: "/o/p" }], "it moves a part into itself"],
  [[{ op: "test", path: "/text", value: "b" }], 'operation 1 (test /text): the document has "a" there'],
  [[{ op: "add", path: "/constructor/prototype/polluted", value: 1 }], "the document has nothing at /constructor"],
  [[{ op: "add", path: "/__proto__/polluted", value: 1 }], "the document has nothing at /__proto__"],
])("says what is wrong with the patch %j", (patch, error) => {
  expect(() => applyPatch({ text: "a", list: [1], o: {} }, patch)).toThrow(error);
  expect({}).not.toHaveProperty("polluted");
});

test("makes a property __proto__ of the document, and changes no object itself", () => {
  const patch = JSON.parse('[{ "op": "add", "path": "/__proto__", "value": { "a": 1 } }]') as unknown;
  const changed = applyPatch({}, patch) as object;
  expect(Object.hasOwn(changed, "__proto__")).toBe(true);
  expect(Object.getPrototypeOf(changed)).toBe(Object.prototype);
});
