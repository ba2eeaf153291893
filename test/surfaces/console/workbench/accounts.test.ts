import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";

import { createKeys } from "../../../../src/keys/index.ts";
import type { RuntimeOptions } from "../../../../src/runtime/options.ts";
import type { AccountSummary } from "../../../../src/surfaces/console/messages.ts";
import { createFolder } from "../../../approvals/mail.ts";
import { CLIENT_SECRET, startOAuthProvider } from "../../../support/servers/oauth-provider.ts";
import { folder } from "../../serving.ts";
import {
  BOTH_COLOURS,
  checkViews,
  type ConsoleServer,
  findViolations,
  hasChromium,
  openConsole,
  serveConsole,
  takeScreenshot,
  TOKEN,
  useBrowser,
} from "../browser.ts";

useBrowser();

const VALUE = "adas-token-4f9c2e71b8";

const ACCOUNTS = {
  notes: { type: "bearer" },
  shop: { type: "apiKey", in: "header", name: ["X-Id", "X-Secret"], for: "everyone" },
  set: { type: "bearer", token: "${SET_TOKEN}" },
  hub: {
    type: "oauth",
    authorizationUrl: "https://hub.example/authorize",
    tokenUrl: "https://hub.example/token",
    clientId: "skillgate",
  },
} as const;

function serveAccounts(
  accounts: RuntimeOptions["accounts"] = ACCOUNTS,
  mcp: RuntimeOptions["mcp"] = {},
): Promise<ConsoleServer> {
  const env = {
    SKILLGATE_ACCOUNT_KEY: randomBytes(32).toString("base64"),
    SET_TOKEN: "set-token-771ab2",
    HOME: folder(),
  };
  return serveConsole({ settings: { auth: true }, runtime: { store: createFolder(), env, accounts, mcp } });
}

async function createKey(server: ConsoleServer, name: string, permissions: readonly string[]): Promise<string> {
  const { text } = await createKeys(await server.runtime.database()).create({ name, permissions });
  return text;
}

interface Answer {
  readonly status: number;
  readonly json: unknown;
}

async function send(server: ConsoleServer, token: string, path: string, body?: object): Promise<Answer> {
  const headers = { authorization: `Bearer ${token}`, "x-skillgate-console": "1", "content-type": "application/json" };
  const response = await fetch(`${server.url}/console/api${path}`, {
    headers,
    ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
  });
  const text = await response.text();
  expect(text).not.toContain(VALUE);
  return { status: response.status, json: text === "" ? undefined : JSON.parse(text) };
}

async function list(server: ConsoleServer, token: string): Promise<readonly AccountSummary[]> {
  const { json } = await send(server, token, "/accounts");
  return (json as { readonly accounts: readonly AccountSummary[] }).accounts;
}

describe("the endpoints of accounts", () => {
  test("connect, test and revoke the connection of the caller, and never answer with a value", async () => {
    const server = await serveAccounts();
    const ada = await createKey(server, "ada", ["call:*"]);
    const [before, hub, ...others] = await list(server, ada);
    expect(before).toMatchObject({
      name: "notes",
      state: "missing",
      ownerName: "ada",
      isOwn: true,
      connect: { kind: "values", names: ["token"] },
    });
    expect(hub).toMatchObject({ name: "hub", connect: { kind: "link", url: `${server.url}/connect/hub` } });
    expect(others).toEqual([]);
    const owner = before?.owner;
    expect(await send(server, ada, "/accounts/notes/connect", { owner, values: [VALUE] })).toMatchObject({
      status: 204,
    });
    expect(await list(server, ada)).toMatchObject([{ name: "notes", state: "connected", owner }, { name: "hub" }]);
    expect((await send(server, ada, "/accounts/notes/test", { owner })).json).toMatchObject({ result: "readable" });
    expect(await send(server, ada, "/accounts/notes/revoke", { owner })).toMatchObject({
      status: 200,
      json: { left: null },
    });
    expect(await list(server, ada)).toMatchObject([{ name: "notes", state: "missing" }, { name: "hub" }]);
    expect(await send(server, ada, "/accounts/notes/revoke", { owner })).toMatchObject({ status: 400 });
  });

  test("say what is wrong with a value, without the value", async () => {
    const server = await serveAccounts();
    const connect = (name: string, body: object) => send(server, TOKEN, `/accounts/${name}/connect`, body);
    for (const values of [[], [`${VALUE}\n`], [VALUE, VALUE], VALUE, [1]])
      expect(await connect("notes", { owner: "owner", values })).toMatchObject({ status: 400 });
    expect(await connect("shop", { owner: null, values: [VALUE] })).toMatchObject({
      json: { detail: expect.stringContaining("it needs 2 values: X-Id, X-Secret") },
    });
    expect(await connect("set", { owner: null, values: [VALUE] })).toMatchObject({ status: 400 });
    expect(await connect("gone", { owner: null, values: [VALUE] })).toMatchObject({ status: 400 });
    expect(await connect("notes", { values: [VALUE] })).toMatchObject({
      json: { detail: expect.stringContaining("owner must be the id of a caller, or null") },
    });
  });

  test("give an administrator of servers the connections of everyone and of each key, and others only their own", async () => {
    const server = await serveAccounts();
    const operator = await createKey(server, "operator", ["admin:ManageServers"]);
    const eve = await createKey(server, "eve", ["call:*", "admin:Read"]);
    await createKey(server, "ada", ["call:*"]);
    await createKey(server, "gone", ["call:*"]);
    await createKeys(await server.runtime.database()).revoke("gone");
    const forAda = (token: string, key = "ada") =>
      send(server, token, "/accounts/notes/connect", { key, values: [VALUE] });
    expect(await forAda(eve)).toMatchObject({ status: 403, json: { code: "ADMIN_MISSING" } });
    expect(await forAda(operator, "gone")).toMatchObject({ status: 400 });
    expect(await forAda(operator)).toMatchObject({ status: 204 });
    const shop = { owner: null, values: ["the-id-of-shop", "the-secret-of-shop"] };
    for (const name of ["shop", "unknown"])
      expect(await send(server, eve, `/accounts/${name}/connect`, shop)).toMatchObject({ status: 403 });
    expect(await send(server, operator, "/accounts/shop/connect", shop)).toMatchObject({ status: 204 });
    const all = await list(server, operator);
    expect(all.map(({ name, ownerName, state, isOwn }) => [name, ownerName, state, isOwn])).toEqual([
      ["notes", "operator", "missing", true],
      ["notes", "ada", "connected", false],
      ["shop", "everyone", "connected", true],
      ["set", "everyone", "settings", true],
      ["hub", "operator", "missing", true],
    ]);
    expect(all.find(({ name }) => name === "set")?.connect).toBeNull();
    const owner = all[1]?.owner;
    for (const action of ["test", "revoke"])
      expect(await send(server, eve, `/accounts/notes/${action}`, { owner })).toMatchObject({ status: 403 });
    expect(await list(server, eve)).toMatchObject([{ name: "notes", ownerName: "eve" }, { name: "hub" }]);
    expect(await send(server, operator, "/accounts/notes/test", { owner })).toMatchObject({ status: 200 });
    expect(await send(server, operator, "/accounts/notes/revoke", { owner })).toMatchObject({
      status: 200,
      json: { left: null },
    });
  });

  test("list the logins at MCP servers, and let their owner or an administrator remove one", async () => {
    const stateDir = createFolder();
    const server = await serveAccounts(ACCOUNTS, { stateDir });
    const eve = await createKey(server, "eve", ["call:*"]);
    const login = { server: "https://notes.example/mcp", owner: "owner" };
    const grant = { redirectUrl: "http://127.0.0.1:1/callback", tokens: { access_token: VALUE } };
    writeFileSync(join(stateDir, "logins.json"), JSON.stringify({ [`tokens ${login.server} owner`]: grant }));
    const read = async (token: string) => (await send(server, token, "/accounts")).json;
    expect(await read(TOKEN)).toMatchObject({ logins: [{ ...login, kind: "server", ownerName: "owner" }] });
    expect(await read(eve)).toMatchObject({ logins: [] });
    const remove = (token: string) => send(server, token, "/logins/remove", login);
    expect(await remove(eve)).toMatchObject({ status: 403, json: { code: "ADMIN_MISSING" } });
    expect(await remove(TOKEN)).toMatchObject({ status: 204 });
    expect(await remove(TOKEN)).toMatchObject({ status: 400 });
    expect(await read(TOKEN)).toMatchObject({ logins: [] });
  });

  test("report changes of connections to the browsers of callers that may see them", async () => {
    const server = await serveAccounts();
    const [ada, eve] = [await createKey(server, "ada", ["call:*"]), await createKey(server, "eve", ["call:*"])];
    const [firstOfAda, firstOfEve] = [await followEvents(server, ada), await followEvents(server, eve)];
    const [owner, idOfEve] = [(await list(server, ada))[0]?.owner, (await list(server, eve))[0]?.owner ?? ""];
    await send(server, ada, "/accounts/notes/connect", { owner, values: [VALUE] });
    expect(await firstOfAda()).toBe("accounts");
    await server.runtime.call("TestSkill.add", { a: 1, b: 2 }, { caller: { id: idOfEve, permissions: ["call:*"] } });
    expect(await firstOfEve()).toBe("call");
  });
});

describe.skipIf(!hasChromium)("the page of accounts", () => {
  test(
    "connects an account by keyboard, also for a key, tests it, and revokes it after a question [O2]",
    { tags: "rest" },
    async () => {
      const server = await serveAccounts();
      await createKey(server, "ada", ["call:*"]);
      const { page, faults } = await openConsole(server, "#/accounts");
      await page.getByRole("link", { name: "notes (owner)" }).press("Enter");
      await page.getByRole("button", { name: "Connect" }).press("Enter");
      await page.getByLabel("For").waitFor();
      await page.getByLabel("token", { exact: true }).fill(VALUE);
      expect(await page.getByLabel("token", { exact: true }).getAttribute("type")).toBe("password");
      await checkViews(page, [...BOTH_COLOURS, ["dark", 360]], async (view) => {
        await takeScreenshot(page, `connect-account-${view}`);
        expect(await findViolations(page), view).toEqual([]);
      });
      await page.keyboard.press("Enter");
      await page.getByRole("button", { name: "Test" }).press("Enter");
      await page.getByText("Readable: the credential can be read").waitFor();
      expect(await page.content()).not.toContain(VALUE);
      await page.getByRole("button", { name: "Connect again" }).click();
      await page.getByLabel("For").selectOption("the key ada");
      await page.getByLabel("token", { exact: true }).fill(`${VALUE}-of-ada`);
      await page.keyboard.press("Enter");
      await page.getByRole("link", { name: "notes (ada)", includeHidden: true }).waitFor({ state: "attached" });
      await checkViews(page, [...BOTH_COLOURS, ["light", 360]], async (view) => {
        await takeScreenshot(page, `account-${view}`);
        expect(await findViolations(page), view).toEqual([]);
      });
      await page.getByRole("button", { name: "Revoke" }).click();
      await page
        .getByRole("dialog", { name: /^Revoke notes/ })
        .getByRole("button", { name: "Revoke" })
        .click();
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await checkViews(page, [...BOTH_COLOURS, ["dark", 360]], async (view) => {
        await takeScreenshot(page, `accounts-list-${view}`);
        expect(await findViolations(page), view).toEqual([]);
        expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
      });
      const states = (await server.runtime.accounts.list()).map(({ name, owner, state }) => [name, owner, state]);
      expect(states.slice(0, 2)).toEqual([
        ["notes", "owner", "missing"],
        ["notes", expect.stringContaining("key:ada:"), "connected"],
      ]);
      expect(faults).toEqual([]);
    },
  );

  test("leads to a login in a new tab, and shows the connection when it is there [O2]", { tags: "rest" }, async () => {
    const provider = await startOAuthProvider({ redirectUrls: ["http://127.0.0.1/connect/hub/callback"] });
    const { issuer } = provider;
    const server = await serveAccounts({
      hub: { type: "oauth", issuer, clientId: "web", clientSecret: CLIENT_SECRET, scopes: ["read"], private: true },
    });
    const { page, context, faults } = await openConsole(server, "#/accounts/hub/owner");
    const opened = context.waitForEvent("page");
    await page
      .getByRole("link", { name: /^Connect/ })
      .last()
      .click();
    const tab = await opened;
    await tab.getByLabel("Your key").fill(TOKEN);
    const [consent] = await Promise.all([
      tab.waitForRequest((sent) => sent.url().startsWith(issuer)),
      tab.getByRole("button", { name: "Go on" }).click(),
    ]);
    await tab.goto(String(await provider.logIn(new URL(consent.url()), "ada")));
    await tab.getByText("The account hub is connected").waitFor();
    await tab.close();
    await page.getByRole("link", { name: /^Connect again/ }).waitFor();
    await page.getByText("read", { exact: true }).waitFor();
    expect(faults).toEqual([]);
  });
});

/** Opens the stream of a caller. Returns the function that waits for the first event of an account or a call. */
async function followEvents(server: ConsoleServer, token: string): Promise<() => Promise<string>> {
  const headers = { authorization: `Bearer ${token}`, "x-skillgate-console": "1" };
  const { body } = await fetch(`${server.url}/console/api/events`, { headers });
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  onTestFinished(() => reader?.cancel());
  let text = "";
  return async () => {
    for (;;) {
      const found = /event: (accounts|call)\n/.exec(text)?.[1];
      if (found !== undefined) return found;
      const part = await reader?.read();
      if (part === undefined || part.done) return text;
      text += part.value;
    }
  };
}
