import { expect, test } from "vitest";

import { findSurplus } from "../../src/shared/lru.ts";

const getOwner = (entry: string): string => entry.slice(0, 1);

test("finds the first entry of the owner that has the most [V6]", () => {
  expect(findSurplus(["a1", "b1", "b2", "a2", "b3"], getOwner)).toBe("b1");
  expect(findSurplus(["a1", "b1"], getOwner)).toBe("a1");
  expect(findSurplus([], getOwner)).toBeUndefined();
});
