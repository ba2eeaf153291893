import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";

import type { ProvidedSkill, RuntimeOptions } from "../../../src/index.ts";
import { openServer } from "../../../src/network/index.ts";
import { parseNodeSettings } from "../../../src/runtime/settings/network-settings.ts";
import { createFolder, followQuestions } from "../../approvals/mail.ts";
import { NATS_SERVER, type NatsServer, startNats } from "../../support/servers/nats.ts";
import { openStranger } from "../../support/stranger.ts";
import { createEchoSkill, joinWith, openHub, readSettings, waitForDevice } from "./network.ts";

test.each([{ name: "hub" }, { name: "Hub" }, { name: "---hub" }, { name: "…" }])(
  "refuses a machine with the settings %j, as devices.hub stands for all machines [O3]",
  (section) => {
    const { settings, problems } = parseNodeSettings({ url: "nats://a", ...section }, { cwd: ".", fillIn: String });
    expect(settings).toBeUndefined();
    expect(problems[0]?.error).toContain(
      "nodes.name must be a name with a letter or a digit, and not hub, which stands for all machines",
    );
  },
);

describe.skipIf(NATS_SERVER === undefined)("the rules of two machines", () => {
  let server: NatsServer;
  beforeAll(async () => {
    server = await startNats();
  });
  afterAll(() => server.close());

  /** Options of a runtime with a policy of its own. */
  function usePolicy(rows: Readonly<Record<string, object>>): Pick<RuntimeOptions, "cwd" | "policy"> {
    const cwd = createFolder();
    mkdirSync(join(cwd, "policies"));
    writeFileSync(join(cwd, "policies", "tools.yaml"), JSON.stringify(rows));
    return { cwd, policy: "policies/tools.yaml" };
  }

  async function openPair(
    name: string,
    device: RuntimeOptions = {},
    hubOptions: RuntimeOptions = {},
  ): Promise<{
    readonly hub: Awaited<ReturnType<typeof openHub>>;
    readonly device: Awaited<ReturnType<typeof openHub>>;
    readonly reached: readonly string[];
  }> {
    const reached: string[] = [];
    const skills: readonly ProvidedSkill[] = [createEchoSkill(name, reached)];
    const { runtime } = await joinWith({ url: server.url, name }, { skills, ...device });
    const hub = await openHub({ url: server.url }, hubOptions);
    await waitForDevice(hub, name);
    return { hub, device: runtime, reached };
  }

  test.each([
    ["POLICY_DENIED", { decision: "deny" }],
    ["PERMISSION_MISSING", { required_scopes: ["tool:echo"] }],
    ["APPROVAL_MISSING", { decision: "ask" }],
  ])(
    "gives a program the code %s with which the device refuses, and records a call that was made [O3, P8]",
    { tags: "rest" },
    async (code, row) => {
      const { hub, reached } = await openPair("one", usePolicy({ "EchoSkill.say": row }));
      const source = `try { await devices.one.EchoSkill.say("a") } catch (error) { [error.code, error.message] }`;
      expect(await hub.run(source)).toMatchObject({
        kind: "completed",
        value: [code, expect.stringMatching(/^one: Cannot call a method /)],
        calls: [{ outcome: "error" }],
      });
      expect(hub.audit().at(-1)).toMatchObject({ decision: "allowed", outcome: "error", code });
      expect(reached).toEqual([]);
    },
  );

  test("limits the rate of a remote method at the caller, and on the device [O3, P5]", async () => {
    const atCaller = await openPair("one", {}, usePolicy({ "one.EchoSkill.say": { rate_limit: 1 } }));
    await atCaller.hub.call("one.EchoSkill.say", { text: "a" });
    await expect(atCaller.hub.call("one.EchoSkill.say", { text: "b" })).rejects.toMatchObject({
      code: "RATE_LIMIT",
      facts: { retryAfterSeconds: expect.any(Number) },
    });
    expect(atCaller.hub.audit().at(-1)).toMatchObject({ decision: "refused", outcome: "refused" });
    expect(atCaller.reached).toEqual(["one a"]);
    const onDevice = await openPair("two", usePolicy({ "EchoSkill.say": { rate_limit: 1 } }));
    await onDevice.hub.call("two.EchoSkill.say", { text: "a" });
    await expect(onDevice.hub.call("two.EchoSkill.say", { text: "b" })).rejects.toMatchObject({
      code: "RATE_LIMIT",
      message: expect.stringMatching(/^two: Rate limit exceeded/),
      facts: { device: "two", retryAfterSeconds: expect.any(Number) },
    });
    expect(onDevice.reached).toEqual(["two a"]);
  });

  test("counts a remote call for the limits of its caller [O3, P5]", async () => {
    const { hub, reached } = await openPair("one");
    const caller = { id: "ada", permissions: ["call:*"], limits: { perMinute: 1 } };
    await hub.call("one.EchoSkill.say", { text: "a" }, { caller });
    await expect(hub.call("one.EchoSkill.say", { text: "b" }, { caller })).rejects.toMatchObject({
      code: "RATE_LIMIT",
    });
    expect(reached).toEqual(["one a"]);
  });

  test("asks a person at the caller before a remote call leaves [O3, P6]", async () => {
    const rules = usePolicy({ "one.EchoSkill.say": { decision: "ask" } });
    const { hub, reached } = await openPair("one", {}, { ...rules, approvals: { wait: true } });
    const next = followQuestions(hub);
    const outcome = hub.run(`await devices.one.EchoSkill.say("a")`);
    const { id, path, arguments: args } = await next();
    expect({ path, args, reached }).toEqual({ path: "one.EchoSkill.say", args: { text: "a" }, reached: [] });
    await hub.approvals.answer(id, { approve: true });
    expect(await outcome).toMatchObject({ kind: "completed", value: "one: a" });
  });

  test("asks a person on the device while the call waits [O3, P6]", async () => {
    const rules = usePolicy({ "EchoSkill.say": { decision: "ask" } });
    const { hub, device, reached } = await openPair("one", { ...rules, approvals: { wait: true } });
    const next = followQuestions(device);
    const call = hub.call("one.EchoSkill.say", { text: "a" });
    const question = await next();
    expect(question).toMatchObject({ caller: "device/owner", path: "EchoSkill.say", arguments: { text: "a" } });
    expect(reached).toEqual([]);
    await device.approvals.answer(question.id, { approve: true });
    expect(await call).toBe("one: a");
    const denied = expect(hub.call("one.EchoSkill.say", { text: "b" })).rejects.toMatchObject({
      code: "APPROVAL_MISSING",
    });
    await device.approvals.answer((await next()).id, { approve: false });
    await denied;
    expect(reached).toEqual(["one a"]);
  });

  test("makes a call without keys once, however often its message comes [O3, P7]", async () => {
    const stranger = await openStranger(server.url);
    const { hub, reached } = await openPair("one");
    await hub.call("one.EchoSkill.say", { text: "a" });
    await stranger.replay();
    await hub.call("one.EchoSkill.say", { text: "b" });
    expect(reached).toEqual(["one a", "one b"]);
  });

  test.each(["WALL_LIMIT", "CANCELLED", "RECORD_FAILED", "__proto__", "constructor", 7, null])(
    "does not take the code %j from a device [O3, S13]",
    { tags: "rest" },
    async (code) => {
      const methods = [{ name: "wait", description: "Waits", input: { type: "object" } }];
      const listing = { skills: [{ name: "EchoSkill", description: "Repeats texts", methods }] };
      const liar = await openServer({
        settings: readSettings({ url: server.url, name: "one" }),
        group: "nodes",
        maxBytes: 1_000_000,
        describe: () => ({ digest: "x" }),
        answer: ({ method, send }) =>
          send("result", JSON.stringify(method === "catalog" ? listing : { error: { code, message: "a lie" } })),
        warn: () => {},
      });
      onTestFinished(() => liar.close());
      const hub = await openHub({ url: server.url });
      await waitForDevice(hub, "one");
      await expect(hub.call("one.EchoSkill.wait", { text: "a" })).rejects.toMatchObject({
        code: "CALL_FAILED",
        message: "one: a lie",
      });
    },
  );
});
