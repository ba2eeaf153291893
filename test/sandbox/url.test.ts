import { expect, test } from "vitest";

import { openSandbox, getValue } from "../support/sandbox.ts";

const sandbox = openSandbox(1);

const PARTS = [
  "href",
  "origin",
  "protocol",
  "username",
  "password",
  "host",
  "hostname",
  "port",
  "pathname",
  "search",
  "hash",
];

/** What a URL comes to, or that there can be none. The same text runs here and in the guest. */
const READ = `(input, base, changes) => {
  try {
    const url = base === null ? new URL(input) : new URL(input, base);
    for (const [part, value] of changes) url[part] = value;
    return [...${JSON.stringify(PARTS)}.map((part) => url[part]), [...url.searchParams]];
  } catch (error) {
    return error.name;
  }
}`;

type Sample = readonly [
  input: string,
  base: string | null,
  changes: readonly (readonly [part: string, value: string])[],
];

interface Difference {
  readonly sample: Sample;
  readonly guest: unknown;
  readonly node: unknown;
}

/** Results of the guest that differ from those of Node. */
async function differences(samples: readonly Sample[]): Promise<readonly Difference[]> {
  const node = new Function(`return ${READ}`)() as (...sample: Sample) => unknown;
  const code = `return ${JSON.stringify(samples)}.map((sample) => (${READ})(...sample))`;
  const guest = (await getValue(sandbox, code)) as unknown[];
  expect(guest).toHaveLength(samples.length);
  return samples
    .map((sample, index) => ({ sample, guest: guest[index], node: node(...sample) }))
    .filter((pair) => JSON.stringify(pair.guest) !== JSON.stringify(pair.node));
}

const BASES = ["http://user:pw@host:81/a/b/c?q#f", "https://h", "file:///C:/x/y", "file://srv/share/d", "foo://h/p/q"];

const ABSOLUTE = [
  "http://example.com",
  "HTTP://EXAMPLE.com:80/A?B#C",
  "https://example.com:443/",
  "https://example.com:8443",
  "ftp://f:21/x",
  "ws://w/",
  "wss://w:443/s",
  "http://u@h/",
  "http://u:p@h/",
  "http://:p@h/",
  "http://u:@h/",
  "http://@h/",
  "http://a@b@c/",
  "http://u:p:q@h/",
  "http://u s:p/@h/",
  "http://h/a b",
  "http://h/a%20b",
  "http://h/%zz%4",
  "http://h/é/😀",
  "http://h/\ud800",
  "http://h/a/./b/../c",
  "http://h/a/..",
  "http://h/..",
  "http://h/../../x",
  "http://h/a/%2e%2E/b/%2e",
  "http://h/a//b",
  "http://h//",
  "http://h\\a\\b?c\\d",
  "http:/h/x",
  "http:h/x",
  "http:///h/x",
  "http:\\\\h",
  "  http://h/ \n",
  "ht\ntp://h/a\tb",
  "http://h?x",
  "http://h#x",
  "http://h/?a=b&c=d d'\"<>`{}|[]\\é",
  'http://h/#a b"<>`{}|é',
  'http://h/ "#<>?`{}|~',
  "http://h:0/",
  "http://h:65535/",
  "http://h:65536/",
  "http://h:80x/",
  "http://h:/",
  "http://:80/",
  "http://",
  "http:",
  "http://h /",
  "http://a<b/",
  "http://a|b/",
  "http://a%b/",
  "http://%41%2Ecom/",
  "http://a_b/",
  "http://1.2.3.4/",
  "http://1.2.3/",
  "http://1/",
  "http://0x7f.1/",
  "http://017.1/",
  "http://256/",
  "http://1.256/",
  "http://1.2.3.4.5/",
  "http://4294967295/",
  "http://4294967296/",
  "http://0x/",
  "http://1.0x/",
  "http://09/",
  "http://1.2.3.4./",
  "http://a.1/",
  "http://1.a/",
  "http://[::1]/",
  "http://[::1]:8080/",
  "http://[1:2:3:4:5:6:7:8]/",
  "http://[1::8]/",
  "http://[::]/",
  "http://[1:0:0:2:0:0:0:3]/",
  "http://[0:0:1::]/",
  "http://[::ffff:1.2.3.4]/",
  "http://[1:2:3:4:5:6:1.2.3.4]/",
  "http://[ABCD::EF01]/",
  "http://[::1",
  "http://[1:2]/",
  "http://[1::2::3]/",
  "http://[12345::]/",
  "http://[::1.2.3]/",
  "http://[::01.2.3.4]/",
  "http://[1.2.3.4::]/",
  "http://[::1]x/",
  "http://[:1]/",
  "http://[1:2:3:4:5:6:7:8:9]/",
  "http://[1:2:3:4:5:6:7::]/",
  "http://bücher.de/",
  "http://BÜCHER.de/",
  "http://日本語.jp/",
  "http://faß.de/",
  "http://xn--bcher-kva.de/",
  "http://пример.рф/",
  "http://παράδειγμα.ελ/",
  "http://例え。テスト/",
  "http://한국.kr/",
  "http://é.com/",
  "http://e\u0301.com/",
  "file:///a/b",
  "file:///C:/a/..",
  "file:///C|/a",
  "file://C:/a",
  "file://host/a",
  "file://localhost/a",
  "file:a",
  "file:/a",
  "file:",
  "file:\\\\h\\a",
  "file:///../x",
  "file://h:1/",
  "foo://h/a/../b",
  "foo://H/x",
  "foo:/a",
  "foo:a b?c#d",
  "foo:",
  "foo://",
  "foo:///x",
  "foo://u:p@h:80/",
  "foo://h\\a/",
  "foo:/..//x",
  "foo://[::1]/",
  "foo://a b/",
  "foo:\\\\x",
  "mailto:ada@example.com",
  "data:text/plain,hello world#x",
  "javascript:alert(1)",
  "blob:https://h:8/x",
  "blob:foo",
  "urn:a:b",
  "a+b-c.1:x",
  "1a:x",
  ":x",
  "x",
  "",
  " ",
  "//h",
  "http",
  "http://h/a;b=c,d@e:f",
  "http://h/!$&'()*+,-._~",
  "http://u!$&'()*+,;=:p@h/",
  "http://h/\u0000\u007f\u0080",
];

const RELATIVE = [
  "x",
  "./x",
  "../x",
  "../../../x",
  "/x",
  "//other/x",
  "?q2",
  "#f2",
  "",
  ".",
  "..",
  "x/../y",
  "/",
  "\\x",
  "\\\\other\\x",
  "http:x",
  "http:/x",
  "https:x",
  "file:x",
  "foo:x",
  "C:/z",
  "C|",
  "/C:/z",
  "//C:/z",
  "/D:",
  "..//x",
  "x?y?z#a#b",
  "x:y",
  "http://other",
  "x y",
  "é?ü#ö",
  "/..//x",
  "%2e%2e/x",
  ".%2E",
  "?",
  "#",
  "/?#",
];

test("parses with `URL` what Node parses, and refuses what Node refuses [S7]", async () => {
  expect(await differences(ABSOLUTE.map((input) => [input, null, []]))).toEqual([]);
});

test("resolves relative URLs with `URL` as Node does [S7]", { tags: "rest" }, async () => {
  const inputs = [...RELATIVE, ...ABSOLUTE.slice(0, 60)];
  const samples = inputs.flatMap((input) => BASES.map((base): Sample => [input, base, []]));
  expect(await differences(samples)).toEqual([]);
});

test("follows the URL standard where Node 20 does not [S7]", async () => {
  const code = `
    const attempt = (input, base) => { try { return new URL(input, base).href } catch (error) { return error.name } };
    return [attempt("x#y", "data:text"), attempt("#y", "data:text"), attempt("/..", "foo://h/p"), attempt("http://h/^")]`;
  expect(await getValue(sandbox, code)).toEqual(["TypeError", "data:text#y", "foo://h/", "http://h/%5E"]);
});

const CHANGES: Readonly<Record<string, readonly string[]>> = {
  href: ["https://n/x", "nothing"],
  protocol: ["https", "https:", "HTTPS://x", "foo", "ftp:", "file", "", "1", "ht tp"],
  username: ["ada", "a b:/@", "", "é"],
  password: ["pw", "a b:/@", ""],
  host: ["n", "n:82", "n:443", "n:82x", "[::1]:9", "N/x", "n?x", "n#x", "n\\x", "a b", "1.2", "u@n", "bücher.de:1"],
  hostname: ["n", "n:82", "[::1]", "N/x", "1", "a b"],
  port: ["82", "443", "80", "", "82x", "65536", "0", "\t8\n2"],
  pathname: ["x", "/x/../y", "", "a?b#c", "a b", "\\x", "//x", "é", "%2e%2e/x", "C|/x"],
  search: ["x", "?x=1&y=2", "", "?", "a#b", "a b'é"],
  hash: ["x", "#x y", "", "#", "`é"],
};

test("changes every part of a `URL` as Node does [S7]", async () => {
  const urls = ["http://u:p@h:81/a/b?c#d", "https://h", "foo://u@h:81/a", "file:///a/b"];
  const samples = Object.entries(CHANGES).flatMap(([part, values]) =>
    values.flatMap((value) => urls.map((url): Sample => [url, null, [[part, value]]])),
  );
  const plain = samples.filter(([url, , [change]]) => !(url.startsWith("foo") && change?.[0] === "host"));
  expect(await differences(plain)).toEqual([]);
});

test("reports an error for names in unknown scripts, never another name [S7]", async () => {
  const names = [
    "http://😀.com/",
    "http://ﬁ.com/",
    "http://a\u00adb.com/",
    "http://ẞ.de/",
    "http://xn--e28h.com/",
    "http://שלום.com/",
  ];
  const code = `return ${JSON.stringify(names)}.map((name) => { try { return new URL(name).href } catch (error) { return error.name } })`;
  expect(await getValue(sandbox, code)).toEqual(names.map(() => "TypeError"));
});

test("parses random URLs as Node does [S7]", { tags: "rest" }, async () => {
  let state = 12_345;
  const below = (limit: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % limit;
  };
  const one = (list: readonly string[]): string => list[below(list.length)] as string;
  const pieces = [
    "http",
    "https:",
    "file:",
    "foo:",
    "//",
    "/",
    "\\",
    "?",
    "#",
    "@",
    ":",
    ":80",
    "a",
    "B.c",
    "[::1]",
    "1.2",
    "..",
    ".",
    "%2e",
    "%",
    "%zz",
    "%C3%A9",
    " ",
    "\t",
    "é",
    "'",
    '"',
    "<",
    "`",
    "{",
    "|",
    "~",
    "[",
    "]",
    "&",
    "=",
    "+",
    "*",
    ";",
    "C:",
    "C|",
    "\0",
  ];
  const samples = Array.from({ length: 1_500 }, (): Sample => {
    const text = Array.from({ length: 1 + below(9) }, () => one(pieces)).join("");
    return [
      below(2) === 0 ? text : `${one(["http:", "https:", "file:", "foo:"])}//${text}`,
      below(2) === 0 ? null : one(BASES.slice(0, 6)),
      [],
    ];
  });
  const found = await differences(samples);
  expect(found.filter(({ guest }) => guest !== "TypeError")).toEqual([]);
  expect(found.length).toBeLessThan(samples.length / 50);
});

test("implements `URLSearchParams` as Node does [S7]", async () => {
  const code = `
    const made = [
      new URLSearchParams("?a=1&b=2&a=3&&c&=d&e=%20+%zz%ff"), new URLSearchParams([["x", "1"], ["y", "é&="]]),
      new URLSearchParams({ p: 1, q: undefined }), new URLSearchParams(new URLSearchParams("k=v")), new URLSearchParams(),
      new URLSearchParams(new Map([["m", "n"]])), new URLSearchParams("a==b=c"), new URLSearchParams("\\ud800=😀"),
    ];
    const [list] = made;
    const before = [list.get("a"), list.get("z"), list.getAll("a"), list.has("a"), list.has("a", "3"), list.has("a", "9"), list.size];
    list.append("a", "4 4"); list.set("b", "*-._~!'()"); list.delete("c"); list.delete("a", "1"); list.set("new", ""); list.sort();
    const visited = []; list.forEach((value, name, self) => visited.push([name, value, self === list]));
    const url = new URL("http://h/?a=1#f"); const live = url.searchParams;
    live.append("b", "x y"); const first = url.href; url.search = "?c=3"; const second = [...live]; live.delete("c"); const third = url.href;
    url.href = "http://i/?z"; const fourth = [...url.searchParams.keys()];
    const wrong = [[["a"]], [["a", "b", "c"]], [1], 5n].map((init) => { try { return String(new URLSearchParams(init)) } catch (error) { return error.name } });
    return [made.map(String), before, [...list], [...list.values()], visited, first, second, third, fourth, live === url.searchParams, wrong,
      String(Object.prototype.toString.call(list)), JSON.stringify({ url })]`;
  const here = new Function(code)() as unknown;
  expect(await getValue(sandbox, code)).toEqual(here);
});

test("implements `URL.canParse`, `URL.parse` and the errors of invalid URLs [S7]", async () => {
  const code = `
    let said; try { new URL("nothing") } catch (error) { said = [error.name, error.message, error.code] }
    return [URL.canParse("http://a"), URL.canParse("b"), URL.canParse("b", "http://a"), URL.parse("b"), URL.parse("b", "http://a").href, URL.name, said]`;
  expect(await getValue(sandbox, code)).toEqual([
    true,
    false,
    true,
    null,
    "http://a/b",
    "URL",
    ["TypeError", 'Invalid URL: "nothing"', "ERR_INVALID_URL"],
  ]);
});
