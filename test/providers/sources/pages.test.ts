import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { createRuntime, type RuntimeOptions } from "../../../src/index.ts";
import { findNextPage } from "../../../src/providers/sources/pages/next-page.ts";

const integer = { type: "integer" };
const text = { type: "string" };
const ITEM = { type: "object", required: ["id"], properties: { id: integer, name: text } };
const LIST = { type: "array", items: { $ref: "#/components/schemas/Item" } };

const query = (name: string, schema: object = text): object => ({ name, in: "query", schema });
const object = (properties: object): object => ({ type: "object", properties });

/** An operation that answers with a list, whose pages follow each other in one of the usual ways. */
function describeList(
  operationId: string,
  parameters: readonly object[],
  schema: object,
  headers: object = {},
): object {
  const answer = { description: "a page", headers, content: { "application/json": { schema } } };
  return { get: { operationId, summary: `Lists by ${operationId}`, parameters, responses: { 200: answer } } };
}

const SIZE = query("per_page", { type: "integer", description: "Items of a page (max 20)" });

const DOCUMENT = {
  openapi: "3.1.0",
  info: { title: "Things", version: "1" },
  components: { schemas: { Item: ITEM } },
  paths: {
    "/links/{shelf}": describeList(
      "links/list",
      [{ name: "shelf", in: "path", required: true, schema: text }, SIZE, query("page", { ...integer, default: 1 })],
      LIST,
      { Link: { schema: text } },
    ),
    "/cursors": describeList(
      "cursors/list",
      [query("cursor"), query("limit", { ...integer, maximum: 15 })],
      object({ data: object({ items: LIST, tags: { type: "array" } }), meta: object({ next_cursor: text }) }),
    ),
    "/urls": describeList("urls/list", [query("after")], object({ results: LIST, next: { ...text, format: "uri" } })),
    "/numbers": describeList("numbers/list", [query("page", integer)], object({ numbers: LIST, other: LIST })),
    "/offsets": describeList("offsets/list", [query("offset", integer), query("limit", integer)], LIST),
    "/last": describeList(
      "last/list",
      [query("starting_after", integer)],
      object({ data: LIST, has_more: { type: "boolean" } }),
    ),
    "/stuck": describeList("stuck/list", [query("cursor")], object({ items: LIST, next_cursor: text })),
    "/elsewhere": describeList("elsewhere/list", [query("page", integer)], LIST),
    "/plain": describeList("plain/list", [query("filter"), query("includeResponse")], object({ thing: ITEM })),
    "/odd": describeList("odd/list", [query("from", integer)], object({ stuff: object({ rows: LIST }) })),
  },
};

/** 45 items, in pages of 10 unless the request says otherwise. */
const ITEMS = Array.from({ length: 45 }, (_, index) => ({ id: index + 1, name: `item ${index + 1}` }));

function answer({ url = "", headers }: IncomingMessage): { readonly body: unknown; readonly link?: string } {
  const { pathname, searchParams } = new URL(url, `http://${headers.host}`);
  const get = (name: string, otherwise = 0): number => Number(searchParams.get(name) ?? otherwise);
  const size = get("per_page") || get("limit") || 10;
  const from = (start: number): typeof ITEMS => ITEMS.slice(start, start + size);
  const page = get("page", 1);
  const start = (page - 1) * size;
  const cursor = get("cursor");
  const next = cursor + size < ITEMS.length ? String(cursor + size) : null;
  switch (pathname.split("/")[1] ?? "") {
    case "links": {
      // As GitHub does, by another path of the same resource.
      const target = `<http://${headers.host}/by-number/7?page=${page + 1}&per_page=${size}>; rel="next"`;
      return { body: from(start), link: start + size < ITEMS.length ? `<#>; rel=last, ${target}` : "<#>; rel=first" };
    }
    case "cursors":
      return { body: { data: { items: from(cursor), tags: [] }, meta: { next_cursor: next } } };
    case "urls": {
      const after = get("after");
      return { body: { results: from(after), next: after + size < 45 ? `/urls?after=${after + size}` : null } };
    }
    case "numbers":
      return { body: { numbers: from(start), other: [] } };
    case "offsets":
      return { body: from(get("offset")) };
    case "last":
      return { body: { data: from(get("starting_after")), has_more: get("starting_after") + size < 45 } };
    case "stuck":
      return { body: { items: from(0), next_cursor: "again" } };
    case "elsewhere":
      return { body: from(0), link: "<https://evil.example/x?page=2>; rel=next" };
    case "odd":
      return { body: { stuff: { rows: from(get("from")) } } };
    default:
      return { body: { thing: ITEMS[0] } };
  }
}

async function openThings(source: object = {}, options: RuntimeOptions = {}) {
  const urls: string[] = [];
  const server = createServer((request, response) => {
    urls.push(request.url ?? "");
    const { body, link } = answer(request);
    response.writeHead(200, {
      "content-type": "application/json",
      "set-cookie": "session=secret",
      etag: '"1"',
      ...(link !== undefined && { link }),
    });
    response.end(JSON.stringify(body));
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const folder = mkdtempSync(join(tmpdir(), "skillgate-"));
  onTestFinished(() => {
    server.close();
    rmSync(folder, { recursive: true });
  });
  writeFileSync(join(folder, "things.json"), JSON.stringify(DOCUMENT));
  const things = {
    openapi: "./things.json",
    server: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    private: true,
    ...source,
  };
  const runtime = await createRuntime({ cwd: folder, skillsDir: false, workers: 1, sources: { things }, ...options });
  onTestFinished(() => runtime.close());
  await runtime.known;
  return { urls, runtime };
}

test("pages reads a list to its end, in each of the usual ways [S5]", { tags: "rest" }, async () => {
  const { runtime, urls } = await openThings();
  const count = async (call: string): Promise<unknown> => {
    urls.length = 0;
    const outcome = await runtime.run(`const list = await device.ThingsAPI.${call}; [list.length, list.at(-1)?.id]`);
    return outcome.kind === "completed" ? [...(outcome.value as number[]), urls.length] : outcome.text;
  };
  expect(await count("links_list.pages({ shelf: 'a' })")).toEqual([45, 45, 3]);
  expect(urls).toEqual(["/links/a?per_page=20", "/links/a?per_page=20&page=2", "/links/a?per_page=20&page=3"]);
  expect(await count("links.list.pages({ shelf: 'a', per_page: 30 })")).toEqual([45, 45, 2]);
  expect(await count("cursors_list.pages()")).toEqual([45, 45, 3]);
  expect(await count("urls_list.pages({})")).toEqual([45, 45, 5]);
  expect(await count("numbers_list.pages({})")).toEqual([45, 45, 6]);
  expect(await count("offsets_list.pages({ limit: 40 })")).toEqual([45, 45, 3]);
  expect(await count("last_list.pages({})")).toEqual([45, 45, 5]);
});

test("pages stops at the items and pages that a program asks for, and a note says that there are more [S5]", async () => {
  const { runtime, urls } = await openThings();
  const some = await runtime.run("device.ThingsAPI.links_list.pages({ shelf: 'a' }, { items: 25 })");
  expect(some).toMatchObject({
    kind: "completed",
    value: { length: 25 },
    notes: ["ThingsAPI.links_list has more items than its pages gave; ask for more: { items, pages }"],
  });
  expect(urls).toHaveLength(2);
  const all = await runtime.run("device.ThingsAPI.links_list.pages({ shelf: 'a' }, { items: 45 })");
  expect(all).toMatchObject({ kind: "completed", value: { length: 45 }, notes: [] });
  const one = await runtime.run("device.ThingsAPI.cursors_list.pages({}, { items: 5, pages: 1 })");
  expect(one).toMatchObject({ kind: "completed", value: { length: 5 } });
  expect(urls.at(-1)).toBe("/cursors?limit=5");
});

test(
  "each page is a call of the program: it counts for the limit, and its failure is one of the program's line [S5]",
  { tags: "rest" },
  async () => {
    const { runtime, urls } = await openThings({}, { limits: { calls: 3 } });
    const done = await runtime.run("const items = device.ThingsAPI.links_list.pages({ shelf: 'a' }); items.length");
    const page = { method: "links_list", outcome: "ok" };
    expect(done).toMatchObject({ kind: "completed", value: 45, calls: [page, page, page] });
    const cut = await runtime.run("await device.ThingsAPI.urls_list.pages({})");
    expect(cut).toMatchObject({ kind: "failed", error: { code: "CALL_LIMIT" } });
    expect(urls).toHaveLength(6);
  },
);

test("pages ends with an error that has a name where it cannot go on [S10]", async () => {
  const { runtime, urls } = await openThings();
  const fail = async (call: string): Promise<unknown> => {
    const outcome = await runtime.run(`\nconst list = await device.ThingsAPI.${call};`);
    return outcome.kind === "failed" ? [outcome.error.line, outcome.error.message] : outcome.text;
  };
  expect(await fail("stuck_list.pages({})")).toEqual([
    2,
    'CallError: The answer of GET /stuck names the same page again, cursor: "again"; ask the owner to correct "pages" of this source (PAGES_REPEAT)',
  ]);
  expect(urls).toHaveLength(2);
  const caught = "try { await device.ThingsAPI.stuck_list.pages({}) } catch (error) { return error.code }";
  expect(await runtime.run(caught)).toMatchObject({ value: "PAGES_REPEAT" });
  expect(await fail("elsewhere_list.pages({})")).toEqual([
    2,
    expect.stringMatching(/the next page is at "https:\/\/evil.example", not at http:\/\/127.0.0.1/),
  ]);
});

test("the owner says how pages follow each other where the document does not [S5]", async () => {
  const pages = {
    "GET /odd": { by: "offset", argument: "from", items: "stuff.rows" },
    "numbers_*": false,
    "GET /urls": { by: "cursor", at: "nothing" },
  } as const;
  const { runtime } = await openThings({ pages });
  expect(await runtime.run("(await device.ThingsAPI.odd_list.pages({})).length")).toMatchObject({ value: 45 });
  expect(await runtime.run("(await device.ThingsAPI.urls_list.pages({})).length")).toMatchObject({ value: 10 });
  expect((await runtime.run("device.ThingsAPI.numbers_list.pages({})")).text).toContain("has no pages");
  await expect(openThings({ pages: { "GET /odd": { by: "magic" } } })).rejects.toThrow(
    "pages.GET /odd.by must be link, cursor, last item, page or offset",
  );
});

test("includeResponse gives the status, the headers that a program may read, and the next page [S5]", async () => {
  const { runtime, urls } = await openThings();
  const whole = await runtime.run(`
    const first = await device.ThingsAPI.links_list({ shelf: "a", includeResponse: true });
    const second = await device.ThingsAPI.links_list(first.next);
    [first, second.body[0].id, second.next.page]`);
  expect(whole).toMatchObject({
    kind: "completed",
    value: [{ status: 200, headers: { etag: '"1"' }, body: { length: 10 }, next: { shelf: "a", page: 2 } }, 11, 3],
    notes: [],
  });
  expect(JSON.stringify(whole)).not.toContain("session=secret");
  const plain = await runtime.run("device.ThingsAPI.plain_list('x', { includeResponse: true })");
  expect(plain).toMatchObject({ value: { status: 200, body: { thing: { id: 1 } } } });
  expect(JSON.stringify(plain)).not.toContain("next");
  expect(await runtime.run("device.ThingsAPI.plain_list({ includeResponse: false })")).toMatchObject({
    value: { thing: { id: 1 } },
  });
  // The document's own argument of that name has its place in its name.
  await runtime.run("device.ThingsAPI.plain_list({ includeResponse_query: 'y' })");
  expect(urls.slice(-3)).toEqual(["/plain?filter=x", "/plain", "/plain?includeResponse=y"]);
});

test("a method without pages, wrong arguments and other uses of pages are refused before a request [S5]", async () => {
  const { runtime, urls } = await openThings();
  const refuse = async (code: string): Promise<string> => {
    const { kind, text } = await runtime.run(code);
    return kind === "refused" ? text : kind;
  };
  expect(await refuse("device.ThingsAPI.plain_list.pages({})")).toContain("ThingsAPI.plain_list has no pages");
  expect(await refuse("device.ThingsAPI.links_list.pages({ shelv: 'a' })")).toContain('"shelf" is required');
  expect(await refuse("device.ThingsAPI.links_list.pages('a')")).toContain("by name, in an object");
  expect(await refuse("device.ThingsAPI.urls_list.pages({}, { item: 5 })")).toContain(
    '"item" is not an option of pages',
  );
  expect(await refuse("device.ThingsAPI.urls_list.pages({}, { items: 0 })")).toContain("at least 1");
  expect(await refuse("const p = device.ThingsAPI.urls_list.pages; p({})")).toContain("is not called");
  expect(urls).toEqual([]);
});

test("a description and a search say that a method has pages [D5]", async () => {
  const { runtime } = await openThings();
  const { text } = runtime.describe("ThingsAPI.links_list");
  expect(text).toContain(
    "links_list(shelf: string, per_page?: number, page?: number): Promise<{ id: number; name?: string }[]>;",
  );
  expect(text).toContain("With includeResponse: true it returns { status, headers, body, next:");
  expect(text).toContain("device.ThingsAPI.links_list.pages({ … }, { items: 100 }) calls it for each page");
  expect(runtime.describe("ThingsAPI.plain_list").text).not.toContain("pages");
  expect(runtime.search("links list").text).toContain("(one page; .pages({ … }, { items: 100 }) reads all)");
});

test("an integer of the next address that a number cannot hold keeps its digits [S5]", () => {
  const parameter = { argument: "max_id", in: "query", name: "max_id", style: "form", explode: true } as const;
  const input = { type: "object", properties: { max_id: { type: "integer" } } };
  const operation = { verb: "get", path: "/posts", parameters: [parameter], accepts: [], input } as const;
  const call = {
    operation,
    input: {},
    pages: { items: [], next: { by: "link" } },
    server: new URL("https://a.example"),
  } as const;
  const find = (id: string): unknown =>
    findNextPage({ status: 200, headers: { link: `</posts?max_id=${id}>; rel="next"` }, body: [] }, call);
  expect(find("9007199254740993")).toEqual({ max_id: "9007199254740993" });
  expect(find("9007199254740991")).toEqual({ max_id: 9_007_199_254_740_991 });
});
