import { expect, onTestFinished, test } from "vitest";

import { createRuntime, defineSkill, type Runtime } from "../../src/index.ts";

/**
 * Conversations in which a text misled a model. Each one decides by the text that it was shown, as a model does, and counts its turns.
 */

const input = { type: "object", properties: {} } as const;

/** A runtime whose `report` is busy for the first calls. */
async function openShop(busyCalls: number): Promise<{ readonly runtime: Runtime; readonly calls: readonly string[] }> {
  const calls: string[] = [];
  const record =
    (name: string, value: unknown = "done") =>
    () => {
      calls.push(name);
      if (name === "report" && calls.filter((call) => call === "report").length <= busyCalls)
        throw new Error("503 Service Unavailable, please retry");
      return value;
    };
  const page = { type: "integer", minimum: 1, maximum: 25, default: 20 };
  const ShopSkill = defineSkill({
    name: "ShopSkill",
    description: "Orders of a shop",
    methods: {
      place_order: { description: "Place an order", input, run: record("place_order") },
      report: { description: "Report of the day", input, readOnly: true, run: record("report", { total: 7 }) },
      list_orders: {
        description: "List orders",
        input: { type: "object", properties: { limit: page } },
        readOnly: true,
        run: record("list_orders", [{ id: 1 }]),
      },
    },
  });
  const runtime = await createRuntime({ skillsDir: false, skills: [ShopSkill], workers: 1 });
  onTestFinished(() => runtime.close());
  return { runtime, calls };
}

const PROGRAM = `await device.ShopSkill.place_order(); (await device.ShopSkill.report()).total`;

test("a server that is busy once costs no turn [R4]", async () => {
  const { runtime, calls } = await openShop(1);
  expect(await runtime.run(PROGRAM)).toMatchObject({
    kind: "completed",
    value: 7,
    calls: [{ method: "place_order" }, { method: "report", attempts: 2, outcome: "ok" }],
  });
  expect(calls).toEqual(["place_order", "report", "report"]);
});

test("after a server that stays busy, the same program continues, and orders once [R4]", async () => {
  const { runtime, calls } = await openShop(2);
  const { text } = await runtime.run(PROGRAM);
  expect(text).toContain("503 Service Unavailable, please retry (tried twice)");
  expect(text).not.toContain("corrected program");
  const [, run] = /send the same program with continue: "([^"]+)"/.exec(text) ?? [];
  expect(await runtime.run(PROGRAM, { continue: run ?? "" })).toMatchObject({ kind: "completed", value: 7 });
  expect(calls).toEqual(["place_order", "report", "report", "report"]);
});

test("a guessed member that is not there is answered with the type of the result, also without an error [R4]", async () => {
  const { runtime } = await openShop(0);
  const { text } = await runtime.run(`const day = await device.ShopSkill.report(); day.sum || day.amount`);
  expect(text).toMatch(/^\(no output\)\n\nMethods .*\n {2}ShopSkill\.report\(\): \{total: number\}/);
  const effect = await runtime.run(`await device.ShopSkill.place_order(); undefined`);
  expect(effect.text).toBe("(no output)");
});

test("a search shows the largest page, so that the first program asks for it [D2]", async () => {
  const { runtime, calls } = await openShop(0);
  const [, most] = /list_orders\(limit\?: number \/\* \d+\.\.(\d+) \*\//.exec(runtime.search("list orders").text) ?? [];
  const outcome = await runtime.run(`await device.ShopSkill.list_orders({ limit: ${most} })`);
  expect([outcome.kind, most]).toEqual(["completed", "25"]);
  expect(calls).toEqual(["list_orders"]);
});

test("a search whose first result fits does not say that none does [D2]", async () => {
  const { runtime } = await openShop(0);
  const { text, results } = runtime.search("place order slot");
  expect(results[0]?.path).toBe("ShopSkill.place_order");
  expect(text).not.toContain("Probably no method");
});
