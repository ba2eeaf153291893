import { afterAll, expect, test } from "vitest";

import { createRuntime, defineSkill } from "../../../src/index.ts";

const LEGEND =
  "Methods (? may be left out; no type: a string; {…}: an object; 1..25: a range; = default; T1: a type of its skill):";

const shop = defineSkill({
  name: "ShopSkill",
  description: "A shop",
  methods: {
    list_refunds: {
      description: "Lists refunds",
      input: {
        type: "object",
        properties: { status: { type: "string" }, per_page: { type: "integer", minimum: 1, maximum: 25, default: 10 } },
      },
      run: () => ({ refunds: [{ id: "r1", amount: 5 }] }),
    },
    refund: {
      description: "Refunds an order",
      input: { type: "object", properties: { order: { type: "string" } }, required: ["order"] },
      run: () => Promise.reject(new Error("The order is closed")),
    },
  },
});

const runtime = await createRuntime({ skillsDir: false, skills: [shop], typecheck: false });
afterAll(() => runtime.close());

test("tells the same mistake once, and declares each method of a refused program once [S5]", async () => {
  const source = [
    'const done = await device.ShopSkill.list_refunds({ status: "completed", per_page: 100 });',
    'const open = await device.ShopSkill.list_refunds({ status: "pending", per_page: 100 });',
    'await device.ShopSkill.refund("o1");',
  ].join("\n");
  const outcome = await runtime.run(source);
  expect(outcome).toMatchObject({ kind: "refused", violations: [{ line: 1 }, { line: 2 }] });
  expect(outcome.text).toBe(`Refused; nothing was called.

Cannot call a method with these arguments: "per_page" must be at most 25, is 100; see ShopSkill.list_refunds (ARGUMENTS_INVALID)
> 1 | const done = await device.ShopSkill.list_refunds({ status: "completed", per_page: 100 });
    |                                                                         ^^^^^^^^^^^^^
  2 | const open = await device.ShopSkill.list_refunds({ status: "pending", per_page: 100 });
Write await device.ShopSkill.list_refunds({ status: "completed", per_page: 25 })
The same mistake: line 2, column 71

${LEGEND}
  ShopSkill.list_refunds(status?, per_page?: 1..25 = 10)
  ShopSkill.refund(order)`);
});

test("declares the method that failed [S10]", async () => {
  const { text } = await runtime.run('await device.ShopSkill.refund("o1")');
  expect(text).toContain("The order is closed");
  expect(text.endsWith(`\n\n${LEGEND}\n  ShopSkill.refund(order)`)).toBe(true);
});

test("shows the shape of results that the program misread [S10]", async () => {
  const { text } = await runtime.run("const page = await device.ShopSkill.list_refunds();\npage.data.items.map(print)");
  expect(text).toContain("undefined");
  expect(text).toMatch(
    / {2}ShopSkill\.list_refunds\(.*\): \{refunds: \{id, amount: number\}\[\]\}(?: \(observed once\))?$/m,
  );
});

test("adds nothing to an error that the program throws itself, nor to a completed run", async () => {
  const thrown = await runtime.run('await device.ShopSkill.list_refunds();\nthrow new Error("No refunds")');
  expect(thrown.text).not.toContain("Methods");
  expect((await runtime.run("await device.ShopSkill.list_refunds()")).text).not.toContain("Methods");
});

test("limits the declarations of a refusal [S5]", async () => {
  const methods = Object.fromEntries(
    Array.from({ length: 20 }, (_, at) => [
      `method_${at}`,
      { description: "x", input: { type: "object" as const, properties: {} }, run: () => 1 },
    ]),
  );
  await using many = await createRuntime({
    skillsDir: false,
    typecheck: false,
    skills: [defineSkill({ name: "ManySkill", description: "Many", methods })],
  });
  const calls = Object.keys(methods).map((name) => `device.ManySkill.${name}();`);
  const { text } = await many.run(`${calls.join("\n")}\nrequire("fs")`);
  expect(text.match(/^ {2}ManySkill\.method_\d+\(\)$/gm)).toHaveLength(8);
});
