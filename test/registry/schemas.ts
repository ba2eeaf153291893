import * as fc from "../support/fuzz.ts";
import type { JsonSchema } from "../../src/model/json.ts";

/** Names as they occur, and names that lie in wait. */
const NAME = fc.oneof(
  fc.constantFrom(
    "id",
    "query",
    "filter-by",
    "class",
    "new",
    "this",
    "__proto__",
    "constructor",
    "1",
    "a b",
    'a"b',
    "*/",
    "数",
  ),
  fc.string({ maxLength: 6 }),
);

const DESCRIPTION = fc.constantFrom(
  "",
  "The name",
  "*/ end",
  "two\nlines",
  "${x} `y` // z",
  "\u202Eabc\u0000",
  "@param x y",
);

const LITERAL = fc.oneof(
  fc.string({ maxLength: 8, unit: fc.CHARACTER }),
  fc.integer({ min: -1_000, max: 1_000 }),
  fc.double(),
  fc.boolean(),
  fc.constant(null),
);

const TARGETS = [
  "#",
  "#/$defs/A",
  "#/$defs/B",
  "#/$defs/C",
  "#/$defs/a~1b",
  "#/properties/id",
  "#missing",
  "https://example.com/x.json",
];

/** Schemas of every kind that tools have, sound and broken, with references in circles. */
const { schema } = fc.letrec<{ schema: unknown }>((tie) => {
  const some = fc.array(tie("schema"), { minLength: 1, maxLength: 3 });
  const map = fc.dictionary(NAME, tie("schema"), { maxKeys: 4, noNullPrototype: true });
  const described = (parts: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<unknown> =>
    fc
      .tuple(fc.record(parts), fc.record({ description: DESCRIPTION, nullable: fc.boolean() }, { requiredKeys: [] }))
      .map(([some, more]) => ({ ...some, ...more }));
  return {
    schema: fc.oneof(
      { maxDepth: 5, depthSize: "small", withCrossShrink: true },
      described({
        type: fc.constantFrom(
          "string",
          "number",
          "integer",
          "boolean",
          "null",
          "file",
          7,
          ["string", "null"],
          ["array", "object"],
        ),
      }),
      fc.constantFrom<unknown>(true, false, {}, null, "string", 5, []),
      described({ const: LITERAL }),
      described({ enum: fc.array(LITERAL, { maxLength: 4 }) }),
      fc.constantFrom(...TARGETS).map(($ref) => ({ $ref })),
      fc.record({ $ref: fc.constantFrom(...TARGETS), properties: map }),
      described({ type: fc.constant("array"), items: tie("schema"), minItems: fc.nat(3), uniqueItems: fc.boolean() }),
      described({ type: fc.constant("array"), prefixItems: some, items: tie("schema"), minItems: fc.nat(3) }),
      described({ type: fc.constant("array"), items: some, additionalItems: tie("schema") }),
      described({
        type: fc.constant("object"),
        properties: map,
        required: fc.array(NAME, { maxLength: 3 }),
        additionalProperties: fc.oneof(fc.boolean(), tie("schema")),
        patternProperties: map,
      }),
      described({ type: fc.constant("object"), additionalProperties: tie("schema") }),
      described({ allOf: some }),
      described({ anyOf: some, type: fc.constantFrom("object", "string", undefined) }),
      described({ oneOf: some }),
    ),
  };
});

/** An input or output schema of a method: an object schema with definitions that refer to each other. */
export const rootSchema: fc.Arbitrary<JsonSchema> = fc.record(
  {
    type: fc.constant("object"),
    properties: fc.dictionary(NAME, schema, { maxKeys: 4, noNullPrototype: true }),
    required: fc.array(NAME, { maxLength: 3 }),
    additionalProperties: fc.oneof(fc.boolean(), schema),
    anyOf: fc.array(schema, { maxLength: 3 }),
    $defs: fc.record({ A: schema, B: schema, C: schema, "a/b": schema }),
  },
  { requiredKeys: ["type", "$defs"] },
);

const PATTERNS = [
  "^[a-z]{3,8}$",
  "^\\d{4}-\\d{2}$",
  "^(foo|bar)+$",
  "[A-Z]{2}\\d",
  "^#[0-9a-fA-F]{6}$",
  "^\\/(?:[^/]+\\/)*$",
  "^\\p{L}+$",
  "^(?!-).+$",
];
const FORMATS = [
  "date",
  "time",
  "date-time",
  "email",
  "hostname",
  "ipv4",
  "ipv6",
  "uri",
  "uri-reference",
  "uuid",
  "regex",
  "duration",
  "json-pointer",
];

const JSON_LITERAL = LITERAL.map((value): unknown => JSON.parse(JSON.stringify(value)));

/** A schema that something fits, with bounds of every kind. */
const { fitting } = fc.letrec<{ fitting: JsonSchema }>((tie) => {
  const span = fc
    .tuple(fc.integer({ min: -50, max: 50 }), fc.nat(20))
    .map(([from, more]) => [from, from + more] as const);
  const size = fc.tuple(fc.nat(4), fc.nat(4)).map(([least, more]) => [least, least + more] as const);
  const names = fc.uniqueArray(fc.stringMatching(/^[a-z_]{1,8}$/), { maxLength: 4 });
  return {
    fitting: fc.oneof(
      { maxDepth: 4, depthSize: "small" },
      fc.record({ type: fc.constant("string") }),
      size.map(([minLength, maxLength]) => ({ type: "string", minLength, maxLength })),
      fc.constantFrom(...PATTERNS).map((pattern) => ({ type: "string", pattern })),
      fc.constantFrom(...FORMATS).map((format) => ({ type: "string", format })),
      span.map(([minimum, maximum]) => ({ type: "integer", minimum, maximum })),
      span.map(([exclusiveMinimum, maximum]) => ({ type: "number", exclusiveMinimum, maximum: maximum + 1 })),
      span.map(([minimum]) => ({ type: "number", minimum, multipleOf: 0.5 })),
      fc.constantFrom("boolean", "null", ["string", "null"], ["integer", "string"]).map((type) => ({ type })),
      JSON_LITERAL.map((value) => ({ const: value })),
      fc.array(JSON_LITERAL, { minLength: 1, maxLength: 4 }).map((values) => ({ enum: values })),
      fc
        .tuple(tie("fitting"), size)
        .map(([items, [minItems, maxItems]]) => ({ type: "array", items, minItems, maxItems })),
      fc.nat(4).map((minItems) => ({ type: "array", items: { type: "string" }, minItems, uniqueItems: true })),
      fc
        .array(tie("fitting"), { minLength: 1, maxLength: 3 })
        .map((prefixItems) => ({ type: "array", prefixItems, items: false })),
      fc.array(tie("fitting"), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
      tie("fitting").map((schema) => ({ allOf: [schema, { description: "same" }] })),
      fc.tuple(names, fc.array(tie("fitting"), { minLength: 4, maxLength: 4 }), fc.nat(4)).map(objectSchema),
      fc.tuple(tie("fitting"), fc.nat(3)).map(([additionalProperties, minProperties]) => ({
        type: "object",
        additionalProperties,
        minProperties,
      })),
    ),
  };
});

function objectSchema([names, schemas, required]: readonly [readonly string[], JsonSchema[], number]): JsonSchema {
  return {
    type: "object",
    properties: Object.fromEntries(names.map((name, at) => [name, schemas[at]])),
    required: names.slice(0, required),
    additionalProperties: false,
  };
}

/** The input of a method that some arguments fit. */
export const fittingInput: fc.Arbitrary<JsonSchema> = fc
  .tuple(fc.constant(["a", "query", "path", "count"]), fc.array(fitting, { minLength: 4, maxLength: 4 }), fc.nat(4))
  .map(objectSchema);
