import { readFile, stat } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { expect, test, vi } from "vitest";

import { createKeySource, createServerLogins } from "../../../../src/accounts/index.ts";
import { toServerConfig } from "../../../../src/config/index.ts";
import type { Authorize, McpProvider, OAuthConfig, ServerConfig } from "../../../../src/providers/mcp/index.ts";
import { isCloudAddress, isPublicAddress } from "../../../../src/shared/http/addresses.ts";
import { guardedFetch } from "../../../../src/shared/http/guarded-fetch.ts";
import { protectedServer } from "../../../support/mcp/authorization-server.ts";
import { plainServer } from "../../../support/mcp/http-servers.ts";
import { connected, createContext, temporaryFolder } from "../../../support/mcp/servers.ts";

const remote = (url: string, oauth: OAuthConfig = {}): ServerConfig =>
  ({ ...toServerConfig("web", { url }), oauth }) as ServerConfig;

const hello = (provider: McpProvider): Promise<unknown> => provider.call("web", "hello", {}, createContext());

/** A person who says yes; the browser follows wherever it is sent. */
const browse: Authorize = async ({ url }) => void (await fetch(url));

/** A program that follows by itself, and stops where it is sent back. */
const follow: Authorize = async ({ url }) => {
  const { headers } = await fetch(url, { redirect: "manual" });
  return new URL(headers.get("location") ?? "");
};

test.each([
  ["a browser", browse],
  ["a program", follow],
])("asks a user who allows access in %s only once [M7]", async (_who, allow) => {
  const server = await protectedServer();
  const stateDir = await temporaryFolder();
  const authorize = vi.fn(allow);
  const first = await connected([remote(server.url)], { stateDir, authorize });
  expect(await hello(first)).toBe("hello");
  const later = await connected([remote(server.url)], { stateDir, authorize });
  expect(await hello(later)).toBe("hello");
  expect(authorize.mock.calls).toEqual([[{ server: "web", url: expect.any(URL) as URL }]]);
  expect(server.grants).toEqual(["authorization_code"]);
  expect(server.clients).toHaveLength(1);
});

test("keeps waiting for a user after requests that do not answer its login [M7]", async () => {
  const server = await protectedServer();
  const answers: string[] = [];
  const authorize: Authorize = async ({ url }) => {
    const { origin } = new URL(url.searchParams.get("redirect_uri") ?? "");
    const foreign = ["code=x&state=another", "error=access_denied&state=another", "code=x", "error=access_denied"];
    for (const target of ["//", "http://[", ...foreign.map((query) => `/callback?${query}`)])
      answers.push(await statusOf(origin, target));
    await fetch(url); // the browser of the person
  };
  const provider = await connected([remote(server.url)], { authorize });
  expect(await hello(provider)).toBe("hello");
  expect(answers).toEqual(["404", "404", "400", "400", "400", "400"]);
});

/** Of a request whose target is sent as it is written. */
async function statusOf(origin: string, target: string): Promise<string> {
  const socket = connect(Number(new URL(origin).port), "127.0.0.1");
  socket.write(`GET ${target} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  return (await text(socket)).split(" ")[1] ?? "";
}

test("stores a login in a file that only its owner can read [M7]", async () => {
  const server = await protectedServer();
  const stateDir = await temporaryFolder();
  await connected([remote(server.url)], { stateDir, authorize: follow });
  const file = join(stateDir, "logins.json");
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const { origin } = new URL(server.url);
  expect(Object.keys(JSON.parse(await readFile(file, "utf8")) as object)).toEqual([
    `client ${origin} owner`,
    `tokens ${server.url} owner`,
  ]);
});

test(
  "says that a login cannot be decrypted, and replaces it when the user logs in [M7]",
  { tags: "rest" },
  async () => {
    const server = await protectedServer();
    const stateDir = await temporaryFolder();
    await connected([remote(server.url)], { stateDir, authorize: follow });
    const key = createKeySource({
      variable: "f".repeat(64),
      folder: undefined,
      store: "folder",
      lockMs: 5_000,
      onSecrets: () => {},
    });
    const { tokens } = createServerLogins({ folder: stateDir }, key);
    const unread = await connected([remote(server.url)], { tokens });
    expect(unread.servers[0]).toMatchObject({
      status: "error",
      error: expect.stringContaining("or log in again: skillgate mcp login (ACCOUNT_UNAVAILABLE)"),
    });
    expect(await hello(await connected([remote(server.url)], { tokens, authorize: follow }))).toBe("hello");
    expect(await hello(await connected([remote(server.url)], { tokens }))).toBe("hello");
    expect(server.grants).toEqual(["authorization_code", "authorization_code"]);
  },
);

test("registers nothing without a user to ask, and names the login command in the error [M7]", async () => {
  const server = await protectedServer();
  const provider = await connected([remote(server.url)]);
  const error =
    'Cannot start the MCP server: "web" asks for authorization (HTTP 401), log in with: skillgate mcp login web (SERVER_FAILED)';
  expect(provider.servers[0]).toMatchObject({ status: "error", error });
  expect(new Set(server.requests)).toEqual(new Set(["POST /"]));
});

test("refreshes an expired token once for many calls of many programs [M7]", async () => {
  const server = await protectedServer();
  const stateDir = await temporaryFolder();
  const programs = [
    await connected([remote(server.url)], { stateDir, authorize: follow }),
    await connected([remote(server.url)], { stateDir }),
    await connected([remote(server.url)], { stateDir }),
  ];
  server.expire();
  const calls = [1, 2, 3].flatMap(() => programs.map(hello));
  expect(new Set(await Promise.all(calls))).toEqual(new Set(["hello"]));
  expect(server.grants).toEqual(["authorization_code", "refresh_token"]);
});

test.each([
  [{ error: "access_denied", code: "" }, "cannot be authorized: access was refused (access_denied)"],
  [{ state: "another" }, "cannot be authorized: the answer belongs to another login"],
  [
    { iss: "https://evil.example" },
    /^cannot be authorized: Issuer mismatch in authorization response \(RFC 9207\): expected "http:\/\/127\.0\.0\.1:\d+", received "https:\/\/evil\.example"$/,
  ],
])("grants no access for an answer of %j [M7]", async (answer: Record<string, string>, words) => {
  const server = await protectedServer();
  server.answerWith(answer);
  const provider = await connected([remote(server.url)], { authorize: follow });
  const [status] = provider.servers;
  const said = /^Cannot start the MCP server: "web" (.*) \(SERVER_FAILED\)$/.exec(status?.error ?? "")?.[1];
  expect(said).toEqual(typeof words === "string" ? words : expect.stringMatching(words));
  expect(server.grants).toEqual([]);
});

test("connects separately for a caller that answers requests, with the owner's login [M7]", async () => {
  const server = await protectedServer();
  const provider = await connected([remote(server.url)], { authorize: follow });
  const client = { can: () => true, ask: () => Promise.reject(new Error("nothing is to be asked")) };
  const context = createContext({ caller: { id: "ada", permissions: ["call:*"] }, client });
  expect(await provider.call("web", "hello", {}, context)).toBe("hello");
  expect(server.grants).toEqual(["authorization_code"]);
});

test("logs a client with credentials of its own in without a user [M7]", async () => {
  const server = await protectedServer();
  const oauth: OAuthConfig = { grant: "client_credentials", clientId: "robot", clientSecret: "s3cret" };
  const provider = await connected([remote(server.url, oauth)]);
  expect(await hello(provider)).toBe("hello");
  server.expire();
  expect(await hello(provider)).toBe("hello");
  expect(server.grants).toEqual(["client_credentials", "client_credentials"]);
});

test("does not log in for an entry with an authorization header [M7]", async () => {
  const server = await protectedServer();
  const config = toServerConfig("web", { url: server.url, headers: { Authorization: "Bearer old" } });
  const provider = await connected([config], { authorize: follow });
  const error = 'Cannot start the MCP server: "web" asks for authorization (HTTP 401) (SERVER_FAILED)';
  expect(provider.servers[0]).toMatchObject({ status: "error", error });
});

test.each([
  ["127.0.0.1", false, false],
  ["10.1.2.3", false, false],
  ["172.31.0.1", false, false],
  ["192.168.0.1", false, false],
  ["100.64.0.1", false, false],
  ["0.0.0.0", false, false],
  ["169.254.169.254", false, true],
  ["::1", false, false],
  ["::ffff:127.0.0.1", false, false],
  ["::ffff:169.254.169.254", false, true],
  ["fd00:ec2::254", false, true],
  ["fe80::1", false, true],
  ["64:ff9b::7f00:1", false, false],
  ["2002:7f00:1::", false, false],
  ["::ffff:0:7f00:1", false, false],
  ["fec0::1", false, false],
  ["3fff::1", false, false],
  ["168.63.129.16", false, true],
  ["100.100.100.200", false, true],
  ["192.0.0.192", false, true],
  ["fd20:ce::254", false, true],
  ["64:ff9b::a9fe:a9fe", false, true],
  ["2002:a9fe:a9fe::", false, true],
  ["1.1.1.1", true, false],
  ["2606:4700::1111", true, false],
  ["nonsense", false, false],
])("classifies the address %s as public: %s, of a cloud: %s [M7]", (address, isPublic, isLinkLocal) => {
  expect([isPublicAddress(address), isCloudAddress(address)]).toEqual([isPublic, isLinkLocal]);
});

test("rejects private addresses that a server on the Internet names, in every notation [M7]", async () => {
  const server = await plainServer(200, "secret");
  const { port } = new URL(server.url);
  for (const host of ["127.0.0.1", "2130706433", "0x7f.1", "localhost", "[::ffff:127.0.0.1]", "[::1]"]) {
    const url = new URL(`http://${host}:${port}/`);
    const words = `${url.host} is an address of a private network, which a server may not name`;
    await expect(guardedFetch("public")(url)).rejects.toThrow(words);
  }
  expect(server.requests).toEqual([]);
  expect(await (await guardedFetch("private")(server.url)).text()).toBe("secret");
  await expect(guardedFetch("private")("http://169.254.169.254/latest/meta-data")).rejects.toThrow(
    "169.254.169.254 is an address of a private network, which a server may not name",
  );
});

test("limits the size of metadata, and follows none of its redirects [M7]", async () => {
  const long = await plainServer(200, "x".repeat((1 << 20) + 1));
  await expect(guardedFetch("private")(long.url)).rejects.toThrow(/answers with more than 1048576 bytes$/);
  const elsewhere = await plainServer(302, "");
  expect((await guardedFetch("private")(elsewhere.url)).status).toBe(302);
});
