// @module-tag rest

import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { createRuntime, type Runtime } from "../../../src/runtime.ts";
import { plainServer } from "../../support/mcp/http-servers.ts";
import { ROOT, temporaryFolder } from "../../support/mcp/servers.ts";

/** A runtime with one tool of this schema. */
async function withTool(inputSchema: unknown, outputSchema?: object): Promise<Runtime> {
  const file = join(await temporaryFolder(), "tools.json");
  await writeFile(file, JSON.stringify([{ name: "odd", description: "Odd", inputSchema, outputSchema }]));
  const fixture = { command: process.execPath, args: ["test/fixtures/mcp/server.js", `tools=${file}`] };
  const runtime = await createRuntime({ skillsDir: false, mcpServers: { fixture }, cwd: ROOT });
  onTestFinished(() => runtime.close());
  await runtime.ready;
  return runtime;
}

const object = (properties: object, more: object = {}): object => ({ type: "object", properties, ...more });

test.each<[name: string, schema: unknown, args: string]>([
  ["none at all", undefined, "{ a: 1 }"],
  [
    "that refers to itself",
    object({ node: { $ref: "#/$defs/node" } }, { $defs: { node: object({ next: { $ref: "#/$defs/node" } }) } }),
    "{ node: { next: { next: {} } } }",
  ],
  ["that refers to nothing", object({ a: { $ref: "#/$defs/gone" } }), "{ a: 1 }"],
  ["with anyOf", object({ a: { anyOf: [{ type: "string" }, { type: "number" }] } }), "{ a: 1 }"],
  ["with oneOf at the root", { type: "object", oneOf: [{ required: ["a"] }, { required: ["b"] }] }, "{ a: 1 }"],
  ["with allOf", object({ a: { allOf: [{ type: "string" }, { minLength: 1 }] } }), '{ a: "x" }'],
  ["with const", object({ a: { const: "x" } }), '{ a: "x" }'],
  ["with nullable", object({ a: { type: "string", nullable: true } }), "{ a: null }"],
  ["with a list of types", object({ a: { type: ["string", "null"] } }), "{ a: null }"],
  [
    "with names that are no identifiers",
    object({ "a-b": {}, __proto__: {}, class: {}, 日本: {} }),
    '{ "a-b": 1, 日本: 2 }',
  ],
  ["of another draft", object({ a: {} }, { $schema: "http://json-schema.org/draft-04/schema#" }), "{ a: 1 }"],
])("calls a tool with a schema %s [M6]", async (_name, schema, args) => {
  const runtime = await withTool(schema);
  expect(await runtime.run(`await device.FixtureMCP.odd(${args})`)).toMatchObject({
    kind: "completed",
    value: "called odd",
  });
});

const FOREIGN = { pattern: "(?i)^a" };

test.each<[name: string, schema: object, args: string]>([
  ["of an argument", object({ a: { type: "string", ...FOREIGN } }), '{ a: "ABC" }'],
  [
    "of an item, by reference",
    object({ a: { items: { $ref: "#/$defs/b" } } }, { $defs: { b: FOREIGN } }),
    '{ a: ["A"] }',
  ],
  ["of names", object({ a: { patternProperties: { "(?i)^a": {} }, additionalProperties: false } }), "{ a: { Ab: 1 } }"],
  ["of names of arguments", { patternProperties: { "(?i)^a": {} }, additionalProperties: false }, "{ Ab: 1 }"],
  ["that must not match", object({ a: { not: FOREIGN } }), '{ a: "ABC" }'],
  ["of a condition", object({ a: { if: FOREIGN, else: false } }), '{ a: "ABC" }'],
  ["of alternatives", object({ a: { oneOf: [FOREIGN, { type: "string" }] } }), '{ a: "ABC" }'],
])("leaves out a pattern %s that is not a regular expression, with a problem [M6]", async (_name, schema, args) => {
  const runtime = await withTool({ type: "object", ...schema });
  expect(await runtime.run(`await device.FixtureMCP.odd(${args})`)).toMatchObject({ value: "called odd", notes: [] });
  expect(runtime.problems.map(({ error }) => error)).toEqual([
    'the tool "odd" has patterns that are not regular expressions; they are left out: "(?i)^a"',
  ]);
});

test("leaves what may look like a pattern as it is [M6]", async () => {
  const runtime = await withTool(object({ pattern: { default: FOREIGN, enum: [FOREIGN] }, properties: {} }));
  expect(await runtime.run("await device.FixtureMCP.odd({ pattern: { pattern: '(?i)^a' } })")).toMatchObject({
    kind: "completed",
  });
  expect(runtime.problems).toEqual([]);
});

test("never fetches a schema from another address [M6]", async () => {
  const server = await plainServer(200, '{"type":"string"}');
  const runtime = await withTool(object({ a: { $ref: `${server.url}a.json` } }));
  expect(await runtime.run("await device.FixtureMCP.odd({ a: 1 })")).toMatchObject({ value: "called odd" });
  expect(runtime.declarations()).toContain("odd(");
  expect(server.requests).toEqual([]);
});

test("delivers a result that does not match its schema, with a note [M5]", async () => {
  const runtime = await withTool({ type: "object" }, object({ sum: { type: "number" } }, { required: ["sum"] }));
  const outcome = await runtime.run("await device.FixtureMCP.odd()");
  expect(outcome).toMatchObject({ kind: "completed", value: "called odd" });
  expect(outcome.kind === "completed" && outcome.notes).toEqual([
    'The result of FixtureMCP.odd does not match its output schema: it must be an object, not "called odd"',
  ]);
});
