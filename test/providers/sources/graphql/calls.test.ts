import { expect, test } from "vitest";

import { createCalls, readPages } from "./calls.ts";
import { createPersistedQueries, startTracker } from "./tracker.ts";

test("a query with a union and variables returns its data [S5]", async () => {
  const { url, received } = await startTracker();
  const { call, notes } = createCalls(url);
  const text = `# A comment is not sent
    query Find($text: String!) { search(text: $text) { __typename ... on Issue { title } ... on User { name } } }`;
  expect(await call(text, { text: "Issue 45" })).toEqual({
    search: [
      { __typename: "User", name: "Ada" },
      { __typename: "Issue", title: "Issue 45" },
    ],
  });
  expect(notes).toEqual([]);
  expect(received).toMatchObject([{ method: "POST", url: "/graphql" }]);
  expect(received[0]?.headers["accept"]).toContain("application/graphql-response+json");
  expect(JSON.parse(received[0]?.body ?? "")).toEqual({
    query: "query Find($text:String!){search(text:$text){__typename ...on Issue{title}...on User{name}}}",
    operationName: "Find",
    variables: { text: "Issue 45" },
  });
});

test("errors beside data become notes; errors in place of data are an error that programs catch by its code [S10]", async () => {
  const { url } = await startTracker();
  const { call, notes } = createCalls(url);
  const partial = await call("{ issues(first: 14) { nodes { secret } } me { id } }");
  expect(partial).toMatchObject({ issues: { nodes: { length: 14, 0: { secret: "secret 1" }, 1: { secret: null } } } });
  expect(notes).toHaveLength(6);
  expect(notes[0]).toBe(
    "The result of TrackerGraph.query has an error at issues.nodes.1.secret: No access to issue 2 (FORBIDDEN)",
  );
  expect(notes[5]).toBe("The result of TrackerGraph.query has 2 more errors; includeResponse: true gives all of them");

  const refused = call('mutation { createIssue(input: { title: "" }) { issue { id } } }', {}, { kind: "mutation" });
  await expect(refused).rejects.toMatchObject({
    code: "CALL_FAILED",
    message:
      "POST /graphql answered with an error in place of data: A title is needed. Correct the text or its variables as the answer says, or continue without it (at createIssue, BAD_USER_INPUT)",
    facts: {
      attempts: 1,
      serverError: {
        code: "BAD_USER_INPUT",
        http: { status: 200, path: "createIssue", body: { data: null, errors: [{ path: ["createIssue"] }] } },
      },
    },
  });
  // A field that may be null is null, and nothing else was selected: there is no data.
  const none = call("{ issue(number: 2) { secret } }");
  expect(await none).toEqual({ issue: { secret: null } });
  await expect(call("{ broken }")).rejects.toThrow("(at broken, GRAPHQL_ERROR)");
  await expect(call('{ issues { totalCount } broken(code: "NOT_FOUND") }')).rejects.toThrow(
    "It is out of order. Check the arguments that name the resource; it may also be hidden from these credentials (at broken, NOT_FOUND)",
  );
});

test("includeResponse gives the status and the whole body, with the next page of a connection [S5]", async () => {
  const { url } = await startTracker();
  const { call } = createCalls(url);
  const text =
    "query ($after: String) { issues(first: 2, after: $after) { nodes { number } pageInfo { hasNextPage endCursor } } }";
  expect(await call(text, undefined, { includeResponse: true })).toEqual({
    status: 200,
    headers: { "content-type": "application/graphql-response+json; charset=utf-8" },
    body: {
      data: { issues: { nodes: [{ number: 1 }, { number: 2 }], pageInfo: { hasNextPage: true, endCursor: "2" } } },
    },
    next: { query: text, includeResponse: true, variables: { after: "2" } },
  });
  expect(await call("{ issue(number: 2) { secret } }", undefined, { includeResponse: true })).toMatchObject({
    body: { data: { issue: { secret: null } }, errors: [{ message: "No access to issue 2" }] },
    next: null,
  });
  const made = await call("mutation { deleteIssue(number: 1) }", undefined, {
    kind: "mutation",
    includeResponse: true,
  });
  expect(made).toEqual({ status: 200, headers: expect.anything(), body: { data: { deleteIssue: true } } });
});

const FORWARD = `query ($after: String, $first: Int) {
  list: issues(first: $first, after: $after) { nodes { number } pageInfo { hasNextPage endCursor } }
}`;

test("pages follows a connection forward and backward, by nodes and by edges [S5]", async () => {
  const { url, received } = await startTracker();
  const { call, notes } = createCalls(url);
  const numbers = (await readPages(call, FORWARD)) as readonly { number: number }[];
  expect(numbers.map(({ number }) => number)).toEqual(Array.from({ length: 45 }, (_, index) => index + 1));
  expect(received.map(({ body }) => (JSON.parse(body) as { variables: unknown }).variables)).toEqual([
    { first: 100 },
    { first: 100, after: "20" },
    { first: 100, after: "40" },
  ]);
  const backward = `query ($before: String) {
    issues(last: 20, before: $before) { edges { cursor node { number } } pageInfo { hasPreviousPage startCursor } }
  }`;
  const edges = (await readPages(call, backward)) as readonly { cursor: string; node: { number: number } }[];
  expect(edges.map(({ node }) => node.number)).toEqual(Array.from({ length: 45 }, (_, index) => 45 - index));
  expect(edges[0]).toEqual({ cursor: "45", node: { number: 45 } });
  expect(notes).toEqual([]);
});

test("pages leaves the size of a page to the default in the text [S5]", async () => {
  const { url, received } = await startTracker();
  const { call } = createCalls(url);
  expect(await readPages(call, FORWARD.replace("$first: Int", "$first: Int = 18"))).toHaveLength(45);
  const sent = received.map(({ body }) => (JSON.parse(body) as { variables?: unknown }).variables);
  expect(sent).toEqual([{}, { after: "18" }, { after: "36" }]);
});

test("pages stops at the items and pages that a program wants, and a note says that there are more [S5]", async () => {
  const { url, received } = await startTracker();
  const { call, notes } = createCalls(url);
  expect(await readPages(call, FORWARD, { items: 25 })).toHaveLength(25);
  expect(notes).toEqual(["TrackerGraph.query has more items than its pages gave; ask for more: { items, pages }"]);
  expect(await readPages(call, FORWARD, { items: 5 })).toHaveLength(5);
  expect(await readPages(call, FORWARD, { first: 20, pages: 1 })).toHaveLength(20);
  expect(await readPages(call, FORWARD, { first: 15, items: 45 })).toHaveLength(45);
  expect(notes).toHaveLength(3);
  expect(received).toHaveLength(2 + 1 + 1 + 3);
});

test("pages of a text without a connection that can be followed says what to write, before a request [S5]", async () => {
  const { url, received } = await startTracker();
  const { call } = createCalls(url);
  const pages = { includeResponse: [10, 1] };
  await expect(call("{ issues(first: 3) { nodes { id } } }", {}, pages)).rejects.toThrow(
    "pages of TrackerGraph.query cannot follow this text: it lacks an argument after: $after from a variable, and pageInfo { hasNextPage endCursor }. Write one connection, as in: query ($first: Int, $after: String) { issues(first: $first, after: $after) { nodes { id } pageInfo { hasNextPage endCursor } } } (PAGES_NONE)",
  );
  await expect(call("{ me { name } }", {}, pages)).rejects.toMatchObject({
    facts: { serverError: { code: "PAGES_NONE" } },
  });
  const two =
    "query ($after: String) { a: issues(after: $after) { ...page } b: issues(after: $after) { ...page } } fragment page on IssueConnection { nodes { id } pageInfo { hasNextPage endCursor } }";
  await expect(call(two, {}, pages)).rejects.toThrow("more than one connection");
  expect(received).toEqual([]);
});

test("files among the variables are sent as a form, in lists and in input objects, too [S5]", async () => {
  const { url, received } = await startTracker();
  const { call } = createCalls(url);
  const text = `mutation ($file: Upload!, $others: [Upload!]) {
    attach(number: 1, file: $file, others: $others) { name type text }
  }`;
  const file = { filename: 'ä "1".txt', contentType: "text/x-log", data: new TextEncoder().encode("log") };
  const others = [new TextEncoder().encode("bytes"), "a text", { filename: "b.json", data: "{}" }];
  expect(await call(text, { file, others }, { kind: "mutation" })).toEqual({
    attach: [
      { name: "ä %221%22.txt", type: "text/x-log", text: "log" },
      { name: expect.any(String), type: "application/octet-stream", text: "bytes" },
      { name: "file.txt", type: "text/plain", text: "a text" },
      { name: "b.json", type: "application/octet-stream", text: "{}" },
    ],
  });
  expect(received[0]?.headers["content-type"]).toMatch(/^multipart\/form-data; boundary=/);
  expect(received[0]?.headers["apollo-require-preflight"]).toBe("true");
  const input = { title: "t", files: [{ filename: "c", contentType: "a/b", data: "c" }] };
  const nested = "mutation ($input: ImportInput!) { import(input: $input) { name type text } }";
  expect(await call(nested, { input }, { kind: "mutation" })).toEqual({
    import: [{ name: "c", type: "a/b", text: "c" }],
  });
  expect(received).toHaveLength(2);
});

test("bytes for another type, and another value for a file, are refused before a request [S5]", async () => {
  const { url, received } = await startTracker();
  const { call } = createCalls(url);
  const create = "mutation ($input: CreateIssueInput!) { createIssue(input: $input) { issue { id } } }";
  await expect(call(create, { input: { title: new Uint8Array(3) } }, { kind: "mutation" })).rejects.toThrow(
    '"input.title" is bytes, and its type is no upload: no variable of this text takes a file; write bytes as a text (ARGUMENTS_INVALID)',
  );
  const attach = "mutation ($file: Upload!) { attach(number: 1, file: $file) { name } }";
  await expect(call(attach, { file: 5 }, { kind: "mutation" })).rejects.toThrow(
    '"file" must be a file: write a Uint8Array, a text, or { filename, contentType, data }',
  );
  await expect(call(attach, { file: { contentType: "a\r\nb: c", data: "x" } }, { kind: "mutation" })).rejects.toThrow(
    "has a contentType with a line break",
  );
  expect(received).toEqual([]);
});

test("requests: get sends queries in the address, and long ones, mutations and queries with an effect in a body [S5]", async () => {
  const { url, received } = await startTracker();
  const { call } = createCalls(`${url}?key=1`, "get");
  const text = "query One($n: Int!) { issue(number: $n) { title } }";
  expect(await call(text, { n: 3 })).toEqual({ issue: { title: "Issue 3" } });
  expect(received[0]).toMatchObject({ method: "GET", body: "" });
  expect(Object.fromEntries(new URL(received[0]?.url ?? "", url).searchParams)).toEqual({
    key: "1",
    query: "query One($n:Int!){issue(number:$n){title}}",
    operationName: "One",
    variables: '{"n":3}',
  });
  const long = "query ($text: String!) { search(text: $text) { __typename } }";
  await call(long, { text: "x".repeat(6_000) });
  await call("mutation { deleteIssue(number: 1) }", {}, { kind: "mutation" });
  await call("{ view(number: 1) }", {}, { isRead: false });
  expect(received.slice(1).map(({ method, url: target }) => [method, target])).toEqual([
    ["POST", "/graphql?key=1"],
    ["POST", "/graphql?key=1"],
    ["POST", "/graphql?key=1"],
  ]);
});

test("requests: persisted sends the digest of a text, and the text once [S5]", async () => {
  const { url, received } = await startTracker([createPersistedQueries()]);
  const { call } = createCalls(url, "persisted");
  const texts = (): readonly boolean[] => received.splice(0).map(({ body }) => body.includes("number"));
  expect(await call("{ issue(number: 3) { title } }")).toEqual({ issue: { title: "Issue 3" } });
  expect(texts()).toEqual([false, true]);
  expect(await call("{ issue(number: 3) { title } }")).toEqual({ issue: { title: "Issue 3" } });
  expect(texts()).toEqual([false]);
  await call("mutation { deleteIssue(number: 1) }", {}, { kind: "mutation" });
  expect(texts()).toEqual([true]);
  await expect(call("{ broken }")).rejects.toThrow("It is out of order");
});

test("requests: persisted sends whole texts from then on to a server that takes no digests [S5]", async () => {
  const { url, received } = await startTracker();
  const { call } = createCalls(url, "persisted");
  expect(await call("{ issue(number: 3) { title } }")).toEqual({ issue: { title: "Issue 3" } });
  expect(await call("{ issue(number: 4) { title } }")).toEqual({ issue: { title: "Issue 4" } });
  expect(received.map(({ body }) => body.includes("sha256Hash"))).toEqual([true, false, false]);
});
