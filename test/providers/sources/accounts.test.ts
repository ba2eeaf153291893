import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { describe, expect, onTestFinished, test } from "vitest";

import { Cancellation } from "../../../sandbox/index.ts";
import type { Caller } from "../../../src/model/caller.ts";
import type { Catalog } from "../../../src/model/catalog.ts";
import { openSources, type SourceConfig } from "../../../src/providers/sources/index.ts";
import { createRegistry } from "../../../src/registry/index.ts";
import { createRouter } from "../../../src/router/index.ts";
import { createValidator } from "../../../src/validation/index.ts";
import { TestAccounts } from "../../accounts/test-accounts.ts";
import { type ApiServer, startApiServer } from "../../support/servers/api-server.ts";

const TOKEN = "s3cr3t-token-4711";

type Answer = Parameters<typeof startApiServer>[0];

const echo: Answer = ({ url, headers, body }, response) => json(response, 200, { url, headers, body });

function json(response: ServerResponse, status: number, value: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(value));
}

interface Api {
  readonly server: ApiServer;
  readonly catalog: Catalog;
  readonly problems: readonly string[];
  readonly call: (method: string, input?: object, caller?: string) => Promise<unknown>;
}

interface ApiSetup {
  readonly paths: object;
  readonly accounts: TestAccounts;
  readonly answer?: Answer;
  readonly config?: Partial<SourceConfig>;
  readonly components?: object;
}

/** Opens an API of a document, with a server of its own, behind the router. */
async function openApi({ paths, accounts, answer = echo, config = {}, components }: ApiSetup): Promise<Api> {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-accounts-"));
  const server = await startApiServer(answer);
  const file = join(folder, "api.json");
  writeFileSync(file, JSON.stringify({ openapi: "3.1.0", info: { title: "Shop" }, paths, components }));
  const source: SourceConfig = {
    kind: "openapi",
    name: "shop",
    skill: "ShopAPI",
    document: pathToFileURL(file).href,
    server: server.origin,
    servers: [],
    headers: {},
    accounts: [["*", "shop"]],
    isPrivate: true,
    exclude: [],
    methods: {},
    effects: [],
    changes: "report",
    pages: [],
    ...config,
  };
  const provider = openSources([source], { cwd: folder, folder, answerBytes: 1 << 20, findAccount: accounts.find });
  onTestFinished(async () => {
    await provider.close();
    rmSync(folder, { recursive: true });
  });
  await provider.known;
  const registry = createRegistry();
  for (const skill of provider.skills) registry.register(skill);
  const { catalog } = registry;
  const router = createRouter({ validator: createValidator(), accounts });
  return {
    server,
    catalog,
    problems: provider.problems.map(({ error }) => error),
    call(name, input = {}, id = "ada") {
      const method = catalog.method(`ShopAPI.${name}`);
      const skill = catalog.skill("ShopAPI");
      if (method === undefined || skill === undefined) throw new Error(`There is no method ${name}`);
      const events = { log: () => {}, progress: () => {}, addNote: () => {}, onEnded: () => {} };
      const caller = { id, permissions: ["call:*"] };
      return router.route({
        id: 1,
        runId: "r",
        caller,
        skill,
        method,
        args: [input],
        cancellable: new Cancellation(),
        ...events,
      });
    },
  };
}

const withPlaces = (...places: readonly (readonly ["header" | "query" | "cookie" | "body", string])[]): TestAccounts =>
  new TestAccounts({ shop: { values: { ada: TOKEN }, places: places.map(([place, name]) => ({ in: place, name })) } });

/** An account whose value is in a header of the scheme `Basic`, and in a cookie. */
function withBasic(value: string): TestAccounts {
  const accounts = new TestAccounts({
    shop: { values: { ada: value }, places: [{ in: "header", name: "authorization" }] },
  });
  const account = accounts.find("shop");
  if (account !== undefined) {
    const open = account.open.bind(account);
    Object.assign(account, {
      open: async (caller: Caller) => {
        const opened = await open(caller);
        return {
          ...opened,
          credential: [
            { in: "header", name: "authorization", value: `Basic ${value}` },
            { in: "cookie", name: "sid", value },
          ],
        };
      },
    });
  }
  return accounts;
}

const text = { type: "string" };
const parameter = (place: string, name: string, required = true): object => ({
  in: place,
  name,
  required,
  schema: text,
});

describe("the credential of an account", () => {
  test("is a header, whatever the settings, the document and the arguments say", async () => {
    const paths = {
      "/orders": {
        get: { operationId: "list", parameters: [parameter("header", "X-Key"), parameter("query", "q", false)] },
      },
    };
    const accounts = withPlaces(["header", "x-key"]);
    const { call, server, catalog } = await openApi({ paths, accounts, config: { headers: { "X-Key": "settings" } } });
    await call("list", { q: "a" });
    expect(server.received).toMatchObject([{ url: "/orders?q=a", headers: { "x-key": `Bearer ${TOKEN}` } }]);
    expect(catalog.method("ShopAPI.list")?.declaration).not.toMatch(/key/i);
    await expect(call("list", { "X-Key": "mine" })).rejects.toMatchObject({ code: "ARGUMENTS_INVALID" });
  });

  test("is a parameter of the query that an argument never replaces, not even as the member of another one", async () => {
    const filter = { in: "query", name: "filter", schema: { type: "object" }, style: "form", explode: true };
    const paths = { "/chat": { get: { operationId: "post", parameters: [parameter("query", "token"), filter] } } };
    const { call, server, catalog } = await openApi({ paths, accounts: withPlaces(["query", "token"]) });
    await call("post", { filter: { token: "mine", "t%6Fken": "x", a: "b" } });
    expect(server.received[0]?.url).toBe(`/chat?t%256Fken=x&a=b&token=${TOKEN}`);
    expect(catalog.method("ShopAPI.post")?.input["required"]).toEqual([]);
  });

  test("is a cookie beside those of arguments", async () => {
    const paths = {
      "/me": { get: { operationId: "me", parameters: [parameter("cookie", "lang"), parameter("cookie", "sid")] } },
    };
    const { call, server } = await openApi({ paths, accounts: withPlaces(["cookie", "sid"]) });
    await call("me", { lang: "en; sid=mine" });
    expect(server.received[0]?.headers["cookie"]).toBe(`lang=en%3B%20sid%3Dmine; sid=${TOKEN}`);
  });

  test("is fields of the body: flat, whole, of a form, and where the document has no body", async () => {
    const body = (type: string, schema: object): object => ({ content: { [type]: { schema } }, required: true });
    const properties = { client_id: text, secret: text, count: { type: "integer" } };
    const flat = { type: "object", properties, required: ["client_id", "secret", "count"] };
    const whole = { allOf: [{ $ref: "#/components/schemas/Keys" }, { type: "object", properties: { count: {} } }] };
    const paths = {
      "/flat": { post: { operationId: "flat", requestBody: body("application/json", flat) } },
      "/whole": { post: { operationId: "whole", requestBody: body("application/json", whole) } },
      "/form": { post: { operationId: "form", requestBody: body("application/x-www-form-urlencoded", flat) } },
      "/none": { post: { operationId: "none" } },
    };
    const components = { schemas: { Keys: { type: "object", properties: { secret: text }, required: ["secret"] } } };
    const accounts = withPlaces(["body", "client_id"], ["body", "secret"]);
    const { call, server, catalog } = await openApi({ paths, components, accounts });
    await call("flat", { count: 1 });
    await call("whole", { body: { count: 2, secret: "mine" } });
    await call("form", { count: 3 });
    await call("none");
    expect(server.received.map((request) => request.body)).toEqual([
      `{"count":1,"client_id":"${TOKEN}","secret":"${TOKEN}"}`,
      `{"count":2,"client_id":"${TOKEN}","secret":"${TOKEN}"}`,
      `count=3&client_id=${TOKEN}&secret=${TOKEN}`,
      `{"client_id":"${TOKEN}","secret":"${TOKEN}"}`,
    ]);
    for (const { declaration } of catalog.methods) expect(declaration).not.toMatch(/secret|client/i);
  });

  test("is what the program reads as [redacted], if the API sends it back", async () => {
    const paths = { "/echo": { get: { operationId: "echo" } } };
    const { call } = await openApi({ paths, accounts: withPlaces(["header", "authorization"]) });
    expect(await call("echo")).toMatchObject({ headers: { authorization: "[redacted]" } });
    const bare: Answer = ({ headers }, response) =>
      json(response, 400, { message: String(headers["authorization"]).slice(7) });
    const failing = await openApi({ paths, accounts: withPlaces(["header", "authorization"]), answer: bare });
    await expect(failing.call("echo")).rejects.toThrow("GET /echo answered 400 Bad Request: [redacted]");
  });

  test.each([
    ["pin-12", "pin-12"],
    [Buffer.from("key-of-the-shop-0815:x").toString("base64"), "key-of-the-shop-0815"],
  ])("is masked in every part of an answer, also if it is short or the name of a user: %s", async (value, said) => {
    const paths = { "/echo": { get: { operationId: "echo" } }, "/orders": { post: { operationId: "add" } } };
    const answer: Answer = ({ method }, response) =>
      method === "GET"
        ? json(response, 200, { said, x: "x" })
        : json(response, 302, {}, { location: `https://login.example.com/?key=${said}`, "x-request-id": said });
    const { call } = await openApi({ paths, accounts: withBasic(value), answer });
    expect(await call("echo")).toEqual({ said: "[redacted]", x: "x" });
    const error = await call("add").catch((thrown: unknown) => thrown);
    expect(String(error)).toContain("login.example.com");
    expect(JSON.stringify([String(error), error])).not.toContain(said);
  });

  test("is that of the caller, and of the last pattern that matches", async () => {
    const accounts = new TestAccounts({
      shop: { values: { ada: "a-token-1", bob: "b-token-1" } },
      admin: { values: { ada: "a-token-2" } },
    });
    const paths = { "/orders": { get: { operationId: "list" } }, "/admin/all": { get: { operationId: "all" } } };
    const config = {
      accounts: [
        ["*", "shop"],
        ["/admin/*", "admin"],
      ] as const,
    };
    const { call, server } = await openApi({ paths, accounts, config });
    await call("list");
    await call("list", {}, "bob");
    await call("all");
    expect(server.received.map(({ headers }) => headers["authorization"])).toEqual([
      "Bearer a-token-1",
      "Bearer b-token-1",
      "Bearer a-token-2",
    ]);
    await expect(call("all", {}, "bob")).rejects.toMatchObject({ code: "ACCOUNT_MISSING" });
  });

  test("follows redirects on its server only", async () => {
    const other = await startApiServer((request, response) => json(response, 200, request.headers));
    const paths = { "/here": { get: { operationId: "here" } }, "/away": { get: { operationId: "away" } } };
    const { call, server } = await openApi({
      paths,
      accounts: withPlaces(["query", "key"], ["header", "x-key"]),
      answer: ({ url }, response) => {
        if (url.startsWith("/here")) response.writeHead(302, { location: "/there?a=1" }).end();
        else if (url.startsWith("/away")) response.writeHead(302, { location: `${other.origin}/x` }).end();
        else json(response, 200, "arrived");
      },
    });
    expect(await call("here")).toBe("arrived");
    expect(server.received[1]).toMatchObject({
      url: `/there?a=1&key=${TOKEN}`,
      headers: { "x-key": `Bearer ${TOKEN}` },
    });
    await expect(call("away")).rejects.toThrow("which is not followed");
    expect(other.received).toEqual([]);
  });
});

test("names an account that the settings do not have as a problem of the source", async () => {
  const { problems } = await openApi({ paths: { "/a": { get: {} } }, accounts: new TestAccounts({}) });
  expect(problems).toContainEqual(expect.stringContaining('account names "shop", which the settings do not have'));
});

describe("a credential that the service does not accept", () => {
  const paths = { "/orders": { get: { operationId: "list" }, post: { operationId: "add" } } };
  const refuseOld: Answer = ({ headers }, response) =>
    headers["authorization"] === "Bearer new-token"
      ? json(response, 200, "fine")
      : json(response, 401, { message: "Bad credentials" }, { "www-authenticate": 'Bearer error="invalid_token"' });
  const renewing = (renew?: () => string | undefined): TestAccounts =>
    new TestAccounts({ shop: { values: { ada: "old-token" }, ...(renew && { renew }) } });

  test("is renewed once, and a read is repeated", async () => {
    const { call, server } = await openApi({ paths, accounts: renewing(() => "new-token"), answer: refuseOld });
    expect(await call("list")).toBe("fine");
    expect(server.received.map(({ headers }) => headers["authorization"])).toEqual([
      "Bearer old-token",
      "Bearer new-token",
    ]);
    const still = await openApi({ paths, accounts: renewing(() => "other-token"), answer: refuseOld });
    await expect(still.call("list")).rejects.toMatchObject({
      message: expect.stringContaining("The service does not accept the credential of the account shop (ada)"),
    });
    expect(still.server.received).toHaveLength(2);
  });

  test("is renewed, and a write is repeated with an idempotency key only", async () => {
    const { call, server } = await openApi({ paths, accounts: renewing(() => "new-token"), answer: refuseOld });
    await expect(call("add")).rejects.toThrow(
      "POST /orders answered 401 Unauthorized: Bad credentials. The service did not accept the credential of the account shop (ada), which is renewed now: make the call again (HTTP_401)",
    );
    expect(server.received).toHaveLength(1);
    expect(await call("add")).toBe("fine");
    const config = { idempotencyHeader: "Idempotency-Key" };
    const keyed = await openApi({ paths, accounts: renewing(() => "new-token"), answer: refuseOld, config });
    expect(await keyed.call("add")).toBe("fine");
    const keys = keyed.server.received.map(({ headers }) => headers["idempotency-key"]);
    expect(keys).toEqual([keys[0], keys[0]]);
  });

  test("is an error that names the account, its owner and what to do, if it has no other", async () => {
    const { call } = await openApi({ paths, accounts: renewing(), answer: refuseOld });
    await expect(call("list")).rejects.toThrow(
      "GET /orders answered 401 Unauthorized: Bad credentials. The service does not accept the credential of the account shop (ada), " +
        "which is connected; connect it with: skillgate account connect shop --caller ada (HTTP_401)",
    );
  });

  test("that lacks scopes is an error with the scopes", async () => {
    const challenge = 'Bearer error="insufficient_scope", scope="repo admin:org"';
    const answer: Answer = (_request, response) => json(response, 403, {}, { "www-authenticate": challenge });
    const { call } = await openApi({ paths, accounts: renewing(), answer });
    await expect(call("list")).rejects.toMatchObject({
      code: "ACCOUNT_SCOPES",
      message: expect.stringContaining("the service wants the scopes repo admin:org for shop (ada); connect it with"),
    });
  });
});
