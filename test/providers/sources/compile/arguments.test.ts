import { expect, test } from "vitest";

import { compileDocument, type CompiledOperation } from "../../../../src/providers/sources/compile/compile-document.ts";
import { loadDocument } from "../../../../src/providers/sources/compile/load-document.ts";
import { TIMED_OUT } from "../../../../src/shared/run-with-timeout.ts";
import { createErrorFinder } from "../../../../src/validation/error-finder.ts";
import { createTimeBudget } from "../../../../src/validation/time-budget.ts";

interface CompiledMethod {
  readonly operation: CompiledOperation;
  readonly problems: readonly string[];
  readonly accepts: (args: object) => boolean;
}

/** Compiles a document with one operation, `POST /pets`. */
async function compileMethod(operation: object, schemas: object = {}): Promise<CompiledMethod> {
  const document = { openapi: "3.0.3", paths: { "/pets": { post: operation } }, components: { schemas } };
  const { files } = await loadDocument("https://api.example/openapi.json", async () => JSON.stringify(document));
  const operations: CompiledOperation[] = [];
  const { definitions, problems } = compileDocument(files, { take: (each) => void operations.push(each) });
  const [first] = operations;
  if (first === undefined) throw new Error("No operation was compiled");
  const schema = { ...first.input, $defs: Object.fromEntries(definitions) };
  const check = createErrorFinder(schema, false, createTimeBudget(10_000));
  const accepts = (args: object): boolean => {
    const errors = check.errorsIn(args, 100);
    return errors !== TIMED_OUT && errors.length === 0;
  };
  return { operation: first, problems, accepts };
}

function withBody(schema: object, ...types: readonly string[]): object {
  const content = Object.fromEntries(types.map((type) => [type, { schema }]));
  return { requestBody: { required: true, content } };
}

test("a value that matches several alternatives is sent, if a discriminator decides between them [S5]", async () => {
  const animal = { type: "object", required: ["kind"], properties: { kind: { type: "string" } } };
  const { accepts } = await compileMethod(
    withBody(
      {
        oneOf: [{ $ref: "#/components/schemas/Cat" }, { $ref: "#/components/schemas/Dog" }],
        discriminator: { propertyName: "kind", mapping: { cat: "#/components/schemas/Cat", dog: "Dog", wolf: "Dog" } },
      },
      "application/json",
    ),
    { Cat: animal, Dog: animal },
  );
  expect(["cat", "dog", "wolf", "cow"].filter((kind) => accepts({ body: { kind } }))).toEqual(["cat", "dog", "wolf"]);
});

test("a discriminator without a mapping names no values [S5]", async () => {
  const animal = { type: "object", required: ["kind"], properties: { kind: { type: "string" } } };
  const oneOf = [{ $ref: "#/components/schemas/Cat" }, animal];
  const { accepts } = await compileMethod(
    withBody({ oneOf, discriminator: { propertyName: "kind" } }, "application/json"),
    { Cat: animal },
  );
  expect([{ kind: "cat" }, {}].map((body) => accepts({ body }))).toEqual([true, false]);
});

test("no call must have a property that is only read, wherever it is required [S5]", async () => {
  const base = { type: "object", properties: { id: { type: "integer", readOnly: true } } };
  const titled = { type: "object", properties: { title: { type: "string" } }, required: ["id", "title"] };
  const allOf = [{ $ref: "#/components/schemas/Base" }, titled];
  const { accepts } = await compileMethod(withBody({ allOf, required: ["id"] }, "application/json"), { Base: base });
  expect([{ title: "a" }, {}].map((body) => accepts({ body }))).toEqual([true, false]);
});

test("an enumeration with values of another type is left out, with a problem [S5]", async () => {
  const versions = { name: "version", in: "query", schema: { type: "string", enum: [1, 2] } };
  const sizes = { name: "size", in: "query", schema: { type: "string", enum: ["s", null], nullable: true } };
  const { accepts, problems } = await compileMethod({ parameters: [versions, sizes] });
  expect(accepts({ version: "1.0", size: "s" })).toBe(true);
  expect(accepts({ size: "m" })).toBe(false);
  expect(problems).toEqual(["post /pets: the enumeration of a schema has 1, which is not of its type; it is left out"]);
});

test("a pattern that is not a regular expression is left out, with a problem [S5]", async () => {
  const code = { name: "code", in: "query", schema: { type: "string", pattern: "^(?i:[a-z]++)$" } };
  const day = { name: "day", in: "query", schema: { type: "string", pattern: "^\\d$" } };
  const { accepts, problems } = await compileMethod({ parameters: [code, day] });
  expect(accepts({ code: "ABC", day: "1" })).toBe(true);
  expect(accepts({ day: "Monday" })).toBe(false);
  expect(problems).toEqual([
    'post /pets: the pattern "^(?i:[a-z]++)$" of a schema is not a regular expression; it is left out',
  ]);
});

test("a pattern of names that is not a regular expression allows any name, with a problem [S5]", async () => {
  const labels = { type: "object", patternProperties: { "(?i)^x-": {} }, additionalProperties: false };
  const schema = { type: "object", properties: { labels } };
  const { accepts, problems } = await compileMethod(withBody(schema, "application/json"));
  expect(accepts({ labels: { "X-a": "1" } })).toBe(true);
  expect(problems).toEqual([
    'post /pets: the pattern "(?i)^x-" of a schema is not a regular expression; it is left out',
  ]);
});

test.each([
  ["XML alone is written as a text", ["application/xml"], ["application/xml"], ["body"]],
  ["XML beside JSON cannot be chosen", ["application/xml", "application/json"], ["application/json"], ["name"]],
  [
    "a form beside JSON can be chosen",
    ["application/json", "multipart/form-data"],
    ["application/json", "multipart/form-data"],
    ["name", "contentType"],
  ],
])("of a body with fields, %s [S5]", async (_what, types, written, names) => {
  const pet = { type: "object", properties: { name: { type: "string" } } };
  const { operation } = await compileMethod(withBody(pet, ...types));
  expect(operation.body?.forms.map(({ mediaType }) => mediaType)).toEqual(written);
  expect(Object.keys(operation.input["properties"] ?? {})).toEqual(names);
});

test("a header that a request has by itself is no argument [S5]", async () => {
  const headers = ["User-Agent", "Content-Length", "Accept", "X-Trace"];
  const parameters = headers.map((name) => ({ name, in: "header", required: true, schema: { type: "string" } }));
  const { operation } = await compileMethod({ parameters });
  expect(operation.input["required"]).toEqual(["X-Trace"]);
});

test.each([
  ["application/octet-stream", {}, true],
  ["image/png", { contentEncoding: "base64" }, false],
  ["text/html", {}, false],
  ["application/json", {}, false],
])("a text of the media type %s with %j takes bytes: %j [S5]", async (contentMediaType, encoding, takesBytes) => {
  const file = { type: "string", contentMediaType, ...encoding };
  const { accepts } = await compileMethod(withBody({ type: "object", properties: { file } }, "multipart/form-data"));
  expect(accepts({ file: "a" })).toBe(true);
  expect(accepts({ file: new Uint8Array([1]) })).toBe(takesBytes);
});
