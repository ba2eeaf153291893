import { expect, test } from "vitest";

import { compileDocument, type CompiledOperation } from "../../../../src/providers/sources/compile/compile-document.ts";
import { withoutPlaces } from "../../../../src/providers/sources/without-places.ts";
import { loadDocument } from "../../../../src/providers/sources/compile/load-document.ts";

const ROOT = "https://api.example/openapi.json";

/** Compiles a document with its files, by their paths. */
async function compile(files: Readonly<Record<string, object>>): Promise<{
  readonly operations: readonly CompiledOperation[];
  readonly problems: readonly string[];
  readonly servers: readonly string[];
}> {
  const operations: CompiledOperation[] = [];
  const read = async (url: string): Promise<string> => {
    const file = files[new URL(url).pathname];
    if (file === undefined) throw new Error("it is missing");
    return JSON.stringify(file);
  };
  const loaded = await loadDocument(ROOT, read);
  const { problems, servers } = compileDocument(loaded.files, { take: (operation) => void operations.push(operation) });
  return { operations, problems, servers };
}

test("an operation in a file of its own is read from there, and one whose file is missing is left out by name [S5]", async () => {
  const parameter = { name: "page", in: "query", schema: { type: "integer" } };
  const { operations, problems } = await compile({
    "/openapi.json": {
      openapi: "3.0.0",
      paths: { "/pets": { $ref: "pets/path.json" }, "/dogs": { get: { $ref: "dogs.json" } } },
    },
    "/pets/path.json": {
      parameters: [{ $ref: "parameters.json#/page" }],
      get: { $ref: "operations/list.json" },
      post: { $ref: "operations/missing.json" },
    },
    "/pets/parameters.json": { page: parameter },
    "/pets/operations/list.json": {
      operationId: "pets_list",
      summary: "List all pets",
      parameters: [{ $ref: "../limits.json" }],
    },
    "/pets/limits.json": { name: "limit", in: "query", schema: { type: "integer" } },
    "/dogs.json": { operationId: "dogs_list" },
  });
  expect(operations.map(({ name }) => name)).toEqual(["petsList", "dogsList"]);
  expect(operations[0]).toMatchObject({ summary: "List all pets", input: { properties: { page: {}, limit: {} } } });
  expect(problems).toEqual([
    expect.stringMatching(/^post \/pets: what it refers to is missing: .*operations\/missing\.json#; it is left out$/),
  ]);
});

test("a summary has no tags of HTML, and a schema no keyword of an old draft that checks refuse [S5]", async () => {
  const summary = '<p>Returns a <a href="/docs">list</a>.\nIt has x < 3 of them.</p>';
  const tree = { $recursiveAnchor: true, type: "array", items: { $recursiveRef: "#" } };
  const parameters = [{ name: "filter", in: "query", schema: tree }];
  const paths = { "/pets": { get: { description: summary, parameters } } };
  const { operations } = await compile({ "/openapi.json": { openapi: "3.1.0", paths } });
  expect(operations[0]?.summary).toBe("Returns a list. It has x < 3 of them.");
  expect(operations[0]?.input["properties"]).toEqual({ filter: { type: "array", items: {} } });
});

test("a header that the settings give is no argument [S5]", async () => {
  const token = { name: "token", in: "header", required: true, schema: { type: "string" } };
  const user = { name: "user", in: "query", required: true, schema: { type: "string" } };
  const paths = { "/users": { get: { parameters: [token, user] } } };
  const { operations } = await compile({ "/openapi.json": { openapi: "3.0.0", paths } });
  const [operation] = operations;
  if (operation === undefined) throw new Error("No operation was compiled");
  const { input, parameters } = withoutPlaces(operation, [{ in: "header", name: "Token" }]);
  expect(input).toMatchObject({ properties: { user: {} }, required: ["user"] });
  expect(input["properties"]).not.toHaveProperty("token");
  expect(parameters.map(({ name }) => name)).toEqual(["user"]);
  expect(withoutPlaces(operation, [{ in: "header", name: "Authorization" }])).toBe(operation);
});

test("a document whose servers stand at its paths only has those of the first [S5]", async () => {
  const item = { servers: [{ url: "https://cluster.example" }], get: {} };
  const { servers } = await compile({
    "/openapi.json": { openapi: "3.0.0", paths: { "/pods": item, "/nodes": item } },
  });
  expect(servers).toEqual(["https://cluster.example"]);
});
