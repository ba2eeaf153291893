// @module-tag rest

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { chromium } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";

import {
  BIN,
  type Ended,
  ended,
  environment,
  HAS_TERMINAL,
  project,
  runProcess,
  start,
} from "../../surfaces/cli/command.ts";
import { CLIENT_SECRET, startOAuthProvider, type TestProvider } from "../../support/servers/oauth-provider.ts";

const CHROMIUM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";

const ENV = { CLIENT_SECRET };

/** A project with the account `shop`. */
function createShop({ issuer, apiUrl }: TestProvider, more = ""): string {
  return project({
    "settings.yaml": `store: { dir: store }
accounts:
  shop:
    { type: oauth, issuer: "${issuer}", deviceUrl: "${issuer}/device/auth", clientId: web, clientSecret: "\${CLIENT_SECRET}",
      scopes: [openid, read], private: true, test: "${apiUrl}/me"${more} }
`,
  });
}

/** Starts `account connect shop`. `read` resolves with the first match of a pattern in what it prints for people. */
function startConnect(cwd: string, ...args: readonly string[]) {
  const child: ChildProcess = start(["account", "connect", "shop", ...args], { cwd, env: ENV });
  onTestFinished(() => void child.kill("SIGKILL"));
  let printed = "";
  child.stderr?.on("data", (chunk: Buffer) => (printed += chunk.toString()));
  const read = async (pattern: RegExp): Promise<string> => {
    await expect.poll(() => printed).toMatch(pattern);
    return pattern.exec(printed)?.[1] ?? "";
  };
  return { child, ended: ended(child), read };
}

function account(cwd: string, ...args: readonly string[]): Promise<Ended> {
  return runProcess(["account", ...args], { cwd, env: ENV });
}

const ADDRESS = /^(http:\/\/\S+\/auth\?\S+)$/m;

test("account connect logs in at a provider, whose tokens account revoke ends", async () => {
  const provider = await startOAuthProvider();
  const cwd = createShop(provider);
  expect((await account(cwd, "list")).stdout).toMatch(/^shop {2}oauth {2}.*not connected/);
  const connect = startConnect(cwd, "--no-browser");
  const returned = await provider.logIn(new URL(await connect.read(ADDRESS)), "ada");
  const wrong = new URL(returned);
  wrong.searchParams.set("state", "other");
  expect((await fetch(wrong)).status).toBe(400);
  const page = await fetch(returned);
  expect(await page.text()).toBe(
    "Connected shop as ada@example.com. You can close this page and go back to the terminal.\n",
  );
  expect(page.headers.get("content-type")).toBe("text/plain; charset=utf-8");
  expect(await connect.ended).toMatchObject({
    exit: 0,
    stdout: "Connected shop as ada@example.com\n",
    stderr: expect.stringContaining("Try it: skillgate account test shop"),
  });
  expect(await account(cwd, "test", "shop")).toMatchObject({ exit: 0, stdout: expect.stringContaining("✓ shop") });
  expect((await account(cwd, "list", "--json")).stdout).toContain('"label":"ada@example.com"');
  const [access = "", refresh = ""] = provider.tokens;
  expect(await account(cwd, "revoke", "shop")).toMatchObject({ exit: 0 });
  expect(provider.bodies.slice(-2).map((body) => body.get("token"))).toEqual([refresh, access]);
  expect(await account(cwd, "test", "shop")).toMatchObject({ stdout: expect.stringContaining("account connect shop") });
});

test("account connect names the scopes that the provider has not granted", async () => {
  const provider = await startOAuthProvider();
  const connect = startConnect(createShop(provider), "--no-browser", "--scopes", "email", "write", "admin", "--json");
  await fetch(await provider.logIn(new URL(await connect.read(ADDRESS)), "ada"));
  expect(JSON.parse((await connect.ended).stdout)).toEqual({
    connected: "shop",
    owner: null,
    missingScopes: ["write"],
  });
  const again = startConnect(createShop(provider), "--no-browser", "--scopes", "write", "files");
  await fetch(await provider.logIn(new URL(await again.read(ADDRESS)), "ada"));
  expect((await again.ended).stderr).toContain(
    'The provider does not name "write", "files" among the scopes that it has granted: requests that need them may be refused\n',
  );
});

test("account connect says on the page and at the terminal that access was denied, and stores nothing", async () => {
  const provider = await startOAuthProvider();
  const cwd = createShop(provider);
  const connect = startConnect(cwd, "--no-browser");
  const page = await fetch(await provider.deny(new URL(await connect.read(ADDRESS))));
  const why = /shop \(owner\): 127\.0\.0\.1:\d+ gives no access: access_denied: The user denied access/;
  expect(await page.text()).toMatch(why);
  const { exit, stderr } = await connect.ended;
  expect(exit).not.toBe(0);
  expect(stderr).toMatch(why);
  expect((await account(cwd, "list")).stdout).toMatch(/not connected/);
});

test("account connect asks for a code on a device without a browser", async () => {
  const provider = await startOAuthProvider();
  const connect = startConnect(createShop(provider, ", grant: device"));
  const code = await connect.read(/enter the code ([A-Z]{4}-[A-Z]{4}) within 10 minutes/);
  await provider.enterCode(code, "grace");
  expect(await connect.ended).toMatchObject({ exit: 0, stdout: "Connected shop as grace@example.com\n" });
});

test.each(["", ", grant: device"])("account connect leaves nothing after Ctrl-C%s", async (grant) => {
  const provider = await startOAuthProvider();
  const cwd = createShop(provider, grant);
  const connect = startConnect(cwd, "--no-browser");
  await connect.read(/(http:\/\/\S+)/);
  connect.child.kill("SIGINT");
  expect((await connect.ended).exit).toBe(130);
  expect((await account(cwd, "list", "--json")).stdout).toContain('"state":"missing"');
  expect(provider.tokens).toEqual([]);
});

test("account connect says that the port is in use to which the browser must return", async () => {
  const provider = await startOAuthProvider();
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const { exit, stderr } = await startConnect(createShop(provider, `, callbackPort: ${port}`)).ended;
  expect(exit).not.toBe(0);
  expect(stderr).toContain(`Cannot listen on port ${port}, to which the browser returns`);
});

test.skipIf(!existsSync(CHROMIUM))("account connect connects in a real browser", async () => {
  const provider = await startOAuthProvider();
  const cwd = createShop(provider);
  const connect = startConnect(cwd, "--no-browser");
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
  onTestFinished(() => browser.close());
  const page = await browser.newPage();
  await page.goto(await connect.read(ADDRESS));
  await page.getByLabel("User").fill("ada");
  await page.getByRole("button", { name: "Allow" }).click();
  await page.getByText("Connected shop as ada@example.com").waitFor();
  expect(await connect.ended).toMatchObject({ exit: 0 });
});

test.skipIf(!HAS_TERMINAL)(
  "account connect takes the address of a page that the browser of another machine cannot open",
  async () => {
    const provider = await startOAuthProvider();
    const cwd = createShop(provider);
    const line = `"${process.execPath}" "${BIN}" account connect shop --no-browser`;
    const child = spawn("script", ["-qefc", line, "/dev/null"], {
      cwd,
      env: environment(cwd, { ...ENV, TERM: "xterm", NO_COLOR: "1" }),
      stdio: ["pipe", "pipe", "inherit"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    let screen = "";
    let isPasted = false;
    for await (const chunk of child.stdout.setEncoding("utf8") as AsyncIterable<string>) {
      screen += chunk;
      const [, address] = /^(http:\/\/\S+\/auth\?\S+)\r?$/m.exec(screen) ?? [];
      if (isPasted || address === undefined || !screen.includes("paste the address")) continue;
      isPasted = true;
      child.stdin.write(`${String(await provider.logIn(new URL(address), "ada"))}\n`);
    }
    expect(screen).toContain("Connected shop as ada@example.com");
    expect((await account(cwd, "list")).stdout).toContain("connected");
  },
);
