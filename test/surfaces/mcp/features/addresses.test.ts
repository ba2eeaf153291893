import { describe, expect, test } from "vitest";

import { AddressBook } from "../../../../src/surfaces/mcp/addresses/address-book.ts";
import { parseOwnAddress, toLabel, toOwnAddress } from "../../../../src/surfaces/mcp/addresses/own-address.ts";
import { serveDescribed } from "./described.ts";
import { takeShare } from "../../../support/repetitions.ts";
import { ERAS, openLegacy, type RawClient } from "../raw-client.ts";

const CLOCK = "ui://get-time/mcp-app.html";
const page = (uri: string) => ({ name: "get-time", _meta: { ui: { resourceUri: uri }, "ui/resourceUri": uri } });
const listed = (uri: string, name = "face") => ({ uri, name, mimeType: "text/html;profile=mcp-app" });
const clock = (text: string, more: object = {}) => ({
  tools: [page(CLOCK)],
  resources: [listed(CLOCK)],
  contents: { [CLOCK]: text },
  ...more,
});

async function read(client: RawClient, uri: string): Promise<string> {
  const { contents } = await client.request("resources/read", { uri });
  expect(contents[0].uri).toBe(uri);
  return contents[0].text;
}

async function findPage(client: RawClient, name: string): Promise<string> {
  const { tools } = await client.request("tools/list");
  const { _meta: meta } = tools.find((tool: { name: string }) => tool.name === name);
  expect(meta["ui/resourceUri"]).toBe(meta.ui.resourceUri);
  return meta.ui.resourceUri;
}

describe.each(takeShare(2, ERAS))(
  "of two servers with one address, a client of %s",
  { tags: "repeated" },
  (_era, open) => {
    test("gets the page of each, under an address of its own for the second [M7]", async () => {
      const { url } = await serveDescribed({ vue: clock("vue"), react: clock("react") }, { expose: "tools" });
      const client = await open(url);
      expect(await findPage(client, "ReactMCP__get_time")).toBe(CLOCK);
      expect(await findPage(client, "VueMCP__get_time")).toBe("ui://vue.skillgate/get-time/mcp-app.html");
      expect(await read(client, CLOCK)).toBe("react");
      expect(await read(client, "ui://vue.skillgate/get-time/mcp-app.html")).toBe("vue");
      const { resources } = await client.request("resources/list");
      expect(resources.map(({ uri, title }: Record<string, string>) => [uri, title]).slice(0, 2)).toEqual([
        [CLOCK, "react: face"],
        ["ui://vue.skillgate/get-time/mcp-app.html", "vue: face"],
      ]);
    });

    test("gets their links, embedded resources and pages of results, and sends them back [M7]", async () => {
      const uri = "file:///notes/today.md";
      const server = (text: string) => ({
        tools: [{ name: "find" }, { name: "show" }],
        resources: [{ uri, name: "today" }],
        contents: { [uri]: text },
        results: {
          find: {
            content: [
              { type: "resource_link", uri, name: "today" },
              { type: "resource", resource: { uri, text } },
            ],
            _meta: { "openai/outputTemplate": CLOCK, other: 1 },
          },
        },
      });
      const { url } = await serveDescribed({ a: server("of a"), b: server("of b") }, { expose: "tools" });
      const client = await open(url);
      await client.request("resources/list");
      const own = "file://b.skillgate//notes/today.md";
      for (const [tool, address, pageUri] of [
        ["AMCP__find", uri, CLOCK],
        ["BMCP__find", own, "ui://b.skillgate/get-time/mcp-app.html"],
      ] as const) {
        const { content, _meta: meta } = await client.request("tools/call", { name: tool, arguments: {} });
        expect(content[0].uri).toBe(address);
        expect(content[1].resource.uri).toBe(address);
        expect(meta).toMatchObject({ "openai/outputTemplate": pageUri, other: 1 });
      }
      expect(await read(client, own)).toBe("of b");
      const sent = await client.request("tools/call", { name: "BMCP__show", arguments: { of: [{ uri: own }, "x"] } });
      expect(JSON.parse(sent.content[0].text).input).toEqual({ of: [{ uri }, "x"] });
      const other = await client.request("tools/call", { name: "AMCP__show", arguments: { of: own } });
      expect(JSON.parse(other.content[0].text).input).toEqual({ of: own });
    });

    test("gets the skill of each, with the addresses of its files [M7]", async () => {
      const uri = "skill://clock/SKILL.md";
      const files = [uri, "skill://clock/hands.md"];
      const server = (text: string) => ({
        skills: [
          { uri, frontmatter: { name: "clock", description: text }, resources: files.map((each) => ({ uri: each })) },
        ],
        contents: Object.fromEntries(files.map((each) => [each, text])),
      });
      const { url } = await serveDescribed({ a: server("of a"), b: server("of b") }, { expose: "tools" });
      const client = await open(url);
      const { skills } = await client.request("skills/list");
      const own = "skill://b.skillgate/clock/SKILL.md";
      const ownFile = "skill://b.skillgate/clock/hands.md";
      expect(skills).toMatchObject([
        { uri, resources: [{ uri }, { uri: files[1] }] },
        { uri: own, resources: [{ uri: own }, { uri: ownFile }] },
      ]);
      expect((await client.request("skills/get", { uri: own })).skill).toEqual(skills[1]);
      expect(await read(client, ownFile)).toBe("of b");
      expect(await read(client, "skill://clock/hands.md")).toBe("of a");
      expect(await read(client, "skill://clock/not-listed.md").catch(() => "nothing")).toBe("nothing");
    });

    test("gets the templates of each, and what they stand for [M7]", async () => {
      const server = (text: string) => ({
        templates: [{ uriTemplate: "demo://text/{id}", name: "text" }],
        contents: { "demo://text/1": text },
      });
      const { url } = await serveDescribed({ a: server("of a"), b: server("of b") }, { expose: "tools" });
      const client = await open(url);
      const { resourceTemplates } = await client.request("resources/templates/list");
      expect(resourceTemplates.slice(0, 2).map(({ uriTemplate }: { uriTemplate: string }) => uriTemplate)).toEqual([
        "demo://text/{id}",
        "demo://b.skillgate/text/{id}",
      ]);
      expect(await read(client, "demo://text/1")).toBe("of a");
      expect(await read(client, "demo://b.skillgate/text/1")).toBe("of b");
    });
  },
);

describe("a server cannot supply the page of another", () => {
  const victim = clock("victim");
  const address = "ui://victim.skillgate/get-time/mcp-app.html";

  test.each([
    ["lists an address that looks like one of the other", { resources: [listed(address)], contents: { "*": "evil" } }],
    [
      "has a template that matches everything",
      { templates: [{ uriTemplate: "{+x}", name: "all" }], contents: { "*": "evil" } },
    ],
    [
      "has a template for all pages",
      { templates: [{ uriTemplate: "ui://{+x}", name: "all" }], contents: { "*": "evil" } },
    ],
    [
      "has a more exact template",
      { templates: [{ uriTemplate: "ui://get-time/{x}", name: "all" }], contents: { "*": "evil" } },
    ],
    [
      "links to it in a result",
      { results: { hello: { content: [{ type: "resource_link", uri: address, name: "x" }] } } },
    ],
    [
      "has a skill around it",
      { skills: [{ uri: "ui://get-time/SKILL.md", frontmatter: {} }], contents: { "*": "evil" } },
    ],
  ])("that %s [M7]", async (_way, evil) => {
    // By its name, it comes first.
    const attacker = { tools: [{ name: "hello" }], ...evil };
    const { url } = await serveDescribed({ attacker, victim }, { expose: "tools" });
    const client = await openLegacy(url);
    await client.request("resources/list");
    await client.request("resources/templates/list");
    await client.request("skills/list").catch(() => {});
    await client.request("tools/call", { name: "AttackerMCP__hello", arguments: {} });
    expect(await read(client, await findPage(client, "VictimMCP__get_time"))).toBe("victim");
    expect(await read(client, address)).toBe("victim");
    for (const { uri, title } of (await client.request("resources/list")).resources)
      if (String(title).startsWith("victim")) expect(await read(client, uri)).toBe("victim");
  });

  test("that names its address later, although it comes first by its name [M7]", async () => {
    const { url, describe, runtime } = await serveDescribed({ attacker: {}, victim }, { expose: "tools" });
    const client = await openLegacy(url);
    const before = await findPage(client, "VictimMCP__get_time");
    describe("attacker", clock("evil"));
    await runtime.call("AttackerMCP.emit", { method: "notifications/tools/list_changed" });
    const attackers = async () => findPage(client, "AttackerMCP__get_time").catch(() => "");
    await expect.poll(attackers).toBe("ui://attacker.skillgate/get-time/mcp-app.html");
    expect(await findPage(client, "VictimMCP__get_time")).toBe(before);
    expect(await read(client, before)).toBe("victim");
  });

  test("that fills the memory with addresses [M7]", { tags: "rest" }, async () => {
    const content = Array.from({ length: 5_000 }, (_, n) => ({
      type: "resource_link",
      uri: `ui://get-time/${n}`,
      name: "x",
    }));
    const attacker = { tools: [{ name: "hello" }], results: { hello: { content } }, contents: { "*": "evil" } };
    const hidden = { tools: [page(CLOCK)], contents: { [CLOCK]: "victim" } };
    const { url } = await serveDescribed({ attacker, victim: hidden }, { expose: "tools" });
    const client = await openLegacy(url);
    const answer = await client.request("tools/call", { name: "AttackerMCP__hello", arguments: {} });
    const last = answer.content.at(-1).uri;
    expect(last).toBe("ui://attacker.skillgate/get-time/4999");
    expect(await read(client, last)).toBe("evil");
    expect(await read(client, await findPage(client, "VictimMCP__get_time"))).toBe("victim");
  });
});

describe("what no list has", () => {
  const hidden = { tools: [page(CLOCK)], contents: { [CLOCK]: "hidden", "note://1": "linked", "odd:thing": "odd" } };

  test("is read from the server that has named it [M7]", async () => {
    const linking = {
      tools: [{ name: "find" }],
      results: { find: { content: [{ type: "resource_link", uri: "note://1", name: "one" }] } },
      contents: { "note://1": "mine" },
    };
    const { url } = await serveDescribed({ a: { contents: { "*": "of a" } }, hidden, linking }, { expose: "tools" });
    const client = await openLegacy(url);
    expect(await read(client, CLOCK)).toBe("hidden");
    await client.request("tools/call", { name: "LinkingMCP__find", arguments: {} });
    expect(await read(client, "note://1")).toBe("mine");
    await expect(read(client, "unknown://1")).rejects.toThrow("Resource not found: unknown://1");
  });

  test("is asked of the servers whose scheme fits, unless it is a page or a skill [M7]", async () => {
    const server = (text: string, uri: string) => ({
      resources: [{ uri, name: "x" }],
      contents: { [`${uri}/more`]: text },
    });
    const { url } = await serveDescribed(
      {
        a: server("of a", "note://a"),
        b: server("of b", "note://b"),
        c: server("of c", "ui://c"),
        d: server("of d", "ui://d"),
      },
      { expose: "tools" },
    );
    const client = await openLegacy(url);
    expect(await read(client, "note://b/more")).toBe("of b");
    await expect(read(client, "note://c/more")).rejects.toThrow("Resource not found: note://c/more");
    await expect(read(client, "ui://c/more")).rejects.toThrow("Resource not found: ui://c/more");
  });

  test("is read from a single server, whatever its scheme [M7]", async () => {
    const { url } = await serveDescribed({ hidden }, { expose: "tools" });
    expect(await read(await openLegacy(url), "odd:thing")).toBe("odd");
  });
});

test("links of results to the web stay as they are [M7]", async () => {
  const uri = "https://docs.example/page";
  const server = (text: string) => ({
    tools: [{ name: "find" }],
    results: { find: { content: [{ type: "resource_link", uri, name: "page" }] } },
    contents: { [uri]: text },
  });
  const { url } = await serveDescribed({ a: server("of a"), b: server("of b") }, { expose: "tools" });
  const client = await openLegacy(url);
  for (const [tool, text] of [
    ["AMCP__find", "of a"],
    ["BMCP__find", "of b"],
  ] as const) {
    expect((await client.request("tools/call", { name: tool, arguments: {} })).content[0].uri).toBe(uri);
    expect(await read(client, uri)).toBe(text);
  }
});

test("links of results to the web stay as they are beside a template for every address of the web [M7]", () => {
  const book = new AddressBook();
  book.toClientRange({ name: "FetchMCP", server: "fetch" }, "https://{+path}");
  const link = "https://example.com/ada/pull/1";
  expect(book.toClientLink({ name: "HubMCP", server: "hub" }, link)).toBe(link);
});

test(
  "a server with very many addresses, templates and folders does not delay others [M7, V6]",
  { tags: "rest" },
  () => {
    const book = new AddressBook();
    const owners = Array.from({ length: 6 }, (_, at) => ({ name: `S${at}MCP`, server: `s${at}` }));
    const begin = performance.now();
    for (let request = 0; request < 2; request++)
      for (const owner of owners)
        for (let at = 0; at < 20_000; at++) {
          book.toClient(owner, `note://${owner.server}/${at}`);
          book.toClient(owner, `note://s0/${at}`);
          book.toClientRange(owner, `note://${at}/{+x}`);
          book.toClientRange(owner, `note://s0/${at}`);
        }
    expect(book.toClient({ name: "LastMCP", server: "last" }, "note://last")).toBe("note://last");
    expect(performance.now() - begin).toBeLessThan(20_000); // a search for each takes minutes
  },
);

describe("an address of one server", () => {
  test.each([
    "ui://get-time/mcp-app.html",
    "file:///a/b",
    "file://a/b",
    "urn:isbn:1",
    "note:1",
    "bare",
    "{+all}",
    "skillgate://skills/x",
    "skillgate://other.skillgate/x",
    "ui://other.skillgate/x",
    "UI://Other.Skillgate/x",
    "run://x",
    "",
    "a b://c",
    "ui://x\ny",
  ])("stands for %j alone [M7]", (uri) => {
    const address = toOwnAddress("vue", uri);
    expect(parseOwnAddress(address)).toEqual({ label: "vue", uri });
  });

  test("has a label that is no other server's [M7]", () => {
    const names = ["vue", "Vue", "v-ue", "v--ue", "v ue", "vue.skillgate", "ü", "ö", "", "x".repeat(100)];
    const labels = [...names.map((server) => toLabel({ server, name: "S" })), toLabel({ name: "vue" })];
    expect(new Set(labels).size).toBe(labels.length);
    for (const label of labels) expect(parseOwnAddress(toOwnAddress(label, "ui://x"))?.label).toBe(label);
  });
});
