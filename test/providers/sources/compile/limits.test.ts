import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { describe, expect, onTestFinished, test } from "vitest";

import { CatalogWriter } from "../../../../src/providers/sources/catalog-writer.ts";
import { createApiCatalog } from "../../../../src/providers/sources/compile/write-catalog.ts";
import {
  type OpenCatalog,
  OPENAPI_FORMAT,
  openCatalog,
} from "../../../../src/providers/sources/openapi/open-catalog.ts";
import {
  compileDocument,
  type CompiledOperation,
  MAX_OPERATIONS,
} from "../../../../src/providers/sources/compile/compile-document.ts";
import { DocumentFiles } from "../../../../src/providers/sources/compile/document-files.ts";
import { loadDocument } from "../../../../src/providers/sources/compile/load-document.ts";
import { nameOperations } from "../../../../src/providers/sources/compile/names.ts";

const ROOT = "https://api.example/openapi.json";

function compile(document: object): {
  readonly operations: readonly CompiledOperation[];
  readonly problems: readonly string[];
} {
  const operations: CompiledOperation[] = [];
  const files = new DocumentFiles(new Map([[ROOT, { openapi: "3.1.0", ...document }]]));
  const take = (operation: CompiledOperation): undefined => void operations.push(operation);
  const { problems } = compileDocument(files, { take });
  return { operations, problems };
}

/** Writes a catalog, and opens it. */
function openCompiled(document: object): { readonly catalog: OpenCatalog; readonly problems: readonly string[] } {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-catalog-"));
  const files = new DocumentFiles(new Map([[ROOT, { openapi: "3.1.0", ...document }]]));
  writeFileSync(join(folder, "catalog"), createApiCatalog(files, { names: new Map(), problems: [] }));
  const catalog = openCatalog(join(folder, "catalog"));
  onTestFinished(() => {
    catalog.close();
    rmSync(folder, { recursive: true });
  });
  return { catalog, problems: catalog.index.problems };
}

const wrap = (schema: object, times: number): object =>
  times === 0 ? schema : wrap({ type: "object", properties: { in: schema } }, times - 1);

describe("the limits of a document", () => {
  test("name an operation beyond 20,000, and leave it out [S7]", { tags: "rest" }, () => {
    const paths = Object.fromEntries(
      Array.from({ length: MAX_OPERATIONS + 1 }, (_, at) => [`/p${at}`, { get: { responses: {} } }]),
    );
    const { operations, problems } = compile({ paths });
    expect(operations).toHaveLength(MAX_OPERATIONS);
    expect(problems).toEqual([expect.stringContaining(`get /p${MAX_OPERATIONS}: it is beyond ${MAX_OPERATIONS}`)]);
  });

  test("leave out what is deeper than 60 levels of one schema [S7]", () => {
    const schema = wrap({ type: "string" }, 70);
    const body = { requestBody: { content: { "application/json": { schema: { type: "array", items: schema } } } } };
    const { operations, problems } = compile({ paths: { "/deep": { post: { ...body, responses: {} } } } });
    expect(operations).toHaveLength(1);
    expect(problems).toEqual([expect.stringContaining("more than 60 levels")]);
  });

  test("refuse a document of more than 64 MB, and one of more than 3,000 files [S7]", { tags: "rest" }, async () => {
    await expect(loadDocument(ROOT, async () => " ".repeat((64 << 20) + 1))).rejects.toThrow("more than 64 MB");
    const paths = Object.fromEntries(Array.from({ length: 3_001 }, (_, at) => [`/p${at}`, { $ref: `p${at}.json` }]));
    const read = async (url: string): Promise<string> =>
      JSON.stringify(url === ROOT ? { openapi: "3.1.0", paths } : {});
    await expect(loadDocument(ROOT, read)).rejects.toThrow("more than 3000 files");
  });

  test("name an operation of more than 256 KB, and leave it out [S7]", () => {
    const values = Array.from({ length: 30_000 }, (_, at) => `value ${at}`);
    const parameters = [{ name: "q", in: "query", schema: { enum: values } }];
    const { catalog, problems } = openCompiled({
      paths: { "/large": { get: { parameters, responses: {} } }, "/small": { get: { responses: {} } } },
    });
    expect(catalog.index.operations.map(({ path }) => path)).toEqual(["/small"]);
    expect(problems).toEqual(["get /large: its parameters and types have more than 256 KB; it is left out"]);
  });

  test(
    "name the operations that the index of a catalog has no place for, and leave them out [S7]",
    { tags: "rest" },
    () => {
      const path = (at: number): string => `/${"long".repeat(500)}${at}`;
      const paths = Object.fromEntries(
        Array.from({ length: 4_500 }, (_, at) => [path(at), { get: { responses: {} } }]),
      );
      const { catalog, problems } = openCompiled({ paths });
      const count = catalog.index.operations.length;
      expect(count).toBeGreaterThan(3_000);
      expect(count).toBeLessThan(4_500);
      expect(problems[0]).toContain(`get ${path(count)}`.slice(0, 200));
    },
  );

  test("refuse named schemas that the index of a catalog has no place for [S7]", { tags: "rest" }, () => {
    const definitions = new Map(
      Array.from(
        { length: 40_000 },
        (_, at) => [`${"Long".repeat(120)}${at}`, { content: {}, references: [] }] as const,
      ),
    );
    const document = { title: "", version: "", description: "", servers: [], problems: [] };
    expect(() => new CatalogWriter(OPENAPI_FORMAT).finish(document, definitions)).toThrow(
      "larger than a catalog can be",
    );
  });

  test(
    "read at most 256 KB of the types that an argument refers to, the nearest ones first [S7]",
    { tags: "rest" },
    () => {
      const at = (number: number): object => ({ $ref: `#/components/schemas/S${number}` });
      const schemas = Object.fromEntries(
        Array.from({ length: 10_000 }, (_, number) => [
          `S${number}`,
          { type: "object", properties: { next: at((number + 1) % 10_000), text: { type: "string" } } },
        ]),
      );
      const content = { "application/json": { schema: { type: "object", properties: { first: at(0) } } } };
      const { catalog } = openCompiled({
        components: { schemas },
        paths: { "/p": { post: { requestBody: { content }, responses: {} } } },
      });
      const [row] = catalog.index.operations;
      if (row === undefined) throw new Error("No operation was compiled");
      const { input } = catalog.read(row);
      expect(JSON.stringify(input).length).toBeLessThan(400_000);
      const definitions = Object.entries(input["$defs"] ?? {});
      expect(definitions[0]).toEqual(["S0", expect.objectContaining({ type: "object" })]);
      expect(definitions.at(-1)).toEqual([
        `S${definitions.length - 1}`,
        { title: `S${definitions.length - 1}`, "x-omitted": true },
      ]);
    },
  );

  test("refuse aliases of YAML that multiply what they stand for, and circles of them [S7]", async () => {
    const bomb = ["a: &a [x, x]", ...Array.from({ length: 12 }, (_, at) => nest(at)), ""].join("\n");
    await expect(loadDocument(ROOT, async () => bomb)).rejects.toThrow("neither JSON nor YAML");
    await expect(loadDocument(ROOT, async () => "a: &a\n  b: *a\n")).rejects.toThrow("neither JSON nor YAML");
  });
});

const nest = (at: number): string => {
  const [name, before] = ["bcdefghijklm"[at], "abcdefghijkl"[at]];
  return `${name}: &${name} [*${before}, *${before}, *${before}, *${before}]`;
};

test("circles of references, and data that looks like one, do no harm [S6]", () => {
  const Node = {
    type: "object",
    properties: { next: { $ref: "#/components/schemas/Node" }, $ref: { type: "string" } },
  };
  const Self = { $ref: "#/components/schemas/Self" };
  const example = { const: { $ref: "#/$defs/constructor" } };
  const schema = { type: "object", properties: { node: { $ref: "#/components/schemas/Node" }, self: Self, example } };
  const { operations } = compile({
    components: { schemas: { Node, Self } },
    paths: { "/n": { post: { requestBody: { content: { "application/json": { schema } } }, responses: {} } } },
  });
  expect(Object.keys(operations[0]?.input["properties"] ?? {})).toEqual(["node", "self", "example"]);
});

test("an operation that comes back has its name again, and another one that took its id has not [N2]", () => {
  const first = { verb: "get", path: "/a", operationId: "list" } as const;
  const second = { verb: "get", path: "/b", operationId: "list" } as const;
  const before = new Map([["get /a", "list"]]);
  const [only = ""] = nameOperations([second], before);
  expect(only).toMatch(/^list_[0-9a-f]{6}$/);
  expect(nameOperations([second, first], new Map([...before, ["get /b", only]]))).toEqual([only, "list"]);
  expect(nameOperations([first, second])).toEqual(nameOperations([second, first]).toReversed());
});
