// @module-tag rest

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

import { describe, expect, onTestFinished, test } from "vitest";

import type { StoreLocation } from "../../src/store/index.ts";
import { type Ended, project, skillgate } from "../surfaces/cli/command.ts";
import { prepareDatabases } from "../support/databases.ts";
import { isNightly } from "../support/repetitions.ts";
import { NATS_SERVER, type NatsServer, startNats } from "../support/servers/nats.ts";
import {
  type Answer,
  createExecutorProject,
  type ExecutorProject,
  startExecutorProcess,
  startDeviceProcess,
  startFrontProcess,
  waitUntil,
} from "./processes.ts";

const { kinds } = prepareDatabases();

async function openProject(location: StoreLocation): Promise<ExecutorProject> {
  return createExecutorProject((await openServer()).url, location);
}

async function openServer(): Promise<NatsServer> {
  const server = await startNats();
  onTestFinished(() => server.close());
  return server;
}

/** A skill of another machine. */
const createDeviceProject = (): string => project({ "skills/stock.mjs": STOCK_SKILL });
const STOCK_SKILL = `
/** Finds things. */
export class StockSkill {
  /**
   * Find an order.
   * @param {number} order
   * @returns {number}
   * @readonly
   */
  find(order) { return order; }
}
`;

/** The codes of the errors while the NATS server does not run. */
const INTERRUPTED = new Set(["CANCELLED", "EXECUTORS_OFFLINE", "NODE_GONE", "NODES_OFFLINE"]);

/** A program with two effects, and a call between them that may be made again. */
const REFUNDS = `const first = await device.OrderSkill.refund(1);
const order = await device.OrderSkill.read(2);
[first, await device.OrderSkill.refund(3), order]`;

/** Every night, each test runs on each kind of database; else on one of them. */
function testOn(kind: (typeof kinds)[number][0], chosen: typeof kind): ReturnType<typeof test.runIf> {
  return test.runIf(isNightly || kinds.length === 1 || kind === chosen);
}

describe.skipIf(NATS_SERVER === undefined).each(kinds)("executors that go, on %s", (kind, makeLocation) => {
  testOn(kind, "sqlite")("executes a run without effects again after kill -9 of its executor [O3]", async () => {
    const project = await openProject(makeLocation());
    const [front, first] = [await startFrontProcess(project), await startExecutorProcess(project)];
    project.setBlocked(true);
    const answer = front.run(`await device.OrderSkill.read(1); await device.OrderSkill.refund(2)`);
    await project.waitForLog("read 1");
    await startExecutorProcess(project);
    await first.kill("SIGKILL");
    project.setBlocked(false);
    expect(await answer).toMatchObject({ kind: "completed", value: "refunded 2" });
    expect(project.readLog()).toEqual(["read 1", "read 1", "refund 2"]);
  });

  testOn(kind, "postgres")(
    "continues a run by its record after kill -9 of its executor, and makes each effect once [O3, R2]",
    async () => {
      const project = await openProject(makeLocation());
      const [front, first] = [await startFrontProcess(project), await startExecutorProcess(project)];
      project.setBlocked(true);
      const answer = front.run(REFUNDS);
      await project.waitForLog("read 2");
      await startExecutorProcess(project);
      await first.kill("SIGKILL");
      project.setBlocked(false);
      expect(await answer).toMatchObject({ kind: "completed", value: ["refunded 1", "refunded 3", 2] });
      expect(project.readLog()).toEqual(["refund 1", "read 2", "read 2", "refund 3"]);
    },
  );

  testOn(kind, "sqlite")(
    "names the effect that had begun when its executor was killed, and does not repeat it [O3, R3]",
    async () => {
      const project = await openProject(makeLocation());
      const [front, first] = [await startFrontProcess(project), await startExecutorProcess(project)];
      project.setBlocked(true);
      const answer = front.run(`await device.OrderSkill.refund(1); await device.OrderSkill.refundSlowly(2)`);
      await project.waitForLog("refund 2");
      await startExecutorProcess(project);
      await first.kill("SIGKILL");
      project.setBlocked(false);
      expect((await answer).error).toMatch(
        /^A call had begun when the process ended, .*: OrderSkill\.refundSlowly, call 2, .*\(CALL_END_UNKNOWN\)$/,
      );
      expect(project.readLog()).toEqual(["refund 1", "refund 2"]);
    },
  );

  testOn(kind, "postgres")("loses no run when executors drain under load [O3]", async () => {
    const project = await openProject(makeLocation());
    const [front, first] = [await startFrontProcess(project), await startExecutorProcess(project)];
    const orders = Array.from({ length: 60 }, (_none, order) => order);
    const refund = (order: number): Promise<Answer> =>
      front.run(`const order = await device.OrderSkill.read(${order}); await device.OrderSkill.refund(order)`);
    project.setBlocked(true);
    const before = orders.slice(0, 30).map(refund);
    await waitUntil(async () => project.readLog().length === 30);
    const second = await startExecutorProcess(project);
    const exit = first.kill("SIGTERM");
    await first.waitForLine("finishing 30 runs");
    const after = orders.slice(30).map(refund);
    await waitUntil(async () => project.readLog().length === 60);
    project.setBlocked(false);
    expect(await Promise.all([...before, ...after])).toMatchObject(
      orders.map((order) => ({ kind: "completed", value: `refunded ${order}` })),
    );
    expect(project.readLog().toSorted()).toEqual(
      orders.flatMap((order) => [`read ${order}`, `refund ${order}`]).toSorted(),
    );
    expect(await exit).toBe(0);
    expect(await second.kill("SIGTERM")).toBe(0);
    expect([...first.lines, ...second.lines].join("\n")).not.toContain("interrupted");
  });

  testOn(kind, "postgres").each(["SIGKILL", "SIGTERM"] as const)(
    "continues a run that waits for a person on another executor after %s [O3, R2]",
    async (signal) => {
      const project = await openProject(makeLocation());
      const [front, first] = [await startFrontProcess(project), await startExecutorProcess(project)];
      const { kind, runId = "" } = await front.run(
        `[await device.OrderSkill.refund(1), await device.OrderSkill.refundLarge(2)]`,
      );
      expect(kind).toBe("waiting");
      const question = await project.findQuestion();
      await startExecutorProcess(project);
      expect(await first.kill(signal)).toBe(signal === "SIGTERM" ? 0 : null);
      await project.answer(question);
      expect(await front.resume(runId)).toMatchObject({ kind: "completed", value: ["refunded 1", "refunded 2"] });
      expect(project.readLog()).toEqual(["refund 1", "refund 2"]);
    },
  );

  testOn(kind, "sqlite")(
    "answers the caller of a run that waits for a person when the front gets SIGTERM, and the run continues [O3, R2]",
    async () => {
      const server = await openServer();
      const project = createExecutorProject(server.url, makeLocation(), "approvals: { holdSeconds: 600 }\n");
      const [front] = [await startFrontProcess(project), await startExecutorProcess(project)];
      const answer = front.run(`[await device.OrderSkill.refund(1), await device.OrderSkill.refundLarge(2)]`);
      const question = await project.findQuestion();
      const exit = front.kill("SIGTERM");
      expect(await answer).toMatchObject({ kind: "waiting" });
      expect(await exit).toBe(0);
      await project.answer(question);
      await project.waitForLog("refund 2");
      expect(project.readLog()).toEqual(["refund 1", "refund 2"]);
    },
  );

  testOn(kind, "postgres")(
    "serves runs and devices again after kill -9 of the NATS server under load, and makes no effect twice [O3]",
    { timeout: 60_000 },
    async () => {
      const server = await openServer();
      const network = `nodes: { url: "${server.url}", name: controller }\n`;
      const project = createExecutorProject(server.url, makeLocation(), network);
      await startDeviceProcess({ cwd: createDeviceProject(), url: server.url }, "warehouse");
      const [front, executor] = [await startFrontProcess(project), await startExecutorProcess(project)];
      const refund = (order: number): Promise<Answer> =>
        front.run(
          `const order = await devices.warehouse.StockSkill.find(${order}); await device.OrderSkill.refund(order)`,
        );
      await waitUntil(async () => (await refund(0)).kind === "completed");
      const answers: Answer[] = [];
      let count = 0;
      const ending = new AbortController();
      const work = async (): Promise<void> => {
        while (!ending.signal.aborted) {
          const answer = await refund(++count);
          answers.push(answer);
          // Without executors, a run fails at once.
          if (answer.kind !== "completed") await wait(50);
        }
      };
      const workers = Array.from({ length: 8 }, work);
      await waitUntil(async () => answers.length >= 20);
      await server.kill();
      await waitUntil(async () => answers.some(({ error }) => error?.includes("EXECUTORS_OFFLINE") === true));
      await server.start();
      const since = answers.length;
      await waitUntil(async () => answers.slice(since).filter(({ kind }) => kind === "completed").length >= 20);
      ending.abort();
      await Promise.all(workers);
      const refunds = project.readLog();
      expect(new Set(refunds).size).toBe(refunds.length);
      for (const { value } of answers.filter(({ kind }) => kind === "completed"))
        expect(refunds).toContain(String(value).replace("refunded", "refund"));
      const codes = answers.flatMap(({ error }) =>
        error === undefined ? [] : [/\((\w+)\)$/.exec(error)?.[1] ?? error],
      );
      expect(codes.filter((code) => !INTERRUPTED.has(code))).toEqual([]);
      expect(await executor.kill("SIGTERM")).toBe(0);
    },
  );
});

test.skipIf(NATS_SERVER === undefined)("gives no run to the process of another version [O3]", async () => {
  const server = await openServer();
  const [, makeLocation] = kinds[0] ?? [];
  const location = makeLocation?.() ?? {};
  const [project, other] = [1, 2].map(() =>
    createExecutorProject(server.url, location, `executors: { url: "${server.url}" }\n`),
  );
  if (project === undefined || other === undefined) throw new Error("There is no project");
  writeFileSync(
    join(other.cwd, "skills/orders.mjs"),
    `/** Orders. */ export class OrderSkill { /** Refund. */ refund() {} }`,
  );
  const [front, stranger] = [await startFrontProcess(project), await startExecutorProcess(other)];
  const program = "await device.OrderSkill.refund(1)";
  expect((await front.run(program)).error).toMatch(/but 1 with other skills or servers.*EXECUTORS_MISSING/);
  await stranger.waitForLine("A server hands over no runs: it has other skills or servers");
  expect([...project.readLog(), ...other.readLog()]).toEqual([]);
  const doctor = (): Promise<Ended> => skillgate(["doctor"], { cwd: project.cwd });
  expect((await doctor()).stdout).toMatch(/\n✗ Executors: 0 executors with this version\n.*it has other skills/);
  await startExecutorProcess(project);
  expect(await front.run(program)).toMatchObject({ value: "refunded 1" });
  expect((await doctor()).stdout).toContain("\n✓ Executors: 1 executor with this version\n");
});
