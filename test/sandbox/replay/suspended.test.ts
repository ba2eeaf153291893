import { EventEmitter, once } from "node:events";
import { expect, test } from "vitest";

import type { AnswerCall, Delivery, RunUsage, SandboxOutcome } from "../../../sandbox/index.ts";
import { answer, later, LIMITS, openSandbox, run } from "../../support/sandbox.ts";
import { createProgram, type RecordableProgram } from "./programs.ts";

const sandbox = openSandbox(2);

/** Waits for a person, who never answers, in `T.person`; answers other calls at once. */
const askPerson: AnswerCall = async (call) => {
  if (call.path !== "T.person") return answer(call.id);
  call.hold({ suspendable: true });
  return new Promise(() => {});
};

interface Suspended {
  readonly outcome: SandboxOutcome;
  readonly deliveries: readonly Delivery[];
  readonly used: RunUsage;
}

/** Runs a program that is to be suspended as soon as it waits for a person. */
async function suspend(program: RecordableProgram, respond: AnswerCall = askPerson): Promise<Suspended> {
  const deliveries: Delivery[] = [...(program.deliveries ?? [])];
  const outcome = await sandbox.run(program, respond, {
    limits: LIMITS,
    onDelivery: (delivery) => deliveries.push(delivery),
    suspend: AbortSignal.abort(),
  });
  if (outcome.end.kind !== "suspended") throw new Error(`was not suspended: ${JSON.stringify(outcome.end)}`);
  return { outcome, deliveries, used: outcome.end.used };
}

test.each([
  ["awaits", "await device.T.person(1)"],
  ["blocks on", "__waitFor(device.T.person(1))"],
  ["awaits with other calls", "(await Promise.all([device.T.read(1), device.T.person(1), device.T.read(2)]))[1]"],
])("suspends a run that %s a person, and continues it with the answer [R2]", async (_how, call) => {
  const code = `print("before"); const a = await device.T.read(0); const b = ${call}; print("after", b); return [a, b, Math.random()]`;
  const program = createProgram(code);
  const { outcome, deliveries, used } = await suspend(program);
  expect([outcome.output, used.prints]).toEqual(["before", 1]);
  const prints: string[] = [];
  const respond: AnswerCall = async ({ id, path }) => answer(path === "T.person" ? "yes" : id);
  const options = { limits: LIMITS, print: (text: string) => prints.push(text) };
  const { end, output } = await sandbox.run({ ...program, deliveries, used }, respond, options);
  const direct = await sandbox.run(program, respond, { limits: LIMITS, onDelivery: () => {} });
  expect(end).toEqual(direct.end);
  expect([output, prints]).toEqual(["before\nafter yes", ["after yes"]]);
});

test("suspends a run again and again, without a new delivery [R2]", async () => {
  const program = createProgram("const a = await device.T.read(1); return [a, await device.T.person(2)]");
  let state = await suspend(program);
  for (let n = 0; n < 5; n++) {
    const { used, deliveries } = state;
    state = await suspend({ ...program, deliveries, used });
    expect(state.deliveries).toEqual(deliveries);
    expect(state.used.cpuMs).toBe(used.cpuMs);
  }
});

test("waits for calls that have effects before it suspends a run, and never cancels a call [R2]", async () => {
  const suspending = new AbortController();
  const events = new EventEmitter();
  const cancelled: number[] = [];
  const order: string[] = [];
  const program = createProgram(
    "const [a, b] = [device.T.write(1), device.T.person(2)]; a.then(() => print('written')); return b",
  );
  const running = sandbox.run(
    program,
    async (call) => {
      call.onCancel(() => cancelled.push(call.id));
      if (call.path === "T.person") {
        call.hold({ suspendable: true });
        setImmediate(() => events.emit("asked"));
        return new Promise(() => {});
      }
      await once(events, "asked");
      suspending.abort();
      order.push("aborted");
      await later(5);
      order.push("written");
      return answer(1);
    },
    { onDelivery: ({ ids }) => order.push(`delivered ${ids.join()}`), suspend: suspending.signal },
  );
  const { end, output, unfinished } = await running;
  expect([end.kind, output, unfinished]).toEqual(["suspended", "written", [2]]);
  expect(order).toEqual(["aborted", "written", "delivered 1"]);
  expect(cancelled).toEqual([]);
});

test("states when the first timer of a suspended run is due [R2]", async () => {
  const started = Date.now();
  const program = {
    ...createProgram(
      "setTimeout(() => {}, 15_000); return Promise.race([device.T.person(1), new Promise((done) => setTimeout(() => done('late'), 9_000))])",
    ),
    time: started,
  };
  const { outcome, deliveries } = await suspend(program);
  const timerAt = outcome.end.kind === "suspended" ? (outcome.end.timerAt ?? 0) : 0;
  expect(timerAt - started).toBeGreaterThanOrEqual(9_000);
  expect(timerAt - started).toBeLessThan(15_000);
  const overdue = { ...program, time: started - 10_000, deliveries };
  const { end } = await sandbox.run(overdue, askPerson, { limits: LIMITS, onDelivery: () => {} });
  expect(end).toEqual({ kind: "returned", json: '"late"' });
});

test("leaves other runs untouched while 200 runs block on a person [R2]", { tags: "rest" }, async () => {
  const asked = new EventEmitter();
  asked.setMaxListeners(0);
  let held = 0;
  const suspending = new AbortController();
  const blocked = Array.from({ length: 200 }, () =>
    sandbox.run(
      createProgram("return __waitFor(device.T.person(1))"),
      async (call) => {
        call.hold({ suspendable: true });
        if (++held === 200) asked.emit("all");
        return new Promise(() => {});
      },
      { limits: LIMITS, onDelivery: () => {}, suspend: suspending.signal },
    ),
  );
  await once(asked, "all");
  const quick = Array.from({ length: 50 }, (_, n) => run(sandbox, `return device.Echo.back(${n})`));
  expect((await Promise.all(quick)).map(({ end }) => end)).toEqual(
    Array.from({ length: 50 }, (_, n) => ({ kind: "returned", json: `${n}` })),
  );
  suspending.abort();
  const kinds = new Set((await Promise.all(blocked)).map(({ end }) => end.kind));
  expect([...kinds]).toEqual(["suspended"]);
});
