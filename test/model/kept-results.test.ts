import { expect, test } from "vitest";

import { createKeptResults } from "../../src/model/kept-results.ts";

test("reads a stored result in parts under its name [S11]", () => {
  const results = createKeptResults();
  expect(results.keep("run", "abcdef")).toBe("result://run/1");
  expect(results.keep("run", "second")).toBe("result://run/2");
  expect(results.read("result://run/1", 2, 3)).toEqual({ text: "cde", total: 6 });
  expect(results.read("result://run/9")).toBeUndefined();
});

test("stores a result for an hour [S11]", () => {
  let now = 0;
  const results = createKeptResults(3_600_000, 1_000, () => now);
  const uri = results.keep("run", "text");
  now = 3_599_999;
  expect(results.read(uri)?.text).toBe("text");
  now = 3_600_000;
  expect(results.read(uri)).toBeUndefined();
});

test("drops the oldest results if there are too many [S11]", () => {
  const results = createKeptResults(1_000, 100, () => 0);
  const first = results.keep("run", "x".repeat(30));
  const second = results.keep("run", "y".repeat(30));
  expect([results.read(first), results.read(second)?.total]).toEqual([undefined, 30]);
});

test("returns a stored result only to the caller of its run [S11]", () => {
  const results = createKeptResults();
  const [ada, bob] = ["ada", "bob"].map((id) => ({ id, permissions: ["call:*"] }));
  const uri = results.keep("run", "text", ada);
  expect(results.read(uri, 0, 10, ada)?.text).toBe("text");
  expect(results.read(uri, 0, 10, bob)).toBeUndefined();
  expect(results.read(uri)).toBeUndefined();
});

test("never drops the results of a caller for one that has more [S11, V6]", () => {
  const results = createKeptResults(1_000, 100, () => 0);
  const [ada, bob] = ["ada", "bob"].map((id) => ({ id, permissions: ["call:*"] }));
  const own = results.keep("run-1", "x".repeat(10), ada);
  const first = results.keep("run-2", "y".repeat(20), bob);
  const second = results.keep("run-3", "z".repeat(30), bob);
  expect(results.read(own, 0, 10, ada)?.total).toBe(10);
  expect([results.read(first, 0, 10, bob), results.read(second, 0, 10, bob)?.total]).toEqual([undefined, 30]);
});

test("reads the newest result, however large it is [S11]", () => {
  const results = createKeptResults(1_000, 100, () => 0);
  const [ada, bob] = ["ada", "bob"].map((id) => ({ id, permissions: ["call:*"] }));
  const small = results.keep("run-1", "x".repeat(20), ada);
  const large = results.keep("run-2", "y".repeat(45), bob);
  expect([results.read(small, 0, 10, ada), results.read(large, 0, 10, bob)?.total]).toEqual([undefined, 45]);
});
