import { afterAll, beforeAll, expect, test } from "vitest";

import { createRuntime, defineSkill, type Runtime } from "../../../src/index.ts";

const LONG = `{"data":[1]} and ${"x".repeat(1_187)}`;

const ShopSkill = defineSkill({
  name: "ShopSkill",
  description: "Sells things",
  methods: {
    folders: {
      description: "Lists folders",
      input: { type: "object" },
      run: async () => "Allowed directories:\n/a\n/b",
    },
    says: { description: "Says it", input: { type: "object" }, run: async () => "plain" },
    long: { description: "Says much", input: { type: "object" }, run: async () => LONG },
    count: { description: "Counts", input: { type: "object" }, run: async () => 7 },
    rows: { description: "Lists", input: { type: "object" }, run: async () => [{ id: 1 }] },
  },
});

let runtime: Runtime;
beforeAll(async () => {
  runtime = await createRuntime({ skillsDir: false, skills: [ShopSkill], workers: 1 });
});
afterAll(() => runtime.close());

test.each([
  ["const r = await device.ShopSkill.says();\nr.data", "`r.data` at line 2, column 2: r is a text of 5 characters"],
  ["const r = device.ShopSkill.says();\nr.data ?? 1", "`r.data` at line 2, column 2: r is a text of 5 characters"],
  [
    "const answer = { rows: await device.ShopSkill.long() };\nanswer.rows.data",
    "`answer.rows.data` at line 2, column 12: answer.rows is a text of 1,204 characters that may hold JSON; read a member of JSON.parse(answer.rows)",
  ],
  [
    "const r = await device.ShopSkill.folders();\nr.directories",
    "`r.directories` at line 2, column 2: r is a text of 26 characters; r.lines is an array of its lines",
  ],
  [
    "const { directories } = await device.ShopSkill.folders();\ndirectories",
    "`.directories`: the value is a text of 26 characters; its member lines is an array of its lines",
  ],
  ["const n = await device.ShopSkill.count();\nn?.total", "`n.total` at line 2, column 2: n is a number"],
  ["(await device.ShopSkill.says()).data", "`.data` at line 1, column 32: the value is a text of 5 characters"],
  ["const { data } = await device.ShopSkill.says();\ndata", "`.data`: the value is a text of 5 characters"],
  [
    "const rows = JSON.parse(await device.ShopSkill.rows());\nrows.length",
    "JSON.parse at line 1, column 24: the value is an array already; leave JSON.parse out",
  ],
  [
    "setTimeout(() => device.ShopSkill.says(), 5_000)",
    "The program ended before a timer whose function makes calls, and dropped it; write await new Promise((resolve) => setTimeout(resolve, ms)) before the calls instead",
  ],
])("notes what a value is that a program reads as something else: %s [M5]", async (source, note) => {
  const outcome = await runtime.run(source);
  expect(outcome).toMatchObject({ kind: "completed", notes: expect.arrayContaining([note]) as string[] });
  expect(outcome.text).toContain(`Note: ${note}`);
});

test("hints at the value that a failing program has misread [S10]", async () => {
  const outcome = await runtime.run("const r = await device.ShopSkill.says();\nfor (const x of r.items) print(x)");
  expect(outcome).toMatchObject({
    kind: "failed",
    error: { line: 2, hint: "`r.items` at line 2, column 18: r is a text of 5 characters" },
  });
});

test("a failed run has its notes; the text tells each once [S10]", async () => {
  const code = "const r = device.ShopSkill.says();\nr.data;\nthrow new Error('no data')";
  const notes = [
    "Waited for ShopSkill.says, as await was missing",
    "`r.data` at line 2, column 2: r is a text of 5 characters",
  ];
  const outcome = await runtime.run(code);
  expect(outcome).toMatchObject({ kind: "failed", notes });
  expect(outcome.text.split("\n").filter((line) => line.startsWith("Note: "))).toEqual(
    notes.map((note) => `Note: ${note}`),
  );
  const explained = await runtime.run("const r = await device.ShopSkill.says();\nfor (const x of r.items) print(x)");
  expect(explained.text.split("r is a text of 5 characters").length - 1).toBe(1);
});

test("quotes no name from a value as if it were code [S10]", async () => {
  const outcome = await runtime.run(`const name = "a\\u202e\`b"; const r = await device.ShopSkill.says();\nr[name]`);
  expect(outcome.kind === "completed" && outcome.notes).toEqual([
    expect.stringMatching(/^`\.a\\u\{202e\}`b` at line 2, column \d+: the value is a text of 5 characters$/) as string,
  ]);
});

test("a program uses the lines of a text that a method returns, with types checked, without a note [M5]", async () => {
  const code = `const text = await device.ShopSkill.folders();
text.lines.filter((line) => line.startsWith("/")).concat(text.split("\\n").slice(2))`;
  expect(await runtime.run(code)).toMatchObject({ kind: "completed", value: ["/a", "/b", "/b"], notes: [] });
});
