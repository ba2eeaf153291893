import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { createRuntime, type Runtime, type RuntimeOptions } from "../../../../src/index.ts";
import type { SourceSettings } from "../../../../src/runtime/options.ts";
import { startGraphServer } from "../../../support/servers/graph-server.ts";

const SDL = `
type Query { issues(first: Int): [Issue!]! viewer: User }
type Mutation { createIssue(title: String!): Issue deleteIssue(id: ID!): Boolean }
type Issue { id: ID! title: String! author: User }
type User { id: ID! login: String! }
`;

async function open(sources: Record<string, SourceSettings>, options: RuntimeOptions = {}): Promise<Runtime> {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-graphql-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const mcp = { stateDir: join(folder, "state") };
  const runtime = await createRuntime({ skillsDir: false, typecheck: false, mcp, cwd: folder, sources, ...options });
  onTestFinished(() => runtime.close());
  await runtime.known;
  return runtime;
}

/** Starts a server in front of another one, which forwards the requests that have a key. Returns its address. */
async function startGate(target: string, name: string, key: string): Promise<string> {
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const query = new URL(request.url ?? "", target).searchParams.get(name);
    if (request.headers[name] !== key && query !== key) {
      response.writeHead(401, { "content-type": "application/json" }).end('{"errors":[{"message":"Bad credentials"}]}');
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const headers = { "content-type": "application/json" };
    const answered = await fetch(target, { method: "POST", headers, body: Buffer.concat(chunks) });
    response.writeHead(answered.status, headers).end(await answered.text());
  };
  return startHttp((request, response) => void answer(request, response));
}

async function startHttp(listener: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`;
}

test("an endpoint describes its schema, and its root fields have effects [S5, P3]", async () => {
  const { url, received } = await startGraphServer({ typeDefs: SDL });
  const effects = { "mutate:createIssue": "read" } as const;
  const runtime = await open({ tracker: { graphql: url, private: true, effects, exclude: ["viewer"] } });
  expect(runtime.problems).toEqual([]);
  expect(runtime.listApis()).toMatchObject([
    { kind: "graphql", skill: "TrackerGraph", server: url, document: url, operations: 4, left: 1, error: undefined },
  ]);
  expect(runtime.listOperations("tracker")).toMatchObject([
    { method: "query:issues", verb: "query", effect: "read", reason: expect.stringContaining("a query only reads") },
    {
      method: "mutate:createIssue",
      effect: "read",
      isLoosened: true,
      reason: expect.stringContaining('sources.tracker.effects has "mutate:createIssue": read'),
    },
    {
      method: "mutate:deleteIssue",
      effect: "destructive",
      reason: expect.stringContaining('its name has the word "delete"'),
    },
  ]);
  expect(received).toHaveLength(1);
  expect(received[0]).toMatchObject({ method: "POST", headers: { "content-type": "application/json" } });
  expect((await runtime.refreshApi("tracker")).changes).toEqual([]);
});

test("the headers and the account of the settings are sent with the introspection [P9]", { tags: "rest" }, async () => {
  const { url } = await startGraphServer({ typeDefs: SDL });
  const gates = {
    headers: await startGate(url, "authorization", "Bearer secret-of-headers"),
    account: await startGate(url, "key", "secret-of-account"),
    none: await startGate(url, "authorization", "Bearer unknown"),
  };
  const runtime = await open(
    {
      headers: { graphql: gates.headers, private: true, headers: { Authorization: "Bearer ${SECRET}" } },
      account: { graphql: gates.account, private: true, account: "tracker" },
      none: { graphql: gates.none, private: true },
    },
    {
      env: { SECRET: "secret-of-headers" },
      accounts: { tracker: { type: "apiKey", in: "query", name: "key", value: "secret-of-account" } },
    },
  );
  expect(runtime.listApis().map(({ name, operations }) => [name, operations])).toEqual([
    ["headers", 4],
    ["account", 4],
    ["none", 0],
  ]);
  expect(runtime.problems.map(({ error }) => error)).toEqual([
    `Cannot use the schema of none, ${gates.none}: ${gates.none} wants a credential: it answers HTTP 401 ("Bad credentials"); write headers: { Authorization: … }, or an account, or save the schema as SDL, and write schema: with its file; it has no methods`,
  ]);
});

test("an endpoint that does not describe its schema says what to do [O1]", { tags: "rest" }, async () => {
  // As GraphQL.js says it.
  const message = 'GraphQL introspection has been disabled, but the requested query contained the field "__schema".';
  const off = await startHttp((_, response) => response.writeHead(400).end(JSON.stringify({ errors: [{ message }] })));
  const missing = await startHttp((_, response) => response.writeHead(404).end("<html>"));
  const busy = await startHttp((_, response) => response.writeHead(503).end("<html>"));
  const moved = await startHttp((_, response) =>
    response.writeHead(301, { location: "https://api.example/graphql?key=a-key" }).end(),
  );
  const broken = await startHttp((_, response) =>
    response.writeHead(500).end('{"errors":[{"message":"one\\u001b two"}]}'),
  );
  const runtime = await open({
    off: { graphql: off, private: true },
    missing: { graphql: missing, private: true },
    moved: { graphql: moved, private: true },
    broken: { graphql: broken, private: true },
    busy: { graphql: busy, private: true },
    public: { graphql: missing },
  });
  const errors = runtime.listApis().map(({ name, error = "" }) => [name, error] as const);
  expect(Object.fromEntries(errors)).toEqual({
    off: expect.stringContaining(
      `introspection is off at ${off}; save the schema as SDL, and write schema: with its file`,
    ),
    busy: expect.stringContaining("does not describe its schema: it answers HTTP 503; try again later"),
    missing: expect.stringContaining(`${missing} is no GraphQL endpoint: it answers a query with HTTP 404 and no JSON`),
    moved: expect.stringContaining(`${moved} is elsewhere: "https://api.example/graphql"; write that address`),
    broken: expect.stringContaining(String.raw`does not describe its schema: "one\u001b two"`),
    public: expect.stringContaining("an address of a private network; the owner allows it by private: true"),
  });
});

test("an endpoint whose answer has more than 64 MB is not read [O1]", { tags: "rest" }, async () => {
  const large = await startHttp((_, response) => void response.writeHead(200).end(Buffer.alloc((64 << 20) + 1, 32)));
  const runtime = await open({ large: { graphql: large, private: true } });
  expect(runtime.listApis()).toMatchObject([
    { name: "large", error: expect.stringContaining("the answer has more than 64 MB") },
  ]);
});

test("changes of a schema are reported line by line, or held until they are accepted [M8]", async () => {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-graphql-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "tracker.graphql");
  const options = { mcp: { stateDir: join(folder, "state") }, cwd: folder };
  const settings = {
    graphql: "https://api.example.com/graphql",
    schema: "./tracker.graphql",
    changes: "hold",
  } as const;
  writeFileSync(file, SDL);
  const first = await open({ tracker: settings }, options);
  expect(first.listApis()).toMatchObject([{ operations: 4, changes: [] }]);
  await first.close();
  writeFileSync(
    file,
    SDL.replace("title: String! author", "title: String author")
      .replace("(id: ID!): Boolean", "(id: ID!, force: Boolean): Boolean")
      .replace(" viewer: User", " labels: [String!]"),
  );
  const second = await open({ tracker: settings }, options);
  const [status] = second.listApis();
  expect(status?.changes.map(({ name, kind, differences }) => ({ name, kind, differences }))).toEqual([
    {
      name: "query:issues",
      kind: "changed",
      differences: expect.arrayContaining(['Issue.title: "title: String!" → "title: String"']),
    },
    { name: "query:labels", kind: "added", differences: [] },
    { name: "mutate:createIssue", kind: "changed", differences: expect.anything() },
    {
      name: "mutate:deleteIssue",
      kind: "changed",
      differences: ['signature: "deleteIssue(id: ID!): Boolean" → "deleteIssue(force: Boolean, id: ID!): Boolean"'],
    },
    { name: "query:viewer", kind: "removed", differences: [] },
  ]);
  expect(second.listOperations("tracker").filter(({ isHeld }) => isHeld)).toHaveLength(4);
  await second.acceptApi("tracker");
  expect(second.listApis()).toMatchObject([{ changes: [] }]);
});

test("a schema at a URL is asked for by its ETag, and read again only when it has changed [M10]", async () => {
  let sdl = SDL;
  const asked: unknown[] = [];
  const answer = ({ headers }: IncomingMessage, response: ServerResponse): void => {
    const etag = JSON.stringify(sdl.length);
    const isSame = headers["if-none-match"] === etag;
    asked.push([headers["if-none-match"], headers.authorization]);
    response.writeHead(isSame ? 304 : 200, { etag }).end(isSame ? undefined : sdl);
  };
  const schema = await startHttp(answer);
  const headers = { authorization: "Bearer key-of-the-endpoint" };
  const runtime = await open({ tracker: { graphql: "http://127.0.0.1:9/graphql", schema, private: true, headers } });
  const { changes } = await runtime.refreshApi("tracker");
  expect(changes).toEqual([]);
  sdl = SDL.replace("viewer: User", "viewer(id: ID): User");
  expect((await runtime.refreshApi("tracker")).changes).toMatchObject([{ name: "query:viewer", kind: "changed" }]);
  await runtime.refreshApi("tracker");
  // The headers of the settings are for the endpoint alone.
  expect(asked).toEqual([
    [undefined, undefined],
    [JSON.stringify(SDL.length), undefined],
    [JSON.stringify(SDL.length), undefined],
    [JSON.stringify(sdl.length), undefined],
  ]);
  const { violations } = await runtime.checkTexts(
    "await device.TrackerGraph.query({ query: `{ viewer(id: 1) { id } }` })",
  );
  expect(violations).toEqual([]);
});

test("settings that are for the other kind of API are refused with the reason [O1]", async () => {
  const graphql = "https://api.example.com/graphql";
  const runtime = await open({
    both: { graphql, openapi: "a.yaml" },
    server: { graphql, server: "https://api.example.com", pages: {} },
    schema: { openapi: "a.yaml", schema: "a.graphql" },
    address: { graphql: "api.example.com/graphql" },
  });
  await expect(open({ neither: {} })).rejects.toThrow("sources.neither must be a section with openapi or graphql");
  const errors = runtime.problems.map(({ error }) => error.replace(/^.*?: (?=sources)/, "")).join("\n");
  expect(errors).toContain("sources.both has openapi and graphql, which are two APIs; write a source for each");
  expect(errors).toContain("sources.server.server is not for GraphQL APIs: all requests go to the address in graphql");
  expect(errors).toContain("sources.server.pages is not for GraphQL APIs: pages follow each other by pageInfo");
  expect(errors).toContain("sources.schema.schema is for GraphQL APIs");
  expect(errors).toContain(
    'sources.address.graphql has "api.example.com/graphql", which is not a URL such as https://api.example.com/graphql',
  );
});
