import type { IncomingMessage } from "node:http";

import { decodeJwt } from "jose";
import { expect, test } from "vitest";

import { toServerConfig } from "../../../../src/config/index.ts";
import type { Authorize, McpProvider, ServerConfig } from "../../../../src/providers/mcp/index.ts";
import { sizeLimitedFetch } from "../../../../src/providers/mcp/http/size-limited-fetch.ts";
import { authorizedFetch } from "../../../../src/providers/mcp/oauth/authorized-fetch.ts";
import { GrantFlow } from "../../../../src/providers/mcp/oauth/flow.ts";
import { createProofKey } from "../../../../src/providers/mcp/oauth/proof-keys.ts";
import { OAuthSession } from "../../../../src/providers/mcp/oauth/session.ts";
import { tokensInMemory } from "../../../../src/providers/mcp/oauth/tokens-in-memory.ts";
import { KnownSecrets } from "../../../../src/shared/secrets.ts";
import { protectedServer } from "../../../support/mcp/authorization-server.ts";
import { serve } from "../../../support/mcp/http-servers.ts";
import { connected, createContext, openLogins, temporaryFolder } from "../../../support/mcp/servers.ts";

const entry = (url: string, oauth: object = {}): ServerConfig => toServerConfig("web", { url, oauth });

const hello = (provider: McpProvider): Promise<unknown> => provider.call("web", "hello", {}, createContext());

/** A person who says yes; the browser follows wherever it is sent. */
const authorize: Authorize = async ({ url }) => void (await fetch(url));

const ROBOT = { grant: "client_credentials", clientId: "robot", clientSecret: "s3cret" };

test.each([[{}], [{ nonce: "n-1" }]])(
  "binds tokens to a key for a server that asks for proofs (%j), and refreshes them with it [M7]",
  async (proofs) => {
    const server = await protectedServer({ proofs });
    const stateDir = await temporaryFolder();
    const secrets = new KnownSecrets();
    const first = await connected([entry(server.url)], { stateDir, authorize, secrets });
    expect(await hello(first)).toBe("hello");
    expect(await hello(first)).toBe("hello");
    const key = await readKey(stateDir, server.url);
    const later = await connected([entry(server.url)], { stateDir });
    expect(await hello(later)).toBe("hello");
    server.expire();
    expect(await hello(later)).toBe("hello");
    expect(new Set(server.grants)).toEqual(new Set(["authorization_code", "refresh_token"]));
    expect(await readKey(stateDir, server.url)).toBe(key);
    expect(secrets.maskText(key)).not.toContain("PRIVATE KEY");
  },
);

async function readKey(stateDir: string, url: string): Promise<string> {
  const login = await openLogins(stateDir).tokens.get(`tokens ${url} owner`);
  return (login as { readonly proofKey: { readonly private_key: string } }).proofKey.private_key;
}

test("binds the tokens of a client with credentials of its own [M7]", async () => {
  const server = await protectedServer({ proofs: { nonce: "n-1" } });
  const provider = await connected([entry(server.url, ROBOT)]);
  expect(await hello(provider)).toBe("hello");
  server.expire();
  expect(await hello(provider)).toBe("hello");
});

test("sends no stored token of another kind than dpop allows [M7]", async () => {
  const server = await protectedServer();
  const stateDir = await temporaryFolder();
  expect(await hello(await connected([entry(server.url, ROBOT)], { stateDir }))).toBe("hello");
  const later = await connected([entry(server.url, { ...ROBOT, dpop: true })], { stateDir });
  expect(later.servers[0]?.error).toContain("gives a token that is not bound to a key");
  expect(server.grants).toEqual(["client_credentials", "client_credentials"]);
});

test("signs a proof for each address of a redirect on the same server [M7]", async () => {
  const received: string[] = [];
  const receive = ({ url = "", headers }: IncomingMessage): void => {
    const { htu } = decodeJwt(String(headers["dpop"]));
    received.push(`${url} ${new URL(String(htu)).pathname}`);
  };
  const elsewhere = await serve(async (request) => receive(request));
  const server = await serve(async (request, response) => {
    receive(request);
    const location = { "/old": "/new", "/away": `${new URL(elsewhere.url).origin}/evil` }[request.url ?? ""];
    response.writeHead(location === undefined ? 200 : 307, { ...(location !== undefined && { location }) }).end();
  });
  const { origin } = new URL(server.url);
  const [owner, store, config] = [{ server: server.url, caller: "owner" }, tokensInMemory(), {}];
  const tokens = { access_token: "token", token_type: "DPoP" };
  await store.set(GrantFlow.key(owner), { redirectUrl: origin, tokens, proofKey: await createProofKey() });
  const options = { ...owner, name: "web", config, readConfig: async () => config, store, authorize: undefined };
  const session = new OAuthSession({ ...options, secrets: new KnownSecrets() });
  const send = authorizedFetch(session, sizeLimitedFetch(1 << 20));
  const answer = await send(`${origin}/old`, { method: "POST", body: "{}" });
  expect([answer.status, answer.url]).toEqual([200, `${origin}/new`]);
  await expect(send(`${origin}/away`, { method: "POST", body: "{}" })).rejects.toThrow("fetch failed");
  expect(received).toEqual(["/old /old", "/new /new", "/away /away"]);
});

test("signs by the first algorithm that it and the authorization server have [M7]", { tags: "rest" }, async () => {
  const server = await protectedServer({
    proofs: {},
    metadata: { dpop_signing_alg_values_supported: ["HS256", "EdDSA", "RS256"] },
  });
  const provider = await connected([entry(server.url, ROBOT)]);
  expect(await hello(provider)).toBe("hello");
});

test.each([
  [
    "an algorithm that it does not have",
    {},
    { proofs: {}, metadata: { dpop_signing_alg_values_supported: ["HS256"] } },
    /^cannot be authorized: the authorization server accepts proofs only by \["HS256"\], and this client signs by ES256, /,
  ],
  [
    "a token that is not bound, although dpop is true",
    { dpop: true },
    {},
    'cannot be authorized: the authorization server gives a token that is not bound to a key (token_type "Bearer"), and dpop is true',
  ],
  [
    "a bound token that was not asked for",
    { dpop: false },
    { answer: { token_type: "DPoP" } },
    "cannot be authorized: the authorization server gives a token that is bound to a key, which was not asked for",
  ],
  [
    "a token of no type",
    {},
    { answer: { token_type: { $ne: 1 } } },
    "cannot be authorized: an answer is malformed: token_type: Invalid input: expected string, received object",
  ],
  [
    "an endless nonce challenge",
    {},
    { proofs: { nonce: "n-1", isEndless: true } },
    /^cannot be authorized: use_dpop_nonce$/,
  ],
])("refuses %s [M7]", async (_what, oauth, options, words) => {
  const server = await protectedServer(options);
  const provider = await connected([entry(server.url, { ...ROBOT, ...oauth })]);
  const [, said] =
    /^Cannot start the MCP server: "web" (.*) \(SERVER_FAILED\)$/.exec(provider.servers[0]?.error ?? "") ?? [];
  expect(said).toEqual(typeof words === "string" ? words : expect.stringMatching(words));
});

test("sends no proofs if dpop is false [M7]", async () => {
  const server = await protectedServer({ proofs: {} });
  const provider = await connected([entry(server.url, { ...ROBOT, dpop: false })]);
  expect(provider.servers[0]?.error).toMatch(/cannot be authorized: invalid_dpop_proof \(SERVER_FAILED\)$/);
});
