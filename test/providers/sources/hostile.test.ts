import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { createRuntime, type Runtime } from "../../../src/index.ts";
import type { SourceSettings } from "../../../src/runtime/options.ts";

async function startServer(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Opens a project with the source `shop`; `document` is its document, without what all of them have. */
async function openShop(document: object, settings: Partial<SourceSettings>, files: object = {}): Promise<Runtime> {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-hostile-"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), String(text));
  mkdirSync(join(folder, "empty"));
  writeFileSync(join(folder, "api.json"), JSON.stringify({ openapi: "3.1.0", info: { title: "Shop" }, ...document }));
  const shop = { openapi: "./api.json", private: true, ...settings };
  const runtime = await createRuntime({ cwd: folder, skillsDir: false, workers: 1, sources: { shop } });
  onTestFinished(async () => {
    await runtime.close();
    rmSync(folder, { recursive: true });
  });
  await runtime.known;
  return runtime;
}

const call = async (runtime: Runtime, code: string): Promise<unknown> => {
  const outcome = await runtime.run(code);
  return outcome.kind === "completed" ? outcome.value : outcome.text;
};

const headers = { Authorization: "Bearer secret-4711" };

test("a server of the document whose path begins with // is no other host [P12]", async () => {
  const seen: unknown[] = [];
  const evil = await startServer((request, response) => {
    seen.push(request.headers);
    response.end();
  });
  const main = await startServer(({ url }, response) =>
    response.writeHead(200, { "content-type": "text/plain" }).end(url),
  );
  const servers = [{ url: `https://api.example${evil.slice("http:".length)}/x` }];
  const runtime = await openShop(
    {
      servers: [{ url: "https://api.example" }],
      paths: { "/a": { get: { operationId: "a", servers, responses: {} } } },
    },
    { server: main, headers },
  );
  expect(await call(runtime, "device.ShopAPI.a()")).toBe(`${evil.slice("http:".length)}/x/a`);
  expect(seen).toEqual([]);
});

test("a server without a scheme, and headers that cannot be sent, are problems, also by a variable [O1]", async () => {
  const variables = { SHOP_HOST: "api.example.com", SHOP_KEY: "secret-4711\n" };
  Object.assign(process.env, variables);
  onTestFinished(() => Object.keys(variables).forEach((name) => void delete process.env[name]));
  const runtime = await openShop(
    {},
    {
      server: "${SHOP_HOST}",
      headers: { "X-Key": "${SHOP_KEY}", "Authorization:": "Bearer x" },
      idempotencyHeader: "Idempotency Key",
    },
  );
  expect(runtime.listApis()).toEqual([]);
  expect(runtime.problems.map(({ error }) => error)).toEqual([
    expect.stringContaining(
      'sources.shop.server has "${SHOP_HOST}", which is not a URL such as https://api.example.com',
    ),
    expect.stringContaining('sources.shop has the header "X-Key", whose value has a line break'),
    expect.stringContaining('sources.shop has the header "Authorization:", which cannot be a name'),
    expect.stringContaining('sources.shop has the header "Idempotency Key", which cannot be a name'),
  ]);
});

test("references read no hidden files, no folders, and nothing of other servers [S6]", async () => {
  const paths = [".env", "empty", "https://evil.example/a.json", "blob:https://evil.example/a.json", "../a.json"];
  const runtime = await openShop(
    {
      paths: { "/a": { get: { responses: {} } }, ...Object.fromEntries(paths.map(($ref, at) => [`/${at}`, { $ref }])) },
    },
    { server: "https://api.example" },
    { ".env": "get: { operationId: secret-4711 }" },
  );
  const problems = runtime.listApis()[0]?.problems.join("\n");
  expect(problems).toContain("/.env: it is not read, because it is hidden; what refers to it is left out");
  expect(problems).toContain("/empty: it is no file");
  expect(problems).toContain("https://evil.example/a.json: it is not read, because it is not in the document's folder");
  expect(problems).not.toContain("null");
  expect(problems).not.toContain("4711");
  expect(runtime.listOperations("shop")).toHaveLength(1);
});

test("texts of a document make no lines of their own, and no commands of the terminal [S6]", async () => {
  const runtime = await openShop(
    {
      info: { title: "Shop\n✓ all is well\u001B[2J", version: "1\n2" },
      paths: {
        "/a\n✓ fine": { get: { responses: {} } },
        "/b": { get: { responses: {} }, put: { $ref: "#/\u001B[2J\nno" } },
      },
    },
    { server: "https://api.example" },
  );
  const [status] = runtime.listApis();
  expect(status).toMatchObject({ title: "Shop ✓ all is well\\u001b[2J", version: "1 2", operations: 1 });
  expect(status?.problems).toEqual([
    "get /a ✓ fine: its path has invisible characters; it is left out",
    expect.stringMatching(/^put \/b: what it refers to is missing: .*#\/\\u001b\[2J no; it is left out$/),
  ]);
});

test("patterns that match nothing are problems, and tags have spaces [O1]", async () => {
  const paths = {
    "/pets": {
      get: { operationId: "list", responses: {} },
      post: { operationId: "add", tags: ["Get a pet"], responses: {} },
    },
  };
  const runtime = await openShop(
    { paths },
    {
      server: "https://api.example",
      exclude: ["/pet/*", "PSOT /pets"],
      effects: { "Get a pet": "read", "post /pets/search": "read" },
    },
  );
  expect(runtime.problems.map(({ error }) => error)).toEqual([
    'exclude has "/pet/*", which no operation of the document matches',
    'exclude has "PSOT /pets", which no operation of the document matches',
    'effects has "post /pets/search", which no operation of the document matches',
  ]);
  expect(runtime.listOperations("shop").map(({ effect }) => effect)).toEqual(["read", "read"]);
});
