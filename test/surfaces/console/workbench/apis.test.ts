import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

import { createKeys } from "../../../../src/keys/index.ts";
import { createFolder } from "../../../approvals/mail.ts";
import { startGraphServer } from "../../../support/servers/graph-server.ts";
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

const DOCUMENT = `openapi: 3.1.0
info: { title: Shop, version: "1" }
servers: [{ url: https://api.example.com }]
paths:
  /orders:
    get: { operationId: orders/list, summary: Lists the orders, responses: {} }
    post: { operationId: orders/add, summary: Adds an order, responses: {} }
  /broken:
    get: { parameters: [{ $ref: "#/missing" }], responses: {} }
`;

const SDL = `
type Query { issues(first: Int): [Issue!]! }
type Mutation { createIssue(title: String!): Issue deleteIssue(id: ID!): Boolean }
type Issue { id: ID! title: String! broken: Missing }
`;

const ISSUES = { Query: { issues: () => [{ id: "1", title: "A" }] } };

interface Sent {
  readonly method?: "POST" | "DELETE";
  readonly body?: object;
  readonly token?: string;
}

async function send(server: ConsoleServer, path: string, { method, body, token = TOKEN }: Sent = {}) {
  const headers = { authorization: `Bearer ${token}`, "x-skillgate-console": "1", "content-type": "application/json" };
  const response = await fetch(`${server.url}/console/api${path}`, {
    headers,
    ...(method !== undefined && { method }),
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, json: response.status === 204 ? undefined : await response.json() };
}

function serveProject(project: string): Promise<ConsoleServer> {
  return serveConsole({ project, home: folder(), settings: { auth: true }, runtime: { store: createFolder() } });
}

test(
  "adds the API of a pasted document, shows its operations, accepts a change, and removes it [O2]",
  { tags: "rest" },
  async () => {
    const project = folder();
    const server = await serveProject(project);
    const added = await send(server, "/apis", { method: "POST", body: { name: "shop", text: DOCUMENT } });
    expect(added).toMatchObject({
      status: 201,
      json: { name: "shop", skill: "ShopAPI", methods: 3, server: "https://api.example.com/", error: null },
    });
    expect(readFileSync(join(project, "settings.yaml"), "utf8")).toContain("server: https://api.example.com/");
    expect((await send(server, "/apis/shop")).json).toMatchObject({
      problems: [expect.stringContaining("get /broken")],
      operations: [
        { method: "orders_list", path: "ShopAPI.orders_list", request: "GET /orders", effect: "read" },
        { method: "orders_add", effect: "write", isLoosened: false },
        { method: "getBroken" },
      ],
    });
    expect(server.runtime.catalog.method("ShopAPI.orders_add")).toBeDefined();
    writeFileSync(join(project, "apis", "shop.yaml"), DOCUMENT.replace("Adds an order", "Adds an order of pets"));
    const refreshed = await send(server, "/apis/shop/refresh", { method: "POST", body: {} });
    expect(refreshed).toMatchObject({ status: 200, json: { changeCount: 1 } });
    const accepted = await send(server, "/apis/shop/accept", { method: "POST", body: {} });
    expect(accepted).toMatchObject({ status: 200, json: { changeCount: 0 } });
    expect((await send(server, "/apis/shop", { method: "DELETE" })).status).toBe(204);
    expect((await send(server, "/apis")).json).toEqual({ apis: [] });
    expect(server.runtime.catalog.skill("ShopAPI")).toBeUndefined();
  },
);

test("shows the operations and changes of the methods that a key may see, and no others [P2]", async () => {
  const project = folder();
  const server = await serveProject(project);
  for (const body of [
    { name: "shop", text: DOCUMENT },
    { name: "tracker", text: SDL, server: "https://graph.example.com" },
  ])
    expect((await send(server, "/apis", { method: "POST", body })).status).toBe(201);
  writeFileSync(join(project, "apis", "shop.yaml"), DOCUMENT.replaceAll("order", "booking"));
  await send(server, "/apis/shop/refresh", { method: "POST", body: {} });
  const keys = createKeys(await server.runtime.database());
  const permissions = ["admin:Read", "see:ShopAPI.orders_list", "see:TrackerGraph.query"];
  const { text: token } = await keys.create({ name: "narrow", permissions });
  const list = async (name: string, as: { readonly token?: string }): Promise<unknown> => {
    const { json } = await send(server, `/apis/${name}`, as);
    const { operations, changes } = json as Record<"operations" | "changes", readonly Record<string, string>[]>;
    return [operations.map(({ method }) => method), changes.map((change) => change["name"])];
  };
  const renamed = ["bookings_list", "bookings_add", "orders_list", "orders_add"];
  expect(await list("shop", {})).toEqual([
    ["bookings_list", "bookings_add", "getBroken"],
    expect.arrayContaining(renamed),
  ]);
  expect(await list("shop", { token })).toEqual([[], ["orders_list"]]);
  expect(await list("tracker", { token })).toEqual([["query:issues"], []]);
});

test("adds a GraphQL API by its endpoint, shows its root fields, and removes it [O2]", { tags: "rest" }, async () => {
  const { url } = await startGraphServer({ typeDefs: SDL.replace("broken: Missing", ""), resolvers: ISSUES });
  const project = folder();
  const server = await serveProject(project);
  const body = { name: "tracker", kind: "", document: url, text: "", server: "", private: true };
  expect(await send(server, "/apis", { method: "POST", body })).toMatchObject({
    status: 201,
    json: { name: "tracker", skill: "TrackerGraph", methods: 2, server: url, error: null, problemCount: 0 },
  });
  expect(readFileSync(join(project, "settings.yaml"), "utf8")).toContain(`graphql: ${url}`);
  expect((await send(server, "/apis/tracker")).json).toMatchObject({
    operations: [
      { method: "query:issues", path: "TrackerGraph.query", request: "query issues", effect: "read" },
      { method: "mutate:createIssue", path: "TrackerGraph.mutate", effect: "write" },
      { method: "mutate:deleteIssue", path: "TrackerGraph.mutate", effect: "destructive" },
    ],
  });
  const outcome = await server.runtime.run("await device.TrackerGraph.query({ query: `{ issues { title } }` })");
  expect(outcome).toMatchObject({ kind: "completed", value: { issues: [{ title: "A" }] } });
  const source = "await device.TrackerGraph.query({ query: `{ issues { titel } }` })";
  expect((await send(server, "/check", { method: "POST", body: { source } })).json).toMatchObject({
    violations: [{ code: "QUERY_INVALID", suggestions: ["title"] }],
  });
  expect((await send(server, "/apis/tracker/refresh", { method: "POST", body: {} })).status).toBe(200);
  expect((await send(server, "/apis/tracker", { method: "DELETE" })).status).toBe(204);
  expect(server.runtime.catalog.skill("TrackerGraph")).toBeUndefined();
});

test("adds a GraphQL API by its pasted schema with the endpoint of its requests [O2]", { tags: "rest" }, async () => {
  const project = folder();
  const server = await serveProject(project);
  const post = (body: object) => send(server, "/apis", { method: "POST", body });
  expect(await post({ name: "tracker", text: SDL })).toMatchObject({
    status: 400,
    json: { detail: expect.stringContaining("a schema does not say where its API is; write its endpoint") },
  });
  const added = await post({ name: "tracker", text: SDL, server: "https://api.example.com/v1" });
  expect(added).toMatchObject({ status: 201, json: { methods: 2, problemCount: 1 } });
  expect(readFileSync(join(project, "settings.yaml"), "utf8")).toContain("schema: ./apis/tracker.graphql");
  expect((await send(server, "/apis/tracker")).json).toMatchObject({
    problems: [expect.stringContaining("Issue.broken")],
  });
});

test(
  "says what is wrong with a new API, and refuses a caller without the right to add servers [O2, P2]",
  { tags: "rest" },
  async () => {
    const project = folder();
    const server = await serveProject(project);
    const post = (body: object, token = TOKEN) => send(server, "/apis", { method: "POST", body, token });
    expect((await post({ name: "../up", text: DOCUMENT })).json).toMatchObject({
      detail: expect.stringContaining('"../up" cannot name a source'),
    });
    expect((await post({ name: "shop" })).json).toMatchObject({ detail: expect.stringContaining("document must be") });
    const missing = await post({ name: "gone", document: "./gone.json" });
    expect(missing).toMatchObject({ status: 400, json: { detail: expect.stringContaining("ENOENT") } });
    expect((await send(server, "/apis")).json).toEqual({ apis: [] });
    const keys = createKeys(await server.runtime.database());
    const { text: reader } = await keys.create({ name: "reader", permissions: ["admin:Read", "see:*"] });
    const { text: few } = await keys.create({ name: "few", permissions: ["call:*"] });
    expect((await send(server, "/apis", { token: reader })).status).toBe(200);
    expect((await post({ name: "shop", text: DOCUMENT }, reader)).status).toBe(403);
    for (const path of ["/apis", "/apis/gone"]) expect((await send(server, path, { token: few })).status).toBe(403);
    expect(existsSync(join(project, "apis", "shop.yaml"))).toBe(false);
    expect((await post({ name: "empty", text: "openapi: 3.1.0" })).json).toMatchObject({
      detail: expect.stringContaining("nothing was added. Cannot use the document of empty"),
    });
    expect(existsSync(join(project, "apis", "empty.yaml"))).toBe(false);
    writeFileSync(join(project, "settings.yaml"), "accounts: { notes: { type: bearer } }\n");
    expect((await post({ name: "shop", text: DOCUMENT, account: "notes" })).status).toBe(201);
    expect(readFileSync(join(project, "settings.yaml"), "utf8")).toContain("account: notes");
    expect((await post({ name: "shop", text: DOCUMENT })).json).toMatchObject({
      detail: expect.stringContaining("has an API shop already"),
    });
  },
);

describe.skipIf(!hasChromium)("the page of APIs", () => {
  test(
    "adds an API by its text, leads to the form of a method, and removes the API after a question [O2]",
    { tags: "rest" },
    async () => {
      const { page, faults } = await openConsole(await serveProject(folder()), "#/apis");
      await page.getByText("No APIs").waitFor();
      await page.getByRole("button", { name: "Add API" }).click();
      await page.getByLabel("Name").fill("shop");
      await page.getByLabel("Or the document itself").fill(DOCUMENT);
      await checkViews(page, BOTH_COLOURS, async (view) => {
        await takeScreenshot(page, `add-api-${view}`);
        expect(await findViolations(page), view).toEqual([]);
      });
      await page.getByRole("button", { name: "Add", exact: true }).click();
      await page.getByText("3 operations").waitFor();
      await checkViews(page, BOTH_COLOURS, async (view) => {
        await takeScreenshot(page, `api-${view}`);
        expect(await findViolations(page), view).toEqual([]);
      });
      await page.getByLabel("Filter operations").fill("write");
      await page.getByRole("link", { name: "orders_list" }).waitFor({ state: "detached" });
      await page.getByRole("link", { name: "orders_add" }).click();
      await page.getByRole("button", { name: "Try it" }).waitFor();
      await page.goBack();
      await page.getByRole("button", { name: "Remove" }).click();
      await page
        .getByRole("dialog", { name: /Remove/ })
        .getByRole("button", { name: "Remove" })
        .click();
      await page.getByText("No APIs").waitFor();
      expect(faults).toEqual([]);
    },
  );

  test("adds a GraphQL API by its endpoint, and shows its root fields [O2]", { tags: "rest" }, async () => {
    const { url } = await startGraphServer({ typeDefs: SDL.replace("broken: Missing", ""), resolvers: ISSUES });
    const { page, faults } = await openConsole(await serveProject(folder()), "#/apis");
    await page.getByRole("button", { name: "Add API" }).click();
    await page.getByLabel("Name").fill("tracker");
    await page.getByLabel("Kind").selectOption("GraphQL");
    await page.getByLabel("Address of its OpenAPI document").fill(url);
    await page.getByLabel("Network").selectOption("a private network, such as this machine");
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByRole("link", { name: "mutate:deleteIssue" }).waitFor();
    await takeScreenshot(page, "api-graphql");
    await page.getByRole("link", { name: "query:issues" }).click();
    await page.getByRole("button", { name: "Try it" }).waitFor();
    expect(faults).toEqual([]);
  });
});
