import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { describe, expect, onTestFinished, test } from "vitest";

import { createRuntime, defineSkill } from "../../src/index.ts";
import type { StoreLocation } from "../../src/store/index.ts";
import { prepareDatabases } from "../support/databases.ts";
import { repetitions, takeEvery } from "../support/repetitions.ts";

const { kinds, getFolder } = prepareDatabases();

/** Processes that make calls at the same time. */
const PROCESSES = repetitions(2, 2, 3);

/** Makes so many calls in each process, at the same time; returns how all of the calls ended. */
async function callFromProcesses(
  { folder = "", url }: StoreLocation,
  method: string,
  calls: number,
): Promise<readonly string[]> {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "settings.yaml"), `store: ${JSON.stringify({ dir: folder, url })}\n`);
  const processes = Array.from({ length: PROCESSES }, () => {
    const args = ["test/fixtures/router/limited-calls.mjs", folder, method, String(calls)];
    const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    const exited = once(child, "exit");
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    return { child, exited, nextLine: async (): Promise<string> => String((await lines.next()).value) };
  });
  expect(await Promise.all(processes.map(({ nextLine }) => nextLine()))).toEqual(Array(PROCESSES).fill("ready"));
  for (const { child } of processes) child.stdin.write("go\n");
  const ended = await Promise.all(processes.map(({ nextLine }) => nextLine()));
  await Promise.all(processes.map(({ exited }) => exited));
  return ended.flatMap((line) => JSON.parse(line) as readonly string[]);
}

const total = (ended: readonly string[]): Record<string, number> =>
  Object.fromEntries([...new Set(ended)].map((end) => [end, ended.filter((each) => each === end).length]));

// The counters of PostgreSQL are shared in test/keys/shared-limits.test.ts, too.
describe.each(takeEvery(2, kinds, 2))("processes on a database of kind %s", (_kind, makeLocation) => {
  test("share the rate limit of a method [P4, P5]", { tags: "rest" }, async () => {
    const ended = total(await callFromProcesses(makeLocation(), "often", 40));
    expect(ended).toEqual({ ok: 50, "RATE_LIMIT true": 40 * PROCESSES - 50 });
  });

  test("share the cooldown of a method [X4, P5]", { tags: "rest" }, async () => {
    const location = makeLocation();
    expect(total(await callFromProcesses(location, "seldom", 5))).toEqual({
      ok: 1,
      "COOLDOWN true": 5 * PROCESSES - 1,
    });
    expect(total(await callFromProcesses(location, "seldom", 1))).toEqual({ "COOLDOWN true": PROCESSES });
  });
});

test("refuses a call that cannot be counted, without the place of the store [P5, S10]", async () => {
  const file = join(getFolder(), "file");
  writeFileSync(file, "");
  const ClockSkill = defineSkill({
    name: "ClockSkill",
    description: "Tells the time",
    methods: { now: { description: "Tell the time", rateLimit: 5, run: () => 1 } },
  });
  await using runtime = await createRuntime({ skillsDir: false, skills: [ClockSkill], store: join(file, "store") });
  const error = await runtime.call("ClockSkill.now", {}).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: expect.stringMatching(/^STORE_/) });
  expect(String(error)).toContain("the call has a limit, and cannot be counted");
  expect(String(error)).not.toContain(file);
});
