import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, expect, onTestFinished, test } from "vitest";

import { createRuntime, defineSkill, type Outcome, type ProvidedSkill, type Runtime } from "../../src/index.ts";
import { type Cassette, parseCassette } from "../../src/runs/index.ts";
import { takeShare } from "../support/repetitions.ts";

const ORDER = { type: "object", properties: { order: { type: "number" } }, required: ["order"] } as const;

/** A skill whose answers differ each time and arrive in another order than they were asked for. */
function createOrderSkill(): ProvidedSkill {
  let count = 0;
  const refund = async ({ order }: { readonly order: number }): Promise<unknown> => {
    await new Promise((resolve) => setTimeout(resolve, order === 1 ? 20 : 1));
    return { order, number: ++count, at: new Date(1_700_000_000_000 + count) };
  };
  return defineSkill({
    name: "OrderSkill",
    description: "Orders of a shop",
    methods: {
      list: { description: "List the orders", readOnly: true, run: () => [1, 2, 3] },
      pages: {
        description: "All orders",
        readOnly: true,
        run: () => Array.from({ length: 9_000 }, (_, n) => `order ${n}`),
      },
      refund: { description: "Refund an order", destructive: true, input: ORDER, run: refund },
      old: { description: "Refund", destructive: true, deprecated: "use refund", input: ORDER, run: refund },
      fail: {
        description: "Fail",
        destructive: true,
        run: () => {
          throw new Error("the shop is closed");
        },
      },
      ask: { description: "Refund a large order", approval: "user", destructive: true, input: ORDER, run: refund },
      hang: { description: "Never end", destructive: true, run: () => new Promise(() => {}) },
    },
  });
}

function createStore(): string {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-replay-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function open(
  store: string,
  skills: readonly ProvidedSkill[],
  record: "full" | "effects" = "effects",
): Promise<Runtime> {
  const runtime = await create(store, skills, record);
  onTestFinished(() => runtime.close());
  return runtime;
}

function create(store: string, skills: readonly ProvidedSkill[], record: "full" | "effects"): Promise<Runtime> {
  return createRuntime({ skillsDir: false, skills, store, workers: 1, runs: { record } });
}

interface Shop {
  readonly store: string;
  readonly recorder: Runtime;
  /** On the same store, without skills. */
  readonly bare: Runtime;
}

let shop: Promise<Shop> | undefined;
afterAll(async () => {
  if (shop === undefined) return;
  const { store, recorder, bare } = await shop;
  await Promise.all([recorder.close(), bare.close()]);
  rmSync(store, { recursive: true, force: true });
});

/** Opens the runtimes of the tests for which it does not matter what other programs have done. */
async function openShop(): Promise<Shop> {
  const store = mkdtempSync(join(tmpdir(), "skillgate-replay-"));
  const recorder = await create(store, [createOrderSkill()], "effects");
  return { store, recorder, bare: await create(store, [], "effects") };
}

/** Runs a program, and returns its outcome and a runtime on the same store that has no skill. */
async function record(code: string): Promise<{ readonly outcome: Outcome; readonly bare: Runtime }> {
  const { recorder, bare } = await (shop ??= openShop());
  const wallMs = code.includes("hang()") ? 1_000 : 20_000;
  const outcome = await recorder.run(code, { limits: { wallMs, ...(code.includes("for (;;)") && { cpuMs: 300 }) } });
  return { outcome, bare };
}

const withoutUsage = (outcome: Outcome | undefined): unknown => ({ ...outcome, usage: 0 });

/** Programs, and what each of them has. */
const PROGRAMS: readonly (readonly [string, string])[] = [
  [
    "a loop",
    "const done = []; for (const n of await device.OrderSkill.list()) done.push(await device.OrderSkill.refund(n)); done",
  ],
  ["calls at once", "Promise.all([1, 2, 3].map((n) => device.OrderSkill.refund(n)))"],
  [
    "a race",
    "const all = [1, 2].map((n) => device.OrderSkill.refund(n)); const first = await Promise.race(all); await Promise.all(all); first",
  ],
  [
    "output, time and random numbers",
    "console.log(Math.random(), Date.now()); await device.OrderSkill.refund(2); console.log(Math.random(), Date.now()); new Date()",
  ],
  [
    "timers",
    "await Promise.race([device.OrderSkill.refund(1), new Promise((done) => setTimeout(() => done('late'), 5))])",
  ],
  ["an error of a method", "await device.OrderSkill.refund(1); await device.OrderSkill.fail()"],
  ["an error that it catches", "try { await device.OrderSkill.fail() } catch (error) { error.message }"],
  ["an error of its own", "await device.OrderSkill.refund(2); throw new TypeError('no')"],
  ["a mistake", "const done = await device.OrderSkill.refund(2); done.items.length"],
  ["a deprecated method", "await device.OrderSkill.old(2)"],
  ["a large result", "await device.OrderSkill.refund(2); await device.OrderSkill.pages()"],
  [
    "a question about methods",
    "const found = await device.search_skills('refund'); await device.OrderSkill.refund(2); String(found)",
  ],
  ["a call that it does not await", "device.OrderSkill.hang(); await device.OrderSkill.refund(2)"],
  ["no await", "const { number } = device.OrderSkill.refund(2); number + 1"],
  ["a denied approval", "await device.OrderSkill.refund(2); await device.OrderSkill.ask(1)"],
  ["a time limit", "await device.OrderSkill.refund(2); console.log('waits'); await device.OrderSkill.hang()"],
  ["no end", "await device.OrderSkill.refund(2); for (;;) {}"],
];

test.each(takeShare(3, PROGRAMS))(
  "repeats a program with %s, without its skills [R5]",
  { tags: "repeated" },
  async (_what, code) => {
    const { outcome, bare } = await record(code);
    expect(outcome.kind).not.toBe("refused");
    expect(withoutUsage(await bare.runs.replay(outcome.runId))).toEqual(withoutUsage(outcome));
  },
);

test("repeats a program without an effect that runs.record: full has recorded [R5]", async () => {
  const store = createStore();
  const runtime = await open(store, [createOrderSkill()], "full");
  const outcome = await runtime.run("(await device.OrderSkill.list()).length + Math.random()");
  await runtime.close();
  const bare = await open(store, []);
  expect(withoutUsage(await bare.runs.replay(outcome.runId))).toEqual(withoutUsage(outcome));
});

let cassette: Promise<Cassette> | undefined;

/** Records one cassette, in a shop of its own, whose refunds have the numbers 1 and 2. */
const recordCassette = (): Promise<Cassette> =>
  (cassette ??= (async () => {
    const store = createStore();
    const runtime = await open(store, [createOrderSkill()]);
    const code = "const a = await device.OrderSkill.refund(2); await device.OrderSkill.refund(3); a.number";
    const { runId } = await runtime.run(code);
    await runtime.close();
    return (await open(store, [])).runs.cassette(runId);
  })());

type Change = (cassette: Cassette) => Cassette;
const changeCall =
  (id: number, facts: object): Change =>
  (cassette) => ({
    ...cassette,
    calls: cassette.calls.map((call) => (call.id === id ? { ...call, ...facts } : call)),
  });

test.each<[string, Change, string]>([
  [
    "other arguments",
    changeCall(2, { args: "[4]" }),
    "the program makes the call 2 of OrderSkill.refund with the arguments [3]; recorded is call 2 of OrderSkill.refund with the arguments [4]",
  ],
  [
    "another method",
    changeCall(1, { path: "OrderSkill.fail" }),
    "the program makes the call 1 of OrderSkill.refund with the arguments [2]; recorded is call 1 of OrderSkill.fail with the arguments [2]",
  ],
  [
    "a missing call",
    (cassette) => ({ ...cassette, calls: cassette.calls.slice(0, 1) }),
    "the program makes the call 2 of OrderSkill.refund with the arguments [3], which is not recorded",
  ],
  ["another answer", changeCall(1, { answer: { ok: true, json: '{"number":7}' } }), "its value is 7; recorded is 1"],
])("says where a record with %s differs [R5]", { tags: "rest" }, async (_what, change, says) => {
  const cassette = await recordCassette();
  const { bare } = await (shop ??= openShop());
  const { run } = cassette;
  const numbers = cassette.calls.map(({ id }) => id);
  expect(numbers).toEqual([1, 2]);
  await expect(bare.runs.replay(change(cassette))).rejects.toMatchObject({
    code: "REPLAY_DIVERGED",
    message: expect.stringContaining(`run ${run}: ${says}`),
  });
});

test(
  "repeats another text of the program that makes the same calls, and refuses one that does not [R5]",
  { tags: "rest" },
  async () => {
    const cassette = await recordCassette();
    const runtime = await open(createStore(), [createOrderSkill()]);
    const same =
      "const first = await device.OrderSkill.refund(2);\nawait device.OrderSkill.refund(3);\nreturn first.number;";
    expect(await runtime.runs.replay(cassette, { source: same })).toMatchObject({ kind: "completed", value: 1 });
    await expect(runtime.runs.replay(cassette, { source: "await device.OrderSkill.refund(3)" })).rejects.toMatchObject({
      code: "REPLAY_DIVERGED",
    });
  },
);

test.each<[string, unknown, string]>([
  ["no object", 1, "its format must be"],
  ["another format", { format: "x" }, "its format must be"],
  ["no header", { format: "skillgate-cassette-1", run: "r" }, "its header is not valid"],
])("refuses a cassette with %s [R5]", { tags: "rest" }, (_what, cassette, says) => {
  expect(() => parseCassette(cassette)).toThrow(says);
});

test("refuses a cassette with damaged calls, deliveries or outcome [R5]", async () => {
  const cassette = await recordCassette();
  expect(parseCassette(JSON.parse(JSON.stringify(cassette)))).toMatchObject({ run: cassette.run });
  const [call] = cassette.calls;
  expect(() => parseCassette({ ...cassette, calls: [{ ...call, answer: { ok: true, json: "{" } }] })).toThrow(
    "entry 1 of its calls is not valid",
  );
  expect(() => parseCassette({ ...cassette, deliveries: [{ ids: ["1"], time: 1 }] })).toThrow("its deliveries");
  expect(() => parseCassette({ ...cassette, outcome: { kind: "completed" } })).toThrow("its outcome");
});
