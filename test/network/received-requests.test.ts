import { expect, test } from "vitest";

import { ReceivedRequests } from "../../src/network/received-requests.ts";

test("accepts a request once, and never one that it has reported as missing [P7]", () => {
  const received = new ReceivedRequests();
  expect(["1", "3", "1", "x", "-1"].map((id) => received.accept(id))).toEqual([true, true, false, false, false]);
  const running = new Set(["1"]);
  const report = received.compare({ sent: 3, open: ["1", "2", "3"] }, (id) => running.has(id));
  expect(report).toEqual({ missing: ["2"], lost: ["3"] });
  expect(["2", "3", "4"].map((id) => received.accept(id))).toEqual([false, false, true]);
});

test("accepts a request that was still being sent when the client asked [P7]", () => {
  const received = new ReceivedRequests();
  expect(received.compare({ sent: 1, open: ["1"] }, () => false)).toEqual({ missing: ["1"], lost: [] });
  expect(received.accept("2")).toBe(true);
  expect(received.compare({ sent: 2, open: [] }, () => false)).toEqual({ missing: [], lost: [] });
  expect(received.accept("2")).toBe(false);
});
