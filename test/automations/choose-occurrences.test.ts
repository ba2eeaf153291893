import { describe, expect, test } from "vitest";

import { chooseOccurrences, MAX_QUEUED, skipSlots, type StartRules } from "../../src/automations/choose-occurrences.ts";
import type { OccurrenceRow, OpenOccurrences } from "../../src/store/index.ts";

const NOW = 1_790_000_000_000;
const RULES: StartRules = { overlap: "skip", parallel: 2, runsPerHour: 100 };

function createRow(id: string, changes: Partial<OccurrenceRow> = {}): OccurrenceRow {
  const fixed = {
    automation: "report",
    run: "r",
    attempt: 1,
    started: null,
    ended: null,
    error: null,
    claimedBy: null,
  };
  return { id, kind: "slot", state: "due", due: NOW, ...fixed, ...changes };
}

const running = (id: string): OccurrenceRow => createRow(id, { state: "running" });
const delivery = (id: string): OccurrenceRow => createRow(id, { kind: "delivery" });

function choose(open: Partial<OpenOccurrences>, rules: Partial<StartRules> = {}): readonly string[] {
  const all = { active: [], due: [], startedInHour: 0, ...open };
  const context = { by: "me", now: NOW };
  return chooseOccurrences(all, { ...RULES, ...rules }, context).map(({ id, changes }) => `${id} ${changes.state}`);
}

describe("a slot that is due while an occurrence runs", () => {
  test.each([
    ["skip", ["b skipped"]],
    ["cancel", ["a cancelled", "b running"]],
    ["queue", []],
    ["parallel", ["b running"]],
  ] as const)("with overlap %s", (overlap, expected) => {
    expect(choose({ active: [running("a")], due: [createRow("b")] }, { overlap })).toEqual(expected);
  });

  test("with overlap parallel begins only up to the limit", () => {
    const due = [createRow("b"), createRow("c")];
    expect(choose({ active: [running("a")], due }, { overlap: "parallel" })).toEqual(["b running"]);
  });

  test("with overlap queue waits in a queue with a bound", () => {
    const due = Array.from({ length: MAX_QUEUED + 2 }, (_, at) => createRow(`s${at}`));
    expect(choose({ active: [running("a")], due }, { overlap: "queue" })).toEqual([
      `s${MAX_QUEUED} skipped`,
      `s${MAX_QUEUED + 1} skipped`,
    ]);
    expect(choose({ due: due.slice(0, 2) }, { overlap: "queue" })).toEqual(["s0 running"]);
  });
});

test("a slot with overlap cancel ends no delivery, and waits while these use the limit of parallel runs", () => {
  const busy = createRow("d", { kind: "delivery", state: "running" });
  const due = [createRow("b")];
  expect(choose({ active: [busy], due }, { overlap: "cancel" })).toEqual(["b running"]);
  expect(choose({ active: [busy, running("a")], due }, { overlap: "cancel" })).toEqual(["a cancelled", "b running"]);
  expect(choose({ active: [busy, { ...busy, id: "e" }], due }, { overlap: "cancel" })).toEqual([]);
});

test.each(["skip", "queue", "parallel", "cancel"] as const)(
  "with overlap %s, deliveries wait and are not lost",
  (overlap) => {
    const due = [delivery("a"), delivery("b")];
    expect(choose({ active: [running("x")], due }, { overlap, parallel: 1 })).toEqual([]);
    expect(choose({ active: [running("x")], due }, { overlap })).toEqual(["a running"]);
  },
);

test("deliveries wait for the limit of parallel runs, and none is skipped", () => {
  const due = ["a", "b", "c"].map(delivery);
  expect(choose({ due })).toEqual(["a running", "b running"]);
  expect(choose({ active: [running("x"), running("y")], due })).toEqual([]);
});

test("the limit of an hour skips slots and lets deliveries wait", () => {
  const due = [delivery("a"), createRow("b")];
  expect(choose({ due, startedInHour: 100 })).toEqual(["b skipped"]);
  expect(choose({ due, startedInHour: 99 })).toEqual(["a running", "b skipped"]);
});

test("an automation that begins nothing skips its slots with the reason, and keeps its deliveries", () => {
  const open = { active: [], due: [delivery("a"), createRow("b")], startedInHour: 0 };
  expect(skipSlots(open, { obstacle: "it is paused" }, NOW)).toEqual([
    { id: "b", changes: { state: "skipped", ended: NOW, error: "it is paused" } },
  ]);
});
