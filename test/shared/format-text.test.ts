import { expect, test } from "vitest";

import { trimEndOf } from "../../src/shared/format-text.ts";

test("removes characters from the end only, however many are elsewhere", () => {
  expect(trimEndOf("see x.).", ".)")).toBe("see x");
  expect(trimEndOf("...", ".")).toBe("");
  const text = `${".".repeat(5_000_000)}x`;
  expect(trimEndOf(`${text}..`, ".") === text).toBe(true);
});
