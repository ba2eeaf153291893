import { createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { SignJWT } from "jose";
import { expect, onTestFinished, test } from "vitest";

import { createAccessTokenCheck } from "../../src/surfaces/http/oauth/access-tokens.ts";
import { parseServerSettings, type HttpServerSettings } from "../../src/surfaces/http/index.ts";
import { AUDIENCE, startIssuer, type TestIssuer } from "../support/issuer.ts";
import { newClient, post, serve } from "../surfaces/serving.ts";

const ADD = { a: 1, b: 2 };

const isOwner = (token: string): boolean => token === "right";

function settingsOf(issuer: TestIssuer, more: object = {}): Partial<HttpServerSettings> {
  const { auth, oauth } = parseServerSettings({ auth: { issuer: issuer.url, audience: AUDIENCE, ...more } });
  return { auth, ...(oauth && { oauth }), expose: "both" };
}

async function serveWith(issuer: TestIssuer, more: object = {}) {
  const { url } = await serve(settingsOf(issuer, more), {}, isOwner);
  const add = async (token: string) => post(`${url}/tools/TestSkill.add`, ADD, { authorization: `Bearer ${token}` });
  return { url, add };
}

test("accepts an access token of the issuer, and the token of the server as before [P13]", async () => {
  const issuer = await startIssuer();
  const { url, add } = await serveWith(issuer);
  for (const token of [await issuer.sign(), await issuer.sign({ aud: ["other", AUDIENCE] }), "right"])
    expect((await add(token)).json.data).toEqual({ sum: 3 });
  const client = await newClient(url, { authorization: `Bearer ${await issuer.sign()}` });
  expect((await client.callTool({ name: "TestSkill__add", arguments: ADD })).structuredContent).toEqual({ sum: 3 });
  expect(issuer.keyRequests).toBe(1);
});

const now = (): number => Math.floor(Date.now() / 1_000);

test.each<readonly [string, (issuer: TestIssuer) => Promise<string>]>([
  ["for another audience", (issuer) => issuer.sign({ aud: "https://other.example.com" })],
  ["without an audience", (issuer) => issuer.sign({ aud: [] })],
  ["of another issuer", (issuer) => issuer.sign({ iss: "https://other.example.com" })],
  ["that has expired", (issuer) => issuer.sign({ exp: now() - 60 })],
  ["without an expiry", (issuer) => issuer.sign({ exp: null })],
  ["that is not valid yet", (issuer) => issuer.sign({ nbf: now() + 60 })],
  ["without a subject", (issuer) => issuer.sign({ sub: null })],
  ["with an unknown key id", (issuer) => issuer.sign({}, { kid: "other" })],
  ["signed with the public key as a shared secret", signWithPublicKey],
  ["without a signature", signWithNothing],
  ["with changed claims", async (issuer) => withClaims(await issuer.sign(), { sub: "owner" })],
])("refuses an access token %s [P13]", async (_what, sign) => {
  const issuer = await startIssuer();
  const { add } = await serveWith(issuer);
  const refused = await add(await sign(issuer));
  expect([refused.status, refused.json.fault.code]).toEqual([401, -32004]);
  expect(refused.headers.get("www-authenticate")).toBe(
    'Bearer error="invalid_token", resource_metadata="https://skillgate.example.com/.well-known/oauth-protected-resource/mcp"',
  );
});

async function signWithPublicKey(issuer: TestIssuer): Promise<string> {
  const claims = { iss: issuer.url, sub: "ada", aud: AUDIENCE, exp: now() + 600 };
  const secret = new TextEncoder().encode(await issuer.publicKey());
  return new SignJWT(claims).setProtectedHeader({ alg: "HS256", kid: "key-0" }).sign(secret);
}

async function signWithNothing(issuer: TestIssuer): Promise<string> {
  const [, payload = ""] = (await issuer.sign()).split(".");
  return `${encode({ alg: "none", typ: "at+jwt" })}.${payload}.`;
}

function withClaims(token: string, claims: object): string {
  const [header = "", payload = "", signature = ""] = token.split(".");
  const original = JSON.parse(Buffer.from(payload, "base64url").toString()) as object;
  return [header, encode({ ...original, ...claims }), signature].join(".");
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

test("fetches the keys again for a new key id, and not for each unknown one [P13]", async () => {
  const issuer = await startIssuer();
  const { oauth } = settingsOf(issuer);
  const check = createAccessTokenCheck(oauth as NonNullable<typeof oauth>, { log: () => {}, times: { refetchMs: 0 } });
  const old = await issuer.sign();
  expect((await check(old))?.kind).toBe("caller");
  await issuer.rotate();
  expect((await check(await issuer.sign()))?.kind).toBe("caller");
  expect(issuer.keyRequests).toBe(2);
  expect(await check(old)).toBeUndefined();
  const { add } = await serveWith(issuer);
  await add(await issuer.sign());
  const before = issuer.keyRequests;
  for (let n = 0; n < 5; n++) expect((await add(await issuer.sign({}, { kid: `unknown ${n}` }))).status).toBe(401);
  expect(issuer.keyRequests).toBe(before);
});

test("refuses tokens of a key that the issuer has withdrawn, once the keys are too old [P13]", async () => {
  const issuer = await startIssuer();
  const { oauth } = settingsOf(issuer);
  const check = createAccessTokenCheck(oauth as NonNullable<typeof oauth>, { log: () => {}, times: { maxAgeMs: 0 } });
  const token = await issuer.sign();
  expect((await check(token))?.kind).toBe("caller");
  issuer.answerKeysWith('{"keys":[]}');
  expect(await check(token)).toBeUndefined();
});

test("refuses tokens, and says why in the log, while the keys cannot be read [P13]", async () => {
  const issuer = await startIssuer();
  const { oauth } = settingsOf(issuer);
  const lines: string[] = [];
  const check = createAccessTokenCheck(oauth as NonNullable<typeof oauth>, {
    log: (line) => void lines.push(line),
    times: { maxAgeMs: 0 },
  });
  issuer.answerKeysWith("x".repeat(600 << 10));
  expect(await check(await issuer.sign())).toBeUndefined();
  expect(lines[0]).toContain("the answer of the issuer exceeds 524288 bytes");
  const elsewhere = createServer((_request, response) => void response.end("{}"));
  elsewhere.listen(0, "127.0.0.1");
  await once(elsewhere, "listening");
  onTestFinished(() => void elsewhere.close());
  const url = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`;
  const other = createAccessTokenCheck(
    { issuer: url, audience: [AUDIENCE], requiredScopes: [] },
    { log: (line) => void lines.push(line) },
  );
  expect(await other(await issuer.sign())).toBeUndefined();
  expect(lines.at(-1)).toContain("the issuer has no metadata with its own name and a jwks_uri");
});

test("gives a caller the rights of its scopes [P13, P2]", async () => {
  const issuer = await startIssuer();
  const scopes = {
    "math:use": { permissions: ["call:TestSkill.add"], roles: ["staff"] },
    admin: { permissions: ["admin:Read"] },
  };
  const { url, add } = await serveWith(issuer, { scopes });
  const math = await issuer.sign({ scope: "math:use profile" });
  expect((await add(math)).json.data).toEqual({ sum: 3 });
  const call = await post(`${url}/tools/TestSkill.fail`, {}, { authorization: `Bearer ${math}` });
  expect(call.status).toBe(404);
  const admin = await issuer.sign({ scp: ["admin"] });
  expect((await add(admin)).status).toBe(404);
  expect((await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${admin}` } })).status).toBe(200);
  const { oauth } = settingsOf(issuer, { scopes });
  const check = createAccessTokenCheck(oauth as NonNullable<typeof oauth>, { log: () => {} });
  expect(await check(math)).toEqual({
    kind: "caller",
    caller: {
      id: "oauth:ada",
      permissions: ["call:TestSkill.add"],
      scopes: ["math:use", "profile"],
      roles: ["staff"],
      token: { issuer: issuer.url, until: expect.any(Number) },
    },
  });
});

test("keeps a client without a user apart from the user whose subject is the id of the client [P13, P2]", async () => {
  const issuer = await startIssuer();
  const { oauth } = settingsOf(issuer);
  const check = createAccessTokenCheck(oauth as NonNullable<typeof oauth>, { log: () => {} });
  const ids = [{}, { sub: null, client_id: "ada" }].map(async (claims) => {
    const sender = await check(await issuer.sign(claims));
    return sender?.kind === "caller" ? sender.caller.id : undefined;
  });
  expect(await Promise.all(ids)).toEqual(["oauth:ada", "oauth-client:ada"]);
});

test("challenges a token without the required scopes with 403 and insufficient_scope [P13]", async () => {
  const issuer = await startIssuer();
  const { url, add } = await serveWith(issuer, { requiredScopes: ["tools:call"] });
  const metadata = 'resource_metadata="https://skillgate.example.com/.well-known/oauth-protected-resource/mcp"';
  const token = await issuer.sign({ scope: "profile" });
  const refused = await add(token);
  expect([refused.status, refused.json.fault.code]).toEqual([403, -32005]);
  const challenge = `Bearer error="insufficient_scope", scope="tools:call", ${metadata}`;
  expect(refused.headers.get("www-authenticate")).toBe(challenge);
  const health = { jsonrpc: "2.0", id: 1, method: "health" };
  const byRpc = await post(`${url}/rpc`, health, { authorization: `Bearer ${token}` });
  expect([byRpc.status, byRpc.headers.get("www-authenticate")]).toEqual([403, challenge]);
  const missing = await post(`${url}/mcp`, health);
  expect([missing.status, missing.headers.get("www-authenticate")]).toEqual([
    401,
    `Bearer scope="tools:call", ${metadata}`,
  ]);
  expect((await add(await issuer.sign({ scope: "tools:call" }))).status).toBe(200);
});

test("describes itself as a protected resource, without a token [P13]", async () => {
  const issuer = await startIssuer();
  const { url } = await serveWith(issuer, { requiredScopes: ["tools:call"] });
  for (const path of ["", "/mcp"])
    expect(await (await fetch(`${url}/.well-known/oauth-protected-resource${path}`)).json()).toEqual({
      resource: AUDIENCE,
      authorization_servers: [issuer.url],
      bearer_methods_supported: ["header"],
      scopes_supported: ["tools:call"],
      resource_name: "Skillgate",
    });
  const plain = await serve({}, {}, isOwner);
  expect((await fetch(`${plain.url}/.well-known/oauth-protected-resource`)).status).not.toBe(200);
});

test.each([
  [{ audience: "a" }, "server.auth.issuer must be an https URL, not undefined"],
  [{ issuer: "http://login.example.com", audience: "a" }, 'server.auth.issuer must be an https URL, not "http://login'],
  [{ issuer: "https://a.example" }, "server.auth.audience must be a text or a list of texts"],
  [{ issuer: "https://a.example", audience: "a", jwksUri: "http://b.example" }, "server.auth.jwksUri must be an https"],
  [{ issuer: "https://a.example", audience: "a", audence: 1 }, "server.auth has the unknown setting audence; did you"],
  [
    { issuer: "https://a.example", audience: "a", scopes: { x: { permissions: ["call:Math"] } } },
    "Write Math.* for all methods of Math",
  ],
])("refuses the settings %j [P13]", (auth, reason) => {
  expect(() => parseServerSettings({ auth })).toThrow(reason);
});

test("does not accept a signature by another secret as one of the issuer [P13]", async () => {
  const issuer = await startIssuer();
  const { add } = await serveWith(issuer);
  const [header = "", payload = ""] = (await issuer.sign()).split(".");
  const signature = createHmac("sha256", "secret").update(`${header}.${payload}`).digest("base64url");
  expect((await add(`${header}.${payload}.${signature}`)).status).toBe(401);
});
