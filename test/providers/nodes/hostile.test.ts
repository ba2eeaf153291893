import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, headers } from "@nats-io/transport-node";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";

import { MessageReader, MAX_MESSAGE_BYTES } from "../../../src/network/index.ts";
import { parseListing } from "../../../src/providers/nodes/listing.ts";
import { parseNodeSettings } from "../../../src/runtime/settings/network-settings.ts";
import { NATS_SERVER, type NatsServer, startNats } from "../../support/servers/nats.ts";
import { createEchoSkill, joinWith, openHub, waitForDevice } from "./network.ts";

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

test("joins parts only in their order, and within bounds [O3, S13]", () => {
  const reader = new MessageReader();
  const createPart = (id: string, part: string, bytes = 1): Parameters<MessageReader["add"]>[0] => {
    const head = headers();
    head.set("Sg-Id", id);
    head.set("Sg-Part", part);
    return { data: new Uint8Array(bytes), headers: head };
  };
  expect(reader.add(createPart("a", "1/2"))).toBeUndefined();
  expect(reader.add(createPart("a", "2/2"))?.bytes).toHaveLength(2);
  expect(reader.add(createPart("b", "2/2"))).toBeUndefined();
  expect(reader.add(createPart("c", "1/3"))).toBeUndefined();
  expect(reader.add(createPart("c", "3/3"))).toBeUndefined();
  expect(reader.add(createPart("d", "1/2", MAX_MESSAGE_BYTES))).toBeUndefined();
  expect(reader.add(createPart("d", "2/2", 1))).toBeUndefined();
  expect(reader.add({ data: new Uint8Array(1) })).toBeUndefined();
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

describe.skipIf(NATS_SERVER === undefined)("signed calls", () => {
  let server: NatsServer;
  beforeAll(async () => {
    server = await startNats();
  });
  afterAll(() => server.close());

  function createKey(): { readonly file: string; readonly text: string } {
    const folder = mkdtempSync(join(tmpdir(), "skillgate-key-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const { privateKey, publicKey } = generateKeyPairSync("ed25519");
    const file = join(folder, "key.pem");
    writeFileSync(file, privateKey.export({ format: "pem", type: "pkcs8" }));
    return { file, text: publicKey.export({ format: "der", type: "spki" }).toString("base64url") };
  }

  test("accepts a signed call once, and names its signer in the audit log [P7]", async () => {
    const [controller, device] = [createKey(), createKey()];
    const { runtime } = await joinWith(
      { url: server.url, name: "signed", key: device.file, peers: { controller: controller.text } },
      { skills: [createEchoSkill("signed")] },
    );
    const hub = await openHub({ url: server.url, key: controller.file, peers: { signed: device.text } });
    await waitForDevice(hub, "signed");
    const spy = await connect({ servers: server.url });
    onTestFinished(() => spy.close());
    const seen = spy.subscribe("skillgate.node.signed.*.call", { max: 1 });
    await spy.flush();
    expect(await hub.call("signed.EchoSkill.say", { text: "a" })).toBe("signed: a");
    expect(runtime.audit().at(-1)).toMatchObject({ caller: "controller/owner" });
    for await (const message of seen) {
      const inbox = spy.subscribe("replayed", { max: 1 });
      spy.publish(message.subject, message.data, {
        reply: "replayed",
        ...(message.headers !== undefined && { headers: message.headers }),
      });
      for await (const answer of inbox) expect(answer.string()).toContain("Nonce already used (replay attack)");
    }
  });

  test("refuses calls without a signature, and those of unknown keys [P7]", async () => {
    const [controller, device, other] = [createKey(), createKey(), createKey()];
    const reached: string[] = [];
    await joinWith(
      { url: server.url, name: "strict", key: device.file, peers: { controller: controller.text } },
      { skills: [createEchoSkill("strict", reached)] },
    );
    const plain = await openHub({ url: server.url });
    await waitForDevice(plain, "strict");
    await expect(plain.call("strict.EchoSkill.say", { text: "a" })).rejects.toMatchObject({
      message: expect.stringContaining("SIGNATURE_INVALID"),
    });
    const forged = await openHub({ url: server.url, key: other.file });
    await waitForDevice(forged, "strict");
    await expect(forged.call("strict.EchoSkill.say", { text: "a" })).rejects.toMatchObject({
      message: expect.stringContaining("SIGNATURE_INVALID"),
    });
    expect(reached).toEqual([]);
  });

  test("does not use a device whose list another key has signed [P7]", async () => {
    const [device, other] = [createKey(), createKey()];
    await joinWith({ url: server.url, name: "fake", key: other.file }, { skills: [createEchoSkill("fake")] });
    await joinWith({ url: server.url, name: "real", key: device.file }, { skills: [createEchoSkill("real")] });
    const hub = await openHub({ url: server.url, peers: { fake: device.text, real: device.text } });
    await waitForDevice(hub, "real");
    expect(hub.nodes.map(({ device: name }) => name)).toEqual(["real"]);
  });
});
