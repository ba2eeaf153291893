// @module-tag rest

import { expect, test } from "vitest";

import { findSizeExcess } from "../../src/shared/values/value-size.ts";

/** Each list holds the one before it twice. */
function doubled(first: unknown, times: number): unknown {
  let list: unknown = first;
  for (let time = 0; time < times; time++) list = [list, list];
  return list;
}

test("counts shared values as often as they would be written [S9]", () => {
  expect(findSizeExcess(doubled("lol", 19))).toBe(undefined);
  expect(findSizeExcess(doubled("lol", 30))).toBe("more than 2 million values");
  expect(findSizeExcess(doubled("x".repeat(1 << 20), 6))).toBe(undefined);
  expect(findSizeExcess(doubled("x".repeat(1 << 20), 7))).toBe("more than 64 MB");
  expect(findSizeExcess(doubled(new Uint8Array(1 << 20), 7))).toBe("more than 64 MB");
  expect(findSizeExcess(doubled(new ArrayBuffer(1 << 20), 7))).toBe("more than 64 MB");
  expect(findSizeExcess(doubled({ ["x".repeat(1 << 20)]: 1 }, 7))).toBe("more than 64 MB");
  const map = new Map([["list", doubled(1, 15)]]);
  expect(findSizeExcess(new Set([doubled(map, 5)]))).toBe("more than 2 million values");
  expect(findSizeExcess(new Map([[doubled({ deep: doubled(1, 10) }, 11), 1]]))).toBe("more than 2 million values");
});

test("counts the levels of any container up to the limit, however large the rest is [S13]", () => {
  const nested = (levels: number, wrap: (value: unknown) => unknown): unknown => {
    let value: unknown = 1;
    for (let level = 0; level < levels; level++) value = wrap(value);
    return value;
  };
  const wraps = [
    (value: unknown) => [value],
    (value: unknown) => ({ value }),
    (value: unknown) => new Map([[1, value]]),
    (value: unknown) => new Map([[value, 1]]),
    (value: unknown) => new Set([value]),
  ];
  for (const wrap of wraps) {
    expect(findSizeExcess(nested(500, wrap))).toBe(undefined);
    expect(findSizeExcess(nested(501, wrap))).toBe("more than 500 levels");
    expect(findSizeExcess([new Uint8Array(9), nested(1_000_000, wrap)])).toBe("more than 500 levels");
  }
});

test("rejects a long list without items and a list that contains itself; accepts usual values [S9]", () => {
  const sparse: unknown[] = [];
  sparse.length = 4_000_000_000;
  expect(findSizeExcess(sparse)).toBe("more than 2 million values");
  const self: unknown[] = [];
  self.push(self);
  expect(findSizeExcess(self)).toBe("a value that contains itself (a cycle): return only the members that are needed");
  for (const value of [undefined, null, 1, 1n, "", new Date(), { a: [1, { b: "c" }] }, Array(1_000_000).fill(0)])
    expect(findSizeExcess(value)).toBe(undefined);
});
