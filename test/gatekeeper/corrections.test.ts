import { expect, test } from "vitest";

import { gatekeep, type Host } from "../../src/gatekeeper/index.ts";
import { readProgramSource } from "../../src/frontend/index.ts";
import type { JsonSchema } from "../../src/model/json.ts";
import { createRegistry, exampleArguments } from "../../src/registry/index.ts";
import { createValidator } from "../../src/validation/index.ts";

const REFUNDS = {
  status: { type: "string", enum: ["pending", "completed", "failed"] },
  page: { type: "integer", minimum: 1 },
  per_page: { type: "integer", minimum: 1, maximum: 25 },
};

const METHODS: Readonly<Record<string, JsonSchema>> = {
  list_refunds: { type: "object", properties: REFUNDS },
  get_file_info: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  move: {
    type: "object",
    properties: { source: { type: "string" }, destination: { type: "string" } },
    required: ["source", "destination"],
  },
  pay: { type: "object", properties: { price: { type: "number", multipleOf: 0.01 } } },
  page: { type: "object", properties: { number: { type: "integer" }, size: { type: "integer" } } },
  tag: {
    type: "object",
    properties: { ids: { type: "array", items: { type: "string" }, maxItems: 2 }, urgent: { type: "boolean" } },
    required: ["ids"],
  },
  keep: {
    type: "object",
    properties: { ids: { type: "array", items: { type: "string" } }, urgent: { type: "boolean" } },
    required: ["ids"],
  },
  find: {
    type: "object",
    properties: {
      filter: {
        type: "object",
        properties: { field: { type: "string" }, limit: { type: "number", maximum: 10 } },
        required: ["field"],
        additionalProperties: false,
      },
      note: { type: "string" },
    },
    required: ["filter"],
  },
  plain: {
    type: "object",
    properties: { id: { type: "string", minLength: 3, pattern: "^[a-z]+$" } },
    required: ["id"],
  },
};

const host = createHost();

test.each([
  [
    "a value out of bounds, and keeps the filter",
    'list_refunds({ status: "completed", per_page: 100 })',
    'list_refunds({ status: "completed", per_page: 25 })',
  ],
  ["a value below its bound", "list_refunds({ page: 0 })", "list_refunds({ page: 1 })"],
  ["the name of the only argument", 'get_file_info({ file: "README.md" })', 'get_file_info({ path: "README.md" })'],
  ["a misspelled name", "list_refunds({ staus: status, page: 0 })", "list_refunds({ status, page: 1 })"],
  ["a misspelled value", 'list_refunds({ status: "complete" })', 'list_refunds({ status: "completed" })'],
  [
    "a value of an enumeration by its choices",
    'list_refunds({ status: "x9", page: 2 })',
    'list_refunds({ status: "pending" /* or "completed", "failed" */, page: 2 })',
  ],
  ["a missing argument beside a positional one", 'move("a.txt")', 'move("a.txt", "<destination>")'],
  [
    "a missing argument beside a named one",
    'move({ source: "a.txt" })',
    'move({ source: "a.txt", destination: "<destination>" })',
  ],
  [
    "a missing argument beside an expression",
    "move({ source: names[0] })",
    'move({ source: names[0], destination: "<destination>" })',
  ],
  ["a number in a text", 'page("5", 10)', "page(5, 10)"],
  ["no long number in a text by another number", 'page("9007199254740993", 10)', "page(1, 10)"],
  ["a number that is not a multiple of a decimal", "pay(0.354)", "pay(0.35)"],
  ["a text that is a number", "get_file_info(5)", 'get_file_info("5")'],
  ["a truth value in a text", 'tag(["a"], "true")', 'tag(["a"], true)'],
  ["a value where a list is expected", 'tag("a")', 'tag(["a"])'],
  ["JSON of a list", `tag('["a", "b"]')`, 'tag(["a", "b"])'],
  ["a list that is too long", 'tag(["a", "b", "c"])', 'tag(["a", "b"])'],
  [
    "a named argument in the style of Python",
    'list_refunds(status="failed", per_page=30)',
    'list_refunds({ status: "failed", per_page: 25 })',
  ],
  [
    "members of an argument",
    'find({ filter: { fild: name, limit: 50 }, note: "x" })',
    'find({ filter: { field: name, limit: 10 }, note: "x" })',
  ],
  [
    "an argument that does not exist by leaving it out",
    'list_refunds({ page: 2, colour: "red" })',
    "list_refunds({ page: 2 })",
  ],
  ["one of two arguments that a constant holds", 'const n = "5";\npage(n, 10)', "page(5, 10)"],
  ["a value without a conversion by an example", 'plain("a!")', 'plain("abc")'],
])("corrects %s [S5]", (_what, call, corrected) => {
  expect(getFix(call)).toBe(`Write await device.ShopMCP.${corrected}`);
});

test.each([
  ["has too many arguments", 'get_file_info("a", "b")', "get_file_info(path: string)"],
  ["is long", `keep({ ids: [${'"bbbbbbbbb", '.repeat(40)}], urgent: "x" })`, "keep(ids: string[], urgent?: boolean)"],
])("shows the signature for a call that %s [S5]", (_what, call, signature) => {
  expect(getFix(call)).toBe(`Write device.ShopMCP.${signature}`);
});

test("shortens a long expression in a correction [S5]", () => {
  expect(getFix(`get_file_info({ file: ${'"a" + '.repeat(20)}"b" })`)).toBe(
    "Write await device.ShopMCP.get_file_info({ path: … })",
  );
});

test("counts null and undefined for an optional argument as left out [S5]", () => {
  expect(getFix("list_refunds({ status: null, page: undefined, per_page: null })")).toBeUndefined();
  expect(getFix("page(null, 5)")).toBeUndefined();
  expect(getFix("get_file_info({ path: null })")).toBe(
    'Write await device.ShopMCP.get_file_info({ path: "notes.txt" })',
  );
});

test("corrects no call with more than 32 unknown arguments [S5]", () => {
  const names = (count: number): string => Array.from({ length: count }, (_, at) => `n${at}: 1`).join(", ");
  expect(getFix(`page({ ${names(32)} })`)).toBe("Write await device.ShopMCP.page()");
  expect(getFix(`page({ ${names(33)} })`)).toBe("Write device.ShopMCP.page(number?: number, size?: number)");
});

function getFix(call: string): string | undefined {
  const names = "const status = Math.random(), names = [Math.random()], name = Math.random();\n";
  const source = `${names}${call.replace(/(^|\n)(?=\w+\()/, "$1device.ShopMCP.")}`;
  return gatekeep(readProgramSource(source, { sourceBytes: 1 << 16 }), host).violations[0]?.fix;
}

function createHost(): Host {
  const registry = createRegistry();
  registry.register({
    name: "ShopMCP",
    description: "A shop",
    source: "shop",
    kind: "mcp",
    methods: Object.entries(METHODS).map(([name, input]) => ({ name, description: name, input })),
    invoke: () => Promise.reject(new Error("Cannot call a method of a sample")),
  });
  const validator = createValidator();
  return {
    catalog: registry.catalog,
    problems: (method, args) => validator.problems(method, args),
    findRefusal: () => undefined,
    exampleArguments,
  };
}
