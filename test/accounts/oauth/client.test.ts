import { expect, test } from "vitest";

import type { OAuthDefinition } from "../../../src/accounts/definition.ts";
import { createOAuthClient, type OAuthClient } from "../../../src/accounts/oauth/client.ts";
import { startApiServer } from "../../support/servers/api-server.ts";
import {
  CLIENT_SECRET,
  REDIRECT_URL,
  startOAuthProvider,
  type TestProvider,
} from "../../support/servers/oauth-provider.ts";
import { defineAccount } from "./define-account.ts";

const REDIRECT = REDIRECT_URL.replace("127.0.0.1", "127.0.0.1:4321");

function defineByUrls(provider: TestProvider, more: Partial<OAuthDefinition> = {}): OAuthDefinition {
  const { issuer: _issuer, ...definition } = defineAccount(provider, more);
  return { ...definition, authorizationUrl: `${provider.issuer}/auth`, tokenUrl: `${provider.issuer}/token` };
}

async function connect(provider: TestProvider, client: OAuthClient, user = "ada") {
  const { url, secrets } = await client.begin(REDIRECT);
  return client.finish(secrets, await provider.logIn(url, user));
}

async function getUser(provider: TestProvider, token: string): Promise<unknown> {
  const response = await fetch(`${provider.apiUrl}/me`, { headers: { authorization: `Bearer ${token}` } });
  return response.json();
}

test.each(["web", "post", "cli"])("connects as the client %s, found by discovery", async (clientId) => {
  const provider = await startOAuthProvider();
  const clientAuth = ({ web: "basic", post: "post", cli: "none" } as const)[clientId] ?? "none";
  const client = createOAuthClient(defineAccount(provider, { clientId, clientAuth }));
  const { tokens, label } = await connect(provider, client);
  expect(tokens).toMatchObject({ scopes: ["openid", "read"] });
  expect(label).toBe("ada@example.com");
  expect(await getUser(provider, tokens.access)).toEqual({ user: "ada" });
});

test("connects a provider of which only the URLs are known, also one that names its issuer", async () => {
  const provider = await startOAuthProvider();
  const { tokens } = await connect(provider, createOAuthClient(defineByUrls(provider)), "grace");
  expect(await getUser(provider, tokens.access)).toEqual({ user: "grace" });
});

test("sends the parameters of the settings, which replace none of its own", async () => {
  const provider = await startOAuthProvider();
  const parameters = {
    prompt: "consent",
    state: "fixed",
    redirect_uri: "https://other.example",
    code_challenge: "none",
  };
  const client = createOAuthClient(defineAccount(provider, { parameters }));
  const { url, secrets } = await client.begin(REDIRECT);
  expect(Object.fromEntries(url.searchParams)).toMatchObject({
    prompt: "consent",
    response_type: "code",
    client_id: "web",
    redirect_uri: REDIRECT,
    state: secrets.state,
    code_challenge_method: "S256",
    scope: "openid read",
  });
  expect(url.searchParams.get("code_challenge")).not.toBe("none");
});

test("refuses an answer of another authorization, of another issuer, and one that was used", async () => {
  const provider = await startOAuthProvider();
  const client = createOAuthClient(defineAccount(provider));
  const { url, secrets } = await client.begin(REDIRECT);
  const returned = await provider.logIn(url, "ada");
  const change = (name: string, value: string): URL => {
    const changed = new URL(returned);
    changed.searchParams.set(name, value);
    return changed;
  };
  await expect(client.finish(secrets, change("state", "other"))).rejects.toMatchObject({
    message: expect.stringMatching(/^an answer of 127\.0\.0\.1:\d+ cannot be used: unexpected "state"/),
  });
  await expect(client.finish(secrets, change("iss", "https://other.example"))).rejects.toThrow('unexpected "iss"');
  const withoutIssuer = change("iss", "");
  withoutIssuer.searchParams.delete("iss");
  await expect(client.finish(secrets, withoutIssuer)).rejects.toThrow('"iss" (issuer) missing');
  await expect(client.finish({ ...secrets, redirectUrl: `${REDIRECT}2` }, returned)).rejects.toMatchObject({
    kind: "refused",
    message: `the browser has returned to another address than ${REDIRECT}2`,
  });
  const second = await client.begin(REDIRECT);
  const again = await provider.logIn(second.url, "ada");
  await client.finish(second.secrets, again);
  await expect(client.finish(second.secrets, again)).rejects.toMatchObject({ code: "invalid_grant" });
});

test("reports that the user denied access", async () => {
  const provider = await startOAuthProvider();
  const client = createOAuthClient(defineAccount(provider));
  const { url, secrets } = await client.begin(REDIRECT);
  await expect(client.finish(secrets, await provider.deny(url))).rejects.toMatchObject({
    kind: "refused",
    code: "access_denied",
    message: expect.stringMatching(/gives no access: access_denied: The user denied access$/),
  });
});

test("renews tokens with the same scopes, and returns the rotated one or keeps the old one", async () => {
  const provider = await startOAuthProvider();
  const client = createOAuthClient(
    defineAccount(provider, { scopes: ["openid", "read"], parameters: { scope: "admin" } }),
  );
  const { tokens } = await connect(provider, client);
  const rotated = await client.renew(tokens);
  expect(rotated.tokens.refresh).not.toBe(tokens.refresh);
  expect(rotated.tokens.access).not.toBe(tokens.access);
  expect(rotated.tokens.scopes).toEqual(["openid", "read"]);
  provider.isRotating = false;
  const kept = await client.renew(rotated.tokens);
  expect(kept.tokens.refresh).toBe(rotated.tokens.refresh);
  expect(provider.bodies.at(-1)?.has("scope")).toBe(false);
  await expect(client.renew(tokens)).rejects.toMatchObject({ kind: "refused", code: "invalid_grant" });
});

test("refuses to renew without a refresh token", async () => {
  const provider = await startOAuthProvider();
  const client = createOAuthClient(defineAccount(provider));
  const failure = { kind: "refused", message: expect.stringContaining("gave no refresh token") };
  await expect(client.renew({ access: "a", scopes: [], received: 0 })).rejects.toMatchObject(failure);
});

test("requests tokens for itself, and others when they end", async () => {
  const provider = await startOAuthProvider();
  provider.accessSeconds = 90;
  const scopes: string[] = [];
  const client = createOAuthClient(defineAccount(provider, { grant: "client", clientId: "service", scopes }));
  const { tokens } = await client.requestOwn();
  expect(tokens.refresh).toBeUndefined();
  expect(Number(tokens.expires) - tokens.received).toBe(90_000);
  const next = await client.renew(tokens);
  expect(await getUser(provider, next.tokens.access)).toEqual({ user: "service" });
  expect(provider.requests).toEqual(["client_credentials", "client_credentials"]);
});

test("revokes both tokens", async () => {
  const provider = await startOAuthProvider();
  const client = createOAuthClient(defineAccount(provider));
  const { tokens } = await connect(provider, client);
  expect(await client.revoke(tokens)).toBe(true);
  expect(await getUser(provider, tokens.access)).toEqual({ error: "invalid_token" });
  await expect(client.renew(tokens)).rejects.toMatchObject({ code: "invalid_grant" });
  expect(await createOAuthClient(defineByUrls(provider)).revoke(tokens)).toBe(false);
});

test.each([
  ["invalid_token", undefined],
  ["unsupported_token_type", "unsupported_token_type"],
])("revokes the access token also where the answer for the refresh token is %s", async (error, code) => {
  const provider = await startOAuthProvider();
  const { origin, received } = await startApiServer(({ body }, response) => {
    if (body.includes("token_type_hint=access_token")) response.end();
    else response.writeHead(400).end(JSON.stringify({ error }));
  });
  const client = createOAuthClient(defineAccount(provider, { revocationUrl: origin }));
  const revoked = client.revoke({ access: "a", refresh: "r", scopes: [], received: 0 });
  await (code === undefined ? expect(revoked).resolves.toBe(true) : expect(revoked).rejects.toMatchObject({ code }));
  expect(received.map(({ body }) => new URLSearchParams(body).get("token"))).toEqual(["r", "a"]);
});

test.each([
  ["down", "unavailable", /answers \/token with status 503$/],
  ["lost", "unavailable", /cannot be reached: ECONNRESET$/],
  ["redirect", "invalid", /answers \/token with status 307, a redirect, which is not followed$/],
  [
    "repeating",
    "invalid",
    /^127\.0\.0\.1:\d+ answers invalid_request: wrong: refresh_token=\[redacted\]&grant_type=refresh_token/,
  ],
] as const)("describes the fault %s in one line without secrets", async (fault, kind, message) => {
  const provider = await startOAuthProvider();
  const client = createOAuthClient(defineAccount(provider));
  const { tokens } = await connect(provider, client);
  provider.fault = fault;
  const failure = (await client.renew(tokens).catch((error: unknown) => error)) as Error;
  expect(failure).toMatchObject({ kind, message: expect.stringMatching(message) });
  expect(failure.message).not.toMatch(/\p{Cc}/u);
  expect(failure.message.length).toBeLessThan(400);
  for (const secret of [tokens.refresh, tokens.access, CLIENT_SECRET, btoa(`web:${CLIENT_SECRET}`)])
    expect(failure.message).not.toContain(secret);
  if (fault === "down") expect(failure).toMatchObject({ retryAfterMs: 7_000 });
});

test("takes an answer that is sent twice, and answers of another form", async () => {
  const provider = await startOAuthProvider();
  const client = createOAuthClient(defineAccount(provider));
  const { tokens } = await connect(provider, client);
  provider.fault = "twice";
  const twice = await client.renew(tokens);
  provider.fault = "odd";
  const odd = await client.renew(twice.tokens);
  expect(odd.tokens).toMatchObject({ scopes: ["openid", "read"] });
  expect(Number(odd.tokens.expires) - odd.tokens.received).toBe(3_600_000);
  expect(await getUser(provider, odd.tokens.access)).toEqual({ user: "ada" });
});

test.each([
  ["https://169.254.169.254/token", expect.stringContaining("169.254.169.254 is an address of a private network")],
  ["http://8.8.8.8/token", "http://8.8.8.8 is not an https address, and secrets are sent only encrypted"],
])("sends no secret to %s", async (tokenUrl, message) => {
  const provider = await startOAuthProvider();
  const client = createOAuthClient({ ...defineByUrls(provider), tokenUrl });
  const tokens = { access: "access-token", refresh: "refresh-token", scopes: [], received: 0 };
  await expect(client.renew(tokens)).rejects.toMatchObject({ kind: "invalid", message });
});

test("opens no page that is not of the web", async () => {
  const provider = await startOAuthProvider();
  const client = createOAuthClient({ ...defineByUrls(provider), authorizationUrl: "file:///etc/passwd" });
  await expect(client.begin(REDIRECT)).rejects.toMatchObject({ kind: "invalid" });
});

function createDeviceClient(provider: TestProvider): OAuthClient {
  const deviceUrl = `${provider.issuer}/device/auth`;
  return createOAuthClient({ ...defineByUrls(provider), grant: "device", deviceUrl });
}

test("waits until the user has entered the code", async () => {
  const provider = await startOAuthProvider();
  const device = await createDeviceClient(provider).beginDevice();
  expect(device).toMatchObject({ userCode: expect.stringMatching(/^[A-Z]{4}-[A-Z]{4}$/) });
  expect(device.url.href).toBe(`${provider.issuer}/device`);
  expect(device.completeUrl?.searchParams.get("user_code")).toBe(device.userCode);
  const waits = device.wait(new AbortController().signal);
  await expect.poll(() => provider.requests.length).toBeGreaterThan(1);
  await provider.enterCode(device.userCode, "ada");
  const { tokens } = await waits;
  expect(await getUser(provider, tokens.access)).toEqual({ user: "ada" });
});

test("ends the wait for a code when the user denies access, and when it is cancelled", async () => {
  const provider = await startOAuthProvider();
  const client = createDeviceClient(provider);
  const denied = await client.beginDevice();
  await provider.enterCode(denied.userCode, undefined);
  await expect(denied.wait(new AbortController().signal)).rejects.toMatchObject({ code: "access_denied" });
  const cancelled = await client.beginDevice();
  const controller = new AbortController();
  const waits = cancelled.wait(controller.signal);
  await expect.poll(() => provider.requests.length).toBeGreaterThan(1);
  controller.abort(new Error("cancelled by the user"));
  await expect(waits).rejects.toThrow("cancelled by the user");
});

test("ends the wait for a code that has ended", async () => {
  const provider = await startOAuthProvider();
  provider.codeSeconds = 1;
  const device = await createDeviceClient(provider).beginDevice();
  await expect(device.wait(new AbortController().signal)).rejects.toMatchObject({ kind: "refused" });
});

test("asks more slowly when the provider says so", { tags: "rest" }, async () => {
  const provider = await startOAuthProvider();
  const device = await createDeviceClient(provider).beginDevice();
  await provider.enterCode(device.userCode, "ada");
  provider.fault = "slow down";
  const waits = device.wait(new AbortController().signal);
  await expect.poll(() => provider.requests.length).toBe(1);
  provider.fault = undefined;
  const startedAt = performance.now();
  await waits;
  expect(performance.now() - startedAt).toBeGreaterThan(4_900);
});
