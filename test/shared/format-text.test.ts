import { expect, test } from "vitest";

import { trimCharacters } from "../../src/shared/format-text.ts";

test("removes characters from the end only, however many are elsewhere", () => {
  expect(trimCharacters("see x.).", ".)")).toBe("see x");
  expect(trimCharacters("...", ".")).toBe("");
  const text = `${".".repeat(5_000_000)}x`;
  expect(trimCharacters(`${text}..`, ".") === text).toBe(true);
});
