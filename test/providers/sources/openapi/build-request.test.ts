import { describe, expect, test } from "vitest";

import { buildRequest } from "../../../../src/providers/sources/openapi/build-request.ts";
import type {
  ApiOperation,
  ApiParameter,
  ApiBody,
  PartEncoding,
  Style,
} from "../../../../src/providers/sources/openapi/operation.ts";
import { parseExactly } from "../../../../src/shared/json/exact-json.ts";

type Input = Readonly<Record<string, unknown>>;

const STRING = "blue";
const LIST = ["blue", "black", "brown"];
const OBJECT = { R: 100, G: 200, B: 150 };

function operation(given: Partial<ApiOperation> = {}): ApiOperation {
  return { verb: "get", path: "/x", parameters: [], accepts: [], ...given };
}

function parameter(place: ApiParameter["in"], given: Partial<ApiParameter> = {}): ApiParameter {
  const style = { path: "simple", header: "simple", query: "form", cookie: "form" } as const;
  const usual = style[place];
  return { argument: "color", in: place, name: "color", style: usual, explode: usual === "form", ...given };
}

function sendParameter(place: ApiParameter["in"], value: unknown, given: Partial<ApiParameter> = {}): string {
  const path = place === "path" ? "/{color}" : "/";
  const request = buildRequest(operation({ path, parameters: [parameter(place, given)] }), { color: value });
  if (place === "header") return request.headers["color"] ?? "(none)";
  if (place === "cookie") return request.headers["cookie"] ?? "(none)";
  return request.target.slice(1);
}

function sendBody(value: Input, mediaType: string, encoding?: Readonly<Record<string, PartEncoding>>): string {
  const fields = Object.keys(value).map((name): [string, string] => [name, name]);
  const body: ApiBody = { required: true, forms: [{ mediaType, ...(encoding && { encoding }) }], fields };
  const request = buildRequest(operation({ verb: "post", body }), value);
  return String(Buffer.from(request.body ?? []));
}

/** The table of the section Style Examples of OpenAPI 3.1, percent-encoded as RFC 6570 and RFC 3986 require. */
describe("the examples of the specification", () => {
  test.each<[Style, boolean, empty: string, string: string, list: string, object: string]>([
    ["matrix", false, ";color", ";color=blue", ";color=blue,black,brown", ";color=R,100,G,200,B,150"],
    ["matrix", true, ";color", ";color=blue", ";color=blue;color=black;color=brown", ";R=100;G=200;B=150"],
    ["label", false, "(refused)", ".blue", ".blue,black,brown", ".R,100,G,200,B,150"],
    ["label", true, "(refused)", ".blue", ".blue.black.brown", ".R=100.G=200.B=150"],
    ["simple", false, "(refused)", "blue", "blue,black,brown", "R,100,G,200,B,150"],
    ["simple", true, "(refused)", "blue", "blue,black,brown", "R=100,G=200,B=150"],
  ])("writes a path in the style %s with explode %s", (style, explode, empty, string, list, object) => {
    const send = (value: unknown): string => sendParameter("path", value, { style, explode });
    expect([send(STRING), send(LIST), send(OBJECT)]).toEqual([string, list, object]);
    if (empty === "(refused)") expect(() => send("")).toThrow(`"color" is empty`);
    else expect(send("")).toBe(empty);
  });

  test.each<[Style, boolean, empty: string, string: string, list: string, object: string]>([
    ["form", false, "?color=", "?color=blue", "?color=blue,black,brown", "?color=R,100,G,200,B,150"],
    ["form", true, "?color=", "?color=blue", "?color=blue&color=black&color=brown", "?R=100&G=200&B=150"],
    [
      "spaceDelimited",
      false,
      "?color=",
      "?color=blue",
      "?color=blue%20black%20brown",
      "?color=R%20100%20G%20200%20B%20150",
    ],
    [
      "pipeDelimited",
      false,
      "?color=",
      "?color=blue",
      "?color=blue%7Cblack%7Cbrown",
      "?color=R%7C100%7CG%7C200%7CB%7C150",
    ],
    [
      "deepObject",
      true,
      "?color=",
      "?color=blue",
      "?color%5B%5D=blue&color%5B%5D=black&color%5B%5D=brown",
      "?color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150",
    ],
    ["spaceDelimited", true, "?color=", "?color=blue", "?color=blue&color=black&color=brown", "?R=100&G=200&B=150"],
    [
      "tabDelimited",
      false,
      "?color=",
      "?color=blue",
      "?color=blue%09black%09brown",
      "?color=R%09100%09G%09200%09B%09150",
    ],
  ])("writes a query in the style %s with explode %s", (style, explode, empty, string, list, object) => {
    const send = (value: unknown): string => sendParameter("query", value, { style, explode });
    expect([send(""), send(STRING), send(LIST), send(OBJECT)]).toEqual([empty, string, list, object]);
  });

  test.each<[boolean, string: string, list: string, object: string]>([
    [false, "blue", "blue,black,brown", "R,100,G,200,B,150"],
    [true, "blue", "blue,black,brown", "R=100,G=200,B=150"],
  ])("writes a header with explode %s", (explode, string, list, object) => {
    const send = (value: unknown): string => sendParameter("header", value, { explode });
    expect([send(STRING), send(LIST), send(OBJECT)]).toEqual([string, list, object]);
  });

  test.each<[boolean, string: string, list: string, object: string]>([
    [false, "color=blue", "color=blue,black,brown", "color=R,100,G,200,B,150"],
    [true, "color=blue", "color=blue; color=black; color=brown", "R=100; G=200; B=150"],
  ])("writes a cookie with explode %s", (explode, string, list, object) => {
    const send = (value: unknown): string => sendParameter("cookie", value, { explode });
    expect([send(STRING), send(LIST), send(OBJECT)]).toEqual([string, list, object]);
  });

  /** The variables of RFC 6570, section 3.2. */
  test.each<[Style, boolean, value: unknown, text: string]>([
    ["simple", false, "Hello World!", "Hello%20World%21"],
    ["simple", false, "50%", "50%25"],
    ["simple", false, "/foo/bar", "%2Ffoo%2Fbar"],
    ["simple", false, ["red", "green", "blue"], "red,green,blue"],
    ["simple", true, { semi: ";", dot: ".", comma: "," }, "semi=%3B,dot=.,comma=%2C"],
    ["label", true, { semi: ";", dot: ".", comma: "," }, ".semi=%3B.dot=..comma=%2C"],
    ["matrix", true, { semi: ";", dot: ".", comma: "," }, ";semi=%3B;dot=.;comma=%2C"],
    ["matrix", false, { semi: ";", dot: ".", comma: "," }, ";color=semi,%3B,dot,.,comma,%2C"],
  ])("expands a path as RFC 6570 does: %s, explode %s, %j", (style, explode, value, text) => {
    expect(sendParameter("path", value, { style, explode })).toBe(text);
  });

  /** The formats of collections in Swagger 2.0, as a document of that version is compiled. */
  test.each<[name: string, ApiParameter["in"], Style, boolean, text: string]>([
    ["csv", "query", "form", false, "?color=a%20b,c%2Cd"],
    ["ssv", "query", "spaceDelimited", false, "?color=a%20b%20c%2Cd"],
    ["tsv", "query", "tabDelimited", false, "?color=a%20b%09c%2Cd"],
    ["pipes", "query", "pipeDelimited", false, "?color=a%20b%7Cc%2Cd"],
    ["multi", "query", "form", true, "?color=a%20b&color=c%2Cd"],
    ["csv", "path", "simple", false, "a%20b,c%2Cd"],
    ["pipes", "path", "pipeDelimited", false, "a%20b%7Cc%2Cd"],
    ["csv", "header", "simple", false, "a b,c,d"],
    ["pipes", "header", "pipeDelimited", false, "a b|c,d"],
  ])("writes the collectionFormat %s in a %s", (_name, place, style, explode, text) => {
    expect(sendParameter(place, ["a b", "c,d"], { style, explode })).toBe(text);
  });
});

test.each<[value: unknown, text: string]>([
  [true, "?color=true"],
  [0, "?color=0"],
  [-0, "?color=0"],
  [1.5, "?color=1.5"],
  [1e21, "?color=1000000000000000000000"],
  [12345678901234567890n, "?color=12345678901234567890"],
  [new Date(0), "?color=1970-01-01T00%3A00%3A00.000Z"],
  [new Uint8Array([255, 254]), "?color=%2F%2F4%3D"],
  ["é€😀", "?color=%C3%A9%E2%82%AC%F0%9F%98%80"],
  ["\uD800", "?color=%EF%BF%BD"],
  [null, ""],
  [[], ""],
  [{}, ""],
  [[null, "a"], "?color=a"],
  [{ a: null, b: 1 }, "?b=1"],
  [[{ a: 1 }], "?color=%7B%22a%22%3A1%7D"],
])("writes %s in a query", (value, text) => {
  expect(sendParameter("query", value)).toBe(text);
});

test("writes numbers as the caller has written them", () => {
  const given = parseExactly('{"list":{"id":[9007199254740993,1.0,1e2]}}') as { list: { id: unknown } };
  expect(sendParameter("query", given.list.id)).toBe("?color=9007199254740993&color=1.0&color=1e2");
  expect(sendParameter("query", given.list, { mediaType: "application/json" })).toBe(
    `?color=${encodeURIComponent('{"id":[9007199254740993,1.0,1e2]}')}`,
  );
  expect(sendBody(given.list, "application/json")).toBe('{"id":[9007199254740993,1.0,1e2]}');
});

test("nests objects and lists of the style deepObject", () => {
  const value = { tags: ["a", "b"], items: [{ price: 1, on: true }, { price: 2 }], none: null, empty: [], at: [["x"]] };
  const text = decodeURIComponent(sendParameter("query", value, { style: "deepObject", explode: true }));
  expect(text).toBe(
    "?color[tags][]=a&color[tags][]=b&color[items][0][price]=1&color[items][0][on]=true&color[items][1][price]=2&color[none]=&color[at][0][]=x",
  );
  const odd = sendParameter("query", { "a]&b": "x=y#z" }, { style: "deepObject", explode: true });
  expect(odd).toBe("?color%5Ba%5D%26b%5D=x%3Dy%23z");
});

test("leaves reserved characters where the document allows it, and no new parameter", () => {
  const value = "a/b?c=d:e@f!$'()*,;%20&g=1+2#[x] 50%";
  expect(sendParameter("query", value, { allowReserved: true })).toBe(
    "?color=a/b?c=d:e@f!$'()*,;%20%26g=1%2B2%23%5Bx%5D%2050%25",
  );
});

test("adds no cookie, also where the document allows reserved characters", () => {
  const send = (value: unknown): string => sendParameter("cookie", value, { allowReserved: true });
  expect(send("a; admin=1")).toBe("color=a%3B%20admin%3D1");
  expect(send(["a;b=c"])).toBe("color=a%3Bb%3Dc");
});

test("writes a parameter in the media type that the document names", () => {
  expect(sendParameter("query", { lat: 1.5, long: [2] }, { mediaType: "application/json" })).toBe(
    "?color=%7B%22lat%22%3A1.5%2C%22long%22%3A%5B2%5D%7D",
  );
  expect(sendParameter("header", { a: "b" }, { mediaType: "application/vnd.x+json" })).toBe('{"a":"b"}');
  expect(sendParameter("query", "a b", { mediaType: "text/plain" })).toBe("?color=a%20b");
});

test.each<[value: unknown, words: string]>([
  ["..", 'has the segment "." or ".."'],
  [".", 'has the segment "." or ".."'],
  ["../../admin", 'has the segment "." or ".."'],
  ["a\\..\\b", 'has the segment "." or ".."'],
  ["%2e%2E", 'has the segment "." or ".."'],
  ["a%2F..%2Fb", 'has the segment "." or ".."'],
  [["../admin"], 'has the segment "." or ".."'],
  [["x", "y/../../admin"], 'has the segment "." or ".."'],
  [[".."], 'has the segment "." or ".."'],
  [{ "../admin": 1 }, 'has the segment "." or ".."'],
  ["", "is empty"],
  [[], "is empty"],
  [null, "is missing"],
  [undefined, "is missing"],
])("refuses the path value %j", (value, words) => {
  const send = (): string => sendParameter("path", value);
  expect(send).toThrow(`Cannot call a method with these arguments: "color" ${words}`);
  expect(send).toThrow(expect.objectContaining({ code: "ARGUMENTS_INVALID" }));
});

test("never makes a new segment, query or fragment out of a path value", () => {
  expect(sendParameter("path", "a/b?c#d;e")).toBe("a%2Fb%3Fc%23d%3Be");
  expect(sendParameter("path", "a...b..c")).toBe("a...b..c");
});

test.each<[path: string, target: string]>([
  ["/a b/{color}.json#part", "/a%20b/blue.json"],
  ["/x?Action=Go&c={color}", "/x?Action=Go&c=blue&q=1"],
  ["no/slash", "/no/slash?q=1"],
  ["/50%/%41\r\n", "/50%25/%41%0D%0A?q=1"],
])("fills in the path %j of a document", (path, target) => {
  const parameters = [parameter("path"), parameter("query", { name: "q", argument: "q" })];
  const request = buildRequest(operation({ path, parameters }), {
    color: "blue",
    q: path.includes(".json") ? null : 1,
  });
  expect(request.target).toBe(target);
});

test.each([
  ["/../admin", 'it has the segment "." or ".."'],
  ["/a/%2e%2E/b", 'it has the segment "." or ".."'],
  ["/{other}", 'the document has no parameter "other"'],
  ["/{constructor}", 'the document has no parameter "constructor"'],
])("refuses the path %s of a document", (path, words) => {
  expect(() => buildRequest(operation({ path }), {})).toThrow(words);
});

test("takes two values in one segment for what they are together", () => {
  const parameters = ["a", "b"].map((name) => parameter("path", { name, argument: name }));
  expect(() => buildRequest(operation({ path: "/x/{a}{b}", parameters }), { a: "%", b: "2e" })).not.toThrow();
  const comparison = operation({ path: "/compare/{a}..{b}", parameters });
  expect(buildRequest(comparison, { a: "v1", b: "v2" }).target).toBe("/compare/v1..v2");
  expect(() => buildRequest(comparison, { a: "x/", b: "/admin" })).toThrow('it has the segment "." or ".."');
  const split = operation({ path: "/{a}.{b}", parameters });
  expect(buildRequest(split, { a: "x", b: "y" }).target).toBe("/x.y");
});

test("does not take what arguments inherit for an argument", () => {
  const inherited = parameter("query", { argument: "constructor", name: "c" });
  expect(buildRequest(operation({ parameters: [inherited] }), {}).target).toBe("/x");
});

test.each(["a\r\nX-Evil: 1", "a\nb", "a\0b", "a\u007Fb", ["ok", "a\rb"], { "a\n": 1 }])(
  "refuses the control characters in %j in headers and cookies",
  (value) => {
    for (const place of ["header", "cookie"] as const)
      expect(() => sendParameter(place, value)).toThrow(`"color" has a line break or a control character`);
  },
);

test("sends other characters of headers as UTF-8", () => {
  expect(sendParameter("header", "é")).toBe("Ã©");
});

test.each([
  "Host",
  "Content-Length",
  "transfer-encoding",
  "Connection",
  "Cookie",
  "Authorization",
  "Proxy-Authorization",
  "Upgrade",
  "TE",
  "Trailer",
  "Expect",
  "Content-Type",
  "Accept",
  "Sec-Fetch-Mode",
  "X-HTTP-Method-Override",
  "X-Original-URL",
  "X-Rewrite-URL",
  "bad name",
  "",
  "a\r\nb",
])("never sets the header %j from arguments", (name) => {
  const { headers } = buildRequest(operation({ parameters: [parameter("header", { name })] }), { color: "blue" });
  expect(headers).toEqual({ accept: "*/*" });
});

test("accepts the media types of the answers, as far as they are valid", () => {
  const accepts = ["application/json; charset=utf-8", "text/*", "bad\r\nX: 1", "*/*"];
  expect(buildRequest(operation({ accepts }), {}).headers["accept"]).toBe(
    "application/json; charset=utf-8, text/*, */*",
  );
});

test("does not send TRACE, whose answer shows credentials", () => {
  expect(() => buildRequest(operation({ verb: "trace" }), {})).toThrow("TRACE is not sent");
});

test("sends no body with GET and HEAD, and none where no argument has one", () => {
  const body: ApiBody = { required: false, forms: [{ mediaType: "application/json" }], argument: "body" };
  for (const verb of ["get", "head"] as const)
    expect(buildRequest(operation({ verb, body }), { body: { a: 1 } })).not.toHaveProperty("body");
  expect(buildRequest(operation({ verb: "post", body }), {})).not.toHaveProperty("body");
  expect(() => buildRequest(operation({ verb: "post", body: { ...body, required: true } }), {})).toThrow(
    '"body" is missing: the request has a body; write its value',
  );
  const fields = { required: true, forms: body.forms, fields: [["a", "a"]] } as const;
  expect(String(buildRequest(operation({ verb: "post", body: fields }), {}).body)).toBe("{}");
});

test.each<[mediaType: string, value: unknown, text: string, sentType: string]>([
  ["application/json", "text", '"text"', "application/json"],
  ["application/merge-patch+json; charset=utf-8", [1, null], "[1,null]", "application/merge-patch+json; charset=utf-8"],
  [
    "application/json",
    { when: new Date(0), data: new Uint8Array([1]), big: 1e21, n: 2n ** 64n },
    '{"when":"1970-01-01T00:00:00.000Z","data":"AQ==","big":1000000000000000000000,"n":18446744073709551616}',
    "application/json",
  ],
  ["application/json", JSON.parse('{"__proto__":{"a":1}}'), '{"__proto__":{"a":1}}', "application/json"],
  ["application/octet-stream", new Uint8Array([104, 105]), "hi", "application/octet-stream"],
  ["image/png", { data: new Uint8Array([104, 105]), contentType: "image/jpeg" }, "hi", "image/png"],
  ["text/plain", "hé", "hé", "text/plain"],
  ["application/xml", "<a/>", "<a/>", "application/xml"],
  ["*/*", { a: 1 }, '{"a":1}', "application/json"],
  ["*/*", "hi", "hi", "text/plain; charset=utf-8"],
  ["image/*", { data: new Uint8Array([104, 105]), contentType: "image/jpeg" }, "hi", "image/jpeg"],
  ["*/*", new Uint8Array([104, 105]), "hi", "application/octet-stream"],
  ["application/x-www-form-urlencoded", "a=1&b=2", "a=1&b=2", "application/x-www-form-urlencoded"],
])("sends a body of %s: %s", (mediaType, value, text, sentType) => {
  const body: ApiBody = { required: true, forms: [{ mediaType }], argument: "body" };
  const request = buildRequest(operation({ verb: "put", body }), { body: value });
  expect(String(Buffer.from(request.body ?? []))).toBe(text);
  expect(request.headers["content-type"]).toBe(sentType);
});

test.each<[mediaType: string, value: unknown, words: string]>([
  ["application/xml", { a: 1 }, '"body" is sent as application/xml: write a text or a Uint8Array'],
  ["multipart/form-data", "x", '"body" is a form: write an object with its fields'],
  ["application/x-www-form-urlencoded", [1], '"body" is a form: write an object with its fields'],
  ["text/plain\r\nX: 1", "x", "which has a line break"],
  ["image/*", { data: "x", contentType: "a\r\nb" }, '"body" has a contentType with a line break'],
])("refuses a body of %j: %j", (mediaType, value, words) => {
  const body: ApiBody = { required: true, forms: [{ mediaType }], argument: "body" };
  expect(() => buildRequest(operation({ verb: "put", body }), { body: value })).toThrow(words);
});

test("chooses the media type by an argument", () => {
  const forms = [{ mediaType: "application/json" }, { mediaType: "application/x-www-form-urlencoded" }];
  const body: ApiBody = { required: true, forms, fields: [["name_body", "name"]], formArgument: "contentType" };
  const send = (args: Input): string => String(buildRequest(operation({ verb: "post", body }), args).body);
  expect(send({ name_body: "a b" })).toBe('{"name":"a b"}');
  expect(send({ name_body: "a b", contentType: "application/x-www-form-urlencoded" })).toBe("name=a%20b");
  expect(() => send({ name_body: "a", contentType: "text/csv" })).toThrow(
    '"contentType" is not a media type of this body; write "application/json" or "application/x-www-form-urlencoded"',
  );
});

describe("application/x-www-form-urlencoded", () => {
  const send = (value: Input, encoding?: Readonly<Record<string, PartEncoding>>): string =>
    decodeURIComponent(sendBody(value, "application/x-www-form-urlencoded", encoding));

  test.each<[value: Input, text: string]>([
    [{ a: 1, b: true, c: "x y", d: null }, "a=1&b=true&c=x y&d="],
    [{ tags: ["a", "b"] }, "tags=a&tags=b"],
    [{ none: [], items: [{ price: 5, tax: [1, 2] }] }, "items[0][price]=5&items[0][tax][]=1&items[0][tax][]=2"],
    [{ address: { city: "B", lines: ["1", "2"] } }, "address[city]=B&address[lines][]=1&address[lines][]=2"],
  ])("writes %j as most servers read it", (value, text) => {
    expect(send(value)).toBe(text);
  });

  test.each<[PartEncoding, text: string]>([
    [{ style: "deepObject", explode: true }, "f[R]=100&f[G]=200&f[B]=150"],
    [{ style: "form", explode: false }, "f=R,100,G,200,B,150"],
    [{ explode: true }, "R=100&G=200&B=150"],
    [{ style: "pipeDelimited" }, "f=R|100|G|200|B|150"],
    [{ contentType: "application/json" }, 'f={"R":100,"G":200,"B":150}'],
  ])("follows the encoding %j", (encoding, text) => {
    expect(send({ f: OBJECT }, { f: encoding })).toBe(text);
  });

  test("encodes names and values", () => {
    expect(sendBody({ "a&b": "c=d&e é" }, "application/x-www-form-urlencoded")).toBe("a%26b=c%3Dd%26e%20%C3%A9");
    expect(sendBody({ f: "a/b&c" }, "application/x-www-form-urlencoded", { f: { allowReserved: true } })).toBe(
      "f=a/b%26c",
    );
  });
});

describe("multipart/form-data", () => {
  /** Sends a form and reads it as `fetch` does. */
  async function read(value: Input, encoding?: Readonly<Record<string, PartEncoding>>): Promise<FormData> {
    const fields = Object.keys(value).map((name): [string, string] => [name, name]);
    const forms = [{ mediaType: "multipart/form-data; boundary=theirs", ...(encoding && { encoding }) }];
    const request = buildRequest(operation({ verb: "post", body: { required: true, forms, fields } }), value);
    return new Response(request.body as Uint8Array<ArrayBuffer>, { headers: request.headers }).formData();
  }

  test("writes files, texts, JSON and lists", async () => {
    const form = await read({
      title: "é",
      count: 5,
      meta: { a: [1] },
      tags: ["x", "y"],
      raw: new Uint8Array([0, 13, 10, 255]),
      photo: { filename: 'a "b".png', contentType: "image/png", data: new Uint8Array([1, 2]) },
      notes: [
        { filename: "n.txt", data: "one" },
        { filename: "m.txt", data: "two" },
      ],
    });
    const photo = form.get("photo") as File;
    const raw = form.get("raw") as File;
    expect(form.get("title")).toBe("é");
    expect([form.get("count"), form.get("meta"), form.getAll("tags")]).toEqual(["5", '{"a":[1]}', ["x", "y"]]);
    expect([raw.name, raw.type, [...new Uint8Array(await raw.arrayBuffer())]]).toEqual([
      "raw",
      "application/octet-stream",
      [0, 13, 10, 255],
    ]);
    expect([photo.name, photo.type, photo.size]).toEqual(['a "b".png', "image/png", 2]);
    expect(await Promise.all(form.getAll("notes").map((each) => (each as File).text()))).toEqual(["one", "two"]);
  });

  test("writes each byte of a part", () => {
    const encoding = {
      f: { contentType: "image/png, image/jpeg", headers: { "X-Size": "2", "bad name": "1", "X-Bad": "a\r\nb" } },
      list: { contentType: "application/json" },
    };
    const value = { f: { filename: 'a"\r\n.png', data: new Uint8Array([104, 105]) }, list: [1, { a: 2 }], "n\n": "v" };
    const text = sendBody(value, "multipart/form-data", encoding);
    const boundary = /^--(\S+)\r\n/.exec(text)?.[1] ?? "";
    expect(text.replaceAll(boundary, "B")).toBe(
      [
        "--B",
        'Content-Disposition: form-data; name="f"; filename="a%22%0D%0A.png"',
        "Content-Type: image/png",
        "X-Size: 2",
        "",
        "hi",
        "--B",
        'Content-Disposition: form-data; name="list"',
        "Content-Type: application/json",
        "",
        '[1,{"a":2}]',
        "--B",
        'Content-Disposition: form-data; name="n%0A"',
        "",
        "v",
        "--B--",
        "",
      ].join("\r\n"),
    );
  });

  test("refuses a media type of a part that would end its header", async () => {
    const value = { f: { filename: "a", contentType: "text/plain\r\nX: 1", data: "x" } };
    await expect(read(value)).rejects.toThrow('"f" has a contentType with a line break');
  });
});
