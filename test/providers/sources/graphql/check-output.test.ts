import { buildSchema } from "graphql";
import { expect, test } from "vitest";

import { checkDocument } from "../../../../src/providers/sources/graphql/check/check-document.ts";
import { TRACKER_SDL } from "./tracker-schema.ts";

const schema = buildSchema(TRACKER_SDL);

/** The schema of one root field of a query without problems. */
function readField(text: string, field: string): unknown {
  const { problems, output } = checkDocument(schema, "query", text);
  expect(problems).toEqual([]);
  return (output as { readonly properties: Record<string, unknown> }).properties[field];
}

const object = (properties: Record<string, unknown>, optional: readonly string[] = []): unknown => ({
  type: "object",
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  additionalProperties: false,
});
const orNull = (...forms: unknown[]): unknown => ({ anyOf: [...forms, { type: "null" }] });

test("writes scalars, enumerations, lists, aliases and null", () => {
  const text =
    "{ one: issue(number: 1) { id number title body state score isOpen createdAt meta labels { tag: name } } }";
  expect(readField(text, "one")).toEqual(
    orNull(
      object({
        id: { type: "string" },
        number: { type: "integer" },
        title: { type: "string" },
        body: orNull({ type: "string" }),
        state: { type: "string", enum: ["OPEN", "CLOSED", "IN_REVIEW"] },
        score: orNull({ type: "number" }),
        isOpen: orNull({ type: "boolean" }),
        createdAt: {},
        meta: {},
        labels: { type: "array", items: object({ tag: { type: "string" } }) },
      }),
    ),
  );
});

test("writes a form for each type that a fragment is of", () => {
  const text = "{ search { __typename ... on User { name } ...B } } fragment B on Bot { version ... on Node { id } }";
  expect(readField(text, "search")).toEqual({
    type: "array",
    items: {
      anyOf: [
        object({ __typename: { const: "User" }, name: orNull({ type: "string" }) }),
        object({ __typename: { const: "Bot" }, version: { type: "integer" }, id: { type: "string" } }),
      ],
    },
  });
});

test("writes one form for all types of an interface that have the same fields", () => {
  expect(readField("{ node(id: 1) { __typename id ... on Issue { title } } }", "node")).toEqual(
    orNull(
      object({ __typename: { type: "string", enum: ["User", "Bot", "Comment"] }, id: { type: "string" } }),
      object({ __typename: { const: "Issue" }, id: { type: "string" }, title: { type: "string" } }),
    ),
  );
  expect(readField("{ node(id: 1) { id } }", "node")).toEqual(orNull(object({ id: { type: "string" } })));
});

test("merges the selections of one key, and marks fields with a condition as optional", () => {
  const text = `query($yes: Boolean!) {
    issue(number: 1) { parent { id } ...T @skip(if: $yes) body @include(if: $yes) parent { title @include(if: $yes) } title @skip(if: $yes) }
  }
  fragment T on Issue { number parent { title } }`;
  const parent = orNull(object({ id: { type: "string" }, title: { type: "string" } }, ["title"]));
  expect(readField(text, "issue")).toMatchObject({
    anyOf: [{ required: ["parent"], properties: { number: { type: "integer" } } }, { type: "null" }],
  });
  expect(JSON.stringify(readField(text, "issue"))).toContain(JSON.stringify(parent).slice(0, 90));
});

test("gives any value for fields of introspection and beyond its size", { tags: "rest" }, () => {
  expect(readField("{ __schema { queryType { name } } me { id } }", "__schema")).toEqual({});
  const types = Array.from({ length: 60 }, (_, at) => `type T${at} implements N { n: N t${at}: Int }`).join(" ");
  const wide = buildSchema(`interface N { n: N } ${types} type Query { n: N }`);
  const spreads = Array.from({ length: 60 }, (_, at) => `... on T${at} { t${at} }`).join(" ");
  expect(checkDocument(wide, "query", `{ n { ${spreads} } }`).output).toMatchObject({ properties: { n: {} } });
  const few = Array.from({ length: 20 }, (_, at) => `... on T${at} { t${at} }`).join(" ");
  const deep = checkDocument(wide, "query", `{ n { ${few} n { ${few} n { ${few} n { ${few} } } } } }`);
  expect(deep.problems).toEqual([]);
  expect(JSON.stringify(deep.output).length).toBeLessThan(300_000);
});

test("keeps names like those of members of Object as data", () => {
  const odd = buildSchema("type Query { constructor: Int hasOwnProperty: Int toString: String! }");
  const { output } = checkDocument(odd, "query", "{ constructor hasOwnProperty toString __proto__: toString }");
  expect(Object.keys(output?.["properties"] as object)).toEqual([
    "constructor",
    "hasOwnProperty",
    "toString",
    "__proto__",
  ]);
});
