import { createServer, type Socket } from "node:net";
import colors from "picocolors";
import { describe, expect, onTestFinished, test } from "vitest";

import { describeConnect, type OAuthDefinition } from "../../src/accounts/index.ts";
import type { ListedAccount } from "../../src/runtime/api/view.ts";
import { describeAccounts } from "../../src/surfaces/cli/account/account-texts.ts";
import { createOAuthClient } from "../../src/accounts/oauth/client.ts";
import { KnownSecrets } from "../../src/shared/secrets.ts";

const CLIENT_SECRET = "client-secret-0815-4711";

interface HostileServer {
  readonly url: string;
  readonly requests: readonly string[];
}

/** Starts a server that answers each request with the bytes that `answer` returns. */
async function startHostile(answer: (request: string) => string | Buffer): Promise<HostileServer> {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => {}));
    socket.on("data", (data) => {
      requests.push(data.toString());
      socket.end(answer(data.toString()));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new TypeError("The server has no port");
  return { url: `http://127.0.0.1:${address.port}`, requests };
}

function writeAnswer(status: string, value: unknown, headers = ""): string {
  const body = JSON.stringify(value);
  return `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n${headers}\r\n${body}`;
}

const PAGE = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 6\r\n\r\n<html>";

function define({ url }: HostileServer, more: Partial<OAuthDefinition> = {}): OAuthDefinition {
  return {
    name: "shop",
    type: "oauth",
    isPerCaller: true,
    servers: [],
    reveal: [],
    isPrivate: true,
    grant: "code",
    authorizationUrl: `${url}/auth`,
    tokenUrl: `${url}/token`,
    deviceUrl: `${url}/device`,
    clientId: "web",
    clientSecret: CLIENT_SECRET,
    clientAuth: "basic",
    scopes: [],
    parameters: {},
    ...more,
  };
}

const TOKENS = { access: "access-0815", refresh: "refresh-0815", scopes: [], received: 0 };

describe("a provider", () => {
  test.each(["999 Denied", "600 None", "101 Switching"])(
    "that answers with status %s gives no tokens, and ends no process",
    async (status) => {
      const server = await startHostile(() => writeAnswer(status, {}, "connection: upgrade\r\nupgrade: x\r\n"));
      await expect(createOAuthClient(define(server)).renew(TOKENS)).rejects.toThrow("cannot be reached");
    },
  );

  test("that repeats a request in its error shows no secret of it", async () => {
    const server = await startHostile((request) =>
      writeAnswer("400 Bad", {
        error: "invalid_request",
        error_description: request.replaceAll("\r\n", " ").slice(0, 290),
      }),
    );
    const error: unknown = await createOAuthClient(define(server))
      .renew(TOKENS)
      .catch((thrown: unknown) => thrown);
    const [, basic = ""] = /^authorization: Basic (\S+)/im.exec(server.requests[0] ?? "") ?? [];
    expect(decodeURIComponent(Buffer.from(basic, "base64").toString())).toBe(`web:${CLIENT_SECRET}`);
    expect(String(error)).toContain("authorization");
    expect(String(error)).not.toContain(basic.slice(0, 20));
  });

  test("that answers with another status of success is understood", async () => {
    const server = await startHostile((request) =>
      request.includes("/revoke")
        ? "HTTP/1.1 204 No Content\r\n\r\n"
        : writeAnswer("201 Created", { access_token: "access-4711", token_type: "bearer" }),
    );
    const client = createOAuthClient(define(server, { revocationUrl: `${server.url}/revoke` }));
    expect((await client.renew(TOKENS)).tokens.access).toBe("access-4711");
    expect(await client.revoke(TOKENS)).toBe(true);
    const revoked = server.requests.flatMap((request) => /\btoken=([^&]+)/.exec(request)?.[1] ?? []);
    expect(revoked).toEqual([TOKENS.refresh, TOKENS.access]);
  });

  test("that answers with a page says so", async () => {
    const server = await startHostile(() => PAGE);
    const { host } = new URL(server.url);
    await expect(createOAuthClient(define(server)).renew(TOKENS)).rejects.toThrow(
      `${host} answers /token with text/html in place of a JSON object`,
    );
  });

  test("that answers with a page where OpenID has its metadata is found by those of OAuth", async () => {
    const server = await startHostile((request) =>
      request.includes("/.well-known/oauth-authorization-server")
        ? writeAnswer("200 OK", { issuer: server.url, authorization_endpoint: `${server.url}/authorize` })
        : PAGE,
    );
    const { authorizationUrl: _url, ...definition } = define(server, { issuer: server.url });
    const { url } = await createOAuthClient(definition).begin("http://127.0.0.1/callback");
    expect(url.href).toContain(`${server.url}/authorize?`);
  });

  test("whose page is no address of the web is refused with its scheme", async () => {
    const server = await startHostile(() =>
      writeAnswer("200 OK", { issuer: server.url, authorization_endpoint: "file:///etc/passwd" }),
    );
    const { authorizationUrl: _url, ...definition } = define(server, { issuer: server.url });
    await expect(createOAuthClient(definition).begin("http://127.0.0.1/callback")).rejects.toThrow(
      "file:// is not an https address",
    );
  });

  test("whose tokens end after the end of time gives tokens whose end has a date", async () => {
    const server = await startHostile(() =>
      writeAnswer("200 OK", { access_token: "access-4711", token_type: "bearer", expires_in: 1e300 }),
    );
    const { tokens } = await createOAuthClient(define(server)).renew(TOKENS);
    expect(() => new Date(tokens.expires ?? 0).toISOString()).not.toThrow();
  });

  test("that wants a year between two requests for a device is not asked at once", async () => {
    const server = await startHostile((request) =>
      request.startsWith("POST /device")
        ? writeAnswer("200 OK", {
            device_code: "d-0815",
            user_code: "U",
            verification_uri: `https://login.example.com/`,
            expires_in: 1e9,
            interval: 3e7,
          })
        : writeAnswer("400 Bad", { error: "authorization_pending" }),
    );
    const device = await createOAuthClient(define(server, { grant: "device" })).beginDevice();
    const controller = new AbortController();
    const waiting = device.wait(controller.signal);
    await new Promise((resolve) => setTimeout(resolve, 300));
    controller.abort();
    await expect(waiting).rejects.toThrow();
    expect(server.requests.length).toBe(1);
  });
});

test("names no page to a caller for an account that is connected by a code, which the page does not offer", () => {
  const definition = define({ url: "https://login.example.com", requests: [] }, { grant: "device" });
  expect(describeConnect({ id: "key:ada:000000000001" }, definition, "https://gate.example.com")).toBe(
    "the owner of the server connects it: skillgate account connect shop --caller ada",
  );
});

test("writes scopes that a provider has named without control characters", () => {
  const account: ListedAccount = {
    name: "shop",
    type: "oauth",
    for: "caller",
    owner: "owner",
    state: "connected",
    reason: null,
    label: null,
    scopes: ["read\u001b[2J"],
    expires: null,
    connected: 0,
    lastUsed: null,
    skills: [],
  };
  expect(describeAccounts([account], colors.createColors(false)).join("\n")).not.toContain("\u001b");
});

test("secrets of the settings stay masked whatever number of tokens follows", () => {
  const secrets = new KnownSecrets(["secret-of-the-settings"]);
  for (let count = 0; count < 11_000; count++) secrets.addPassing([`token-${count}-0815`, "token-in-use-0815"]);
  expect(secrets.mask("secret-of-the-settings token-in-use-0815 token-0-0815")).toBe(
    "[redacted] [redacted] token-0-0815",
  );
});
