// @module-tag rest

import { expect, onTestFinished, test } from "vitest";

import { createRuntime, defineSkill } from "../../src/index.ts";
import { repetitions } from "../support/repetitions.ts";

const ORDER = { type: "object", properties: { order: { type: "number" } }, required: ["order"] } as const;

const BLOCKED = repetitions(300, 300, 1_000);

test(
  "leaves other runs their threads while hundreds of programs block on approvals [R2]",
  { timeout: 120_000 },
  async () => {
    const refunded: number[] = [];
    const ShopSkill = defineSkill({
      name: "ShopSkill",
      description: "Orders of a shop",
      methods: {
        refund: {
          description: "Refund an order",
          approval: "user",
          destructive: true,
          input: ORDER,
          run: ({ order }) => refunded.push(order),
        },
        count: { description: "Count the orders", readOnly: true, run: () => BLOCKED },
      },
    });
    const approvals = { wait: true, holdSeconds: 0.05 };
    const runtime = await createRuntime({ skillsDir: false, skills: [ShopSkill], workers: 2, approvals });
    onTestFinished(() => runtime.close());
    // A function that is not async cannot await: its guest stands still for the answer.
    const block = (order: number): string => `function pay() { return device.ShopSkill.refund(${order}) + 0 } pay()`;
    const outcomes = await Promise.all(Array.from({ length: BLOCKED }, (_, order) => runtime.run(block(order))));
    expect(outcomes.filter(({ kind }) => kind !== "waiting")).toEqual([]);
    const others = await Promise.all(Array.from({ length: 50 }, () => runtime.run("device.ShopSkill.count()")));
    expect(others.filter((outcome) => outcome.kind !== "completed" || outcome.value !== BLOCKED)).toEqual([]);
    expect(refunded).toEqual([]);
    const questions = await runtime.approvals.list("pending");
    expect(questions).toHaveLength(BLOCKED);
    const approved = questions.filter((_, at) => at % 100 === 0);
    for (const { id } of approved) await runtime.approvals.answer(id, { approve: true });
    const ends = await Promise.all(approved.map(({ runId }) => runtime.runs.resume(runId)));
    expect(ends.filter(({ kind }) => kind !== "completed")).toEqual([]);
    expect(refunded).toHaveLength(approved.length);
  },
);
