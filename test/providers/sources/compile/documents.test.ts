import { expect, test } from "vitest";

import { compileDocument, type CompiledOperation } from "../../../../src/providers/sources/compile/compile-document.ts";
import { loadDocument } from "../../../../src/providers/sources/compile/load-document.ts";

const ROOT = "https://api.example/openapi.json";

/** Compiles a document with its files, by their paths. */
async function compile(files: Readonly<Record<string, object>>): Promise<{
  readonly operations: readonly CompiledOperation[];
  readonly problems: readonly string[];
}> {
  const operations: CompiledOperation[] = [];
  const read = async (url: string): Promise<string> => {
    const file = files[new URL(url).pathname];
    if (file === undefined) throw new Error("it is missing");
    return JSON.stringify(file);
  };
  const loaded = await loadDocument(ROOT, read);
  const { problems } = compileDocument(loaded.files, { take: (operation) => void operations.push(operation) });
  return { operations, problems };
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
