import type { ServerResponse } from "node:http";

import { expect, onTestFinished, test } from "vitest";

import { LoopProbe, requireShortTurns } from "../../../support/loop-probe.ts";
import { type ApiServer, type ReceivedRequest, startApiServer } from "../../../support/servers/api-server.ts";
import { createCalls } from "./calls.ts";

const QUERY = "{ issue(number: 1) { title } }";
const MUTATION = "mutation { deleteIssue(number: 1) }";

interface SentAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** A server that gives one answer after the other, and then the last one again. */
async function startAnswering(...answers: readonly SentAnswer[]): Promise<ApiServer & { readonly url: string }> {
  let count = 0;
  const server = await startApiServer((_request: ReceivedRequest, response: ServerResponse) => {
    const { status = 200, headers = {}, body } = answers[Math.min(count++, answers.length - 1)] as SentAnswer;
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  });
  return { ...server, url: `${server.origin}/graphql` };
}

const MADE = { data: { deleteIssue: true } };
const READ = { data: { issue: { title: "Issue 1" } } };

test("an answer that is no GraphQL says so, with the beginning of it [S10]", async () => {
  const html = await startAnswering({
    headers: { "content-type": "text/html" },
    body: "<!doctype html><title>Sign in",
  });
  await expect(createCalls(html.url).call(QUERY)).rejects.toThrow(
    'POST /graphql answered 200 with text/html, which is no answer of GraphQL; it begins "<!doctype html><title>Sign in". Ask the owner to check the address in "graphql" of this source (NOT_GRAPHQL)',
  );
  for (const body of ["[1]", '"text"', "{}", '{"data":[]}', '{"data":5,"errors":{}}', "null"]) {
    const { url } = await startAnswering({ body });
    await expect(createCalls(url).call(QUERY)).rejects.toMatchObject({
      facts: { serverError: { code: "NOT_GRAPHQL", http: { status: 200, path: "/graphql" } } },
    });
  }
  const { url } = await startAnswering({ body: '{"data":{' });
  await expect(createCalls(url).call(QUERY)).rejects.toThrow("is not valid JSON");
  const empty = await startAnswering({ body: { data: null } });
  await expect(createCalls(empty.url).call(QUERY)).rejects.toThrow("answered without data and without an error");
});

test("a status of failure with errors of GraphQL is an error with their code and place [S10]", async () => {
  const errors = [
    { message: "Cannot query field", path: ["issue", 0], extensions: { code: "GRAPHQL_VALIDATION_FAILED" } },
  ];
  const { url } = await startAnswering({ status: 400, headers: { "x-request-id": "r-1" }, body: { errors } });
  await expect(createCalls(url).call(QUERY)).rejects.toMatchObject({
    message:
      "POST /graphql answered 400 Bad Request: Cannot query field. Correct the arguments as the answer says (at issue.0, GRAPHQL_VALIDATION_FAILED)",
    facts: {
      attempts: 1,
      serverError: {
        code: "GRAPHQL_VALIDATION_FAILED",
        http: { status: 400, path: "issue.0", requestId: "r-1", body: { data: null, errors } },
      },
    },
  });
  const plain = await startAnswering({ status: 401, body: { errors: [{ message: "Who are you?" }] } });
  await expect(createCalls(plain.url).call(QUERY)).rejects.toThrow(
    "POST /graphql answered 401 Unauthorized: Who are you?. Ask the owner to configure credentials for this source (HTTP_401)",
  );
  const other = await startAnswering({ status: 404, headers: { "content-type": "text/plain" }, body: "no such page" });
  await expect(createCalls(other.url).call(QUERY)).rejects.toThrow("answered 404 Not Found: no such page");
});

test("a query is sent again after a failure that is over in a moment, and a mutation never [S10]", async () => {
  const busy = { status: 503, headers: { "retry-after": "0.01" }, body: { errors: [{ message: "busy" }] } };
  const query = await startAnswering(busy, { body: READ });
  expect(await createCalls(query.url).call(QUERY)).toEqual(READ.data);
  expect(query.received).toHaveLength(2);
  const mutation = await startAnswering(busy, { body: MADE });
  await expect(createCalls(mutation.url).call(MUTATION, {}, { kind: "mutation" })).rejects.toThrow("503");
  const withEffect = await startAnswering(busy, { body: READ });
  await expect(createCalls(withEffect.url).call(QUERY, {}, { isRead: false })).rejects.toThrow("503");
  expect([mutation.received.length, withEffect.received.length]).toEqual([1, 1]);
});

test("a rate limit that comes as an error of GraphQL is waited for, if there is time for it [S10]", async () => {
  const errors = [{ message: "Too many", extensions: { code: "RATE_LIMITED" } }];
  const limited = { headers: { "retry-after": "0.02" }, body: { data: null, errors } };
  const query = await startAnswering(limited, { body: READ });
  expect(await createCalls(query.url).call(QUERY)).toEqual(READ.data);
  expect(query.received).toHaveLength(2);
  const mutation = await startAnswering(limited, { body: MADE });
  await expect(createCalls(mutation.url).call(MUTATION, {}, { kind: "mutation" })).rejects.toMatchObject({
    message: expect.stringMatching(/Too many\. Call again after 1 s, at .*Z \(RATE_LIMITED\)$/),
    facts: { serverError: { code: "RATE_LIMITED", http: { status: 200, retryAfter: 1 } } },
  });
  const long = await startAnswering({ ...limited, headers: { "retry-after": "30" } });
  await expect(createCalls(long.url).call(QUERY, {}, { timeoutMs: 5_000 })).rejects.toThrow("Call again after 30 s");
  // As GitHub says it: by a type, and headers with the end of the period.
  const reset = String(Math.ceil(Date.now() / 1_000) + 3_000);
  const github = await startAnswering({
    headers: { "x-ratelimit-remaining": "0", "x-ratelimit-reset": reset },
    body: { errors: [{ type: "RATE_LIMITED", message: "API rate limit exceeded" }] },
  });
  const { call } = createCalls(github.url);
  await expect(call(QUERY)).rejects.toThrow("API rate limit exceeded. Call again later (RATE_LIMITED)");
  await expect(call(QUERY)).rejects.toThrow("was not sent, because the API takes no more requests for now");
  expect([mutation.received.length, long.received.length, github.received.length]).toEqual([1, 1, 1]);
});

test("ten thousand errors become five notes, or an error with some of them [S10]", { tags: "rest" }, async () => {
  const extensions = { code: "X", stack: "s".repeat(250) };
  const errors = Array.from({ length: 10_000 }, (_, index) => ({
    message: `no ${index}\\u001b[31m`,
    path: ["issue", index],
    extensions,
  }));
  const partial = await startAnswering({ body: { ...READ, errors: errors.map(({ message }) => ({ message })) } });
  const { call, notes } = createCalls(partial.url);
  expect(await call(QUERY)).toEqual(READ.data);
  expect(notes).toHaveLength(6);
  expect(notes[0]).toBe("The result of TrackerGraph.query has an error: no 0\\u001b[31m");
  expect(notes[5]).toContain("has 9995 more errors");
  const none = await startAnswering({ body: { data: null, errors } });
  const error: unknown = await createCalls(none.url)
    .call(QUERY)
    .catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ message: expect.stringContaining("no 0\\u001b[31m, and 9999 more errors") });
  expect(JSON.stringify(error).length).toBeLessThan(10_000);
});

test("errors of odd forms are read as far as they go [S10]", async () => {
  const errors = [
    null,
    "text",
    { message: 5, path: "issue", extensions: [] },
    { message: "m".repeat(10_000), path: [{}, "a".repeat(5_000), "b", -1, null], extensions: { code: "a b" } },
    { message: "deep", path: Array.from({ length: 1_000 }, () => "x"), type: "__proto__" },
  ];
  const { url } = await startAnswering({ body: { ...READ, errors } });
  const { call, notes } = createCalls(url);
  await call(QUERY);
  expect(notes).toHaveLength(5);
  expect(Math.max(...notes.map(({ length }) => length))).toBeLessThan(900);
  expect(notes[3]).toContain("has an error at b.-1: mmm");
});

test(
  "deep and wide data ends with a limit that names it, and holds the loop up for no more than 50 ms [S10]",
  { tags: "rest" },
  async () => {
    const deep = await startAnswering({ body: `{"data":{"issue":${"[".repeat(100_000)}${"]".repeat(100_000)}}}` });
    await expect(createCalls(deep.url).call(QUERY)).rejects.toMatchObject({ code: "ANSWER_LIMIT" });
    const wide = await startAnswering({ body: { data: { issue: Array.from({ length: 400_000 }, () => ({})) } } });
    const probe = new LoopProbe();
    onTestFinished(() => probe.close());
    await requireShortTurns(probe, () =>
      createCalls(wide.url)
        .call(QUERY)
        .catch(() => {}),
    );
  },
);

test("a server that is slow, or stops in its answer, ends with the limits of its client, and a call with its signal [S10]", async () => {
  const silent = await startApiServer(() => {});
  const slow = createCalls(`${silent.origin}/graphql`, "post", { headersMs: 50 });
  await expect(slow.call(MUTATION, {}, { kind: "mutation" })).rejects.toMatchObject({ code: "CALL_TIMEOUT" });
  const stopping = await startApiServer((_, response) => response.writeHead(200).write('{"data":'));
  const stopped = createCalls(`${stopping.origin}/graphql`, "post", { stallMs: 50 });
  await expect(stopped.call(MUTATION, {}, { kind: "mutation" })).rejects.toMatchObject({ code: "CALL_TIMEOUT" });
  const cancel = new AbortController();
  const call = createCalls(`${silent.origin}/graphql`).call(QUERY, {}, { signal: cancel.signal });
  cancel.abort(new Error("no longer"));
  await expect(call).rejects.toThrow("no longer");
  const limited = await startAnswering({
    headers: { "retry-after": "20" },
    body: { errors: [{ message: "Too many", extensions: { code: "THROTTLED" } }] },
  });
  const again = new AbortController();
  const waiting = createCalls(limited.url).call(QUERY, {}, { signal: again.signal });
  await expect.poll(() => limited.received.length).toBe(1);
  again.abort(new Error("no longer"));
  await expect(waiting).rejects.toThrow("no longer");
});

test("pages that name the same cursor, none, or no list end with an error that has a name [S10]", async () => {
  const text = "query ($after: String) { issues(after: $after) { nodes { id } pageInfo { hasNextPage endCursor } } }";
  const read = async (issues: unknown, after?: string): Promise<unknown> => {
    const { url } = await startAnswering({ body: { data: { issues, other: 1 } } });
    return createCalls(url).call(text, { after }, { includeResponse: [10, 5] });
  };
  const nodes = [{ id: "1" }];
  await expect(read({ nodes, pageInfo: { hasNextPage: true, endCursor: "a" } }, "a")).rejects.toThrow(
    'The answer of TrackerGraph.query names the same page again, issues.pageInfo.endCursor: "a" (PAGES_REPEAT)',
  );
  for (const endCursor of [null, "", 5, { a: 1 }])
    await expect(read({ nodes, pageInfo: { hasNextPage: true, endCursor } })).rejects.toThrow(
      "has no cursor of the next page",
    );
  await expect(read({ nodes: {}, pageInfo: {} })).rejects.toThrow("has no list at issues.nodes (PAGES_NONE)");
  await expect(read(null)).rejects.toThrow("has nothing at issues (PAGES_NONE)");
  expect(await read({ nodes, pageInfo: null })).toEqual({ items: nodes, next: null });
  expect(await read({ nodes: [], pageInfo: { hasNextPage: true, endCursor: "b" } })).toMatchObject({
    items: [],
    next: { variables: { after: "b" } },
  });
});
