import { afterEach, expect, test } from "vitest";

import { createRuntime, defineSkill, type Runtime } from "../../../src/index.ts";

const input = { type: "object" } as const;
const DeskSkill = defineSkill({
  name: "DeskSkill",
  description: "Keeps tickets",
  methods: {
    list: {
      description: "Lists tickets",
      input,
      run: async () => ({ items: [{ id: "t1", status: "late" }], next: null }),
    },
    rows: { description: "Lists rows", input, run: async () => [{ id: "t1", status: "late" }] },
    none: { description: "Lists nothing", input, run: async () => [] },
    says: { description: "Says it", input, run: async () => "plain" },
    known: {
      description: "Counts",
      input,
      output: { type: "object", properties: { count: { type: "number" } } },
      run: async () => ({ count: 4 }),
    },
    open: { description: "Opens a ticket", input, destructive: true, run: async () => ({ id: "t2", url: "u" }) },
  },
});

let runtime: Runtime;
afterEach(() => runtime.close());

async function open(): Promise<void> {
  runtime = await createRuntime({ skillsDir: false, skills: [DeskSkill], workers: 1, typecheck: false });
}

async function tell(source: string): Promise<string> {
  const { kind, text } = await runtime.run(source);
  expect(kind).toBe("completed");
  return text.split("\n").findLast((line) => line.includes("has returned")) ?? "";
}

const LIST = "DeskSkill.list has returned { items: { id: string; status: string }[]; next: any }";
const ROWS = "DeskSkill.rows has returned { id: string; status: string }[]";

test.each([
  ["a list of a guessed member", "const s = await device.DeskSkill.list(); s.messages || s.data || []", LIST],
  ["null", "const s = await device.DeskSkill.list(); s.messages ?? null", LIST],
  ["a destructured guess", "const { messages = [] } = await device.DeskSkill.list(); messages", LIST],
  ["members that are undefined", "const s = await device.DeskSkill.list(); ({ all: s.messages, sum: [] })", LIST],
  ["a count of nothing", "const s = await device.DeskSkill.list(); (s.messages ?? []).length", LIST],
  ["a printed guess", "const s = await device.DeskSkill.list(); print((s.messages ?? []).length)", LIST],
  [
    "a filter by a guess",
    `const all = await device.DeskSkill.rows(); all.filter((row) => row.state === "late").map((row) => row.id)`,
    ROWS,
  ],
  [
    "the result of an effect that is thrown away",
    "const opened = await device.DeskSkill.open(); undefined",
    "DeskSkill.open has returned { id: string; url: string }",
  ],
])("an empty answer shows the type of what the program did not use: %s [S10]", async (_what, source, line) => {
  await open();
  expect(await tell(source)).toBe(line);
});

test.each([
  ["uses the result", `const all = await device.DeskSkill.rows(); all.filter((row) => row.status === "new")`],
  [
    "uses it and is not empty",
    "const s = await device.DeskSkill.list(); ({ ids: s.items.map((each) => each.id), x: s.data })",
  ],
  ["has printed it", "print(await device.DeskSkill.list())"],
  ["calls a method that returned nothing", "const all = await device.DeskSkill.none(); all.items ?? []"],
  ["calls a method that returned a text", "const all = await device.DeskSkill.says(); []"],
  ["calls a method with a declared type", "const all = await device.DeskSkill.known(); []"],
  ["calls nothing", "[]"],
])("says nothing more of a program that %s [S10]", async (_what, source) => {
  await open();
  expect(await tell(source)).toBe("");
});

test("says it once: a type that was known before the run stands in the catalog [S10]", async () => {
  await open();
  const source = "const s = await device.DeskSkill.list(); s.messages ?? []";
  expect(await tell(source)).toBe(LIST);
  expect(await tell(source)).toBe("");
});

test("says it of a method that the program has called several times [S10]", async () => {
  await open();
  expect(
    await tell(
      "const all = []; for (let at = 0; at < 3; at++) all.push(...((await device.DeskSkill.list()).data ?? [])); all",
    ),
  ).toBe(LIST);
});
