// @module-tag rest

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";

import type { StoreLocation } from "../../../src/store/index.ts";
import { prepareDatabases } from "../../support/databases.ts";
import { startApiServer } from "../../support/servers/api-server.ts";
import { CLIENT_SECRET, startOAuthProvider, type TestProvider } from "../../support/servers/oauth-provider.ts";

const { kinds } = prepareDatabases();

const PROGRAM = fileURLToPath(new URL("../../fixtures/accounts/call-shop.mjs", import.meta.url));

const DOCUMENT = {
  openapi: "3.1.0",
  info: { title: "Shop" },
  paths: { "/me": { get: { operationId: "whoAmI", responses: { 200: { description: "The user" } } } } },
};

interface ShopProcess {
  readonly child: ChildProcess;
  readonly logs: string[];
  /** Sends a line, and resolves to the answer. */
  ask(line: string): Promise<unknown>;
}

interface Shop {
  readonly folder: string;
  start(): Promise<ShopProcess>;
}

/** Prepares a folder with the API and the store that the processes share. */
function prepareShop(provider: TestProvider, location: StoreLocation, alerts = ""): Shop {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-shop-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "api.json"), JSON.stringify(DOCUMENT));
  const store = location.url === undefined ? "dir: store" : `url: "${location.url}"`;
  writeFileSync(join(folder, "settings.yaml"), `store: { ${store} }\n${alerts}`);
  return { folder, start: () => startProcess(folder, provider.issuer) };
}

async function startProcess(folder: string, issuer: string): Promise<ShopProcess> {
  const child = spawn(process.execPath, [PROGRAM, folder, issuer], {
    cwd: folder,
    stdio: ["pipe", "pipe", "inherit"],
    env: {
      PATH: process.env["PATH"],
      HOME: join(folder, "home"),
      CLIENT_SECRET,
      SKILLGATE_TRUSTED_FOLDERS: folder,
      SKILLGATE_ACCOUNT_KEY: "0123456789abcdef".repeat(4),
      ALERT_SECRET: `whsec_${Buffer.alloc(32, 7).toString("base64")}`,
    },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const logs: string[] = [];
  const waiting: ((answer: unknown) => void)[] = [];
  const next = (): Promise<unknown> => new Promise((resolve) => waiting.push(resolve));
  createInterface({ input: child.stdout }).on("line", (line) => {
    const answer = JSON.parse(line) as unknown;
    if (typeof answer === "object" && answer !== null && "log" in answer) logs.push(String(answer.log));
    else waiting.shift()?.(answer);
  });
  const ready = next();
  expect(await ready).toBe("ready");
  return {
    child,
    logs,
    ask(line) {
      const answer = next();
      child.stdin.write(`${line}\n`);
      return answer;
    },
  };
}

async function connect(shop: ShopProcess, provider: TestProvider): Promise<void> {
  const page = new URL(String(await shop.ask("connect")));
  expect(await shop.ask((await provider.logIn(page, "ada")).href)).toBe("ada@example.com");
}

function repeat(value: string, count: number): readonly string[] {
  return Array.from({ length: count }, () => value);
}

describe.each(kinds)("processes with an account of a provider, and a store of kind %s", (_kind, makeLocation) => {
  test("make one refresh for 20 programs at once whose token has ended", async () => {
    const provider = await startOAuthProvider();
    const shop = prepareShop(provider, makeLocation());
    const processes = [await shop.start(), await shop.start()] as const;
    provider.accessSeconds = 2;
    await connect(processes[0], provider);
    expect(await processes[0].ask("1")).toEqual(["ada"]);
    expect(await processes[1].ask("1")).toEqual(["ada"]);
    provider.accessSeconds = 3_600;
    const before = provider.countRefreshes();
    await waitUntilRefused(provider);
    expect(await Promise.all(processes.map((each) => each.ask("10")))).toEqual([repeat("ada", 10), repeat("ada", 10)]);
    expect(provider.countRefreshes()).toBe(before + 1);
    expect(findTokens(shop.folder, provider)).toEqual([]);
  });

  test("free the claim of a process that was killed between the answer of the provider and the write", async () => {
    const provider = await startOAuthProvider();
    const receiver = await startApiServer((_request, response) => response.end());
    const alerts = `alerts: { url: "${receiver.origin}/hook", secret: "\${ALERT_SECRET}", private: true }\n`;
    const shop = prepareShop(provider, makeLocation(), alerts);
    const [first, second] = [await shop.start(), await shop.start()];
    provider.accessSeconds = 1;
    await connect(first, provider);
    await waitUntilRefused(provider);
    const release = provider.hold();
    void first.ask("1");
    await expect.poll(() => provider.countRefreshes()).toBe(1);
    first.child.kill("SIGKILL");
    await once(first.child, "exit");
    release();
    // The provider has replaced the refresh token, which only the killed process has got.
    expect(await second.ask("3")).toEqual(repeat("ACCOUNT_RECONNECT", 3));
    expect(provider.countRefreshes()).toBe(2);
    expect(second.logs).toContainEqual(
      expect.stringMatching(/The account shop \(everyone\) must be connected again: .*invalid_grant/),
    );
    await expect.poll(() => receiver.received.length).toBe(1);
    expect(JSON.parse(receiver.received[0]?.body ?? "")).toMatchObject({
      type: "account.reconnect",
      data: { account: "shop", owner: null, reason: expect.stringContaining("invalid_grant") },
    });
    provider.accessSeconds = 3_600;
    await connect(second, provider);
    expect(await second.ask("2")).toEqual(["ada", "ada"]);
    expect(findTokens(shop.folder, provider)).toEqual([]);
  });

  test("survive the kill of a process at a provider that accepts a refresh token again", async () => {
    const provider = await startOAuthProvider();
    const shop = prepareShop(provider, makeLocation());
    const [first, second] = [await shop.start(), await shop.start()];
    provider.accessSeconds = 1;
    provider.isRotating = false;
    await connect(first, provider);
    await waitUntilRefused(provider);
    provider.accessSeconds = 3_600;
    const release = provider.hold();
    void first.ask("1");
    await expect.poll(() => provider.countRefreshes()).toBe(1);
    const waiting = second.ask("3");
    first.child.kill("SIGKILL");
    await once(first.child, "exit");
    release();
    expect(await waiting).toEqual(repeat("ada", 3));
    expect(provider.countRefreshes()).toBe(2);
  });
});

/** Waits until the last token of the provider has ended. */
async function waitUntilRefused(provider: TestProvider): Promise<void> {
  const token = provider.tokens.at(-2) ?? ""; // the access token comes before the refresh token
  const headers = { authorization: `Bearer ${token}` };
  await expect.poll(async () => (await fetch(`${provider.apiUrl}/me`, { headers })).status).toBe(401);
}

/** Lists the files below a folder that have a token of the provider. */
function findTokens(folder: string, provider: TestProvider): readonly string[] {
  const secrets = [...provider.tokens, ...provider.calls];
  expect(secrets.length).toBeGreaterThan(1);
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((file) => statSync(file).isFile())
    .filter((file) => secrets.some((secret) => readFileSync(file, "latin1").includes(secret)));
}
