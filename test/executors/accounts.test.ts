import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";

import type { Caller, ProvidedSkill, Runtime } from "../../src/index.ts";
import { NATS_SERVER, startNats } from "../support/servers/nats.ts";
import { connectFronts } from "../../src/executors/front-calls.ts";
import { parseExecutorSettings } from "../../src/runtime/settings/network-settings.ts";
import { createEchoSkill, openFront, type Project, startExecutorHere } from "./network.ts";

const TOKEN = "token-of-the-shop-0123456789";
const ADA: Caller = { id: "ada", permissions: ["call:*"], scopes: ["*"] };

interface Shop {
  readonly project: Project;
  /** The headers of the requests that arrived. */
  readonly requests: readonly IncomingHttpHeaders[];
  readonly env: Readonly<Record<"front" | "executor", Readonly<Record<string, string>>>>;
}

/** A skill of the kind of those that add credentials to their requests. */
function createShopSkill(url: string): ProvidedSkill {
  return {
    name: "ShopAPI",
    description: "A shop",
    source: "shop",
    kind: "api",
    methods: [
      {
        name: "order",
        description: "Orders",
        input: { type: "object", properties: { day: {}, item: { type: "string" } }, required: ["item"] },
        accounts: ["shop"],
        metadata: { approval: "user" },
      },
    ],
    async invoke(_method, { item, day }, context) {
      const { credential } = (await context.openAccount?.("shop")) ?? { credential: [] };
      const headers = Object.fromEntries(credential.map(({ name, value }) => [name, value]));
      const response = await fetch(`${url}/${String(item)}`, { headers, signal: context.signal });
      if (item === "gone") throw new Error("the shop has no such item");
      context.addNote?.("the shop is open");
      return { said: await response.text(), call: context.callId, day, isDate: day instanceof Date };
    },
  };
}

async function openShop(): Promise<Shop & { readonly url: string }> {
  const requests: IncomingHttpHeaders[] = [];
  const api = createServer(({ headers }, response) => {
    requests.push(headers);
    response.end("thanks");
  });
  await new Promise<void>((resolve) => api.listen(0, "127.0.0.1", resolve));
  const nats = await startNats();
  const folder = mkdtempSync(join(tmpdir(), "skillgate-executors-"));
  onTestFinished(async () => {
    api.close();
    await nats.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const options = { accounts: { shop: { type: "bearer", token: "${SHOP_KEY}" } } } as const;
  const env = { front: { HOME: folder, SHOP_KEY: TOKEN }, executor: { HOME: folder } };
  const url = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
  return { url, requests, env, project: { url: nats.url, location: { folder }, options } };
}

function withEnv(project: Project, env: Readonly<Record<string, string>>): Project {
  return { ...project, options: { ...project.options, env } };
}

describe.skipIf(NATS_SERVER === undefined)("calls with accounts of programs on executors", () => {
  test(
    "are made by a front, after an approval at the executor, with the value there alone [O3]",
    { tags: "rest" },
    async () => {
      const { project, url, requests, env } = await openShop();
      const skill = createShopSkill(url);
      const executor = await startExecutorHere(withEnv(project, env.executor), [skill]);
      const { runtime } = await openFront(withEnv(project, env.front), [skill]);
      const source = `await device.ShopAPI.order({ item: "tea", day: new Date(0) })`;
      const outcome = await runtime.run(source, { caller: ADA, approve: () => true });
      expect(outcome).toMatchObject({
        kind: "completed",
        value: { said: "thanks", call: `${outcome.runId}/1`, day: new Date(0), isDate: true },
        calls: [{ skill: "ShopAPI", method: "order", outcome: "ok" }],
      });
      expect(JSON.stringify(outcome)).toContain("the shop is open");
      expect(requests.map(({ authorization }) => authorization)).toEqual([`Bearer ${TOKEN}`]);
      expect(executor.runtime.problems.map(({ error }) => error).join()).toContain(
        "environment variable SHOP_KEY is not set",
      );
      const failed = await runtime.run(`await device.ShopAPI.order({ item: "gone" })`, {
        caller: ADA,
        approve: () => true,
      });
      expect(failed).toMatchObject({ kind: "failed", error: { message: expect.stringContaining("no such item") } });
    },
  );

  test("are not asked about at the front again, and are refused for a caller without the right", async () => {
    const { project, url, requests, env } = await openShop();
    const skill = createShopSkill(url);
    await startExecutorHere(withEnv(project, env.executor), [skill]);
    const { runtime } = await openFront(withEnv(project, env.front), [skill]);
    let questions = 0;
    const approve = (): boolean => ++questions > 0;
    await runtime.run(`await device.ShopAPI.order({ item: "tea" })`, { caller: ADA, approve });
    expect(questions).toBe(1);
    const eve: Caller = { id: "eve", permissions: ["see:*"] };
    expect(await runtime.run(`await device.ShopAPI.order({ item: "tea" })`, { caller: eve, approve })).toMatchObject({
      kind: "refused",
    });
    expect(requests.length).toBe(1);
  });

  test("are the only ones that a front makes for another machine", async () => {
    const { project, url, env } = await openShop();
    const reached: string[] = [];
    await openFront(withEnv(project, env.front), [createShopSkill(url), createEchoSkill("front", reached)]);
    const { settings } = parseExecutorSettings({ url: project.url }, { cwd: ".", fillIn: (text) => text });
    if (settings === undefined) throw new TypeError("The settings are not valid");
    const fronts = await connectFronts({ settings, warn: () => {} });
    onTestFinished(() => fronts.close());
    const call = {
      runId: "r",
      id: 1,
      path: "EchoSkill.ask",
      caller: { id: "owner", permissions: ["call:*"] },
      input: { json: `{"text":"hello"}`, tagged: false },
      accounts: [],
    };
    const answer = await fronts.call(call, AbortSignal.timeout(10_000));
    expect(answer).toMatchObject({
      error: { code: "ACCOUNT_UNAVAILABLE", message: expect.stringContaining("no record of its run") },
    });
    expect(reached).toEqual([]);
  });

  test(
    "are refused, and noted, unless a run of this caller has just made them with this method and these arguments",
    { tags: "rest" },
    async () => {
      const { project, url, requests, env } = await openShop();
      const skill = createShopSkill(url);
      await startExecutorHere(withEnv(project, env.executor), [skill]);
      const front = withEnv(project, env.front);
      const { runtime } = await openFront({ ...front, options: { ...front.options, audit: "store" } }, [skill]);
      const { settings } = parseExecutorSettings({ url: project.url }, { cwd: ".", fillIn: (text) => text });
      if (settings === undefined) throw new TypeError("The settings are not valid");
      const fronts = await connectFronts({ settings, warn: () => {} });
      onTestFinished(() => fronts.close());
      let say = (_isApproved: boolean): void => {};
      let ask = (): void => {};
      const asked = new Promise<void>((resolve) => (ask = resolve));
      const outcome = runtime.run(`await device.ShopAPI.order({ item: "tea" })`, {
        caller: ADA,
        approve: () => {
          ask();
          return new Promise<boolean>((resolve) => (say = resolve));
        },
      });
      await asked;
      const { runs } = await runtime.database();
      await expect.poll(async () => (await runs.list({})).length).toBe(1);
      const [row] = await runs.list({});
      const call = {
        runId: row?.id ?? "",
        id: 1,
        path: "ShopAPI.order",
        caller: ADA,
        input: { json: `{"item":"tea"}`, tagged: false },
        accounts: [],
      };
      const send = async (more: object): Promise<unknown> => {
        const answer = await fronts.call({ ...call, ...more }, AbortSignal.timeout(10_000));
        return "error" in answer ? answer.error.message : answer;
      };
      // It waits for an approval.
      expect(await send({})).toContain("does not have it as a call under way");
      expect(await send({ caller: { ...ADA, id: "eve" } })).toContain("its run is of another caller");
      expect(await send({ runId: "other" })).toContain("no record of its run");
      expect(await send({ id: 2 })).toContain("does not have it as a call under way");
      expect(requests).toEqual([]);
      say(true);
      expect(await outcome).toMatchObject({ kind: "completed" });
      expect(await send({})).toContain("no process executes its run");
      expect(requests).toHaveLength(1);
      const { audit } = await runtime.database();
      const read = async (): Promise<string> => (await audit.tail(50)).map(({ record }) => record).join("\n");
      await expect.poll(read).toMatch(/"caller":"eve","code":"ACCOUNT_UNAVAILABLE","decision":"refused"/);
    },
  );

  test("of programs that only read are found in the record, too", async () => {
    const { project, url, requests, env } = await openShop();
    const shop = createShopSkill(url);
    const skill = {
      ...shop,
      methods: shop.methods.map((method) => ({ ...method, metadata: { readOnly: true } })),
    };
    await startExecutorHere(withEnv(project, env.executor), [skill]);
    const { runtime } = await openFront(withEnv(project, env.front), [skill]);
    expect(await runtime.run(`await device.ShopAPI.order({ item: "tea" })`, { caller: ADA })).toMatchObject({
      kind: "completed",
    });
    expect(requests).toHaveLength(1);
  });

  test("say that no server can be reached", async () => {
    const { project, url, env } = await openShop();
    const skill = createShopSkill(url);
    const { runtime: executor } = await startExecutorHere(withEnv(project, env.executor), [skill]);
    const outcome = await runHere(executor);
    expect(outcome).toMatchObject({ kind: "failed", error: { code: "ACCOUNT_UNAVAILABLE" } });
  });
});

/** A run that the executor has from no front, such as one that it continues after an approval. */
function runHere(runtime: Runtime): ReturnType<Runtime["run"]> {
  return runtime.run(`await device.ShopAPI.order({ item: "tea" })`, { caller: ADA, approve: () => true });
}
