import { buildSchema } from "graphql";
import { expect, test } from "vitest";

import { UNKNOWN } from "../../../../src/model/plan.ts";
import { checkDocument } from "../../../../src/providers/sources/graphql/check/check-document.ts";
import type { QueryKind } from "../../../../src/providers/sources/graphql/check/checked-document.ts";
import { TEXT_LIMITS } from "../../../../src/providers/sources/graphql/check/limits.ts";
import { TRACKER_SDL } from "./tracker-schema.ts";

const schema = buildSchema(TRACKER_SDL);

/** The problems of a text, each with the part of the text that it is about. */
function findProblems(text: string, { kind = "query", variables }: { kind?: QueryKind; variables?: unknown } = {}) {
  const { problems } = checkDocument(schema, kind, text, variables);
  return problems.map(({ message, range, suggestions }) => [message, range && text.slice(...range), suggestions]);
}

test.each([
  [
    "{ issues { nodes { titel } } }",
    'Cannot query field "titel" on type "Issue"; did you mean "title" or "state"?',
    "titel",
    ["title", "state"],
  ],
  [
    "{ issue(number: 1) { xyzzy } }",
    'Cannot query field "xyzzy" on type "Issue"; possible: id, number, title, body, state, author, createdAt, labels, meta, parent, score, isOpen, comments',
    "xyzzy",
    [],
  ],
  [
    "{ node(id: 1) { title } }",
    'Cannot query field "title" on type "Node"; did you mean "... on Issue { title }"?',
    "title",
    ["... on Issue { title }"],
  ],
  [
    "{ me { issues } }",
    'Field "issues" of type "IssueConnection!" must have a selection of subfields; did you mean "issues { totalCount }"?',
    "issues",
    ["issues { totalCount }"],
  ],
  [
    "{ issue { id } }",
    'Field "issue" argument "number" of type "Int!" is required, but it was not provided',
    "issue",
    [],
  ],
  [
    "{ issue(number: 1, nubmer: 2) { id } }",
    'Unknown argument "nubmer" on field "Query.issue"; did you mean "number"?',
    "nubmer",
    ["number"],
  ],
  [
    "{ issues(states: [OPNE]) { totalCount } }",
    'Value "OPNE" does not exist in "IssueState" enum; did you mean "OPEN"?',
    "OPNE",
    ["OPEN"],
  ],
  [
    '{ issues(states: ["OPEN"]) { totalCount } }',
    'Enum "IssueState" cannot represent non-enum value: "OPEN"; did you mean "OPEN"?',
    '"OPEN"',
    ["OPEN"],
  ],
  [
    "query($n: Itn!) { issue(number: $n) { id } }",
    'Unknown type "Itn"; did you mean "Int" or "ID"?',
    "Itn",
    ["Int", "ID"],
  ],
  [
    "{ issue(number: $n) { id } }",
    'Variable "$n" is not defined; declare it after the name of the operation: ($n: Int!)',
    "$n",
    [],
  ],
  [
    "{ me { ...Naem } } fragment Name on User { name }",
    'Unknown fragment "Naem"; did you mean "Name"?',
    "Naem",
    ["Name"],
  ],
  ["{ me @inclde(if: true) { id } }", 'Unknown directive "@inclde"; did you mean "include"?', "inclde", ["include"]],
  [
    "{ me { login(name: 'a') } }",
    "The text is not GraphQL: Unexpected single quote character ('), did you mean to use a double quote (\")?",
    "'",
    [],
  ],
  ["{ me { login ", "The text is not GraphQL: Expected Name, found <EOF>", "", []],
  ["", "The text is not GraphQL: Unexpected <EOF>", "", []],
  ["type A { b: Int }", "The text has no operation; write query { … } beside its fragments", "", []],
  [
    "{ me { id } } query Other { me { name } }",
    "The text has 2 operations ({ me … }, Other), and a call sends one; write a call for each",
    "Other",
    [],
  ],
  ["mutation { deleteIssue(id: 1) }", "This is a mutation: call mutate, not query", "mutation", []],
  [
    "subscription { issueAdded { id } }",
    "A call has one answer, so a subscription cannot be sent; write a query, and call it again for later values",
    "subscription",
    [],
  ],
  ["{ me { ...A } } fragment A on User { ...A }", 'Fragment "A" spreads itself', "A", []],
  [
    "{ __schema { types { fields { type { fields { type { fields { name } } } } } } } }",
    "Maximum introspection depth exceeded",
    "__schema",
    [],
  ],
])("explains what is wrong in %s", (text, message, part, suggestions) => {
  expect(findProblems(text)).toContainEqual([message, part, suggestions]);
});

test("names the method for a text of the other kind", () => {
  expect(findProblems("{ me { id } }", { kind: "mutation" })).toEqual([
    ["This is a query: call query, not mutate", "{", []],
  ]);
  const readOnly = buildSchema("type Query { a: Int }");
  expect(checkDocument(readOnly, "mutation", "mutation { a }").problems[0]?.message).toBe(
    "The API has no type for a mutation",
  );
});

test("refuses an answer in several parts", () => {
  const streaming = buildSchema("directive @defer on FRAGMENT_SPREAD | INLINE_FRAGMENT type Query { a: Int }");
  expect(checkDocument(streaming, "query", "{ ... @defer { a } }").problems).toMatchObject([
    { message: "A call has one answer; write it without @defer" },
  ]);
});

test("reports all mistakes together, in the order of the text", () => {
  const text = "{ issue(nmber: 1) { tilte author { lgin } } isues { a } }";
  const parts = checkDocument(schema, "query", text).problems.map(({ range }) => range && text.slice(...range));
  expect(parts).toEqual(["issue", "nmber", "tilte", "lgin", "isues"]);
});

const QUERY =
  "query Q($n: Int!, $filter: IssueFilter, $by: IssueKey!, $meta: JSON, $list: [IssueState!] = [OPEN]) { issue(number: $n) { id } issues(filter: $filter, states: $list) { totalCount } find(by: $by) { id } search(meta: $meta) { __typename } }";

test.each([
  [{ by: UNKNOWN }, "The variable $n of type Int! is missing; pass variables: { n: … }", []],
  [{ n: "1", by: UNKNOWN }, '$n must be of type Int, not "1"', []],
  [{ n: 1.5, by: UNKNOWN }, "$n must be of type Int, not 1.5", []],
  [{ n: null, by: UNKNOWN }, "$n of type Int! must not be null", []],
  [{ n: 1, by: UNKNOWN, filtr: {} }, '$filtr is not a variable of the text; did you mean "filter"?', ["filter"]],
  [{ n: 1, by: UNKNOWN, filter: {} }, "$filter.owner of type ID! is missing", []],
  [{ n: 1, by: UNKNOWN, filter: 5 }, "$filter must be an object of type IssueFilter, not 5", []],
  [
    { n: 1, by: UNKNOWN, filter: { owner: 1, stat: 1 } },
    '$filter.stat is not a field of IssueFilter; did you mean "state"?',
    ["state"],
  ],
  [
    { n: 1, by: UNKNOWN, filter: { owner: 1, inner: { owner: 2, state: "OPN" } } },
    '$filter.inner.state must be a value of IssueState, not "OPN"; did you mean "OPEN"?',
    ["OPEN"],
  ],
  [{ n: 1, by: UNKNOWN, list: ["OPEN", null] }, "$list[1] of type IssueState! must not be null", []],
  [{ n: 1, by: { id: "a", number: 1 } }, "$by of type IssueKey must have exactly one of its fields: id, number", []],
  [[1], "The variables must be an object with a member for each: { first: 10 }", []],
])("explains what is wrong with the variables %o", (variables, message, suggestions) => {
  expect(findProblems(QUERY, { variables })).toEqual([[message, undefined, suggestions]]);
});

test.each([
  [UNKNOWN],
  [undefined],
  [{ n: UNKNOWN, by: { id: UNKNOWN }, filter: { owner: "a", labels: [UNKNOWN], since: 5, inner: UNKNOWN } }],
  [{ n: 1, by: { number: 2 }, filter: null, list: "OPEN", meta: { any: ["value", null] } }],
])("accepts the variables %o", (variables) => {
  expect(findProblems(QUERY, { variables })).toEqual([]);
});

test("does not mistake members of Object for names", () => {
  const variables = JSON.parse('{ "n": 1, "by": { "id": 1 }, "__proto__": 1, "constructor": 2 }') as unknown;
  expect(findProblems(QUERY, { variables }).map(([message]) => message)).toEqual([
    expect.stringContaining("$__proto__ is not a variable"),
    expect.stringContaining("$constructor is not a variable"),
  ]);
  expect(findProblems("{ me { constructor __proto__ toString } }")).toHaveLength(3);
});

const list = (count: number, write: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => write(at)).join(" ");

test.each([
  ["characters", `{ me { id } } #${"x".repeat(TEXT_LIMITS.units)}`, /^The text has 65551 characters; at most 65536/],
  ["tokens", `{ me { ${list(TEXT_LIMITS.tokens, () => "id")} } }`, /^The text has more than 8000 tokens/],
  ["braces", "{ a ".repeat(15_000), /^More than 100 brackets are open here/],
  ["lists of values", `{ search(meta: ${"[".repeat(101)}`, /^More than 100 brackets are open here/],
  ["fields", `{ me { ${list(TEXT_LIMITS.fields, () => "id")} } }`, /^The text selects more than 2000 fields/],
  [
    "aliases",
    `{ me { ${list(TEXT_LIMITS.aliases + 1, (at) => `a${at}: id`)} } }`,
    /^The text has more than 200 aliases/,
  ],
  [
    "levels",
    `{ issue(number: 1) { ${"parent { ".repeat(11)} id ${"}".repeat(11)} } }`,
    /^"id" is on level 13 of the selection, and 12 can be sent/,
  ],
  [
    "fragments that multiply",
    `{ me { ...F0 } } ${list(300, (at) => `fragment F${at} on User { ...F${at + 1} ...F${at + 1} }`)} fragment F300 on User { id }`,
    /^The text selects more than 2000 fields, each fragment counted/,
  ],
  [
    "levels of fragments",
    `{ issue(number: 1) { ...F0 } } ${list(12, (at) => `fragment F${at} on Issue { parent { ...F${at + 1} } }`)} fragment F12 on Issue { id }`,
    /^"parent" is on level 13/,
  ],
])("bounds %s", (_what, text, message) => {
  const { problems } = checkDocument(schema, "query", text);
  expect(problems).toMatchObject([{ message: expect.stringMatching(message) as string }]);
});

test("accepts what is as large as the limits", () => {
  expect(findProblems(`{ issue(number: 1) { ${"parent { ".repeat(10)} id ${"}".repeat(10)} } }`)).toEqual([]);
  expect(findProblems(`{ me { ${list(TEXT_LIMITS.aliases, (at) => `a${at}: id`)} } }`)).toEqual([]);
  const tenFields = "issue(number: 1) { id number title body state createdAt meta score isOpen }";
  const rest = "me { id login name id id id id id id }";
  expect(TEXT_LIMITS.fields).toBe(2_000);
  expect(findProblems(`{ ${list(199, (at) => `a${at}: ${tenFields}`)} ${rest} }`)).toEqual([]);
});

test("bounds the number and the length of messages", () => {
  const { problems } = checkDocument(schema, "query", `{ ${list(100, (at) => `${"x".repeat(600)}${at}`)} }`);
  expect(problems).toHaveLength(20);
  expect(Math.max(...problems.map(({ message }) => message.length))).toBeLessThanOrEqual(500);
});

test("shows control characters of a value as escapes", () => {
  const { problems } = checkDocument(schema, "query", '{ issue(number: "\\u001b[2J\\u202e") { id } }');
  expect(problems[0]?.message).not.toMatch(/\p{Cc}|\p{Cf}/u);
});

test("lists the root fields, the name and the text as it is sent", () => {
  const text = `
    # comment
    query Everything { first: me { id }, ...Rest __typename }
    fragment Rest on Query { issue(number: 1) { id } me { name } }`;
  expect(checkDocument(schema, "query", text)).toMatchObject({
    problems: [],
    fields: ["me", "issue", "me"],
    operationName: "Everything",
    text: "query Everything{first:me{id}...Rest __typename}fragment Rest on Query{issue(number:1){id}me{name}}",
  });
  const facts = checkDocument(schema, "query", "{ me { id } }");
  expect(Object.keys(facts)).toEqual(["problems", "fields", "output", "text"]);
});

test.each([
  [
    "forward",
    "query($n: Int, $c: String) { me { mine: issues(first: $n, after: $c) { nodes { id } pageInfo { ...P } } } } fragment P on PageInfo { hasNextPage endCursor }",
    { path: ["me", "mine"], list: "nodes", cursor: "c", size: "n" },
  ],
  [
    "backward",
    "query($c: String) { issue(number: 1) { comments(last: 5, before: $c) { nodes { id } pageInfo { hasPreviousPage startCursor } } } }",
    { path: ["issue", "comments"], list: "nodes", cursor: "c", backward: true },
  ],
  [
    "a size with a default in the text",
    "query($n: Int = 5, $c: String) { issues(first: $n, after: $c) { nodes { id } pageInfo { hasNextPage endCursor } } }",
    { path: ["issues"], list: "nodes", cursor: "c" },
  ],
  [
    "edges",
    "query($c: String) { issues(after: $c) { edges { node { id } } pageInfo { hasNextPage endCursor } } }",
    { path: ["issues"], list: "edges", cursor: "c" },
  ],
  [
    "none: its cursor is a literal",
    '{ issues(after: "a") { nodes { id } pageInfo { hasNextPage endCursor } } }',
    undefined,
  ],
  [
    "none: pageInfo is not whole",
    "query($c: String) { issues(after: $c) { nodes { id } pageInfo { endCursor } } }",
    undefined,
  ],
  [
    "none: another name in the answer",
    "query($c: String) { issues(after: $c) { all: nodes { id } pageInfo { hasNextPage endCursor } } }",
    undefined,
  ],
  [
    "none: inside a list",
    "query($c: String) { issues { nodes { comments(after: $c) { nodes { id } pageInfo { hasNextPage endCursor } } } } }",
    undefined,
  ],
  [
    "none: two connections",
    "query($c: String) { issues(after: $c) { nodes { id } pageInfo { hasNextPage endCursor } } me { issues(after: $c) { nodes { id } pageInfo { hasNextPage endCursor } } } }",
    undefined,
  ],
])("finds the connection: %s", (_name, text, pages) => {
  const checked = checkDocument(schema, "query", text);
  expect(checked.problems).toEqual([]);
  expect(checked.pages).toEqual(pages);
});

test("lists the variables that take files", () => {
  const text =
    "mutation($input: CreateIssue!, $file: Upload!, $id: ID!) { createIssue(input: $input) { id } attach(file: $file) deleteIssue(id: $id) }";
  expect(checkDocument(schema, "mutation", text).uploads).toEqual([["file"], ["input", "files"]]);
});

test("bounds the paths of files in types that contain themselves", () => {
  const cyclic = buildSchema(
    "scalar Upload input A { a: A b: A c: A file: Upload } type Query { x: Int } type Mutation { add(a: A): Int }",
  );
  const { uploads = [] } = checkDocument(cyclic, "mutation", "mutation($a: A) { add(a: $a) }");
  expect(uploads).toHaveLength(50);
  expect(uploads).toContainEqual(["a", "file"]);
});

test("a text whose check ends before its end is refused [S5]", { tags: "rest" }, () => {
  const message = "The text repeats fields of one name too often to be checked; select each field once";
  const { problems } = checkDocument(schema, "query", `{ ${"me { id } ".repeat(990)} issue(nubmer: 1) { id } }`);
  expect(problems.length).toBeGreaterThan(0);
  const unread = `{ me { id } } fragment Unread on User { ${"id ".repeat(7_000)} }`;
  expect(findProblems(unread)).toEqual([[message, "", []]]);
});

/** `relay` as in GitHub, `query` in results and `Query` as a node as in PostGraphile. */
const NESTED = buildSchema(`
interface Node { id: ID! }
interface Host { secret(name: String): String }
type Query implements Node & Host { id: ID! relay: Query! node(id: ID!): Node host: Host secret(name: String): String user: User }
type User implements Node { id: ID! self: User mutations: Mutation }
type Result { query: Query! again: Mutation }
type Mutation { add: Result remove: Result }
`);

test.each([
  ["query", "{ relay { secret } }", ["relay", "secret"], undefined],
  [
    "query",
    "{ relay { relay { ...Inner } } } fragment Inner on Query { secret }",
    ["relay", "relay", "secret"],
    undefined,
  ],
  ["query", '{ node(id: "query") { id ... on Query { secret } } }', ["node", "secret"], undefined],
  ["query", "{ host { secret } }", ["host", "secret"], undefined],
  ["query", '{ node(id: "user") { id ... on User { self { id } } } }', ["node"], undefined],
  [
    "query",
    "{ one: secret two: secret ...Two } fragment Two on Query { two: secret }",
    ["secret", "secret"],
    undefined,
  ],
  ["mutation", "mutation { add { query { secret user { id } } } }", ["add"], ["secret", "user"]],
  ["mutation", "mutation { add { again { remove { again { __typename } } } } }", ["add", "remove"], undefined],
] as const)("root fields below the root count: %s %s [S5]", (kind, text, fields, queryFields) => {
  const checked = checkDocument(NESTED, kind, text);
  expect(checked.problems).toEqual([]);
  expect(checked.fields).toEqual(fields);
  expect(checked.queryFields).toEqual(queryFields);
});

test("a query does not reach the mutations [S5]", () => {
  const { problems } = checkDocument(NESTED, "query", "{ user { mutations { remove { __typename } } } }");
  expect(problems).toMatchObject([{ message: expect.stringContaining('"remove" is a root field of mutations') }]);
});

test("variables cost as much as they have, not as much as their types could have [S5]", { tags: "rest" }, () => {
  const fields = Array.from({ length: 400 }, (_, at) => `field${at}: Int`).join(" ");
  const wide = buildSchema(`input Wide { ${fields} } type Query { find(by: [Wide!], ids: [Int]): Int }`);
  const variables = { by: Array.from({ length: 500_000 }, () => ({})) };
  const names = Array.from({ length: 1_200 }, (_, at) => `$n${at}`);
  const many = `query(${names.map((name) => `${name}: Int`).join(" ")}) { find(ids: [${names.join(" ")}]) }`;
  const unknown = Object.fromEntries(Array.from({ length: 300_000 }, (_, at) => [`m${at}`, 1]));
  // A hundred times as long if each object is compared with all fields, or each name with all variables.
  const before = performance.now();
  expect(checkDocument(wide, "query", "query($by: [Wide!]) { find(by: $by) }", variables).problems).toEqual([]);
  expect(checkDocument(wide, "query", many, unknown).problems).toHaveLength(20);
  expect(performance.now() - before).toBeLessThan(20_000);
});
