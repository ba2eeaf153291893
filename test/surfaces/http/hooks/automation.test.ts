import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { expect, onTestFinished, test, vi } from "vitest";

import { defineSkill } from "../../../../src/authoring/define-skill.ts";
import { createKeys } from "../../../../src/keys/index.ts";
import { type OccurrenceRow, openDatabase } from "../../../../src/store/index.ts";
import type { Runtime } from "../../../../src/runtime.ts";
import { stringify } from "../../../../src/shared/package/yaml.ts";
import { SECRET, signers, WHSEC } from "../../../automations/webhook/deliveries.ts";
import { folder, serve } from "../../serving.ts";

const SOURCE = "const { body, event } = await device.input();\nawait device.ShopSkill.note(body.n, event);";

interface Shop {
  readonly url: string;
  readonly runtime: Runtime;
  readonly file: string;
  readonly notes: unknown[];
  readonly lines: readonly string[];
  readonly most: () => number;
  readonly write: (changes?: object) => void;
  readonly send: (
    n: number,
    secret?: string,
  ) => Promise<readonly [status: number, json: { readonly delivery: string }]>;
  readonly history: () => Promise<readonly OccurrenceRow[]>;
}

interface ShopOptions {
  readonly accepts?: boolean;
  readonly webhook?: object;
  readonly schedule?: object;
  readonly limits?: object;
}

/** Serves a shop with an automation `orders` that has a webhook. */
async function openShop({ accepts = true, ...changes }: ShopOptions = {}): Promise<Shop> {
  vi.stubEnv("ORDER_HOOK_SECRET", SECRET);
  const notes: unknown[] = [];
  let running = 0;
  let most = 0;
  const skill = defineSkill({
    name: "ShopSkill",
    description: "Notes orders",
    methods: {
      note: {
        description: "Note an order",
        input: {
          type: "object",
          properties: { n: { type: "number" }, event: { type: "string" } },
          required: ["n", "event"],
        },
        run: async ({ n, event }) => {
          most = Math.max(most, ++running);
          await new Promise((resolve) => setImmediate(resolve));
          notes.push([n, event]);
          running--;
        },
      },
    },
  });
  const automationsDir = join(folder(), "automations");
  mkdirSync(automationsDir);
  const file = join(automationsDir, "orders.yaml");
  const write = (changes: object = {}): void =>
    writeFileSync(
      file,
      stringify({
        description: "Notes orders",
        key: "clerk",
        webhook: { verify: "github", secrets: ["${ORDER_HOOK_SECRET}"] },
        limits: { parallel: 3, runsPerHour: 10_000 },
        source: SOURCE,
        ...changes,
      }),
    );
  write(changes);
  const lines: string[] = [];
  const store = folder();
  const database = await openDatabase({ folder: store });
  await createKeys(database).create({ name: "clerk", permissions: ["call:ShopSkill.*"] });
  await database.close();
  const { url, runtime } = await serve(
    {},
    { skills: [skill], automationsDir, store, workers: 2, log: (_level, text) => void lines.push(text) },
    () => false,
  );
  const agent = new Agent({ maxSockets: 200 });
  onTestFinished(() => agent.destroy());
  if (accepts) await runtime.automations.accept("orders");
  await runtime.automations.follow();
  return {
    url,
    runtime,
    file,
    notes,
    lines,
    most: () => most,
    write,
    async send(n, secret = SECRET) {
      const { headers, body } = signers.github(JSON.stringify({ n }), secret);
      const outgoing = request(`${url}/hooks/orders`, { method: "POST", headers, agent }).end(body);
      const [response] = (await once(outgoing, "response")) as [IncomingMessage];
      return [response.statusCode ?? 0, (await json(response)) as { delivery: string }];
    },
    history: () => runtime.automations.history("orders", { limit: 2_000 }),
  };
}

/** Waits until all deliveries of the automation have ended. Each look reads the whole history, so long ones have fewer looks. */
async function waitForEnds({ runtime, history }: Shop, count: number): Promise<readonly OccurrenceRow[]> {
  await vi.waitUntil(async () => (await history()).filter(({ ended }) => ended !== null).length >= count, {
    timeout: 120_000,
    interval: Math.max(100, count),
  });
  const rows = await history();
  return Promise.all(rows.map(async (row) => (row.ended === null ? runtime.automations.whenEnded(row) : row)));
}

test("runs each delivery, also while another one runs and overlap is skip", async () => {
  const shop = await openShop({
    schedule: { every: "1d", overlap: "skip" },
    limits: { parallel: 1, runsPerHour: 100 },
  });
  expect(await Promise.all([1, 2, 3, 4, 5].map((n) => shop.send(n)))).toMatchObject(
    [1, 2, 3, 4, 5].map(() => [202, {}]),
  );
  const ended = await waitForEnds(shop, 5);
  expect(ended.map(({ state }) => state)).toEqual(Array(5).fill("completed"));
  expect(shop.most()).toBe(1);
});

test("says which deliveries wait because the runs of an hour are reached, and loses none", async () => {
  const shop = await openShop({ limits: { parallel: 1, runsPerHour: 2 } });
  expect(await shop.runtime.automations.get("orders")).not.toHaveProperty("waiting");
  for (let n = 0; n < 5; n++) expect(await shop.send(n)).toMatchObject([202, {}]);
  const findEnded = async (): Promise<readonly OccurrenceRow[]> =>
    (await shop.history()).filter(({ state }) => state === "completed");
  await expect.poll(async () => (await findEnded()).length).toBe(2);
  const next = Math.min(...(await findEnded()).map(({ started }) => started ?? Infinity)) + 3_600_000;
  const { automations } = shop.runtime;
  expect(await automations.list()).toMatchObject([
    { name: "orders", waiting: { deliveries: 3, runsPerHour: 2, next } },
  ]);
  expect((await shop.history()).map(({ state }) => state).toSorted()).toEqual([
    "completed",
    "completed",
    "due",
    "due",
    "due",
  ]);
  await automations.pause("orders");
  expect(await automations.get("orders")).toMatchObject({ state: "paused", waiting: { deliveries: 3 } });
});

test("runs an automation with the delivery as its input, once, without a token", async () => {
  const shop = await openShop();
  const [status, { delivery }] = await shop.send(7);
  expect(status).toBe(202);
  expect(await waitForEnds(shop, 1)).toMatchObject([
    { id: delivery, kind: "delivery", state: "completed", error: null },
  ]);
  expect(await shop.send(7)).toEqual([200, { delivery }]);
  expect(await shop.send(8, "another secret")).toMatchObject([401, {}]);
  expect(shop.notes).toEqual([[7, "push"]]);
  expect(await shop.history()).toHaveLength(1);
});

test("starts nothing for a copy of a delivery whose occurrence was deleted", async () => {
  const shop = await openShop();
  const [, { delivery }] = await shop.send(7);
  await waitForEnds(shop, 1);
  await (await shop.runtime.database()).sweep({}, Date.now() + 31 * 86_400_000);
  expect(await shop.history()).toEqual([]);
  expect(await shop.send(7)).toEqual([200, { delivery }]);
  expect(await shop.history()).toEqual([]);
});

test("answers 405 to other methods, and 404 or 401 elsewhere", async () => {
  const { url } = await openShop();
  const ask = async (method: string, path: string) => {
    const { status, headers } = await fetch(`${url}${path}`, { method });
    return [status, headers.get("allow")];
  };
  expect(await ask("GET", "/hooks/orders")).toEqual([405, "POST"]);
  expect(await ask("PUT", "/hooks/other")).toEqual([405, "POST"]);
  expect(await ask("POST", "/hooks/orders/more")).toEqual([401, null]);
  expect(await ask("POST", "/hooks/%ff")).toEqual([401, null]);
  expect(await ask("POST", "/hooks/constructor")).toEqual([401, null]);
});

test("does not know the webhook of an automation that is not accepted, or whose file is gone", async () => {
  const shop = await openShop({ accepts: false });
  expect((await shop.send(1))[0]).toBe(401);
  await shop.runtime.automations.accept("orders");
  await vi.waitUntil(async () => (await shop.send(2))[0] === 202, { timeout: 5_000, interval: 100 });
  rmSync(shop.file);
  await shop.runtime.automations.pause("orders");
  await vi.waitUntil(async () => (await shop.send(3))[0] === 401, { timeout: 5_000, interval: 100 });
});

test("stores the deliveries to a paused automation, and runs them when it is resumed", { tags: "rest" }, async () => {
  const shop = await openShop();
  await shop.runtime.automations.pause("orders");
  expect((await shop.send(1))[0]).toBe(202);
  expect((await shop.send(2))[0]).toBe(202);
  expect(await shop.history()).toMatchObject([{ state: "due" }, { state: "due" }]);
  await shop.runtime.automations.resume("orders");
  expect(await waitForEnds(shop, 2)).toMatchObject([{ state: "completed" }, { state: "completed" }]);
  expect(shop.notes.toSorted((a, b) => String(a).localeCompare(String(b)))).toEqual([
    [1, "push"],
    [2, "push"],
  ]);
});

test("verifies deliveries as the accepted version says until a person accepts the changed file", async () => {
  const shop = await openShop();
  vi.stubEnv("OTHER_SECRET", "a secret that an attacker knows");
  shop.write({ webhook: { verify: "github", secrets: ["${OTHER_SECRET}"] } });
  expect((await shop.send(1, "a secret that an attacker knows"))[0]).toBe(401);
  expect((await shop.send(2))[0]).toBe(202);
  await vi.waitUntil(async () => (await shop.runtime.automations.get("orders")).state === "held", { timeout: 10_000 });
  expect(await shop.history()).toMatchObject([{ state: "due" }]);
  await shop.runtime.automations.accept("orders");
  expect(await waitForEnds(shop, 1)).toMatchObject([{ state: "completed" }]);
  expect(shop.notes).toEqual([[2, "push"]]);
});

test(
  "stores at most 1,000 deliveries to a paused automation, and answers a repeated one",
  { tags: "rest", timeout: 60_000 },
  async () => {
    const shop = await openShop();
    await shop.runtime.automations.pause("orders");
    await vi.waitUntil(async () => (await shop.send(1))[0] === 200 || (await shop.history()).length === 1);
    for (let n = 2; n <= 1_000; n++) {
      const { headers, body } = signers.github(JSON.stringify({ n }));
      await shop.runtime.automations.receive("orders", { headers, body: Buffer.from(body), address: "192.0.2.1" });
    }
    expect((await shop.send(1_000))[0]).toBe(200);
    expect((await shop.send(1_001))[0]).toBe(503);
    expect(await shop.history()).toHaveLength(1_000);
  },
);

test("shows why requests were refused, and which secret cannot be used", async () => {
  const shop = await openShop({
    webhook: {
      verify: "standard",
      secrets: ["${ORDER_HOOK_SECRET}", "${cmd:printf %s whsec_dG9vIHNob3J0}", "${ABSENT_SECRET}"],
    },
  });
  expect((await shop.send(1))[0]).toBe(401);
  expect(shop.lines).toEqual(
    expect.arrayContaining([
      "The secret ${ORDER_HOOK_SECRET} of the webhook of the automation orders must be whsec_ and 24 to 64 bytes in base64",
      "The secret ${cmd:printf %s [redacted]} of the webhook of the automation orders must be whsec_ and 24 to 64 bytes in base64",
      "The secret ${ABSENT_SECRET} of the webhook of the automation orders: environment variable ABSENT_SECRET is not set",
      expect.stringContaining("Refused a request to the webhook orders of the automation orders from 127.0.0.1: "),
    ]),
  );
  expect(shop.lines.join()).not.toContain(SECRET);
  expect(await shop.runtime.automations.get("orders")).toMatchObject({
    refused: { count: 1, why: "the header webhook-signature is absent: is the secret set at the service?" },
  });
});

test("takes a secret from a command, and keeps the ids of deliveries apart from those of slots", async () => {
  const shop = await openShop({ webhook: { verify: "standard", secrets: [`\${cmd:printf %s ${WHSEC}}`] } });
  const send = async (id: string) => {
    const { headers, body } = signers.standard('{"n":1}', WHSEC, String(Math.floor(Date.now() / 1_000)), id);
    return shop.runtime.automations.receive("orders", { headers, body: Buffer.from(body), address: "192.0.2.1" });
  };
  for (const id of ["2026-11-27T05:00:00Z", "manual-1", "delivery-1", "msg_1"])
    expect(await send(id)).toEqual({ kind: "stored", delivery: id, isRepeated: false });
  expect(await send("2026-11-27T05:00:00Z")).toMatchObject({ isRepeated: true });
  expect((await shop.history()).map(({ id }) => id).toSorted()).toEqual([
    "delivery-2026-11-27T05:00:00Z",
    "delivery-delivery-1",
    "delivery-manual-1",
    "msg_1",
  ]);
});

test(
  "loses none of 1,000 deliveries that arrive at once, and keeps the limit of parallel runs",
  { tags: "rest", timeout: 300_000 },
  async () => {
    const shop = await openShop();
    const answers = await Promise.all(Array.from({ length: 1_000 }, (_, n) => shop.send(n)));
    expect(answers.map(([status]) => status)).toEqual(answers.map(() => 202));
    const rows = await waitForEnds(shop, 1_000);
    expect(rows.filter(({ state }) => state !== "completed")).toEqual([]);
    expect(new Set(shop.notes.map((note) => (note as [number, string])[0])).size).toBe(1_000);
    expect(shop.notes).toHaveLength(1_000);
    expect(shop.most()).toBe(3);
  },
);
