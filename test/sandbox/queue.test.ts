import { expect, test } from "vitest";

import { answer, openSandbox, run } from "../support/sandbox.ts";
import type { AnswerCall } from "../../sandbox/index.ts";

const sandbox = openSandbox(2);

/** Answers each call after a turn of the event loop, and records how many were under way at once. */
function createCounter(): {
  readonly respond: AnswerCall;
  readonly most: () => number;
  readonly made: () => unknown[];
} {
  const made: unknown[] = [];
  let underWay = 0;
  let most = 0;
  return {
    respond: async ({ arguments: json }) => {
      const [first] = JSON.parse(json) as unknown[];
      made.push(first);
      most = Math.max(most, ++underWay);
      await new Promise((resolve) => setImmediate(resolve));
      underWay--;
      return answer(first);
    },
    most: () => most,
    made: () => made,
  };
}

const ALL = Array.from({ length: 300 }, (_, n) => n);
const LIST = "Array.from({ length: 300 }, (_, n) => n)";

test.each([
  ["awaited together", `return await Promise.all(${LIST}.map((n) => device.Echo.back(n)))`],
  [
    "made in two turns",
    `const first = ${LIST}.slice(0, 200).map((n) => device.Echo.back(n)); await null; await null;
     return await Promise.all([...first, ...${LIST}.slice(200).map((n) => device.Echo.back(n))])`,
  ],
])("makes calls beyond the limit in their order when others have ended, if %s [X3]", async (_, code) => {
  const { respond, most, made } = createCounter();
  const { end, calls, queued } = await run(sandbox, code, { limits: { callsInFlight: 7 } }, respond);
  expect(end).toEqual({ kind: "returned", json: JSON.stringify(ALL) });
  expect({ most: most(), made: made(), calls, queued }).toEqual({ most: 7, made: ALL, calls: 300, queued: [] });
});

test("makes calls that nothing awaits, beyond the limit too, before a run ends that may lack an await [S2]", async () => {
  const { respond, made } = createCounter();
  const code = `__waitForCalls(true); for (const n of ${LIST}) device.Echo.back(n); return "end"`;
  const { end, unfinished } = await run(sandbox, code, { limits: { callsInFlight: 3 } }, respond);
  expect({ end, unfinished }).toEqual({ end: { kind: "returned", json: '"end"' }, unfinished: [] });
  expect(made()).toEqual(ALL);
});

test.each([
  ["idle", 0],
  ["busy", 20],
])(
  "makes at once the calls that need not wait, though the run ends with them, on a machine that is %s [S12]",
  async (_, busyMs) => {
    const made: string[] = [];
    const never: AnswerCall = ({ path }) => {
      made.push(path);
      for (const end = performance.now() + busyMs; performance.now() < end;);
      return new Promise(() => {});
    };
    const code = `device.Echo.back(1); device.Echo.slow(2); device.Echo.fail(3); device.Echo.back(4); return "end"`;
    const { end, unfinished, queued, calls } = await run(sandbox, code, { limits: { callsInFlight: 2 } }, never);
    expect(end).toEqual({ kind: "returned", json: '"end"' });
    expect({ made, queued, calls }).toEqual({
      made: ["Echo.back", "Echo.slow"],
      queued: ["Echo.fail", "Echo.back"],
      calls: 2,
    });
    expect(unfinished).toHaveLength(2);
  },
);

test("makes no call that waits after the run has ended [S7]", async () => {
  let made = 0;
  const respond: AnswerCall = async ({ signal }) => {
    made++;
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    return answer(1);
  };
  const code = `await Promise.all([1, 2, 3, 4, 5].map((n) => device.Echo.back(n)))`;
  const { end, queued } = await run(sandbox, code, { limits: { callsInFlight: 2, wallMs: 50 } }, respond);
  await new Promise((resolve) => setImmediate(resolve));
  expect({ end, queued: queued.length, made }).toEqual({
    end: { kind: "stopped", reason: "WALL_LIMIT" },
    queued: 3,
    made: 2,
  });
});

test("begins calls for some milliseconds in one turn of the event loop, so that other work has its turns [S7]", async () => {
  const begun: number[] = [0];
  let turns = setImmediate(function endTurn() {
    begun.push(0);
    turns = setImmediate(endTurn);
  });
  const respond: AnswerCall = async () => {
    begun.push((begun.pop() ?? 0) + 1);
    const until = performance.now() + 1;
    while (performance.now() < until) {} // checks and copies take time on the event loop
    return answer(1);
  };
  const code = `return (await Promise.all(${LIST}.map((n) => device.Echo.back(n)))).length`;
  const { end, calls } = await run(sandbox, code, {}, respond);
  clearImmediate(turns);
  expect({ end, calls }).toEqual({ end: { kind: "returned", json: "300" }, calls: 300 });
  expect(Math.max(...begun)).toBeLessThan(20);
});
