import { expect, test } from "vitest";

import { ChangeStreams } from "../../../../src/surfaces/mcp/sessions/change-streams.ts";

test("gives streams that open at the same moment the events of their own clients, also after one that fails", async () => {
  const streams = new ChangeStreams();
  const log: string[] = [];
  const open = (name: string, ticks: number, fails = false): Promise<() => void> =>
    streams.open(
      () => {
        log.push(`follows ${name}`);
        return () => void log.push(`stops ${name}`);
      },
      async () => {
        for (let tick = 0; tick < ticks; tick++) await Promise.resolve();
        if (fails) throw new Error(name);
        log.push(`answers ${name}`);
        return streams.subscribe(() => log.push(`event for ${name}`));
      },
    );
  const [first, failed, second] = await Promise.allSettled([
    open("first", 5),
    open("failed", 1, true),
    open("second", 0),
  ]);
  expect(failed).toMatchObject({ status: "rejected", reason: { message: "failed" } });
  if (first.status === "rejected" || second.status === "rejected") throw new Error("One did not open");
  streams.publish({ kind: "tools_list_changed" } as never);
  first.value();
  streams.publish({ kind: "tools_list_changed" } as never);
  second.value();
  expect(log).toEqual([
    "answers first",
    "follows first",
    "answers second",
    "follows second",
    "event for first",
    "event for second",
    "stops first",
    "event for second",
    "stops second",
  ]);
});
