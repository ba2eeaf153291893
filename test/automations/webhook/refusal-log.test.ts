import { expect, test } from "vitest";

import { createRefusalLog } from "../../../src/automations/webhook/refusal-log.ts";

test("writes one line in ten seconds for each webhook, and counts the others", () => {
  const lines: string[] = [];
  let now = 1_000;
  const log = createRefusalLog(
    (line) => lines.push(line),
    () => now,
  );
  for (let time = 0; time < 5; time++) log.add("report", { id: "r", address: "192.0.2.1", why: `reason ${time}` });
  log.add("other", { id: "other", address: "192.0.2.1", why: "no signature" });
  expect(log.get("report")).toEqual({ count: 5, why: "reason 4", at: 1_000 });
  now += 10_000;
  log.add("report", { id: "r", address: "192.0.2.2", why: "reason 5" });
  expect(lines).toEqual([
    "Refused a request to the webhook r of the automation report from 192.0.2.1: reason 0",
    "Refused a request to the webhook other of the automation other from 192.0.2.1: no signature",
    "Refused a request to the webhook r of the automation report from 192.0.2.2: reason 5; 4 more were refused before",
  ]);
  expect(log.get("absent")).toBeUndefined();
});

test("writes one line for all unknown webhooks, and escapes and cuts their ids", () => {
  const lines: string[] = [];
  const log = createRefusalLog(
    (line) => lines.push(line),
    () => 0,
  );
  for (const id of [`a\n${"b".repeat(100)}`, "c", "d"])
    log.add(undefined, { id, address: "192.0.2.1", why: "no automation has this webhook" });
  expect(lines).toEqual([
    `Refused a request to the webhook "a\\n${"b".repeat(61)}…" from 192.0.2.1: no automation has this webhook`,
  ]);
});

test("forgets the webhooks that were refused first when there are more than 10,000", () => {
  const log = createRefusalLog(
    () => {},
    () => 0,
  );
  for (let at = 0; at <= 10_000; at++) log.add(`n${at}`, { id: "x", address: "", why: "" });
  expect(log.get("n0")).toBeUndefined();
  expect(log.get("n1")).toMatchObject({ count: 1 });
});
