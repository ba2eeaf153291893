import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { toServerConfig } from "../../../../src/config/index.ts";
import type { Authorize, McpProvider, ServerConfig } from "../../../../src/providers/mcp/index.ts";
import { protectedServer, type ProtectedServer } from "../../../support/mcp/authorization-server.ts";
import {
  IDP_CLIENT,
  identityProvider,
  type IdentityServer,
  MAPPED_CLIENT,
} from "../../../support/mcp/identity-provider.ts";
import { connected, createContext, temporaryFolder } from "../../../support/mcp/servers.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"] }));
afterEach(() => void vi.useRealTimers());

const CLIENT = { clientId: MAPPED_CLIENT, clientSecret: "s3cret" };

/** A server whose authorization server trusts a company's identity provider. */
async function companyServer(idp: IdentityServer): Promise<ProtectedServer> {
  const server = await protectedServer({
    trusts: (assertion) => idp.vouches(assertion, new URL(server.url).origin),
  });
  return server;
}

function entry(url: string, { issuer }: IdentityServer, more: object = {}, name = "web"): ServerConfig {
  return toServerConfig(name, {
    url,
    oauth: { ...CLIENT, identityProvider: { issuer, ...IDP_CLIENT, ...more } },
  });
}

const hello = (provider: McpProvider, name = "web"): Promise<unknown> =>
  provider.call(name, "hello", {}, createContext());

/** A person who is logged in at the provider already: the browser comes back at once. */
const browse: Authorize = async ({ url }) => void (await fetch(url));

const JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer";

test("connects by an ID token of the identity provider, and keeps the token for the next process [M7]", async () => {
  const idp = await identityProvider();
  const server = await companyServer(idp);
  const stateDir = await temporaryFolder();
  const config = entry(server.url, idp, { idToken: await idp.idToken() });
  expect(await hello(await connected([config], { stateDir }))).toBe("hello");
  expect(await hello(await connected([config], { stateDir }))).toBe("hello");
  expect([idp.grants, server.grants]).toEqual([["token-exchange"], [JWT_BEARER]]);
  server.expire();
  expect(await hello(await connected([config], { stateDir }))).toBe("hello");
  expect(server.grants).toEqual([JWT_BEARER, JWT_BEARER]);
});

test("announces that the user's company manages a server, only to that server [M7]", { tags: "rest" }, async () => {
  const idp = await identityProvider();
  const [managed, other] = [await companyServer(idp), await protectedServer()];
  const config = entry(managed.url, idp, { idToken: await idp.idToken() });
  const provider = await connected([config, toServerConfig("other", { url: other.url })], { authorize: browse });
  const announced = (name: string) => provider.call(name, "extensions", {}, createContext());
  const all = "io.modelcontextprotocol/tasks";
  expect(await announced("web")).toBe(`${all} io.modelcontextprotocol/enterprise-managed-authorization`);
  expect(await announced("other")).toBe(all);
});

test(
  "lets the user log in once at the identity provider for all servers of a company [M7]",
  { tags: "rest" },
  async () => {
    const idp = await identityProvider();
    const [one, other] = [await companyServer(idp), await companyServer(idp)];
    const stateDir = await temporaryFolder();
    const authorize = vi.fn(browse);
    const first = await connected([entry(one.url, idp)], { stateDir, authorize });
    expect(await hello(first)).toBe("hello");
    const second = await connected([entry(other.url, idp, {}, "files")], { stateDir });
    expect(await hello(second, "files")).toBe("hello");
    expect(authorize).toHaveBeenCalledTimes(1);
    const { searchParams } = authorize.mock.calls[0]?.[0].url ?? new URL("none:");
    expect([searchParams.get("scope"), searchParams.get("resource")]).toEqual(["openid offline_access", null]);
    expect(idp.grants).toEqual(["authorization_code", "token-exchange", "token-exchange"]);
    expect([one.clients, other.clients]).toEqual([[], []]);
    const logins = JSON.parse(await readFile(join(stateDir, "logins.json"), "utf8")) as object;
    expect(Object.keys(logins)).toEqual([
      `identity ${idp.issuer} ${IDP_CLIENT.clientId} owner`,
      `tokens ${one.url} owner`,
      `tokens ${other.url} owner`,
    ]);
  },
);

test("names the login command without a user to ask at the identity provider [M7]", async () => {
  const idp = await identityProvider();
  const server = await companyServer(idp);
  const provider = await connected([entry(server.url, idp)]);
  expect(provider.servers[0]?.error).toBe(
    'Cannot start the MCP server: "web" asks for authorization (HTTP 401), log in with: skillgate mcp login web (SERVER_FAILED)',
  );
  expect([idp.grants, server.grants]).toEqual([[], []]);
});

test("asks the user once for all servers of a company that start together [M7]", { tags: "rest" }, async () => {
  const idp = await identityProvider();
  const servers = await Promise.all([1, 2, 3].map(() => companyServer(idp)));
  const authorize = vi.fn(browse);
  const provider = await connected(
    servers.map(({ url }, at) => entry(url, idp, {}, `web${at}`)),
    { authorize },
  );
  for (const at of servers.keys()) expect(await hello(provider, `web${at}`)).toBe("hello");
  expect(authorize).toHaveBeenCalledTimes(1);
});

test(
  "refreshes the login at the identity provider, and asks the user only if that brings no ID token [M7]",
  { tags: "rest" },
  async () => {
    const idp = await identityProvider();
    const server = await companyServer(idp);
    const stateDir = await temporaryFolder();
    const authorize = vi.fn(browse);
    idp.issueFor(60);
    const provider = await connected([entry(server.url, idp)], { stateDir, authorize });
    for (const seconds of [60, undefined]) {
      vi.setSystemTime(Date.now() + 40_000);
      server.expire();
      idp.issueFor(seconds);
      expect(await hello(provider)).toBe("hello");
    }
    expect(idp.grants.filter((grant) => grant !== "token-exchange")).toEqual([
      "authorization_code",
      "refresh_token",
      "refresh_token",
      "authorization_code",
    ]);
    expect(authorize).toHaveBeenCalledTimes(2);
  },
);

test(
  "asks for an assertion with the scope of the server, not with that of the login [M7]",
  { tags: "rest" },
  async () => {
    const idp = await identityProvider();
    const server = await companyServer(idp);
    const login = { issuer: idp.issuer, ...IDP_CLIENT, scope: "openid offline_access", idToken: await idp.idToken() };
    const config = (more: object) =>
      toServerConfig("web", { url: server.url, oauth: { ...CLIENT, ...more, identityProvider: login } });
    expect(await hello(await connected([config({})]))).toBe("hello");
    expect(await hello(await connected([config({ scope: "chat.read" })]))).toBe("hello");
    expect(idp.scopes).toEqual([null, "chat.read"]);
  },
);

test("keeps the login while the identity provider is out of order [M7]", { tags: "rest" }, async () => {
  const idp = await identityProvider();
  const server = await companyServer(idp);
  const stateDir = await temporaryFolder();
  idp.issueFor(60);
  await connected([entry(server.url, idp)], { stateDir, authorize: browse });
  vi.setSystemTime(Date.now() + 40_000);
  server.expire();
  idp.failNext(1);
  const failed = await connected([entry(server.url, idp)], { stateDir });
  expect(failed.servers[0]?.error).toContain("log in with: skillgate mcp login web");
  expect(await hello(await connected([entry(server.url, idp)], { stateDir }))).toBe("hello");
  expect(idp.grants).toEqual(["authorization_code", "token-exchange", "refresh_token", "token-exchange"]);
});

test("lets the user log in again after the identity provider has ended the login [M7]", async () => {
  const idp = await identityProvider();
  const server = await companyServer(idp);
  const stateDir = await temporaryFolder();
  await connected([entry(server.url, idp)], { stateDir, authorize: browse });
  server.expire();
  idp.endLogins();
  idp.refuseWith("invalid_grant", () => "the session has ended");
  const late = await connected([entry(server.url, idp)], { stateDir });
  expect(late.servers[0]?.error).toBe(
    `Cannot start the MCP server: "web" cannot be authorized: the identity provider ${idp.issuer} gives no assertion for this server: invalid_grant: the session has ended (SERVER_FAILED)`,
  );
  const logins = JSON.parse(await readFile(join(stateDir, "logins.json"), "utf8")) as object;
  expect(Object.keys(logins)).toEqual([`tokens ${server.url} owner`]);
});

test("keeps the login if the identity provider refuses one server [M7]", { tags: "rest" }, async () => {
  const idp = await identityProvider();
  const [one, refused] = [await companyServer(idp), await companyServer(idp)];
  const stateDir = await temporaryFolder();
  await connected([entry(one.url, idp)], { stateDir, authorize: browse });
  idp.refuseWith("invalid_grant", () => "the audience is not registered");
  const other = await connected([entry(refused.url, idp, {}, "other")], { stateDir });
  expect(other.servers[0]?.error).toContain("invalid_grant: the audience is not registered");
  idp.refuseWith(undefined);
  one.expire();
  expect(await hello(await connected([entry(one.url, idp)], { stateDir }))).toBe("hello");
  expect(idp.grants.filter((grant) => grant !== "token-exchange")).toEqual(["authorization_code", "refresh_token"]);
});

test("never shows the tokens that an identity provider repeats in its error [M7]", async () => {
  const idp = await identityProvider();
  const server = await companyServer(idp);
  const idToken = await idp.idToken();
  idp.refuseWith("access_denied", (subject) => `${"no ".repeat(1_000)}${subject}\u{1b}[2J`);
  const provider = await connected([entry(server.url, idp, { idToken })]);
  const { error = "" } = provider.servers[0] ?? {};
  expect(error).toContain("gives no assertion for this server: access_denied: no no");
  expect(error).not.toContain(idToken.slice(-20));
  expect(error.length).toBeLessThan(700);
  idp.refuseWith("access_denied", (subject) => `policy \u{1b}[2J ${subject}`);
  const next = await connected([entry(server.url, idp, { idToken })]);
  expect(next.servers[0]?.error).toMatch(/access_denied: policy .*\[redacted\]/);
  // oxlint-disable-next-line no-control-regex
  expect(next.servers[0]?.error).not.toMatch(/\u{1b}/u);
});

const now = (): number => Math.floor(Date.now() / 1_000);

test.each([
  ["of another type", () => ({ typ: "JWT" }), 'its assertion has the type "JWT", not "oauth-id-jag+jwt"'],
  [
    "of another issuer",
    () => ({ claims: { iss: "https://evil.example" } }),
    /^its assertion is from "https:\/\/evil\.example", not from "http:/,
  ],
  [
    "for another authorization server",
    () => ({ claims: { aud: "https://evil.example" } }),
    /^its assertion is for "https:\/\/evil\.example", not for "http:\S+", the authorization server of the MCP server$/,
  ],
  [
    "for another client",
    () => ({ claims: { client_id: "another" } }),
    'its assertion is for the client "another", not for "skillgate-at-server", the clientId of oauth; its administrator has to map the two',
  ],
  ["that has expired", () => ({ claims: { exp: now() - 60 } }), /^its assertion expired 6\d s ago$/],
  ["that expired long ago", () => ({ claims: { exp: -1e300 } }), /^its assertion expired \S+ s ago$/],
  ["without an end", () => ({ claims: { exp: "never" as never } }), "its assertion has no time at which it expires"],
  ["that is not a JWT", () => ({ answer: { access_token: "x", token_type: "N_A" } }), "its assertion is not a JWT"],
  [
    "that is too long",
    () => ({ answer: { access_token: `a.${"b".repeat(100_000)}.c`, token_type: "N_A" } }),
    "its assertion is not a JWT",
  ],
  [
    "that is a number",
    () => ({ answer: { access_token: 5, token_type: "N_A" } }),
    "an answer is malformed: access_token: Invalid input: expected string, received number",
  ],
  ["in a list", () => ({ answer: [] }), /^an answer is malformed: .*expected object, received array/],
  [
    "of more than a megabyte",
    () => ({ answer: { access_token: "x".repeat(2 << 20) } }),
    /answers with more than 1048576 bytes$/,
  ],
])("sends no assertion %s to the authorization server [M7]", async (_kind, change: () => object, words) => {
  const idp = await identityProvider();
  const server = await companyServer(idp);
  idp.assertWith(change());
  const provider = await connected([entry(server.url, idp, { idToken: await idp.idToken() })]);
  const [, said] =
    /gives no assertion for this server: (.*) \(SERVER_FAILED\)$/.exec(provider.servers[0]?.error ?? "") ?? [];
  expect(said).toEqual(typeof words === "string" ? words : expect.stringMatching(words));
  expect(server.grants).toEqual([]);
});

test.each([
  [{ iss: "https://evil.example" }, /^the ID token is from "https:\/\/evil\.example", not from "http:/],
  [
    { aud: ["a", "b"] },
    'the ID token is for the client "[\\"a\\",\\"b\\"]", not for "skillgate-at-idp", the clientId of identityProvider',
  ],
  [{ exp: 5 }, /^the ID token expired \d+ s ago$/],
  [{ exp: "never" as never }, "the ID token has no time at which it expires"],
])(
  "sends no ID token with the claims %j to the identity provider [M7]",
  async (claims: Record<string, unknown>, words) => {
    const idp = await identityProvider();
    const server = await companyServer(idp);
    const provider = await connected([entry(server.url, idp, { idToken: await idp.idToken(claims) })]);
    const [, said] = /cannot be authorized: (.*) \(SERVER_FAILED\)$/.exec(provider.servers[0]?.error ?? "") ?? [];
    expect(said).toEqual(typeof words === "string" ? words : expect.stringMatching(words));
    expect([idp.grants, server.grants]).toEqual([[], []]);
  },
);

test("reads an expired ID token again from its command [M7]", async () => {
  const idp = await identityProvider();
  const server = await companyServer(idp);
  const file = join(await temporaryFolder(), "token");
  await writeFile(file, await idp.idToken({ exp: now() + 31 }));
  const provider = await connected([entry(server.url, idp, { idToken: `\${cmd:cat ${file}}` })]);
  expect(await hello(provider)).toBe("hello");
  vi.setSystemTime(Date.now() + 5_000);
  await writeFile(file, await idp.idToken());
  server.expire();
  expect(await hello(provider)).toBe("hello");
  expect(idp.grants).toEqual(["token-exchange", "token-exchange"]);
});

test("gets a token by an assertion of the platform on which it runs [M7]", async () => {
  const idp = await identityProvider();
  const server = await companyServer(idp);
  const { origin } = new URL(server.url);
  const assertion = await idp.idToken({ aud: origin, client_id: MAPPED_CLIENT });
  const oauth = { ...CLIENT, grant: "jwt_bearer", assertion };
  const provider = await connected([toServerConfig("web", { url: server.url, oauth })]);
  expect(await hello(provider)).toBe("hello");
  expect([idp.grants, server.grants]).toEqual([[], [JWT_BEARER]]);
});

test("sends an assertion of the platform only to the authorization server that it or the entry names [M7]", async () => {
  const idp = await identityProvider();
  const received: string[] = [];
  const server = await protectedServer({ trusts: async (assertion) => received.push(assertion) > 0 });
  const { origin } = new URL(server.url);
  const start = async (aud: string, more: object = {}) => {
    const assertion = await idp.idToken({ aud });
    const oauth = { ...CLIENT, grant: "jwt_bearer", assertion, ...more };
    const provider = await connected([toServerConfig("web", { url: server.url, oauth })]);
    return provider.servers[0]?.error;
  };
  expect(await start("https://auth.good.example")).toBe(
    `Cannot start the MCP server: "web" cannot be authorized: the assertion is for "https://auth.good.example", not for "${origin}", the authorization server that the MCP server names; if that one may see it, write "issuer": "${origin}" in oauth (SERVER_FAILED)`,
  );
  expect([received, server.grants]).toEqual([[], []]);
  expect(await start(`${origin}/token`)).toBeUndefined();
  expect(await start("api://exchange", { issuer: origin })).toBeUndefined();
});

test("uses no stored token of another grant or client [M7]", { tags: "rest" }, async () => {
  const idp = await identityProvider();
  const server = await companyServer(idp);
  const stateDir = await temporaryFolder();
  const idToken = await idp.idToken();
  await connected([entry(server.url, idp, { idToken })], { stateDir });
  const oauth = { clientId: "robot", clientSecret: "s3cret", grant: "client_credentials" };
  const robot = toServerConfig("web", { url: server.url, oauth });
  expect(await hello(await connected([robot], { stateDir }))).toBe("hello");
  expect(await hello(await connected([robot], { stateDir }))).toBe("hello");
  expect(server.grants).toEqual([JWT_BEARER, "client_credentials"]);
});

test("uses no stored token of another user [M7]", { tags: "rest" }, async () => {
  const idp = await identityProvider();
  const server = await companyServer(idp);
  const stateDir = await temporaryFolder();
  const claims = { aud: new URL(server.url).origin, client_id: MAPPED_CLIENT };
  for (const sub of ["ada", "ada", "bob"]) {
    const oauth = { ...CLIENT, grant: "jwt_bearer", assertion: await idp.idToken({ ...claims, sub }) };
    expect(await hello(await connected([toServerConfig("web", { url: server.url, oauth })], { stateDir }))).toBe(
      "hello",
    );
  }
  expect(server.grants).toEqual([JWT_BEARER, JWT_BEARER]);
  for (const sub of ["bob", "ada"]) {
    const config = entry(server.url, idp, { idToken: await idp.idToken({ sub }) });
    expect(await hello(await connected([config], { stateDir }))).toBe("hello");
  }
  expect(idp.grants).toEqual(["token-exchange", "token-exchange"]);
});

test("sends a client nowhere but to the authorization server that its entry allows [M7]", async () => {
  const idp = await identityProvider();
  const server = await companyServer(idp);
  const { origin } = new URL(server.url);
  const oauth = { ...CLIENT, issuer: "https://auth.example" };
  const plain = toServerConfig("web", { url: server.url, oauth });
  const provider = await connected([plain], { authorize: browse });
  expect(provider.servers[0]?.error).toBe(
    `Cannot start the MCP server: "web" cannot be authorized: the server names the authorization server "${origin}", and issuer allows only "https://auth.example" (SERVER_FAILED)`,
  );
  expect([server.grants, server.clients]).toEqual([[], []]);
});
