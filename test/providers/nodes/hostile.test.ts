import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { defineSkill, type ProvidedSkill } from "../../../src/index.ts";
import type { RunObserver } from "../../../src/model/run-observer.ts";
import { parseListing } from "../../../src/providers/nodes/listing.ts";
import { fillIn } from "../../../src/config/index.ts";
import { parseNodeSettings } from "../../../src/runtime/settings/network-settings.ts";
import { NATS_SERVER, type NatsServer, startNats } from "../../support/servers/nats.ts";
import { createMachineKey } from "../../support/machine-key.ts";
import { openStranger } from "../../support/stranger.ts";
import { createEchoSkill, joinWith, openHub, waitForDeparture, waitForDevice } from "./network.ts";

test("leaves out what is invalid in the list of a device [O3, S13]", () => {
  const method = {
    name: "add",
    description: 1,
    input: { type: "object" },
    metadata: { readOnly: "yes", approval: "user" },
  };
  const parsed = parseListing({
    skills: [
      {
        name: "MathSkill",
        methods: [method, method, { name: "then", input: {} }, { name: "x", input: { type: "string" } }],
      },
      { name: "../x", methods: [method] },
      { name: "a.b", methods: [method] },
      null,
    ],
  });
  expect(parsed?.skills).toEqual([
    {
      name: "MathSkill",
      description: "",
      methods: [{ name: "add", description: "", input: { type: "object" }, metadata: { approval: "user" } }],
    },
  ]);
  expect(parsed?.flaws).toHaveLength(6);
  expect(parseListing([])).toBeUndefined();
});

test.each([
  [{ url: "nats://a b" }, "nodes.url must be"],
  [{ url: "nats://a", peers: { "Living Room": "x" } }, "nodes.peers must be"],
  [{ url: "nats://a", adress: "x" }, "nodes has the unknown setting adress"],
  [{ url: "nats://a", silenceSeconds: 0 }, "nodes.silenceSeconds must be"],
  ["nats://a", "nodes must be a section"],
])("refuses the settings %j [O3]", (section, says) => {
  const { settings, problems } = parseNodeSettings(section, { cwd: ".", fillIn: (text) => text });
  expect(settings).toBeUndefined();
  expect(problems[0]?.error).toContain(says);
});

test.each([
  { url: "nats://kitchen:${KITCHEN}@a" },
  { url: "${KITCHEN}" },
  { url: "nats://a", key: "${KITCHEN}/node.pem" },
])("names the variable that is not set in %j [O3]", (section) => {
  const fill = (text: string, missing: Set<string>): string => fillIn(text, () => undefined, missing);
  const { settings, problems } = parseNodeSettings(section, { cwd: ".", fillIn: fill });
  expect(settings).toBeUndefined();
  expect(problems.map(({ error }) => error)).toEqual([
    expect.stringContaining("nodes: environment variable KITCHEN is not set"),
  ]);
});

/** A skill whose payments end when the file of the test says so. */
function createPaySkill(
  device: string,
  { paid, whenReleased }: { readonly paid: string[]; readonly whenReleased: Promise<void> },
): ProvidedSkill {
  const run = async ({ order }: Record<string, unknown>): Promise<string> => {
    paid.push(`${device} ${String(order)}`);
    await whenReleased;
    return `paid ${String(order)}`;
  };
  const input = { type: "object", properties: { order: { type: "number" } }, required: ["order"] };
  const pay = { description: "Pays an order", input, destructive: true, run };
  return defineSkill({ name: "PaySkill", description: "Pays", methods: { pay } });
}

describe.skipIf(NATS_SERVER === undefined)("a stranger on the NATS server", () => {
  let server: NatsServer;
  beforeAll(async () => {
    server = await startNats();
  });
  afterAll(() => server.close());

  test("cannot make a call again that it has recorded, also after a restart of the device [P7]", async () => {
    const [controller, device] = [createMachineKey(), createMachineKey()];
    const reached: string[] = [];
    const section = {
      url: server.url,
      name: "signed",
      key: device.key,
      peers: { controller: controller.publicKey },
    };
    const skills = [createEchoSkill("signed", reached)];
    const first = await joinWith(section, { skills });
    const stranger = await openStranger(server.url);
    const hub = await openHub({ url: server.url, key: controller.key, peers: { signed: device.publicKey } });
    await waitForDevice(hub, "signed");
    expect(await hub.call("signed.EchoSkill.say", { text: "a" })).toBe("signed: a");
    expect(first.runtime.audit().at(-1)).toMatchObject({ caller: "controller/owner" });
    await stranger.replay();
    expect(await hub.call("signed.EchoSkill.say", { text: "b" })).toBe("signed: b");
    await first.leave();
    await waitForDeparture(hub, "signed");
    await joinWith(section, { skills });
    await waitForDevice(hub, "signed");
    await stranger.replay();
    expect(await hub.call("signed.EchoSkill.say", { text: "c" })).toBe("signed: c");
    expect(reached).toEqual(["signed a", "signed b", "signed c"]);
  });

  test("cannot end a call, answer it, or have it made on a second device [P7]", async () => {
    const keys = { controller: createMachineKey(), one: createMachineKey(), two: createMachineKey() };
    const peers = Object.fromEntries(Object.entries(keys).map(([name, { publicKey }]) => [name, publicKey]));
    const paid: string[] = [];
    let release = (): void => {};
    const whenReleased = new Promise<void>((resolve) => (release = resolve));
    for (const name of ["one", "two"] as const)
      await joinWith(
        { url: server.url, name, key: keys[name].key, peers },
        { skills: [createPaySkill(name, { paid, whenReleased })] },
      );
    const stranger = await openStranger(server.url);
    const hub = await openHub({ url: server.url, key: keys.controller.key, peers });
    for (const name of ["one", "two"]) await waitForDevice(hub, name);
    const notes: unknown[] = [];
    const observer: RunObserver = { answered: (facts) => notes.push(...facts.notes) };
    stranger.forge();
    const calls = [
      hub.call("hub.PaySkill.pay", { order: 1 }, { observer }),
      hub.call("one.PaySkill.pay", { order: 2 }, { observer }),
      hub.call("two.PaySkill.pay", { order: 3 }, { observer }),
    ];
    // Pings of both devices, their answers, and the calls.
    await stranger.record(15);
    await stranger.replay();
    release();
    expect(await Promise.all(calls)).toEqual(["paid 1", "paid 2", "paid 3"]);
    expect(paid.map((line) => line.slice(-1)).toSorted()).toEqual(["1", "2", "3"]);
    expect(notes).toEqual([]);
    expect(hub.nodes.map(({ device }) => device)).toEqual(["one", "two"]);
  });

  test("cannot fill the list of devices, and is not listed [P7]", async () => {
    const [device, other] = [createMachineKey(), createMachineKey()];
    const log: string[] = [];
    const hub = await openHub(
      { url: server.url, peers: { real: device.publicKey } },
      { log: (_, text) => log.push(text) },
    );
    const stranger = await openStranger(server.url);
    for (let at = 0; at < 600; at++) {
      const start = at.toString(16).padStart(32, "0");
      for (const name of ["real", `fake${at}`]) {
        const text = JSON.stringify({ group: "nodes", device: name, start, title: "x", key: "x".repeat(43) });
        const old = { kind: "here", id: start.slice(-20), title: "x", digest: "x" };
        const statement = { ...old, protocol: 2, text, signature: "x".repeat(86) };
        stranger.publish(`skillgate.nodes.${name}`, JSON.stringify(statement));
      }
    }
    await stranger.flush();
    await joinWith({ url: server.url, name: "fake", key: other.key }, { skills: [createEchoSkill("fake")] });
    await joinWith(
      { url: server.url, name: "real", key: device.key, silenceSeconds: 1 },
      { skills: [createEchoSkill("real")] },
    );
    await waitForDevice(hub, "real");
    expect(hub.nodes.map(({ device: name }) => name)).toEqual(["real"]);
    expect(log).toContain('Cannot use the machine "fake0": the setting peers has no key of it');
    expect(log).toContain(
      'Cannot use the machine "real": it has not signed with the key that the setting peers has of it',
    );
  });

  test("has no calls with an unknown key, or without one [P7]", async () => {
    const [controller, device, other] = [createMachineKey(), createMachineKey(), createMachineKey()];
    const reached: string[] = [];
    const warnings: string[] = [];
    await joinWith(
      { url: server.url, name: "strict", key: device.key, peers: { controller: controller.publicKey } },
      { skills: [createEchoSkill("strict", reached)] },
      (text) => warnings.push(text),
    );
    const strangers = [await openHub({ url: server.url }), await openHub({ url: server.url, key: other.key })];
    const hub = await openHub({ url: server.url, key: controller.key, peers: { strict: device.publicKey } });
    await waitForDevice(hub, "strict");
    expect(strangers.flatMap(({ nodes }) => nodes.map(({ device: name }) => name))).not.toContain("strict");
    expect(warnings).toEqual([
      'Cannot use the machine "controller": it has not signed with the key that the setting peers has of it',
    ]);
    expect(reached).toEqual([]);
  });

  test("reports a device with another version of the protocol once, with both versions [O3]", async () => {
    const log: string[] = [];
    await openHub({ url: server.url }, { log: (_, text) => log.push(text) });
    const stranger = await openStranger(server.url);
    const announcement = { kind: "here", id: "A".repeat(20), title: "Old PC", digest: "x" };
    for (const protocol of [undefined, undefined, 3])
      stranger.publish("skillgate.nodes.old_pc", JSON.stringify({ ...announcement, protocol }));
    await expect.poll(() => log.filter((text) => text.includes("old_pc"))).toHaveLength(2);
    expect(log.join("\n")).toContain(
      `Cannot use the machine "old_pc": it speaks version 1 of the network's protocol, and this process version 2`,
    );
  });
});
