import { expect, test } from "vitest";

import { countProcessors } from "../../sandbox/processors.ts";

test.each([
  ["no limit", "max 100000\n", 4],
  ["no file", "", 4],
  ["one and a half processors", "150000 100000\n", 1.5],
  ["a limit beyond the machine", "800000 100000\n", 4],
  ["another text", "x y z", 4],
])("counts the processors that a process may use: %s", (_, cpuLimit, count) => {
  expect(countProcessors(4, cpuLimit)).toBe(count);
});
