import { expect, test } from "vitest";
import type { Method } from "../../src/model/catalog.ts";
import type { JsonSchema } from "../../src/model/json.ts";
import { anthropicTool, ollamaTool, openaiTool } from "../../src/registry/index.ts";
import { createCatalog, recordedSkills, sampleSkills, createSkill } from "./catalogs.ts";

function createMethod(input: JsonSchema, name = "search"): Method {
  const [method] = createCatalog(createSkill("WebSkill", [{ name, description: "Searches", input }])).methods;
  return method as Method;
}

const INPUT: JsonSchema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  properties: {
    count: { type: "integer", minimum: 1, maximum: 20, default: 0 },
    query: { type: "string", description: "What", minLength: 1, pattern: "^\\S" },
    safe: { type: "boolean", default: false },
    site: { type: "string", default: "", enum: [] },
    kind: { type: "string", enum: ["web", "news"] },
    tags: { type: "array", items: { type: "string" }, minItems: 1, maxItems: 3 },
    range: { anyOf: [{ type: "number" }, { type: "null" }] },
    place: { $ref: "#/$defs/place" },
  },
  required: ["tags", "query"],
  $defs: { place: { type: "object", properties: { city: { type: "string" } } } },
};

test("writes the exact form of OpenAI with every constraint [T3]", () => {
  expect(JSON.stringify(openaiTool(createMethod(INPUT)))).toBe(
    JSON.stringify({
      type: "function",
      function: {
        name: "WebSkill__search",
        description: "Searches",
        parameters: {
          type: "object",
          properties: {
            count: { type: "integer", description: "", minimum: 1, maximum: 20, default: 0 },
            query: { type: "string", description: "What", minLength: 1, pattern: "^\\S" },
            safe: { type: "boolean", description: "", default: false },
            site: { type: "string", description: "", default: "" },
            kind: { type: "string", description: "", enum: ["web", "news"] },
            tags: { type: "array", description: "", items: { type: "string" }, minItems: 1, maxItems: 3 },
            range: { description: "", anyOf: [{ type: "number" }, { type: "null" }] },
            place: { type: "object", description: "", $ref: "#/$defs/place" },
          },
          required: ["query", "tags"],
          $defs: { place: { type: "object", properties: { city: { type: "string" } } } },
        },
      },
    }),
  );
});

test("converts one method to the forms of Ollama and Anthropic [T3]", () => {
  const method = createMethod(INPUT);
  const { name, description, parameters } = openaiTool(method).function;
  expect(ollamaTool(method)).toEqual(openaiTool(method));
  expect(anthropicTool(method)).toEqual({ name, description, input_schema: parameters });
  expect(openaiTool(method, "search").function.name).toBe("search");
});

test("writes empty parameters for a method without any, and always writes required [T3]", () => {
  expect(openaiTool(createMethod({})).function.parameters).toEqual({ type: "object", properties: {}, required: [] });
});

test("collects parameters from branches of the input schema [T3]", () => {
  const input: JsonSchema = {
    type: "object",
    allOf: [{ properties: { a: { type: "string" } }, required: ["a"] }],
    oneOf: [{ properties: { b: { type: "number" } } }, { properties: { c: {} } }],
  };
  expect(anthropicTool(createMethod(input)).input_schema).toEqual({
    type: "object",
    properties: {
      a: { type: "string", description: "" },
      b: { type: "number", description: "" },
      c: { description: "" },
    },
    required: ["a"],
  });
});

test("shortens a name that providers refuse, and makes it unique [T3]", () => {
  const long = ["x".repeat(80), `${"x".repeat(79)}y`, "größe"].map(
    (name) => openaiTool(createMethod({}, name)).function.name,
  );
  expect(long.every((name) => /^[a-zA-Z0-9_-]{1,64}$/.test(name))).toBe(true);
  expect(new Set(long).size).toBe(3);
  expect(long[2]).toMatch(/^WebSkill__gr__e_[0-9a-f]{8}$/);
});

test("writes unique tool names that all providers accept [T3]", () => {
  const skills = [...sampleSkills(), ...recordedSkills()];
  const names = createCatalog(...skills).methods.map((method) => openaiTool(method).function.name);
  expect(names.filter((name) => !/^[a-zA-Z0-9_-]{1,64}$/.test(name))).toEqual([]);
  expect(new Set(names).size).toBe(names.length);
});

test("gives schemas that a library may change: the method's own stays", () => {
  const method = createMethod(INPUT);
  const before = JSON.stringify(method.input);
  for (const schema of [openaiTool(method).function.parameters, anthropicTool(method).input_schema]) {
    const { $defs } = schema as unknown as { readonly $defs: { readonly place: Record<string, unknown> } };
    $defs.place["additionalProperties"] = false;
    Object.assign(schema.properties["range"] ?? {}, { additionalProperties: false });
  }
  expect(JSON.stringify(method.input)).toBe(before);
  expect(JSON.stringify(method.parameters)).not.toContain("additionalProperties");
});
