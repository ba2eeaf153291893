import { schema as github } from "@octokit/graphql-schema";
import { buildSchema, introspectionFromSchema, parse, validate } from "graphql";
import { expect, test } from "vitest";

import { formatExampleCall } from "../../../../src/providers/sources/graphql/example-call.ts";
import { compileText } from "./compile-support.ts";

const SDL = `
"""Issues of a team"""
schema { query: Root mutation: Changes }
directive @live(every: Int = 10) on QUERY
directive @internal on FIELD_DEFINITION
type Root {
  "Lists the issues"
  issues(first: Int, after: String, states: [State!]): IssueConnection!
  node(id: ID!): Node
  search(text: String!): [Hit!]!
  old: String @deprecated(reason: "use issues")
}
type Changes { createIssue(input: NewIssue!): CreateIssuePayload deleteIssue(id: ID!): Boolean! }
interface Node { id: ID! }
"A thing to do"
type Issue implements Node { title: String! id: ID! state: State! author(kind: String!): User labels(first: Int): [Label!]! }
type Label implements Node { id: ID! color: Int! title: Int }
type User { id: ID! login: String! }
union Hit = Issue | Label | User
enum State { OPEN CLOSED }
scalar Date
type IssueConnection { edges: [IssueEdge] nodes: [Issue!]! pageInfo: PageInfo! }
type IssueEdge { node: Issue cursor: String! }
type PageInfo { hasNextPage: Boolean! endCursor: String }
input NewIssue { title: String! due: Date state: State = OPEN labels: [NewLabel!]! }
input NewLabel { title: String! color: Int! }
type CreateIssuePayload { issue: Issue clientMutationId: String errors: [String!]! }
`;

test("a schema becomes a catalog of root fields, with signatures and examples that are valid [S5]", async () => {
  const { catalog } = await compileText(SDL);
  const { operations, problems, title, description } = catalog.index;
  expect({ problems, title, description }).toEqual({
    problems: [],
    title: "GraphQL API at api.example.com",
    description: "Issues of a team",
  });
  expect(operations.map(({ name, verb, path }) => [name, verb, path])).toEqual([
    ["query:issues", "query", "issues"],
    ["query:node", "query", "node"],
    ["query:old", "query", "old"],
    ["query:search", "query", "search"],
    ["mutate:createIssue", "mutation", "createIssue"],
    ["mutate:deleteIssue", "mutation", "deleteIssue"],
  ]);
  expect(operations[0]).toMatchObject({ summary: "Lists the issues", argumentNames: ["after", "first", "states"] });
  const calls = operations.map((row) => formatExampleCall("TrackerGraph", row, catalog.read(row).example));
  expect(calls).toEqual([
    "device.TrackerGraph.query({ query: `{ issues(first: 10) { nodes { id title state } pageInfo { hasNextPage endCursor } } }` })",
    'device.TrackerGraph.query({ query: `query ($id: ID!) { node(id: $id) { __typename id } }`, variables: { id: "ID" } })',
    "device.TrackerGraph.query({ query: `{ old }` })",
    'device.TrackerGraph.query({ query: `query ($text: String!) { search(text: $text) { __typename ... on Issue { id title state } ... on Label { id color } ... on User { id login } } }`, variables: { text: "a text" } })',
    'device.TrackerGraph.mutate({ query: `mutation ($input: NewIssue!) { createIssue(input: $input) { errors issue { id title state } } }`, variables: { input: { labels: [{ color: 1, title: "a title" }], title: "a title" } } })',
    'device.TrackerGraph.mutate({ query: `mutation ($id: ID!) { deleteIssue(id: $id) }`, variables: { id: "ID" } })',
  ]);
  const schema = buildSchema(catalog.readSchema());
  for (const row of operations) expect(validate(schema, parse(catalog.read(row).example.query))).toEqual([]);
  expect(schema.getDirectives().map(({ name }) => name)).toContain("live");
  expect(schema.getDirective("internal")).toBeUndefined();
});

test("a root field has the schema of its arguments, and a type is found in any case of letters [D5]", async () => {
  const { catalog } = await compileText(SDL);
  const row = catalog.index.operations.find(({ name }) => name === "mutate:createIssue");
  if (row === undefined) throw new Error("The field is missing");
  const { signature, input } = catalog.read(row);
  expect(signature).toBe("createIssue(input: NewIssue!): CreateIssuePayload");
  expect(input).toMatchObject({
    properties: { input: { $ref: "#/$defs/NewIssue" } },
    required: ["input"],
    $defs: {
      NewIssue: {
        required: ["labels", "title"],
        properties: {
          state: { anyOf: [{ $ref: "#/$defs/State" }, { type: "null" }] },
          labels: { type: "array", items: { $ref: "#/$defs/NewLabel" } },
        },
      },
      State: { enum: ["CLOSED", "OPEN"] },
    },
  });
  expect(catalog.findTypeText("issue")).toBe(
    "# A thing to do\ntype Issue implements Node {\n  author(kind: String!): User\n  id: ID!\n  labels(first: Int): [Label!]!\n  state: State!\n  title: String!\n}",
  );
  expect(catalog.findTypeText("constructor")).toBeUndefined();
});

test("the digest of a schema is that of its content, in SDL or as an introspection, in any order [M8]", async () => {
  const { digest } = await compileText(SDL);
  const saved = introspectionFromSchema(buildSchema(SDL), { inputValueDeprecation: true, schemaDescription: true });
  const reordered = SDL.replace("title: String! id: ID!", "id: ID! title: String!").replace(
    "OPEN CLOSED",
    "CLOSED OPEN",
  );
  const others = [JSON.stringify(saved), JSON.stringify({ data: saved }), reordered];
  for (const text of others) expect((await compileText(text)).digest).toBe(digest);
  expect((await compileText(SDL.replace("title: String! id", "title: String id"))).digest).not.toBe(digest);
});

test("a change two types below a root field changes its digest, and no other one [M8]", async () => {
  const digests = async (sdl: string): Promise<ReadonlyMap<string, string>> => {
    const { catalog } = await compileText(sdl);
    return new Map(catalog.index.operations.map(({ name, digest }) => [name, digest]));
  };
  const before = await digests(SDL);
  const after = await digests(SDL.replace("hasNextPage: Boolean!", "hasNextPage: Boolean"));
  const changed = [...after].filter(([name, digest]) => before.get(name) !== digest).map(([name]) => name);
  expect(changed).toEqual(["query:issues"]);
  const deep = await digests(SDL.replace("color: Int! }", "color: Int }"));
  expect([...deep].filter(([name, digest]) => before.get(name) !== digest).map(([name]) => name)).toEqual([
    "mutate:createIssue",
  ]);
});

test("the schema of GitHub compiles whole, and each example is valid [S5]", { tags: "rest" }, async () => {
  const { catalog } = await compileText(github.idl);
  const { operations, problems } = catalog.index;
  expect(operations.length).toBeGreaterThan(250);
  // The file has two fields twice.
  expect(problems).toHaveLength(2);
  const schema = buildSchema(catalog.readSchema());
  const invalid = operations.filter((row) => validate(schema, parse(catalog.read(row).example.query)).length > 0);
  expect(invalid.map(({ name }) => name)).toEqual([]);
});
