import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { type Ended, project, skillgate } from "./command.ts";

const DOCUMENT = `openapi: 3.1.0
info: { title: Shop, version: "1" }
servers: [{ url: https://api.example.com }]
paths:
  /orders:
    get: { operationId: orders/list, summary: Lists the orders, responses: {} }
  /orders/search:
    post: { operationId: orders/search, summary: Searches the orders, responses: {} }
  /broken:
    get: { parameters: [{ $ref: "#/missing" }], responses: {} }
`;

test("source adds, lists, checks and removes an API [O1]", async () => {
  const cwd = project();
  writeFileSync(join(cwd, "shop.yaml"), DOCUMENT);
  const source = (...args: readonly string[]): Promise<Ended> => skillgate(["source", ...args], { cwd });
  const added = await source("add", "shop.yaml", "--name", "shop", "-H", "Authorization: Bearer ${PATH}");
  expect(added).toMatchObject({ exit: 0, stdout: expect.stringContaining("ShopAPI, 3 methods of Shop 1") });
  const settings = readFileSync(join(cwd, "settings.yaml"), "utf8");
  expect(settings).toContain("openapi: ./shop.yaml");
  expect(settings).toContain("server: https://api.example.com/");
  expect(await source("add", "shop.yaml", "--name", "shop")).toMatchObject({
    exit: 2,
    stderr: expect.stringContaining("settings.yaml has a source shop already"),
  });
  expect(await source("list")).toMatchObject({ exit: 0, stdout: expect.stringContaining("https://api.example.com/") });
  const { stdout } = await source("check", "shop");
  expect(stdout).toContain("get /broken: a parameter that leads nowhere");
  expect(stdout).toContain('effects: { "POST /orders/search": read }');
  writeFileSync(join(cwd, "shop.yaml"), DOCUMENT.replace("title: Shop", "title: Store").replace("Lists", "Counts"));
  const refreshed = await source("refresh", "shop");
  expect(refreshed).toMatchObject({ exit: 0, stdout: expect.stringContaining("of Store 1") });
  expect(refreshed.stdout).toContain("1 operation changed, added or removed since they were accepted");
  expect(await source("accept", "shop")).toMatchObject({
    exit: 0,
    stdout: expect.stringContaining('description: "Lists the orders" → "Counts the orders"'),
  });
  expect((await source("check", "shop")).stdout).not.toContain("since they were accepted");
  expect(await source("remove", "shop")).toMatchObject({ exit: 0, stdout: "Removed shop from settings.yaml\n" });
  expect(await source("list", "--json")).toMatchObject({ stdout: expect.stringContaining('"sources":[]') });
});

test("a source that the settings do not let be used is listed with its reason [O1]", async () => {
  const cwd = project();
  writeFileSync(join(cwd, "shop.yaml"), DOCUMENT);
  writeFileSync(
    join(cwd, "settings.yaml"),
    "sources: { shop: { openapi: shop.yaml, headers: { A: '${NO_SUCH_KEY}' } } }",
  );
  const run = (...args: readonly string[]): Promise<Ended> => skillgate(["source", ...args], { cwd });
  const reason = "sources.shop: environment variable NO_SUCH_KEY is not set";
  expect(await run("list")).toMatchObject({ exit: 0, stdout: expect.stringContaining(reason) });
  expect(await run("check", "shop")).toMatchObject({ exit: 2, stderr: expect.stringContaining(reason) });
  expect(await run("check", "shpo")).toMatchObject({
    exit: 2,
    stderr: expect.stringContaining("There is no source shpo in settings.yaml; it has shop"),
  });
});

test("source says that a source does not exist, or that the settings are held, whatever else is held [O1]", async () => {
  const cwd = project({ "skills/one.js": "export const one = () => 1;" });
  const env = { SKILLGATE_TRUSTED_FOLDERS: "" };
  const refresh = (): Promise<Ended> => skillgate(["source", "refresh", "shop"], { cwd, env });
  expect((await refresh()).stderr).toMatch(/^There is no source shop in settings\.yaml; it has none\n/);
  writeFileSync(join(cwd, "settings.yaml"), "sources: { shop: { openapi: shop.yaml } }");
  expect((await refresh()).stderr).toMatch(/^Held, as this folder is not trusted yet: .*settings sources\.shop\n/);
});

test("source add adds nothing if its document cannot be read [O1]", async () => {
  const cwd = project();
  writeFileSync(join(cwd, "shop.yaml"), "openapi: 3.1.0\npaths: {}\n");
  const added = await skillgate(["source", "add", "shop.yaml", "--name", "shop"], { cwd });
  expect(added).toMatchObject({ exit: 1, stdout: "", stderr: expect.stringContaining("Nothing was added. ") });
  expect(added.stderr).toContain("the document has no operations");
  expect(await skillgate(["source", "list", "--json"], { cwd })).toMatchObject({
    stdout: expect.stringContaining('"sources":[]'),
  });
});

test(
  "source show, doctor and policy explain name the effect of an operation, and what decides it [O1, P3]",
  { tags: "rest" },
  async () => {
    const cwd = project();
    writeFileSync(join(cwd, "shop.yaml"), DOCUMENT);
    const effects = '{ "POST /orders/search": read }';
    writeFileSync(join(cwd, "settings.yaml"), `sources: { shop: { openapi: shop.yaml, effects: ${effects} } }`);
    const run = (...args: readonly string[]): Promise<Ended> => skillgate(args, { cwd });
    const shown = await run("source", "show", "shop");
    expect(shown).toMatchObject({
      exit: 0,
      stdout: expect.stringContaining("orders_search  read  POST /orders/search"),
    });
    const one = await run("source", "show", "shop", "orders_search");
    expect(one.stdout).toContain('The effect is read: sources.shop.effects has "POST /orders/search": read');
    expect(one.stdout).toContain("orders_search()");
    expect(await run("source", "show", "shop", "order_search")).toMatchObject({
      exit: 5,
      stderr: expect.stringContaining("did you mean orders_search"),
    });
    const { stdout } = await run("doctor");
    expect(stdout).toContain(
      "! API shop: ShopAPI, 3 methods, 1 problem of its document: skillgate source check shop\n",
    );
    expect(stdout).toContain("POST /orders/search counts as reading only");
    await run("policy", "init");
    expect((await run("policy", "explain", "ShopAPI.orders_search")).stdout).toMatch(
      /allow for [^]*asks before writes, and the method only reads[^]*The effect is read: sources\.shop\.effects/,
    );
    writeFileSync(join(cwd, "settings.yaml"), "sources: { shop: { openapi: shop.yaml } }");
    expect((await run("policy", "explain", "ShopAPI.orders_search")).stdout).toMatch(
      /ask for [^]*asks before writes, and the method does not only read[^]*The effect is write, by the verb POST/,
    );
    expect(await run("call", "ShopAPI.orders_search")).toMatchObject({ exit: 4 });
  },
);

test("source says what is wrong with a file, a name or a document [O1]", async () => {
  const cwd = project();
  const source = (...args: readonly string[]): Promise<Ended> => skillgate(["source", ...args], { cwd });
  expect(await source("add", "missing.yaml", "--name", "a")).toMatchObject({
    exit: 2,
    stderr: expect.stringContaining("There is no file missing.yaml"),
  });
  expect(await source("check", "shop")).toMatchObject({
    exit: 2,
    stderr: expect.stringContaining("There is no source shop in settings.yaml"),
  });
  writeFileSync(join(cwd, "no.json"), '{ "title": 1 }');
  expect(await source("add", "no.json", "--name", "a b")).toMatchObject({
    exit: 2,
    stderr: expect.stringContaining('"a b" cannot name a source'),
  });
  expect(existsSync(join(cwd, "settings.yaml"))).toBe(false);
  writeFileSync(join(cwd, "settings.yaml"), "sources: { broken: { openapi: 5 } }");
  expect(await source("remove", "broken")).toMatchObject({ exit: 0 });
  expect(await source("add", "no.json", "--name", "no")).toMatchObject({
    exit: 1,
    stderr: expect.stringContaining('has neither "openapi" nor "swagger"'),
  });
});

test("source add and check say which credentials operations want, and which account fits [O1]", async () => {
  const cwd = project();
  const security = (...names: readonly string[]): object => ({
    security: [Object.fromEntries(names.map((name) => [name, []]))],
  });
  const document = {
    openapi: "3.1.0",
    info: { title: "Shop" },
    servers: [{ url: "https://api.example.com" }],
    ...security("token"),
    components: {
      securitySchemes: {
        token: { type: "http", scheme: "Bearer" },
        key: { type: "apiKey", in: "query", name: "api key" },
        login: {
          type: "oauth2",
          flows: {
            authorizationCode: {
              authorizationUrl: "https://login.example.com/a",
              tokenUrl: "https://login.example.com/t",
              scopes: {},
            },
          },
        },
        service: {
          type: "oauth2",
          flows: { clientCredentials: { tokenUrl: "https://login.example.com/t", scopes: {} } },
        },
        company: { type: "openIdConnect", openIdConnectUrl: "https://id.example.com/.well-known/openid-configuration" },
        signed: { type: "http", scheme: "hoba\u001b[31m" },
      },
    },
    paths: {
      "/orders": { get: { operationId: "list" }, post: { operationId: "add" } },
      "/key": { get: { operationId: "byKey", ...security("key") } },
      "/me": { get: { operationId: "me", ...security("login") } },
      "/all": { get: { operationId: "all", ...security("service") } },
      "/id": { get: { operationId: "id", ...security("company") } },
      "/signed": { get: { operationId: "signed", ...security("signed") } },
      "/open": { get: { operationId: "open", security: [] } },
      "/maybe": { get: { operationId: "maybe", security: [{ token: [] }, {}] } },
    },
  };
  writeFileSync(join(cwd, "shop.json"), JSON.stringify(document));
  const source = (...args: readonly string[]): Promise<Ended> => skillgate(["source", ...args], { cwd });
  const added = await source("add", "shop.json", "--name", "shop");
  expect(added.stdout).toContain(
    [
      "2 operations want token: a token in the header Authorization (Bearer). No account is set; write into settings.yaml:",
      "  accounts: { shop: { type: bearer } }",
      "  sources: { shop: { account: shop } }",
      "  and then: skillgate account connect shop",
      "1 operation wants key: a key in the parameter api key. No account is set; write into settings.yaml:",
      '  accounts: { shop: { type: apiKey, in: query, name: "api key" } }',
    ].join("\n"),
  );
  const { stdout } = await source("check", "shop");
  const accounts = [
    '{ type: oauth, authorizationUrl: "https://login.example.com/a", tokenUrl: "https://login.example.com/t", clientId: "${SHOP_CLIENT}" }',
    '{ type: oauth, tokenUrl: "https://login.example.com/t", clientId: "${SHOP_CLIENT}", grant: client, clientSecret: "${SHOP_SECRET}" }',
    '{ type: oauth, issuer: "https://id.example.com", clientId: "${SHOP_CLIENT}" }',
  ];
  for (const account of accounts) expect(stdout).toContain(`  accounts: { shop: ${account} }`);
  expect(stdout).toMatch(/1 operation wants signed: http hoba.*, which no account has$/m);
  expect(stdout).not.toContain("\u001b");
  await source("remove", "shop");
  expect(
    (await source("add", "shop.json", "--name", "shop", "-H", "Authorization: Bearer ${PATH}")).stdout,
  ).not.toContain("want token");
});
