import { describe, expect, onTestFinished, test } from "vitest";

import { createRuntime, defineSkill, type Outcome, type Runtime } from "../../../src/index.ts";
import { createShop, startProcess } from "../refund-process.ts";

const TO = { type: "object", properties: { to: { type: "string" } }, required: ["to"] };
const ADA = { id: "ada", permissions: ["call:MailSkill.*"] };

interface Mail {
  readonly runtime: Runtime;
  readonly sent: readonly string[];
  /** The calls that a person was asked about. */
  readonly asked: readonly string[];
}

async function openMail(options: Parameters<typeof createRuntime>[0] = {}): Promise<Mail> {
  const sent: string[] = [];
  const asked: string[] = [];
  const send = ({ to }: { readonly to: unknown }): string => {
    if (to === "nobody") throw new Error("no such address");
    sent.push(String(to));
    return `sent to ${String(to)}`;
  };
  const MailSkill = defineSkill({
    name: "MailSkill",
    description: "Mail",
    methods: {
      inbox: { description: "Read the inbox", readOnly: true, run: () => 1 },
      send: { description: "Send a mail", input: TO, run: send },
      sendAll: { description: "Send a mail to all", input: TO, approval: "user", run: send },
    },
  });
  const approve = async ({ path }: { readonly path: string }): Promise<boolean> => asked.push(path) > 0;
  const runtime = await createRuntime({ skillsDir: false, skills: [MailSkill], workers: 1, approve, ...options });
  onTestFinished(() => runtime.close());
  return { runtime, sent, asked };
}

function getFailure(outcome: Outcome | undefined): { readonly run: string; readonly text: string } {
  if (outcome?.kind !== "failed" || outcome.continue === undefined) throw new Error(JSON.stringify(outcome));
  return { run: outcome.continue, text: outcome.text.split("\n\n").at(-1) ?? "" };
}

const FAILING = `await device.MailSkill.inbox(); await device.MailSkill.sendAll("all"); await device.MailSkill.send("nobody")`;
const CORRECT = FAILING.replace("nobody", "ada");

test("says what a failed run has done, and how to continue it [R4]", async () => {
  const { runtime } = await openMail();
  const { run, text } = getFailure(await runtime.run(FAILING));
  expect(text).toBe(
    `3 calls were made, 1 may have changed something: MailSkill.sendAll. Effects that succeeded are not repeated: send the whole corrected program with continue: "${run}"`,
  );
  const refused = await runtime.run("device.MailSkill.sent()", { continue: run });
  expect(refused).toMatchObject({
    kind: "refused",
    continue: run,
    text: expect.stringContaining(`continue: "${run}"`),
  });
  expect(await runtime.run("await device.MailSkill.inbox(); null.x")).not.toHaveProperty("continue");
});

test("asks no person about an effect that is not made again [R4]", async () => {
  const { runtime, sent, asked } = await openMail();
  const { run } = getFailure(await runtime.run(FAILING));
  expect(await runtime.run(CORRECT, { continue: run })).toMatchObject({ kind: "completed", value: "sent to ada" });
  expect(asked).toEqual(["MailSkill.sendAll"]);
  expect(sent).toEqual(["all", "ada"]);
});

test("continues a run for its caller only, and only one that has failed [R4]", async () => {
  const { runtime } = await openMail();
  const { run } = getFailure(await runtime.run(FAILING, { caller: ADA }));
  const unknown = `Cannot continue this run: run "${run}" is not recorded; send the program without continue (CONTINUE_INVALID)`;
  await expect(runtime.run(CORRECT, { continue: run })).rejects.toThrow(unknown);
  await expect(runtime.run(CORRECT, { caller: { ...ADA, id: "bob" }, continue: run })).rejects.toThrow(unknown);
  await expect(runtime.run(CORRECT, { caller: ADA, continue: run, again: [9] })).rejects.toThrow(
    "again and reuse have the number 9, and the calls with an effect are 2 (MailSkill.sendAll)",
  );
  const { runId } = await runtime.run(CORRECT, { caller: ADA, continue: run });
  await expect(runtime.run(CORRECT, { caller: ADA, continue: run })).rejects.toThrow(
    `run ${run} was continued by run ${runId}; send the program with continue: "${runId}" (CONTINUE_INVALID)`,
  );
  await expect(runtime.run(CORRECT, { caller: ADA, continue: runId })).rejects.toThrow(`run ${runId} has completed`);
});

test("lets one of two programs continue a run at a time [R4]", async () => {
  const { runtime, sent } = await openMail();
  const { run } = getFailure(await runtime.run(FAILING));
  const ends = await Promise.allSettled([1, 2].map(() => runtime.run(CORRECT, { continue: run })));
  expect(ends.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  expect(sent).toEqual(["all", "ada"]);
});

test("remembers effects that a correction in between did not use [R4]", async () => {
  const { runtime, sent } = await openMail();
  const first = getFailure(await runtime.run(`await device.MailSkill.send("a"); null.x`));
  const second = getFailure(
    await runtime.run(`await device.MailSkill.sendAll("all"); null.x`, { continue: first.run }),
  );
  const third = getFailure(await runtime.run(`await device.MailSkill.send("b")`, { continue: second.run }));
  expect(third.run).toBe(second.run);
  expect(third.text).toContain(
    'call 2, MailSkill.send("a"): repeat these arguments to take its result, or add reuse: [2]',
  );
  const last = `await device.MailSkill.send("b"); await device.MailSkill.send("a"); await device.MailSkill.sendAll("all")`;
  const outcome = await runtime.run(last, { continue: third.run, reuse: [2] });
  expect(outcome).toMatchObject({ kind: "completed", value: "sent to all" });
  expect(sent).toEqual(["a", "all", "b"]);
});

test(
  "continues a run whose process was killed in a call, with an answer about it [R3, R4]",
  { tags: "rest" },
  async () => {
    const shop = createShop();
    const code = `await device.OrderSkill.refund(1); await device.OrderSkill.hang(2)`;
    const first = startProcess(shop, ["run", code]);
    await first.next("hangs");
    await first.kill("SIGKILL");
    const second = startProcess(shop, ["follow"]);
    const { text = "", runId = "" } = await second.next("outcome");
    await second.kill("SIGKILL");
    expect(text.split("\n\n").at(-1)).toBe(
      `2 calls were made, 1 had an effect: OrderSkill.refund; 1 did not finish and may have had an effect: OrderSkill.hang. Effects that succeeded are not repeated: send the whole corrected program with continue: "${runId}", and with again: [2] to make what had no effect, or reuse: [2] to count it as made`,
    );
    const refunds: unknown[] = [];
    const refund = { description: "Refund", input: { type: "object", properties: { order: { type: "number" } } } };
    const run = (input: unknown): unknown => refunds.push(input);
    const OrderSkill = defineSkill({
      name: "OrderSkill",
      description: "Orders",
      methods: { refund: { ...refund, run }, hang: { ...refund, run } },
    });
    const { runtime } = await openMail({ skills: [OrderSkill], store: shop.store });
    expect(getFailure(await runtime.run(code, { continue: runId })).run).toBe(runId);
    expect(refunds).toEqual([]);
    expect(await runtime.run(code, { continue: runId, again: [2] })).toMatchObject({ kind: "completed" });
    expect(refunds).toEqual([{ order: 2 }]);
  },
);

describe("a failed run with methods that nothing is stated about", () => {
  const calls: string[] = [];
  const run = (method: string, metadata: object = {}) => ({
    input: { type: "object", properties: { q: { type: "string" } } },
    ...metadata,
    run: (): string => {
      calls.push(method);
      if (method === "down") throw new Error("503 Service Unavailable, please retry");
      return method;
    },
  });
  const ShopSkill = defineSkill({
    name: "ShopSkill",
    description: "A shop",
    methods: {
      list_customers: { description: "List customers", ...run("list_customers") },
      get_or_create: { description: "Get or create", ...run("get_or_create") },
      order: { description: "Order", ...run("order") },
      remove: { description: "Remove", ...run("remove", { destructive: true }) },
      down: { description: "Fails", ...run("down", { readOnly: true }) },
    },
  });

  test("counts a method that lists as no effect, and makes it again with other arguments [R4]", async () => {
    const { runtime } = await openMail({ skills: [ShopSkill] });
    const lists = `await device.ShopSkill.list_customers("a");`;
    expect(await runtime.run(`${lists} null.x`)).not.toHaveProperty("continue");
    const first = getFailure(
      await runtime.run(
        `${lists} await device.ShopSkill.order(); await device.ShopSkill.get_or_create(); await device.ShopSkill.remove(); null.x`,
      ),
    );
    expect(first.text).toBe(
      `4 calls were made, 1 had an effect: ShopSkill.remove; 2 may have changed something: ShopSkill.order, ShopSkill.get_or_create. Effects that succeeded are not repeated: send the whole corrected program with continue: "${first.run}"`,
    );
    calls.length = 0;
    const corrected = `${lists.replace('"a"', '"b"')} await device.ShopSkill.order(); await device.ShopSkill.get_or_create(); device.ShopSkill.remove()`;
    expect(await runtime.run(corrected, { continue: first.run })).toMatchObject({ kind: "completed", value: "remove" });
    expect(calls).toEqual(["list_customers"]);
  });

  test("takes the result of such a method where the author counts its call as made [R4]", async () => {
    const { runtime } = await openMail({ skills: [ShopSkill] });
    const first = getFailure(
      await runtime.run(`await device.ShopSkill.list_customers("a"); await device.ShopSkill.order(); null.x`),
    );
    calls.length = 0;
    const corrected = `await device.ShopSkill.remove(); await device.ShopSkill.list_customers("a")`;
    const outcome = await runtime.run(corrected, { continue: first.run, reuse: [1] });
    expect(outcome).toMatchObject({ kind: "completed", value: "list_customers" });
    expect(calls).toEqual(["remove"]);
  });

  test("asks for the same program after a failure that is over in a moment [R4]", async () => {
    const { runtime } = await openMail({ skills: [ShopSkill] });
    const { text, run: id } = getFailure(
      await runtime.run(`await device.ShopSkill.order(); await device.ShopSkill.down()`),
    );
    expect(text).toContain(`send the same program with continue: "${id}"`);
  });
});
