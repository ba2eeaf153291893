import { expect, test } from "vitest";

import { createKeys } from "../../../src/keys/index.ts";
import type { RuntimeOptions } from "../../../src/runtime/options.ts";
import { createConnectSessions } from "../../../src/surfaces/http/connect/sessions.ts";
import { CLIENT_SECRET, startOAuthProvider, type TestProvider } from "../../support/servers/oauth-provider.ts";
import { folder, serve } from "../serving.ts";

const OWN_TOKEN = "the-token-of-the-server";
const STATIC = { wiki: { type: "bearer", for: "caller" }, common: { type: "bearer", for: "everyone" } } as const;

test("no caller ends the pages of one that has fewer [V6]", () => {
  const pages = createConnectSessions();
  const own = pages.open("key-1", "ada");
  const others = Array.from({ length: 1_100 }, () => pages.open("key-2", "bob"));
  expect([pages.find(own), pages.find(others[0] ?? ""), pages.find(others.at(-1) ?? "")]).toEqual([
    "key-1",
    undefined,
    "key-2",
  ]);
});

interface Gate {
  readonly url: string;
  readonly runtime: Awaited<ReturnType<typeof serve>>["runtime"];
  readonly keyOf: (name: string, permissions?: readonly string[]) => Promise<string>;
}

async function open(
  accounts: NonNullable<RuntimeOptions["accounts"]>,
  publicUrl = "",
  more: RuntimeOptions = {},
): Promise<Gate> {
  const state = folder();
  const options = { store: state, env: { HOME: state }, accounts, ...more };
  const { url, runtime } = await serve({ publicUrl }, options, (token) => token === OWN_TOKEN);
  const keys = createKeys(await runtime.database());
  return {
    url,
    runtime,
    keyOf: async (name, permissions = ["call:*"]) => (await keys.create({ name, permissions })).text,
  };
}

const startProvider = (): Promise<TestProvider> => startOAuthProvider();

/** The account of an API at the provider. */
function atProvider({ issuer }: TestProvider): NonNullable<RuntimeOptions["accounts"]> {
  return {
    shop: { type: "oauth", issuer, clientId: "web", clientSecret: CLIENT_SECRET, scopes: ["read"], private: true },
  };
}

interface Page {
  readonly status: number;
  readonly text: string;
  readonly cookie: string;
}

/** Sends a form as a browser sends it. */
async function submit(url: string, fields: Readonly<Record<string, string>>, headers: object = {}): Promise<Page> {
  const response = await fetch(url, {
    method: "POST",
    body: new URLSearchParams(fields),
    redirect: "manual",
    headers: { origin: new URL(url).origin, "sec-fetch-site": "same-origin", ...headers },
  });
  return toPage(response);
}

async function visit(url: string | URL, cookie = ""): Promise<Page> {
  return toPage(await fetch(url, { redirect: "manual", headers: { cookie } }));
}

async function toPage(response: Response): Promise<Page> {
  const cookie = response.headers.getSetCookie().map((each) => each.split(";", 1)[0]);
  return { status: response.status, text: await response.text(), cookie: cookie.join("; ") };
}

/** Returns the address to which a page leads. */
function findNext({ text }: Page): URL {
  return new URL(/url=([^"]+)"/.exec(text)?.[1]?.replaceAll("&amp;", "&") ?? "");
}

test("connects the account of the key that the person enters, and of no other", { tags: "rest" }, async () => {
  const provider = await startProvider();
  const gate = await open(atProvider(provider));
  const ada = await gate.keyOf("ada");
  const first = await submit(`${gate.url}/connect/shop`, { key: ada });
  expect(first).toMatchObject({ status: 200 });
  const page = findNext(first);
  expect(page.origin).toBe(provider.issuer);
  expect(page.searchParams.get("redirect_uri")).toBe(`${gate.url}/connect/shop/callback`);
  const returned = await provider.logIn(page, "ada");
  const done = await visit(returned, first.cookie);
  expect(done.status).toBe(200);
  expect(done.text).toContain("The account shop is connected for the key ada.");
});

test("connects nothing for the sender of a link: each browser ends only what it has begun", async () => {
  const provider = await startProvider();
  const gate = await open(atProvider(provider));
  const eve = await gate.keyOf("eve");
  const hers = await submit(`${gate.url}/connect/shop`, { key: eve });
  const returned = await provider.logIn(findNext(hers), "ada");
  // Ada's browser follows the link that Eve has sent.
  expect(await visit(returned)).toMatchObject({
    status: 400,
    text: expect.stringContaining("did not begin the connection"),
  });
  const ada = await submit(`${gate.url}/connect/shop`, { key: await gate.keyOf("ada") });
  expect((await visit(returned, ada.cookie)).text).toContain("was begun in another browser");
  // A login is used once, also if that fails.
  expect((await visit(returned, hers.cookie)).text).toContain("this login has ended");
  expect(await listConnected(gate)).toEqual([]);
});

test("uses a login once, and says what the provider says if the person denies access", async () => {
  const provider = await startProvider();
  const gate = await open(atProvider(provider));
  const key = await gate.keyOf("ada");
  const first = await submit(`${gate.url}/connect/shop`, { key });
  const returned = await provider.logIn(findNext(first), "ada");
  expect((await visit(returned, first.cookie)).status).toBe(200);
  expect((await visit(returned, first.cookie)).text).toContain("this login has ended");
  const second = await submit(`${gate.url}/connect/shop`, { key });
  const denied = await visit(await provider.deny(findNext(second)), second.cookie);
  expect(denied.status).toBe(400);
  expect(denied.text).toContain("The user denied access");
  expect(await listConnected(gate)).toEqual(["shop (ada)"]);
});

test("ends no login with an answer that arrives at the path of another account, as that of another provider would", async () => {
  const provider = await startProvider();
  const { shop } = atProvider(provider);
  const gate = await open(shop === undefined ? {} : { shop, other: shop });
  const begun = await submit(`${gate.url}/connect/shop`, { key: await gate.keyOf("ada") });
  const returned = await provider.logIn(findNext(begun), "ada");
  for (const path of ["/connect/other/callback", "/connect/callback"]) {
    const astray = await visit(Object.assign(new URL(returned), { pathname: path }), begun.cookie);
    expect(astray.text).not.toContain("is connected");
  }
  expect(provider.tokens).toEqual([]);
  expect(await listConnected(gate)).toEqual([]);
});

test("ends a login at another process behind the same address, and makes nothing of a cookie that it did not give", async () => {
  const publicUrl = "https://gate.example.com";
  const provider = await startOAuthProvider({ redirectUrls: [`${publicUrl}/connect/shop/callback`] });
  const state = folder();
  const accounts = atProvider(provider);
  const options = { store: state, env: { HOME: state }, accounts };
  const [first, second] = [
    await serve({ publicUrl }, options, (token) => token === OWN_TOKEN),
    await serve({ publicUrl }, options, (token) => token === OWN_TOKEN),
  ];
  const { text: key } = await createKeys(await first.runtime.database()).create({
    name: "ada",
    permissions: ["call:*"],
  });
  const headers = { origin: publicUrl };
  const begun = await submit(`${first.url}/connect/shop`, { key }, headers);
  const returned = await provider.logIn(findNext(begun), "ada");
  const done = await visit(`${second.url}/connect/shop/callback${returned.search}`, begun.cookie);
  expect(done.text).toContain("The account shop is connected for the key ada.");

  const open = await serve({ publicUrl }, options);
  const planted = begun.cookie.replace(/=.*/, "=planted");
  const fresh = await submit(`${open.url}/connect/shop`, {}, { ...headers, cookie: planted });
  expect(fresh.cookie).not.toBe("");
  expect(fresh.cookie).not.toBe(planted);
});

test("tells a stranger nothing of the accounts", async () => {
  const gate = await open(STATIC);
  const known = await visit(`${gate.url}/connect/wiki`);
  const unknown = await visit(`${gate.url}/connect/nothing`);
  expect(unknown.text.replaceAll("nothing", "wiki")).toBe(known.text);
  for (const name of ["wiki", "nothing"]) {
    const refused = await submit(`${gate.url}/connect/${name}`, { key: "sg_wrong" });
    expect(refused).toMatchObject({ status: 401, text: expect.stringContaining("The key is not valid"), cookie: "" });
  }
  const page = await visit(`${gate.url}/connect/${encodeURIComponent('"><script>alert(1)</script>')}`);
  expect(page.text).not.toContain("<script>");
});

test("takes a value in a second step, and shows it nowhere", async () => {
  const gate = await open(STATIC);
  const ada = await gate.keyOf("ada");
  const asked = await submit(`${gate.url}/connect/wiki`, { key: ada });
  expect(asked.text).toContain("It is stored encrypted, for the key ada.");
  expect(await listConnected(gate)).toEqual([]);
  const cookie = asked.cookie;
  const done = await submit(`${gate.url}/connect/wiki`, { value0: "wiki-token-of-ada-123" }, { cookie });
  expect(done.text).toContain("The account wiki is connected for the key ada.");
  expect(done.text).not.toContain("wiki-token-of-ada-123");
  expect(await listConnected(gate)).toEqual(["wiki (ada)"]);
  const flawed = await submit(`${gate.url}/connect/wiki`, { key: ada, value0: "two\nlines" });
  expect(flawed.status).toBe(400);
  expect(await submit(`${gate.url}/connect/unknown`, { key: ada })).toMatchObject({ status: 400 });
});

test("lets only an administrator of servers connect an account for everyone", async () => {
  const gate = await open(STATIC);
  const value0 = "token-for-all-1234567";
  const refused = await submit(`${gate.url}/connect/common`, { key: await gate.keyOf("ada"), value0 });
  expect(refused.status).toBe(400);
  expect(refused.text).toContain("ADMIN_MISSING");
  const key = await gate.keyOf("bob", ["call:*", "admin:ManageServers"]);
  expect((await submit(`${gate.url}/connect/common`, { key, value0 })).text).toContain("is connected for everyone");
});

test("names the scopes that the provider has not granted", async () => {
  const provider = await startProvider();
  const { shop } = atProvider(provider);
  if (shop?.type !== "oauth") throw new TypeError("The account has another type");
  const gate = await open({ shop: { ...shop, scopes: ["read", "write"] } });
  const begun = await submit(`${gate.url}/connect/shop`, { key: await gate.keyOf("ada") });
  const done = await visit(await provider.logIn(findNext(begun), "ada"), begun.cookie);
  expect(done.text).toContain("The provider does not name &quot;write&quot; among the scopes that it has granted");
});

test("notes the administrator who has logged in for everyone", async () => {
  const provider = await startProvider();
  const { shop } = atProvider(provider);
  if (shop?.type !== "oauth") throw new TypeError("The account has another type");
  const gate = await open({ shop: { ...shop, for: "everyone" } }, "", { audit: "store" });
  const key = await gate.keyOf("bob", ["call:*", "admin:ManageServers"]);
  const begun = await submit(`${gate.url}/connect/shop`, { key });
  const done = await visit(await provider.logIn(findNext(begun), "ada"), begun.cookie);
  expect(done.text).toContain("is connected for everyone");
  const { audit } = await gate.runtime.database();
  const read = async (): Promise<string> => (await audit.tail(10)).map(({ record }) => record).join("\n");
  await expect.poll(read).toContain("account connected");
  expect(await read()).toMatch(
    /"caller":"key:bob:[^"]+","event":"account connected","method":"account:shop","outcome":"ok","owner":null/,
  );
});

test("gives the browser a cookie that no other host of the domain can set, where the address is https", async () => {
  const gate = await open(STATIC, "https://gate.example.com");
  const response = await fetch(`${gate.url}/connect/wiki`, {
    method: "POST",
    body: new URLSearchParams({ key: await gate.keyOf("ada") }),
    headers: { origin: "https://gate.example.com" },
  });
  expect(response.headers.getSetCookie()).toEqual([
    expect.stringMatching(/^__Host-skillgate_connect_=[\w-]+; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Lax$/),
  ]);
});

test("refuses forms of other pages, and too large ones", async () => {
  const gate = await open(STATIC);
  const url = `${gate.url}/connect/wiki`;
  const fields = { key: await gate.keyOf("ada"), value0: "wiki-token-of-ada-123" };
  const others = [
    { origin: "http://localhost:5173", "sec-fetch-site": "same-site" },
    { origin: "null" },
    { "sec-fetch-site": "cross-site" },
  ];
  for (const headers of others) expect((await submit(url, fields, headers)).status).toBe(403);
  expect((await submit(url, { ...fields, more: "x".repeat(70_000) })).status).toBe(401);
  const json = await fetch(url, {
    method: "POST",
    body: JSON.stringify(fields),
    headers: { origin: gate.url, "content-type": "application/json" },
  });
  expect(json.status).toBe(401);
  expect(await listConnected(gate)).toEqual([]);
});

test("takes forms of its own page behind a proxy that names itself as the host", async () => {
  const gate = await open(STATIC, "https://gate.example.com");
  const fields = { key: await gate.keyOf("ada"), value0: "wiki-token-of-ada-123" };
  const send = (origin: string): Promise<Page> => submit(`${gate.url}/connect/wiki`, fields, { origin });
  expect((await send("https://other.example.com")).status).toBe(403);
  expect((await send("http://gate.example.com")).status).toBe(403);
  expect((await send("https://gate.example.com")).text).toContain("is connected for the key ada");
});

async function listConnected({ runtime }: Gate): Promise<readonly string[]> {
  const { accounts } = await runtime.database();
  return (await accounts.list()).map(({ name, owner }) => `${name} (${/^key:(.+):/.exec(owner ?? "")?.[1] ?? owner})`);
}
