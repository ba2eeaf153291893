import { Validator } from "@seriousme/openapi-schema-validator";
import { expect, test } from "vitest";
import { catalogExport, methodExport, openapiExport } from "../../src/registry/index.ts";
import { createCatalog, createSkill } from "./catalogs.ts";

const input = { type: "object", properties: { a: { type: "number" } }, required: ["a"] };
const catalog = createCatalog(
  createSkill("MathSkill", [
    {
      name: "double",
      description: "Doubles",
      input,
      output: { type: "number" },
      metadata: { tags: ["math"], author: "Ada" },
    },
    { name: "ping", description: "" },
  ]),
);

test("exports a catalog with the schemas of its methods [T8]", () => {
  expect(catalogExport(catalog, new Date(0))).toEqual({
    tools: [
      {
        name: "MathSkill.double",
        description: "Doubles",
        inputSchema: input,
        outputSchema: { type: "number" },
        tags: ["math"],
      },
      { name: "MathSkill.ping", description: "", inputSchema: { type: "object" }, tags: [] },
    ],
    version: "1.0.1",
    generated_at: "1970-01-01T00:00:00.000Z",
  });
});

test("exports a method with examples and metadata [T8]", () => {
  const [double] = catalog.methods;
  expect(double && methodExport(double)).toEqual({
    schema: { name: "MathSkill.double", description: "Doubles", inputSchema: input, outputSchema: { type: "number" } },
    examples: [{ a: 1 }],
    metadata: { category: "general", version: "1.0.0", deprecated: false, author: "Ada" },
  });
});

test("describes one operation for all methods in the OpenAPI document [T8]", () => {
  const document = JSON.parse(JSON.stringify(openapiExport(catalog)));
  expect(document).toMatchObject({
    openapi: "3.0.0",
    info: { title: "Skillgate", version: "1.0.1" },
    paths: {
      "/tools/{tool_name}": {
        post: {
          parameters: [
            { name: "tool_name", in: "path", required: true, schema: { enum: ["MathSkill.double", "MathSkill.ping"] } },
          ],
          responses: {
            "200": { description: "Tool execution successful" },
            "400": { content: { "application/json": { schema: { $ref: "#/components/schemas/ValidationError" } } } },
            "404": { content: { "application/json": { schema: { $ref: "#/components/schemas/NotFound" } } } },
          },
        },
      },
    },
  });
  expect(Object.keys(document.components.schemas)).toEqual(["ToolInput", "ToolOutput", "ValidationError", "NotFound"]);
});

test(
  "writes an OpenAPI document that passes a public validator, which rejects invalid ones [T8]",
  { tags: "rest" },
  async () => {
    for (const each of [catalog, createCatalog()]) {
      const validator = new Validator();
      expect(await validator.validate(structuredClone(openapiExport(each)))).toEqual({ valid: true });
      expect(validator.version).toBe("3.0");
    }
    const { info: _, ...nameless } = openapiExport(catalog);
    expect(await new Validator().validate(structuredClone(nameless))).toMatchObject({
      valid: false,
      errors: [{ message: "must have required property 'info'" }],
    });
  },
);

test("exports an empty catalog without an empty enum [T8]", () => {
  expect(JSON.stringify(openapiExport(createCatalog()))).not.toContain('"enum"');
});
