import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";

import type { Caller, RunOptions, Runtime } from "../../src/index.ts";
import { createVersionReader } from "../../src/executors/index.ts";
import { getVersionToken } from "../../src/executors/version.ts";
import type { CallRecord } from "../../src/model/outcome.ts";
import { shareFilePostgres } from "../support/databases.ts";
import { createMachineKey } from "../support/machine-key.ts";
import { NATS_SERVER, type NatsServer, startNats } from "../support/servers/nats.ts";
import { openStranger } from "../support/stranger.ts";
import { createEchoSkill, type OnEnd, openFront, type Project, startExecutorHere } from "./network.ts";

async function openProject(
  options?: Project["options"],
  onEnd: OnEnd = onTestFinished,
): Promise<Project & { readonly server: NatsServer }> {
  const server = await startNats();
  const folder = mkdtempSync(join(tmpdir(), "skillgate-executors-"));
  onEnd(async () => {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return { server, url: server.url, location: { folder }, ...(options && { options }) };
}

/** An executor `one`, and a front that hands its runs to it. */
interface Pair {
  readonly project: Project;
  readonly executor: Runtime;
  readonly runtime: Runtime;
}

const reachedInPair: string[] = [];
const closers: (() => Promise<void>)[] = [];
let pair: Promise<Pair> | undefined;

/** Returns the pair of the tests that leave nothing in it. */
function getPair(): Promise<Pair> {
  reachedInPair.length = 0;
  return (pair ??= openPair());
}

async function openPair(): Promise<Pair> {
  const onEnd: OnEnd = (close) => void closers.unshift(close);
  const project = await openProject(undefined, onEnd);
  const { runtime: executor } = await startExecutorHere(project, [createEchoSkill("one", reachedInPair)], {}, onEnd);
  const { runtime } = await openFront(project, [createEchoSkill("front", reachedInPair)], {}, onEnd);
  return { project, executor, runtime };
}

afterAll(async () => {
  for (const close of closers) await close();
});

const ADA: Caller = { id: "ada", permissions: ["call:*"], scopes: ["*"] };

const postgres = shareFilePostgres();

describe.skipIf(NATS_SERVER === undefined)("runs on executors", () => {
  test.skipIf(postgres === undefined)(
    "stores values for the runs on all executors, and for those of another machine",
    { tags: "rest" },
    async () => {
      const { server, location: local } = await openProject();
      const url = postgres?.url() ?? "";
      const createMachine = (name: string): Project => {
        const folder = join(local.folder ?? "", name);
        const settings = join(local.folder ?? "", `${name}.yaml`);
        writeFileSync(settings, JSON.stringify({ store: { url } }));
        return { url: server.url, location: { folder, url }, options: { cwd: local.folder ?? "", settings } };
      };
      const { runtime: front } = await openFront(createMachine("front"), []);
      const run = async (runtime: Runtime, code: string): Promise<unknown> => {
        const outcome = await runtime.run(code, { caller: ADA, automation: "report" });
        if (outcome.kind !== "completed") throw new Error(outcome.text);
        return outcome.value;
      };
      const first = await startExecutorHere(createMachine("one"), []);
      await run(front, `await device.store.set("a", 1)`);
      await first.close();
      const second = await startExecutorHere(createMachine("two"), []);
      expect(await run(front, `await device.store.set("b", 2); await device.store.get("a")`)).toBe(1);
      expect(await run(second.runtime, "await device.store.list()")).toEqual(["a", "b"]);
    },
  );

  test("executes a program on an executor, and returns its value, output and calls [O3]", async () => {
    const { runtime } = await getPair();
    const source = `console.log("hello"); const text = await device.EchoSkill.read("a"); ({ text, day: new Date(0), at: [1, 2] })`;
    const outcome = await runtime.run(source, { caller: ADA });
    expect(outcome).toMatchObject({
      kind: "completed",
      value: { text: "one: a", day: new Date(0), at: [1, 2] },
      output: "hello",
      calls: [{ skill: "EchoSkill", method: "read", outcome: "ok" }],
    });
    expect(reachedInPair).toEqual(["one a"]);
    expect(await runtime.run("device.EchoSkill.red('a')", { caller: ADA })).toMatchObject({
      kind: "refused",
      violations: [{ code: "METHOD_UNKNOWN" }],
    });
  });

  test("gives the input of a run to the executor, with its schema", async () => {
    const { runtime } = await getPair();
    const source = "const { city, id } = await device.input(); city + id";
    const inputSchema = { type: "object", properties: { city: { type: "string" } } };
    const run = (input: unknown): Promise<unknown> =>
      runtime.run(source, { caller: ADA, input, inputSchema, isForeignInput: true });
    expect(await run({ city: "Rome", id: 2n ** 70n })).toMatchObject({ value: "Rome1180591620717411303424" });
    await expect(run({ city: 5 })).rejects.toMatchObject({ code: "INPUT_INVALID" });
    await expect(run({ city: Number.NaN })).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });

  test("gives the caller, its rights and its limits to the executor [O3]", async () => {
    const { executor, runtime } = await getPair();
    const calls: string[] = [];
    executor.on("call", ({ caller }) => calls.push(caller));
    const bob: Caller = { id: "bob", permissions: ["call:EchoSkill.read", "see:*"] };
    expect(await runtime.run(`device.EchoSkill.read("a")`, { caller: bob })).toMatchObject({ value: "one: a" });
    expect(await runtime.run(`device.EchoSkill.say("a")`, { caller: bob })).toMatchObject({
      violations: [{ code: "PERMISSION_MISSING" }],
    });
    expect(await runtime.run("while (true) {}", { caller: bob, limits: { cpuMs: 50 } })).toMatchObject({
      error: { code: "CPU_LIMIT" },
    });
    expect(calls).toEqual(["bob"]);
  });

  test("passes on the events of a run while it lasts, and cancels it [O3]", async () => {
    const { runtime } = await getPair();
    const events: unknown[] = [];
    const controller = new AbortController();
    const outcome = await runtime.run(`console.log("begin"); await device.EchoSkill.wait("a")`, {
      caller: ADA,
      signal: controller.signal,
      observer: {
        onStart: (id) => events.push(["start", typeof id]),
        onOutput: (text) => events.push(["output", text]),
        onCallStart: (path, id) => events.push(["call", path, id]),
        log: (path, level, text) => events.push(["log", path, level, text]),
        progress: (path, ...step) => {
          events.push(["progress", path, ...step]);
          controller.abort();
        },
        onCallEnd: (record: CallRecord) => events.push(["end", record.method]),
      },
    });
    expect(outcome).toMatchObject({ kind: "failed", error: { code: "CANCELLED" }, output: "begin" });
    expect(events).toEqual(
      expect.arrayContaining([
        ["start", "string"],
        ["output", "begin"],
        ["call", "EchoSkill.wait", 1],
        ["log", "EchoSkill.wait", "info", "waiting"],
        ["progress", "EchoSkill.wait", 1, 2, "half"],
      ]),
    );
  });

  test("asks the person and the client of the front [O3] [P6]", async () => {
    const { runtime } = await getPair();
    const asked: unknown[] = [];
    const outcome = await runtime.run(`[await device.EchoSkill.ask("a"), await device.EchoSkill.elicit("Who?")]`, {
      caller: ADA,
      approve: ({ path, input, caller }) => {
        asked.push([path, input, caller.id]);
        return "once";
      },
      observer: {
        client: {
          can: (request) => request === "elicitation/create",
          ask: async (request, params) => ({ action: "accept", content: { request, params } }),
        },
      },
    });
    expect(asked).toEqual([["EchoSkill.ask", { text: "a" }, "ada"]]);
    expect(outcome).toMatchObject({
      value: ["one: a", { action: "accept", content: { request: "elicitation/create", params: { message: "Who?" } } }],
    });
  });

  test("asks about each effect of a program from elsewhere [O3] [P6]", async () => {
    const { runtime } = await getPair();
    const asked: string[] = [];
    const outcome = await runtime.run(`await device.EchoSkill.read("a"); await device.EchoSkill.say("b")`, {
      caller: ADA,
      asksForEffects: true,
      approve: ({ path }) => asked.push(path) < 0,
    });
    expect(asked).toEqual(["EchoSkill.say"]);
    expect(outcome).toMatchObject({ error: { code: "APPROVAL_MISSING" } });
  });

  test("answers the caller of a run that waits for a person for longer than its caller before the front ends, and the run continues [O3] [R2]", async () =>
    endFrontOfWaitingRun({}));

  test(
    "answers the caller of a run that waits for a person at its caller before the front ends, and the run continues [O3] [R2]",
    { tags: "rest" },
    async () => endFrontOfWaitingRun({ approve: () => new Promise<never>(() => {}) }),
  );

  test("keeps a large result for a later program on another executor [O3] [R7]", async () => {
    const project = await openProject();
    const first = await startExecutorHere(project, [createEchoSkill("one")]);
    const { runtime } = await openFront(project, [createEchoSkill("front")]);
    const large = await runtime.run(`"x".repeat(200_000)`, { caller: ADA });
    expect(large).toMatchObject({ kind: "completed", text: expect.stringContaining('device.result("r1")') });
    await first.close();
    await startExecutorHere(project, [createEchoSkill("two")]);
    expect(await runtime.run(`(await device.result("r1")).length`, { caller: ADA })).toMatchObject({ value: 200_000 });
    expect(await runtime.run(`device.result("r2")`, { caller: ADA })).toMatchObject({
      error: { message: expect.stringContaining("r1 (") },
    });
    const second = await runtime.run(`"y".repeat(200_000)`, { caller: ADA });
    expect(second).toMatchObject({ text: expect.stringContaining('device.result("r2")') });
  });

  test(
    "offers a run that comes after an interruption of the network until an executor is back [O3]",
    { tags: "rest" },
    async () => {
      const project = await openProject();
      const first = await startExecutorHere(project, [createEchoSkill("one")]);
      const { runtime } = await openFront(project, [createEchoSkill("front")]);
      const run = (): Promise<unknown> => runtime.run('device.EchoSkill.read("a")', { caller: ADA });
      expect(await run()).toMatchObject({ value: "one: a" });
      await project.server.kill();
      await first.close();
      await expect(run()).rejects.toMatchObject({ code: "EXECUTORS_OFFLINE" });
      await project.server.start();
      // A run is refused at once while there is no connection; the first one after that waits.
      let waiting: Promise<unknown> = Promise.resolve();
      const findState = (): Promise<string> => {
        waiting = run();
        const ended = waiting.then(
          () => "ended",
          ({ code }: { readonly code: string }) => code,
        );
        return Promise.race([ended, pause(500, "waits")]);
      };
      await expect.poll(findState, { timeout: 20_000 }).toBe("waits");
      await startExecutorHere(project, [createEchoSkill("two")]);
      expect(await waiting).toMatchObject({ value: "two: a" });
    },
  );

  test("gives no run to an executor of another version, and says what differs [O3]", { tags: "rest" }, async () => {
    const project = await openProject();
    const other = await startExecutorHere(project, [createEchoSkill("one", [], "Says texts")]);
    const { runtime, log } = await openFront(project, [createEchoSkill("front")]);
    await expect(runtime.run("1")).rejects.toMatchObject({
      code: "EXECUTORS_MISSING",
      message: expect.stringContaining("no executor of this version is connected, but 1 with other skills or servers"),
    });
    expect(log.join()).toContain("gets no runs: it has other skills or servers");
    expect(other.warnings).toEqual(["A server hands over no runs: it has other skills or servers"]);
    await startExecutorHere(project, [createEchoSkill("two")]);
    expect(await runtime.run(`device.EchoSkill.read("a")`)).toMatchObject({ value: "two: a" });
  });

  test("follows a change of the skills without a lost run [O3]", async () => {
    const { executor, runtime } = await getPair();
    const late = createEchoSkill("late");
    const added = { ...late, name: "LateSkill" };
    executor.register(added);
    runtime.register(added);
    expect(await runtime.run(`device.LateSkill.read("a")`)).toMatchObject({ value: "late: a" });
    for (const each of [executor, runtime]) each.unregister("LateSkill");
    expect(await runtime.run(`device.EchoSkill.read("a")`)).toMatchObject({ value: "one: a" });
  });

  test("fails at once without a NATS server, and works when it is there again [O3]", async () => {
    const project = await openProject();
    await startExecutorHere(project, [createEchoSkill("one")]);
    const { runtime, log } = await openFront(project, [createEchoSkill("front")]);
    expect(await runtime.run("1")).toMatchObject({ value: 1 });
    let setBegun = (): void => {};
    const begun = new Promise<void>((resolve) => (setBegun = resolve));
    const run = runtime.run(`device.EchoSkill.wait("a")`, { observer: { progress: () => setBegun() } });
    const running = expect(run).rejects.toMatchObject({ code: "EXECUTORS_OFFLINE" });
    await begun;
    await project.server.kill();
    await running;
    await expect(runtime.run("1")).rejects.toMatchObject({ code: "EXECUTORS_OFFLINE" });
    expect(runtime.search("repeats").results.length).toBeGreaterThan(0);
    expect(log.join()).toContain("interrupted");
    await project.server.start();
    await expect.poll(() => runtime.run("2").catch(() => undefined), { timeout: 10_000 }).toMatchObject({ value: 2 });
  }, 20_000);

  test("counts the limits of a caller over all executors [P5]", async () => {
    const { project, runtime } = await getPair();
    await startExecutorHere(project, [createEchoSkill("two")]);
    const caller: Caller = { ...ADA, id: "limited", limits: { perMinute: 6 } };
    const results = await Promise.allSettled(
      Array.from({ length: 12 }, () => runtime.run(`device.EchoSkill.read("a")`, { caller })),
    );
    const refused = results.filter(({ status }) => status === "rejected");
    expect(refused).toHaveLength(6);
    expect(refused[0]).toMatchObject({
      reason: { code: "RATE_LIMIT", facts: { retryAfterSeconds: expect.any(Number) } },
    });
  });

  test("hands programs only to executors with a known key, and executes only those of known fronts [P7]", async () => {
    const project = await openProject();
    const [front, executor, other] = [createMachineKey(), createMachineKey(), createMachineKey()];
    const reached: string[] = [];
    const { warnings } = await startExecutorHere(project, [createEchoSkill("one", reached)], {
      name: "executor",
      key: executor.key,
      peers: { front: front.publicKey },
    });
    const peers = { executor: executor.publicKey };
    const good = await openFront(project, [createEchoSkill("f")], { key: front.key, peers });
    expect(await good.runtime.run(`device.EchoSkill.say("a")`)).toMatchObject({ value: "one: a" });
    const bad = await openFront(project, [createEchoSkill("f")], { key: other.key });
    await expect(bad.runtime.run(`device.EchoSkill.say("b")`)).rejects.toMatchObject({ code: "EXECUTORS_MISSING" });
    expect(warnings.join()).toContain('Cannot use the machine "front": it has not signed with the key');
    const strict = await openFront(project, [createEchoSkill("f")], {
      key: front.key,
      peers: { executor: other.publicKey },
    });
    await expect(strict.runtime.run(`device.EchoSkill.say("c")`)).rejects.toMatchObject({ code: "EXECUTORS_MISSING" });
    expect(strict.log.join()).toContain('Cannot use the machine "executor": it has not signed with the key');
    expect(reached).toEqual(["one a"]);
  });

  test(
    "ends no program by the messages of a stranger, and reserves nothing for them [P7]",
    { tags: "rest" },
    async () => {
      const project = await openProject();
      const [front, executor] = [createMachineKey(), createMachineKey()];
      const reached: string[] = [];
      await startExecutorHere(project, [createEchoSkill("one", reached)], {
        name: "executor",
        key: executor.key,
        peers: { front: front.publicKey },
        concurrency: 10,
      });
      const stranger = await openStranger(project.url);
      const { runtime } = await openFront(project, [createEchoSkill("f")], {
        key: front.key,
        peers: { executor: executor.publicKey },
      });
      await runtime.run("1");
      stranger.forge();
      const controller = new AbortController();
      let setBegun = (): void => {};
      const begun = new Promise<void>((resolve) => (setBegun = resolve));
      const long = runtime.run(`await device.EchoSkill.wait("a")`, {
        signal: controller.signal,
        observer: { progress: () => setBegun() },
      });
      await begun;
      // Pings, their answers, and what the stranger makes of them.
      await stranger.record(10);
      await stranger.replay();
      const token = getVersionToken(createVersionReader(() => runtime, project.location)());
      for (let at = 0; at < 1_200; at++) stranger.publish(`skillgate.executors.offer.${token}`, "");
      await stranger.flush();
      const runs = Array.from({ length: 9 }, (_, at) => runtime.run(`device.EchoSkill.say("${at}")`));
      expect(await Promise.all(runs)).toMatchObject(runs.map((_, at) => ({ value: `one: ${at}` })));
      controller.abort();
      expect(await long).toMatchObject({ error: { code: "CANCELLED" } });
      expect(reached.toSorted()).toEqual(["one waits a", ...runs.map((_, at) => `one ${at}`)].toSorted());
    },
  );
});

async function endFrontOfWaitingRun(options: RunOptions): Promise<void> {
  const project = await openProject({ approvals: { wait: true, holdSeconds: 600 } });
  const reached: string[] = [];
  const { runtime: executor } = await startExecutorHere(project, [createEchoSkill("one", reached)]);
  const { runtime } = await openFront(project, [createEchoSkill("front")]);
  const asked = new Promise<string>((resolve) => executor.on("approval", ({ runId }) => resolve(runId)));
  const ended = new Promise<unknown>((resolve) => executor.on("run", resolve));
  const controller = new AbortController();
  const { signal } = controller;
  const first = runtime.run(`device.EchoSkill.ask("a")`, { caller: ADA, signal, ...options });
  const runId = await asked;
  const later = runtime.runs.resume(runId);
  runtime.releaseCallers();
  const waiting = { kind: "waiting", runId, text: expect.stringContaining("approval of EchoSkill.ask") };
  expect(await Promise.all([first, later])).toMatchObject([waiting, waiting]);
  controller.abort(); // the connection of the caller closes
  await runtime.close();
  const [question] = await executor.approvals.list("pending");
  await executor.approvals.answer(question?.id ?? "", { approve: true });
  expect(await ended).toMatchObject({ kind: "completed", value: "one: a" });
  expect(reached).toEqual(["one a"]);
}
