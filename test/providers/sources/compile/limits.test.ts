import { describe, expect, test } from "vitest";

import { CatalogWriter } from "../../../../src/providers/sources/catalog-file.ts";
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
  const { problems } = compileDocument(files, { take: (operation) => void operations.push(operation) });
  return { operations, problems };
}

const wrap = (schema: object, times: number): object =>
  times === 0 ? schema : wrap({ type: "object", properties: { in: schema } }, times - 1);

describe("the limits of a document", () => {
  test("name an operation beyond 20,000, and leave it out [S7]", () => {
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

  test("refuse a document of more than 64 MB, and one of more than 3,000 files [S7]", async () => {
    await expect(loadDocument(ROOT, async () => " ".repeat((64 << 20) + 1))).rejects.toThrow("more than 64 MB");
    const paths = Object.fromEntries(Array.from({ length: 3_001 }, (_, at) => [`/p${at}`, { $ref: `p${at}.json` }]));
    const read = async (url: string): Promise<string> =>
      JSON.stringify(url === ROOT ? { openapi: "3.1.0", paths } : {});
    await expect(loadDocument(ROOT, read)).rejects.toThrow("more than 3000 files");
  });

  test("refuse a catalog of more than 160 MB [S7]", () => {
    const description = "x".repeat(900_000);
    const writer = new CatalogWriter();
    const { operations } = compile({ paths: { "/p": { get: { responses: {} } } } });
    const [operation] = operations;
    if (operation === undefined) throw new Error("No operation was compiled");
    expect(() => {
      for (let at = 0; at < 200; at++) writer.add({ ...operation, description });
    }).toThrow("more than 160 MB");
  });

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
