import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";

import { createRuntime, defineSkill } from "../../../src/index.ts";
import { NATS_SERVER, type NatsServer, startNats } from "../../support/servers/nats.ts";
import { createEchoSkill, joinWith, openHub, waitForCatalog, waitForDeparture, waitForDevice } from "./network.ts";

describe.skipIf(NATS_SERVER === undefined)("devices in a network", () => {
  let server: NatsServer;
  beforeAll(async () => {
    server = await startNats();
  });
  afterAll(() => server.close());

  const getNetwork = (name: string): Readonly<Record<string, unknown>> => ({
    url: server.url,
    name,
    silenceSeconds: 5,
  });

  test("calls a method by the name of the device, and whichever device can [O3]", async () => {
    await joinWith(getNetwork("Living Room PC"), { skills: [createEchoSkill("pc")] });
    const hub = await openHub(getNetwork("controller"));
    await waitForDevice(hub, "living_room_pc");
    const source = `const a = await devices.living_room_pc.EchoSkill.say("a");
      const b = await devices.hub.EchoSkill.say("b");
      [a, b]`;
    expect(await hub.run(source)).toMatchObject({ kind: "completed", value: ["pc: a", "pc: b"] });
    expect(hub.nodes).toMatchObject([{ device: "living_room_pc", title: "Living Room PC", skills: ["EchoSkill"] }]);
    const found = hub.search("repeats a text").results.map(({ path, devices }) => ({ path, devices }));
    expect(found).toEqual(
      ["say", "read", "fail", "wait"].map((name) => ({ path: `hub.EchoSkill.${name}`, devices: ["living_room_pc"] })),
    );
  });

  test("merges one method of several devices into one search result, and others not [O3]", async () => {
    await joinWith(getNetwork("one"), { skills: [createEchoSkill("one")] });
    await joinWith(getNetwork("two"), { skills: [createEchoSkill("two")] });
    const say = { description: "Repeats a text", input: { type: "object" }, run: () => "three" } as const;
    const other = defineSkill({ name: "EchoSkill", description: "Repeats texts", methods: { say } });
    await joinWith(getNetwork("three"), { skills: [other] });
    const hub = await openHub(getNetwork("controller"), { skills: [createEchoSkill("local")] });
    for (const device of ["one", "two", "three"]) await waitForDevice(hub, device);
    const paths = (query: string, options = {}): readonly (readonly unknown[])[] =>
      hub.search(query, options).results.map(({ path, devices }) => [path, devices]);
    const found = paths("repeats a text");
    expect(found).toContainEqual(["hub.EchoSkill.say", ["one", "two"]]);
    expect(found).toContainEqual(["three.EchoSkill.say", undefined]);
    expect(found).toContainEqual(["EchoSkill.say", undefined]);
    expect(found.filter(([path]) => /one|two/.test(String(path)))).toEqual([]);
    expect(hub.search("repeats a text").text).toContain("(devices: one, two)");
    expect(paths("two.EchoSkill.say")[0]).toEqual(["two.EchoSkill.say", ["one", "two"]]);
    const all = hub.search("", { limit: 100 });
    expect(all.results).toHaveLength(9);
    expect(all.text).toMatch(/^Found 9 result/);
    expect(hub.search("", { limit: 4, offset: 8 }).results).toHaveLength(1);
    const ada = { id: "ada", permissions: ["call:one.*"] };
    expect(paths("repeats a text", { caller: ada })).toContainEqual(["one.EchoSkill.say", undefined]);
  });

  test("fails a call with the error of the method [O3]", async () => {
    await joinWith(getNetwork("one"), { skills: [createEchoSkill("one")] });
    const hub = await openHub(getNetwork("controller"));
    await waitForDevice(hub, "one");
    await expect(hub.call("one.EchoSkill.fail", { text: "fly" })).rejects.toThrow("cannot fly");
  });

  test("sends arguments and results that no single message can hold [O3]", { tags: "rest" }, async () => {
    await joinWith(getNetwork("one"), { skills: [createEchoSkill("one")] });
    const hub = await openHub(getNetwork("controller"));
    await waitForDevice(hub, "one");
    const text = "ä".repeat(2_000_000);
    expect(await hub.call("one.EchoSkill.say", { text })).toBe(`one: ${text}`);
  });

  test("passes progress on, and a cancellation [O3]", async () => {
    const reached: string[] = [];
    await joinWith(getNetwork("one"), { skills: [createEchoSkill("one", reached)] });
    const hub = await openHub(getNetwork("controller"));
    await waitForDevice(hub, "one");
    const controller = new AbortController();
    hub.on("progress", ({ done, total, text }) => {
      expect({ done, total, text }).toEqual({ done: 1, total: 2, text: "half" });
      controller.abort();
    });
    await expect(hub.call("one.EchoSkill.wait", { text: "x" }, { signal: controller.signal })).rejects.toMatchObject({
      code: "CALL_CANCELLED",
    });
    await vi.waitUntil(() => reached.includes("one cancelled x"));
  });

  test("checks permissions and arguments before a call leaves, and the rules of the device when it arrives [O3, P2]", async () => {
    const reached: string[] = [];
    const { runtime: device } = await joinWith(
      { ...getNetwork("one"), offer: ["EchoSkill.say"] },
      { skills: [createEchoSkill("one", reached)] },
    );
    const hub = await openHub(getNetwork("controller"));
    await waitForDevice(hub, "one");
    expect(hub.catalog.method("one.EchoSkill.fail")).toBeUndefined();
    const ada = { id: "ada", permissions: ["call:EchoSkill.*", "see:*"] };
    await expect(hub.call("one.EchoSkill.say", { text: "a" }, { caller: ada })).rejects.toMatchObject({
      code: "PERMISSION_MISSING",
    });
    await expect(hub.call("one.EchoSkill.say", { text: 1 })).rejects.toMatchObject({ code: "ARGUMENTS_INVALID" });
    expect(reached).toEqual([]);
    await hub.call("one.EchoSkill.say", { text: "a" });
    expect(device.audit().at(-1)).toMatchObject({ caller: "device/owner", path: "EchoSkill.say", outcome: "ok" });
    expect(hub.audit().at(-1)).toMatchObject({ path: "one.EchoSkill.say", outcome: "ok" });
  });

  test("asks the next device when a method is refused by the first, and combines the errors [O3]", async () => {
    const needsScope = defineSkill({
      name: "EchoSkill",
      description: "Repeats texts",
      methods: {
        say: {
          description: "Repeats a text",
          input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
          requiredScopes: ["tool:echo"],
          run: async () => "one",
        },
      },
    });
    const first = await joinWith(getNetwork("one"), { skills: [needsScope] });
    const second = await joinWith(getNetwork("two"), { skills: [createEchoSkill("two")] });
    const hub = await openHub(getNetwork("controller"));
    await waitForDevice(hub, "one");
    await waitForDevice(hub, "two");
    expect(await hub.call("hub.EchoSkill.say", { text: "a" })).toBe("two: a");
    await second.leave();
    await waitForDeparture(hub, "two");
    await expect(hub.call("hub.EchoSkill.say", { text: "a" })).rejects.toMatchObject({
      code: "NODES_FAILED",
      message: expect.stringMatching(/^No device could make the call: one: (?!one: )/),
    });
    await first.leave();
  });

  test("follows skills that come and go on a device [O3]", async () => {
    const { runtime: device } = await joinWith(getNetwork("one"), { skills: [createEchoSkill("one")] });
    const hub = await openHub(getNetwork("controller"));
    await waitForDevice(hub, "one");
    device.register({ ...createEchoSkill("one"), name: "OtherSkill" });
    await waitForCatalog(hub, (paths) => paths.includes("one.OtherSkill.say"));
    device.unregister("EchoSkill");
    await waitForCatalog(hub, (paths) => !paths.includes("one.EchoSkill.say"));
    expect(await hub.call("one.OtherSkill.say", { text: "a" })).toBe("one: a");
  });

  test("starts without a server, and leaves local skills alone [O3]", async () => {
    const hub = await createRuntime({
      skillsDir: false,
      skills: [createEchoSkill("local")],
      nodes: { url: "nats://127.0.0.1:1", name: "controller" },
    });
    expect(await hub.run('device.EchoSkill.say("a")')).toMatchObject({ kind: "completed", value: "local: a" });
    await hub.known;
    expect(hub.problems).toMatchObject([{ source: "nodes" }]);
    await hub.close();
  });
});
