import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, expect, onTestFinished, test } from "vitest";

import { createRuntime, type Runtime } from "../../../src/index.ts";

const PETS = {
  openapi: "3.0.3",
  info: { title: "Pets", version: "1.2" },
  servers: [{ url: "/v1" }],
  components: {
    securitySchemes: { key: { type: "apiKey", in: "query", name: "api_key" } },
    schemas: {
      Pet: {
        type: "object",
        required: ["id", "name"],
        properties: {
          id: { type: "integer", readOnly: true },
          name: { type: "string" },
          owner: { $ref: "#/components/schemas/Owner" },
          note: { type: "string", nullable: true },
        },
      },
      Owner: { type: "object", properties: { pets: { type: "array", items: { $ref: "#/components/schemas/Pet" } } } },
    },
  },
  paths: {
    "/pets": {
      get: {
        operationId: "pets/list-all",
        summary: "Lists the pets",
        parameters: [
          { name: "tag", in: "query", schema: { type: "array", items: { type: "string" } } },
          { name: "api_key", in: "query", schema: { type: "string" } },
          { name: "limit", in: "query", schema: { type: "integer", default: 30, maximum: 100 } },
        ],
        responses: {
          200: {
            description: "pets",
            content: {
              "application/json": { schema: { type: "array", items: { $ref: "#/components/schemas/Pet" } } },
            },
          },
        },
      },
      post: {
        operationId: "pets/create",
        summary: "Creates a pet",
        requestBody: {
          required: true,
          content: { "application/json": { schema: { $ref: "#/components/schemas/Pet" } } },
        },
        responses: { 201: { description: "made" } },
      },
    },
    "/pets/{id}": {
      parameters: [{ name: "id", in: "path", required: true, schema: { type: "integer" } }],
      get: { responses: { 404: { description: "none" } } },
      delete: { operationId: "then", responses: { 204: { description: "gone" } } },
      put: { parameters: [{ $ref: "#/components/parameters/missing" }], responses: {} },
    },
    "/photos": {
      post: {
        operationId: "addPhoto",
        requestBody: {
          content: {
            "multipart/form-data": {
              schema: {
                type: "object",
                required: ["file"],
                properties: { file: { type: "string", format: "binary" }, title: { type: "string" } },
              },
            },
          },
        },
        responses: {},
      },
    },
    "/search": { post: { operationId: "search", summary: "Searches", responses: {} } },
  },
};

interface Received {
  readonly method: string;
  readonly url: string;
  readonly authorization: string | undefined;
  readonly body: string;
}

interface PetsServer {
  readonly url: string;
  readonly received: Received[];
}

/** Takes what ends something that a test has started. */
type OnEnd = (close: () => void | Promise<void>) => void;

/** Starts a real API at a local port. */
async function startPets(onEnd: OnEnd = onTestFinished): Promise<PetsServer> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      received.push({ method, url, authorization: headers.authorization, body });
      const isMissing = url.startsWith("/v1/pets/");
      response.writeHead(isMissing ? 404 : 200, { "content-type": "application/json" });
      response.end(JSON.stringify(isMissing ? { message: "no such pet" } : [{ id: 1, name: "Rex" }]));
    });
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onEnd(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, received };
}

/** Creates a project with the document. */
function createProject(onEnd: OnEnd = onTestFinished): string {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-"));
  writeFileSync(join(folder, "pets.json"), JSON.stringify(PETS));
  onEnd(() => rmSync(folder, { recursive: true }));
  return folder;
}

const closers: (() => void | Promise<void>)[] = [];
const onFileEnd: OnEnd = (close) => void closers.unshift(close);
afterAll(async () => {
  for (const close of closers) await close();
});

let sharedProject: string | undefined;

/** The project of the tests that do not change the document: it is compiled once. */
const shareProject = (): string => (sharedProject ??= createProject(onFileEnd));

async function openRuntime(
  folder: string,
  url: string,
  source: object = {},
  onEnd: OnEnd = onTestFinished,
): Promise<Runtime> {
  const runtime = await createRuntime({
    cwd: folder,
    skillsDir: false,
    workers: 1,
    typecheck: false,
    sources: { pets: { openapi: "./pets.json", server: url, private: true, ...source } },
    mcp: { stateDir: join(folder, "state") },
  });
  onEnd(() => runtime.close());
  await runtime.known;
  return runtime;
}

/** The API, and a runtime with its document and settings of its own. */
async function openPets(source: object) {
  const { url, received } = await startPets();
  return { received, runtime: await openRuntime(shareProject(), url, source) };
}

let sharedPets: Promise<{ readonly runtime: Runtime; readonly received: Received[] }> | undefined;

/** The API and the runtime of the tests without settings of their own. It has received nothing. */
async function sharePets(): Promise<{ readonly runtime: Runtime; readonly received: Received[] }> {
  const create = async () => {
    const { url, received } = await startPets(onFileEnd);
    return { received, runtime: await openRuntime(shareProject(), url, {}, onFileEnd) };
  };
  const pets = await (sharedPets ??= create());
  pets.received.length = 0;
  return pets;
}

/** The API, and a project whose document the test changes. */
async function createChangingPets() {
  const { url, received } = await startPets();
  const folder = createProject();
  return { received, url, folder, open: () => openRuntime(folder, url) };
}

test("an integer that a number cannot hold is sent digit by digit, as a text and as a BigInt [S5]", async () => {
  const { runtime, received } = await sharePets();
  const calls = ['"9007199254740993"', "9007199254740993n", "-9007199254740993n", '"9007199254740993.5"', '"12"'].map(
    (id) => `try { await device.PetsAPI.getPetsById(${id}) } catch (error) { print(error.code) }`,
  );
  for (const each of calls) await runtime.run(each);
  expect(received.map(({ url }) => url)).toEqual([
    "/v1/pets/9007199254740993",
    "/v1/pets/9007199254740993",
    "/v1/pets/-9007199254740993",
  ]);
});

test("a document becomes a skill whose operations are checked and called [S5]", async () => {
  const { runtime, received } = await openPets({ headers: { Authorization: "Bearer secret-token-4711" } });
  expect(runtime.problems).toEqual([]);
  expect(runtime.catalog.skill("PetsAPI")?.methods.map(({ name }) => name)).toEqual([
    "pets_listAll",
    "pets_create",
    "getPetsById",
    "putPetsById",
    "then_",
    "addPhoto",
    "search",
  ]);
  expect(
    await runtime.run('const pets = await device.PetsAPI.pets_listAll({ tag: ["a b", "c"] }); pets[0].name'),
  ).toMatchObject({
    kind: "completed",
    value: "Rex",
  });
  expect(received).toEqual([
    { method: "GET", url: "/v1/pets?tag=a%20b&tag=c", authorization: "Bearer secret-token-4711", body: "" },
  ]);
  expect(await runtime.run('device.PetsAPI.pets.create({ name: "Ada", note: null })')).toMatchObject({
    kind: "completed",
  });
  expect(received.at(-1)).toMatchObject({ method: "POST", body: '{"name":"Ada","note":null}' });
});

test("a property that a document does not have is refused before a request is sent [S5]", async () => {
  const { runtime, received } = await sharePets();
  const outcome = await runtime.run('device.PetsAPI.pets_create({ nam: "Ada" })');
  expect(outcome.kind).toBe("refused");
  expect(outcome.text).toContain("name");
  const readOnly = await runtime.run("device.PetsAPI.pets_create({ name: 'Ada', id: 1 })");
  expect(readOnly.kind).toBe("refused");
  expect((await runtime.run("device.PetsAPI.pets_listAll({ api_key: 'x' })")).kind).toBe("refused");
  expect(received).toEqual([]);
});

test("the effects are those of the verbs, and of the owner's settings [P3]", async () => {
  const { runtime } = await openPets({ effects: { "POST /search": "read", "pets_*": "destructive" } });
  const effects = runtime.catalog
    .skill("PetsAPI")
    ?.methods.map(({ name, metadata }) => [
      name,
      metadata.readOnly ? "read" : metadata.destructive ? "destructive" : "write",
    ]);
  expect(Object.fromEntries(effects ?? [])).toEqual({
    pets_listAll: "destructive",
    pets_create: "destructive",
    getPetsById: "read",
    then_: "destructive",
    putPetsById: "write",
    addPhoto: "write",
    search: "read",
  });
});

test("an error of the API says what it answered, and a program can catch it [S10]", async () => {
  const { runtime } = await sharePets();
  const source = "try { await device.PetsAPI.getPetsById(7) } catch (e) { return [e.status, e.message] }";
  const outcome = await runtime.run(source);
  expect(outcome).toMatchObject({ kind: "completed", value: [404, expect.stringContaining("no such pet")] });
});

test("include and exclude select operations [P2]", async () => {
  const { runtime } = await openPets({ include: ["GET *", "POST /search"], exclude: ["getPetsById"] });
  expect(runtime.catalog.skill("PetsAPI")?.methods.map(({ name }) => name)).toEqual(["pets_listAll", "search"]);
});

test("the last good document serves if the file is broken or gone, and says so [M10]", async () => {
  const { folder, open } = await createChangingPets();
  const runtime = await open();
  await runtime.close();
  writeFileSync(join(folder, "pets.json"), "{ not json");
  const broken = await open();
  expect(broken.catalog.skill("PetsAPI")?.methods).toHaveLength(7);
  expect(broken.problems).toMatchObject([{ source: "sources.pets", error: expect.stringContaining("last document") }]);
  await broken.close();
  rmSync(join(folder, "pets.json"));
  const gone = await open();
  expect(gone.catalog.skill("PetsAPI")?.methods).toHaveLength(7);
  expect(gone.listApis()).toMatchObject([{ name: "pets", error: expect.stringContaining("ENOENT") }]);
});

test("names stay when the document changes, and what is broken is left out by name [N2]", async () => {
  const { folder, open } = await createChangingPets();
  const runtime = await open();
  expect(runtime.listApis()[0]?.problems.join()).toContain("put /pets/{id}: a parameter that leads nowhere");
  await runtime.close();
  const { "/pets": pets, ...others } = PETS.paths;
  const renamed = { ...pets, get: { ...pets.get, operationId: "another" } };
  writeFileSync(join(folder, "pets.json"), JSON.stringify({ ...PETS, paths: { ...others, "/pets": renamed } }));
  const next = await open();
  expect(next.catalog.method("PetsAPI.pets_listAll")).toBeDefined();
  expect(next.catalog.method("PetsAPI.another")).toBeUndefined();
});

test("an address of a private network is refused unless the owner allows it [P12]", async () => {
  const { runtime, received } = await openPets({ private: false });
  const outcome = await runtime.run("device.PetsAPI.pets_listAll()");
  expect(outcome).toMatchObject({ kind: "failed" });
  expect(outcome.text).toContain("private");
  expect(received).toEqual([]);
});

test("a source with a mistake, or with a variable that is not set, is a problem [O1]", async () => {
  const runtime = await createRuntime({
    skillsDir: false,
    env: {},
    sources: { one: { openapi: "./x.json", headers: { Authorization: "Bearer ${MISSING_KEY}" } } },
  });
  onTestFinished(() => runtime.close());
  expect(runtime.problems).toMatchObject([{ error: expect.stringContaining("MISSING_KEY") }]);
});

test("a document at a URL is read with its files, from its own server only [P12]", async () => {
  const elsewhere = "http://127.0.0.2:1";
  const answers: Readonly<Record<string, readonly [status: number, body: string, location?: string]>> = {
    "/api.yaml": [302, "", "/v1/api.yaml"],
    "/v1/api.yaml": [
      200,
      `openapi: 3.1.0
info: { title: Parts, version: "1" }
servers: [{ url: /v1 }]
paths:
  /own: { $ref: "paths/own.yaml" }
  /away: { $ref: "${elsewhere}/away.yaml" }
  /moved: { $ref: "moved.yaml" }`,
    ],
    "/paths/own.yaml": [200, "get: { operationId: own, responses: {} }"],
    "/moved.yaml": [302, "", `${elsewhere}/moved.yaml`],
  };
  const paths: string[] = [];
  const server = createServer(({ url = "" }, response) => {
    paths.push(url);
    const [status, body, location] = answers[url] ?? [404, ""];
    response.writeHead(status, location === undefined ? {} : { location }).end(body);
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => void server.close());
  const openapi = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api.yaml`;
  const open = async (isPrivate: boolean): Promise<Runtime> => {
    const runtime = await createRuntime({
      skillsDir: false,
      workers: 1,
      sources: { parts: { openapi, private: isPrivate } },
    });
    onTestFinished(() => runtime.close());
    await runtime.known;
    return runtime;
  };
  const refused = await open(false);
  expect(refused.problems).toMatchObject([{ error: expect.stringContaining("private network") }]);
  expect(paths).toEqual([]);
  const runtime = await open(true);
  expect(runtime.catalog.skill("PartsAPI")?.methods.map(({ name }) => name)).toEqual(["own"]);
  const problems = runtime.listApis()[0]?.problems.join("\n");
  expect(problems).toContain(`${elsewhere}/away.yaml: it is not read`);
  expect(problems).toContain(`redirects to ${elsewhere}`);
});

test("a document of Swagger 2.0 has its base path, its collections and its forms [S5]", async () => {
  const { folder, received, url } = await createChangingPets();
  const swagger = {
    swagger: "2.0",
    info: { title: "Old", version: "1" },
    host: "old.example",
    basePath: "/v1",
    consumes: ["application/json"],
    produces: ["application/json"],
    definitions: {
      Item: { type: "object", required: ["id"], properties: { id: { type: "integer", "x-nullable": true } } },
    },
    paths: {
      "/items": {
        get: {
          operationId: "listItems",
          parameters: [
            { name: "ids", in: "query", type: "array", items: { type: "integer" }, collectionFormat: "pipes" },
          ],
          responses: { 200: { schema: { type: "array", items: { $ref: "#/definitions/Item" } } } },
        },
        post: {
          operationId: "addItem",
          parameters: [{ name: "item", in: "body", required: true, schema: { $ref: "#/definitions/Item" } }],
          responses: {},
        },
        put: {
          operationId: "setItem",
          consumes: ["application/x-www-form-urlencoded"],
          parameters: [{ name: "title", in: "formData", type: "string", required: true }],
          responses: {},
        },
      },
    },
  };
  writeFileSync(join(folder, "old.json"), JSON.stringify(swagger));
  const old = await createRuntime({
    cwd: folder,
    skillsDir: false,
    workers: 1,
    sources: { old: { openapi: "old.json", server: url, private: true } },
  });
  onTestFinished(() => old.close());
  await old.known;
  expect(old.problems).toEqual([]);
  const source = `await device.OldAPI.listItems({ ids: [1, 2] });
    await device.OldAPI.addItem({ id: null });
    await device.OldAPI.setItem({ title: "a b" });`;
  expect(await old.run(source)).toMatchObject({ kind: "completed" });
  expect(received.map(({ method, url: target, body }) => [method, target, body])).toEqual([
    ["GET", "/v1/items?ids=1%7C2", ""],
    ["POST", "/v1/items", '{"id":null}'],
    ["PUT", "/v1/items", "title=a%20b"],
  ]);
});

test("a program sends bytes as a part of a form, and no path that leads elsewhere [S9]", async () => {
  const { runtime, received } = await sharePets();
  const source = "await device.PetsAPI.addPhoto({ file: new Uint8Array([80, 78, 71]), title: 'Rex' })";
  expect(await runtime.run(source)).toMatchObject({ kind: "completed" });
  expect(received[0]?.body).toMatch(/name="file"[^]*PNG[^]*name="title"[^]*Rex/);
});

test("headers are sent to a server that only the document names neither at first nor after a change [P12]", async () => {
  const { folder, received, url } = await createChangingPets();
  writeFileSync(join(folder, "moved.json"), JSON.stringify({ ...PETS, servers: [{ url }] }));
  const pets = { openapi: "moved.json", private: true, headers: { Authorization: "Bearer secret-token-4711" } };
  const moved = await createRuntime({ cwd: folder, skillsDir: false, workers: 1, sources: { pets } });
  onTestFinished(() => moved.close());
  await moved.known;
  const outcome = await moved.run("device.PetsAPI.pets_listAll()");
  expect(outcome).toMatchObject({
    kind: "failed",
    text: expect.stringContaining("only to a server that the settings name"),
  });
  expect(received).toEqual([]);
});

test("a source that cannot be used is a problem, and the others go on [M10]", { tags: "rest" }, async () => {
  const { folder, url } = await createChangingPets();
  const openapi = "pets.json";
  const sources = {
    bad: { openapi, server: "https://user:word@api.example" },
    good: { openapi, server: url, private: true },
    twin: { openapi, skill: "GoodAPI", server: url },
  };
  const mixed = await createRuntime({ cwd: folder, skillsDir: false, workers: 1, sources });
  onTestFinished(() => mixed.close());
  await mixed.known;
  expect(mixed.catalog.skills.map(({ name }) => name)).toContain("GoodAPI");
  expect(mixed.problems).toHaveLength(2);
  expect(await mixed.run("(await device.GoodAPI.pets_listAll()).length")).toMatchObject({
    kind: "completed",
    value: 1,
  });
});

test("a key in the address of a document is shown nowhere [P9]", async () => {
  const openapi = "http://127.0.0.1:1/api.json?key=hidden-key-4711";
  const runtime = await createRuntime({ skillsDir: false, workers: 1, sources: { far: { openapi, private: true } } });
  onTestFinished(() => runtime.close());
  await runtime.known;
  expect(runtime.problems).toHaveLength(1);
  expect(JSON.stringify([runtime.problems, runtime.listApis()])).not.toContain("hidden-key-4711");
});
