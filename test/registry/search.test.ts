import * as fc from "../support/fuzz.ts";
import { describe, expect, test } from "vitest";
import { createRegistry, search } from "../../src/registry/index.ts";
import { createCatalog, recordedSkills, sampleSkills, createSkill } from "./catalogs.ts";

const catalog = createCatalog(...sampleSkills());

function pathsFor(query: string, limit?: number): readonly string[] {
  return search(catalog, query, limit === undefined ? {} : { limit }).results.map(({ path }) => path);
}

test.each([
  ["turn on", "HomeAssistantMCP.HassTurnOn"],
  ["turn off", "HomeAssistantMCP.HassTurnOff"],
  ["set the short lamp to red", "HomeAssistantMCP.HassLightSet"],
  ["react documentation", "Context7MCP.query_docs"],
  ["how warm is it going to be in Paris tomorrow, will it rain?", "WeatherMCP.get_forecast"],
  ["search the internet", "BraveSearchMCP.search"],
  ["rename a file", "FilesystemMCP.move_file"],
  ["erase a repo", "GithubMCP.delete"],
  ["open a bug ticket", "GithubMCP.create_issue"],
  ["mail a message to Bob", "MailMCP.send_email"],
  ["serach the web", "BraveSearchMCP.search"],
  ["forecats", "WeatherMCP.get_forecast"],
  ["documentation", "Context7MCP.query_docs"],
  ["fahrenheit", "WeatherMCP.get_forecast"],
])("finds for %j %s first [D1]", (query, path) => {
  expect(pathsFor(query)[0]).toBe(path);
});

test("ranks turning on before turning off [D1]", () => {
  expect(pathsFor("turn on", 2)).toEqual(["HomeAssistantMCP.HassTurnOn", "HomeAssistantMCP.HassTurnOff"]);
});

test.each([
  "read_text_file",
  "ReadTextFile",
  "READ TEXT FILE",
  "read-text-file",
  "FilesystemMCP.read_text_file",
  "device.FilesystemMCP.read_text_file",
  "filesystem mcp read text file",
  "please call read_text_file for me",
])("ranks the exact name %j first [D1]", (query) => {
  expect(search(catalog, query).results[0]).toMatchObject({ path: "FilesystemMCP.read_text_file", score: 1 });
});

test("finds every exact name of a method first, in any case and with any separator [D1]", { tags: "rest" }, () => {
  const all = createCatalog(...sampleSkills(), ...recordedSkills());
  for (const { name, path } of all.methods) {
    for (const query of [name, name.toUpperCase(), name.replaceAll("_", "-"), name.replaceAll("_", " "), path]) {
      const [first] = search(all, query, { limit: 1 }).results;
      expect(first?.path.split(".")[1]?.toLowerCase().replaceAll("_", "")).toBe(name.toLowerCase().replaceAll("_", ""));
    }
  }
});

test("finds methods by the name of their skill, and by the beginning of a name [D1]", () => {
  expect(new Set(pathsFor("WeatherMCP", 2))).toEqual(new Set(["WeatherMCP.get_forecast", "WeatherMCP.get_alerts"]));
  expect(new Set(pathsFor("hasstu", 2))).toEqual(
    new Set(["HomeAssistantMCP.HassTurnOn", "HomeAssistantMCP.HassTurnOff"]),
  );
});

test("does not match a short word inside a longer one [D1]", () => {
  expect(pathsFor("on")).not.toContain("MailMCP.list_inbox");
});

test("answers a query of stop words, and lists all methods for an empty one [D1]", () => {
  expect(pathsFor("of the")[0]).toBe("HomeAssistantMCP.HassLightSet");
  expect(search(catalog, "", { limit: 100 }).results).toHaveLength(catalog.methods.length);
  expect(search(catalog, "  ").text.split("\n")).toHaveLength(10);
  expect(search(catalog, "").text).toMatch(
    /^Found 23 result\(s\):\n[\s\S]*\n\.\.\. and 15 more: search again with offset 8$/,
  );
});

test.each(["", "read a file", "search", "turn on the light. read a file"])(
  "lists each result once over the pages of a search for %j, in the order of one search [D1]",
  (query) => {
    const all = createCatalog(...sampleSkills(), ...recordedSkills());
    const pathsAt = (offset: number, limit: number): readonly string[] =>
      search(all, query, { offset, limit }).results.map(({ path }) => path);
    const whole = pathsAt(0, 100);
    expect(whole.length).toBeGreaterThan(8);
    expect([0, 7, 14, 21, 28, 35, 42, 49].flatMap((offset) => pathsAt(offset, 7))).toEqual(whole.slice(0, 56));
    const { text } = search(all, query, { maxTokens: 100_000 });
    const [, total] =
      /^Found (\d+) result\(s\):\n(?:- .*\n)+\.\.\. and \d+ more: search again with offset 8$/m.exec(text) ?? [];
    const found: string[] = [];
    while (found.length < Number(total)) found.push(...pathsAt(found.length, 100));
    expect(new Set(found).size).toBe(Number(total));
    expect(pathsAt(Number(total), 100)).toEqual([]);
  },
);

test("continues a shortened text from its last line to the last result [D2]", () => {
  const seen: string[] = [];
  for (let offset: number | undefined = 0; offset !== undefined;) {
    const { text } = search(catalog, "", { offset, limit: 100, maxTokens: 60 });
    seen.push(...(text.match(/^- [\w.]+/gm) ?? []));
    const [, next] = /search again with offset (\d+)$/m.exec(text) ?? [];
    offset = next === undefined ? undefined : Number(next);
  }
  expect(seen).toEqual(catalog.methods.map(({ path }) => `- ${path}`));
});

test("gives the number of results for an offset past the last one [D2]", () => {
  expect(search(catalog, "", { offset: 23 })).toEqual({
    results: [],
    text: "Found 23 result(s), but offset 23 is past the last one",
  });
  expect(search(catalog, "file", { offset: 1e9 }).text).toMatch(
    /^Found \d+ result\(s\), but offset 1000000000 is past the last one$/,
  );
  for (const offset of [-1, Number.NaN, 0.9])
    expect(search(catalog, "", { offset }).results[0]?.path).toBe(catalog.methods[0]?.path);
});

test("finds a method for each part of a request [D1]", () => {
  const query = "Read notes.txt. Send its text to ada@example.com. What will the weather be in Rome?";
  expect(pathsFor(query, 5)).toEqual(
    expect.arrayContaining(["FilesystemMCP.read_text_file", "MailMCP.send_email", "WeatherMCP.get_forecast"]),
  );
});

test("does not fill the answer with copies of one method [D1]", () => {
  const copies = Array.from({ length: 9 }, (_, at) =>
    createSkill(`Shop${at}Skill`, [{ name: "find_products", description: "Finds products" }]),
  );
  const other = createSkill("StockSkill", [{ name: "product_stock", description: "Finds how many products are left" }]);
  const { results } = search(createCatalog(...copies, other), "are there products left", { limit: 5 });
  expect(results.map(({ path }) => path)).toContain("StockSkill.product_stock");
  const shops = search(createCatalog(...copies, other), "find products online", { limit: 5 }).results;
  expect(shops.map(({ path }) => path)).toContain("StockSkill.product_stock");
});

test("searches words of parameters, values, servers and examples [D1]", () => {
  const skill = createSkill(
    "OpaqueSkill",
    [
      { name: "alpha", input: { type: "object", properties: { zebra: { type: "string" } } } },
      {
        name: "beta",
        input: { type: "object", properties: { x: { type: "string", description: "A giraffe", enum: ["okapi"] } } },
      },
      { name: "gamma", examples: [{ request: "where do flamingos sleep" }] },
      { name: "delta", metadata: { tags: ["penguin"], category: "birds" } },
      { name: "epsilon", input: { type: "object", properties: { y: { type: "object", properties: { marmot: {} } } } } },
    ],
    { server: "zoo-server", description: "Animals of every kind" },
  );
  const zoo = createCatalog(skill, ...sampleSkills());
  const first = (query: string): string | undefined => search(zoo, query).results[0]?.path;
  expect(["zebras", "giraffe", "okapi", "flamingo", "penguins", "bird", "marmot"].map(first)).toEqual([
    "OpaqueSkill.alpha",
    "OpaqueSkill.beta",
    "OpaqueSkill.beta",
    "OpaqueSkill.gamma",
    "OpaqueSkill.delta",
    "OpaqueSkill.delta",
    "OpaqueSkill.epsilon",
  ]);
  expect(search(zoo, "animals").results).toHaveLength(5);
});

test("finds words in other scripts: without spaces, with accents, in capitals [D1]", () => {
  const skill = createSkill("WorldSkill", [
    { name: "tianqi", description: "查询城市的天气预报" },
    { name: "tenki", description: "ファイルを読み込みます" },
    { name: "pogoda", description: "Прогноз погоды на неделю" },
    { name: "meteo", description: "Prévisions météo détaillées" },
    { name: "mausam", description: "मौसम का पूर्वानुमान" },
  ]);
  const world = createCatalog(skill);
  const first = (query: string): string | undefined => search(world, query).results[0]?.path.split(".")[1];
  expect(["北京天气怎么样", "ファイル", "ПОГОДЫ", "previsions METEO", "मौसम"].map(first)).toEqual([
    "tianqi",
    "tenki",
    "pogoda",
    "meteo",
    "mausam",
  ]);
});

test("answers with a line for each result, the first three with signatures [D2]", () => {
  expect(search(catalog, "search web news", { limit: 4 }).text).toBe(`Found 8 result(s):
- BraveSearchMCP.search(query: string, count?: number /* 1..20 */ = 10) — Searches the web with Brave
- BraveSearchMCP.news(query: string, freshness?: "day" | "week" | "month") — Searches recent news articles
- BraveSearchMCP.ping(args?: Record<string, unknown>)
- Context7MCP.resolve_library_id — Resolves a package name to a Context7-compatible library ID
... and 4 more: search again with offset 4`);
});

test("returns the path, signature, first sentence and score of a result [D2]", () => {
  const { results } = search(catalog, "web search", { limit: 1 });
  expect(results).toEqual([
    {
      path: "BraveSearchMCP.search",
      signature: "search(query: string, count?: number /* 1..20 */ = 10)",
      summary: "Searches the web with Brave",
      score: expect.any(Number),
    },
  ]);
  expect(results[0]?.score).toBeGreaterThan(0.5);
});

test("names words without a match, and marks a doubtful answer [D2]", () => {
  expect(search(catalog, "send a pigeon mail").text).toMatch(/\nWords without a match: pigeon$/);
  expect(search(catalog, "knit a sweater and read it").text).toMatch(
    /\nWords without a match: knit, sweater\nProbably no method does this; these are only the closest names\. If none fits/,
  );
});

test("offers the words of the catalog to a search whose words no method has [D2]", () => {
  const shop = createCatalog(
    createSkill(
      "ShopMCP",
      ["list_orders", "get_order", "update_order", "list_order_comments"].map((name) => ({ name })),
    ),
    createSkill(
      "BrowserMCP",
      ["browser_click", "browser_tabs", "browser_open_tab"].map((name) => ({ name })),
    ),
    createSkill("EchoMCP", [{ name: "echo" }]),
  );
  expect(search(shop, "pigeons").text).toMatch(/\nWords of the methods here: order, tab, comments, click, open$/);
  expect(search(shop, "list pigeons").text).toMatch(/pigeons\nProbably .*\nWords of the methods here: order, tab, /);
  expect(search(shop, "list orders").text).not.toContain("Words of the methods");
});

test("marks an answer as weak without the thing that a short request asks for, and shows names only [D2]", () => {
  expect(search(catalog, "send pigeon", { limit: 2 }).text).toBe(`Found 1 result(s):
- MailMCP.send_email
Words without a match: pigeon
Probably no method does this; these are only the closest names. If none fits, search again with two to four English words that a tool's author would use: a verb and a thing, one intent a search
Words of the methods here: set, docs, file, issue, email, alerts, turn, library, text, inbox, forecast, climate, tree, context, light, live`);
  expect(search(catalog, "send email", { limit: 1 }).text).not.toContain("Probably");
  const calendar = createCatalog(
    createSkill("CalendarMCP", [{ name: "find_free_time", description: "Find free times for a meeting" }]),
  );
  const { text } = search(calendar, "free meeting time slot");
  expect(text).toContain("find_free_time(args");
  expect(text).not.toContain("Probably");
});

test.each(["avec", "para", "della", "voor", "przez", "inte", "icin", "чтобы", "dieser", "quando", "uma"])(
  "takes no foreign stop word for a typing error or a beginning: %s [D1]",
  (word) => {
    const names = [`${word.slice(0, -1)}ж`, `${word}th`, "sweater"];
    const tools = createCatalog(
      createSkill(
        "NearSkill",
        names.map((name) => ({ name: `knit_${name}` })),
      ),
    );
    expect(search(tools, `qqqq ${word}`).results).toEqual([]);
    expect(search(tools, "qqqq sweter").results).toMatchObject([{ path: "NearSkill.knit_sweater" }]);
  },
);

test("counts all results and reaches the rest by an offset, also in a doubtful answer [D2]", () => {
  const methods = Array.from({ length: 30 }, (_, at) => ({ name: `read_${at}`, description: "Reads a page" }));
  const tools = createCatalog(createSkill("PageSkill", methods));
  const { text } = search(tools, "read walrus");
  expect(text).toMatch(
    /^Found 30 result\(s\):\n(?:- PageSkill\.read_\d+\n){8}\.\.\. and 22 more: search again with offset 8\n/,
  );
  expect(search(tools, "read walrus", { offset: 28 }).results).toHaveLength(2);
});

test("takes no heading of a docstring for its first sentence [D2]", () => {
  const described = (description: string) => {
    const tools = createCatalog(createSkill("PySkill", [{ name: "run", description }]));
    return search(tools, "run").results[0]?.summary;
  };
  expect(described("Returns:\n    The orders of a shop. All of them.")).toBe("The orders of a shop");
  expect(described("Returns: the orders")).toBe("the orders");
  expect(described("\n  Summary:\n\n  Reads a page\n  Args:\n    url: where")).toBe("Reads a page");
  expect(described("Returns the orders")).toBe("Returns the orders");
});

test("finds nothing for a stop word alone [D2]", () => {
  expect(search(catalog, "knit a sweater")).toEqual({
    results: [],
    text: expect.stringMatching(/^No results found\n/),
  });
});

test("lists the closest names and the categories if nothing is found [D2]", () => {
  const tools = createCatalog(
    createSkill("ClockSkill", [{ name: "tick", metadata: { category: "time" } }]),
    createSkill("MapSkill", [{ name: "route", metadata: { category: "travel" } }]),
  );
  const again =
    "Search again with two to four English words that a tool's author would use: a verb and a thing, one intent a search";
  expect(search(tools, "xyzzy")).toEqual({ results: [], text: `No results found\nCategories: time, travel\n${again}` });
  expect(search(tools, "cloc").text).toMatch(/^(?:Found|No results found; did you mean ClockSkill)/);
  expect(search(createCatalog(), "anything").text).toBe("No results found");
});

test("drops detail of the last results first under a token budget [D2]", () => {
  const full = search(catalog, "file", { maxTokens: 1_000 }).text;
  const less = search(catalog, "file", { maxTokens: 120 }).text;
  const least = search(catalog, "file", { maxTokens: 20 }).text;
  expect(full.length).toBeGreaterThan(less.length);
  expect(less.length / 4).toBeLessThanOrEqual(125);
  expect(less.split("\n")[1]).toBe(full.split("\n")[1]);
  expect(least.split("\n")).toHaveLength(4);
});

test("explains an answer with the scores and the part of each word [D2]", () => {
  const [, first] = search(catalog, "web search", { explain: true }).text.split("\n");
  expect(first).toMatch(/— Searches the web with Brave \[0\.\d\d: web 0\.\d\d, search 0\.\d\d/);
});

test("names the replacement of a deprecated method [P10]", () => {
  const skill = createSkill("MathSkill", [{ name: "plus", description: "Adds", metadata: { deprecated: "Use sum" } }]);
  expect(search(createCatalog(skill), "plus").text).toBe(
    "Found 1 result(s):\n- MathSkill.plus(args?: Record<string, unknown>) — Adds (deprecated: Use sum)",
  );
});

test("updates the index when a skill is added, changed or removed [T5]", () => {
  const registry = createRegistry();
  registry.register(createSkill("ZooSkill", [{ name: "feed", description: "Feeds the lions" }]));
  const before = registry.catalog;
  expect(search(registry.catalog, "lions").results).toHaveLength(1);
  registry.register(createSkill("BirdSkill", [{ name: "count", description: "Counts lions and birds" }]));
  expect(search(registry.catalog, "lions").results).toHaveLength(2);
  expect(search(before, "lions").results).toHaveLength(1);
  registry.unregister("ZooSkill");
  expect(search(registry.catalog, "lions").results.map(({ path }) => path)).toEqual(["BirdSkill.count"]);
  registry.register(createSkill("ZooSkill", [{ name: "feed", description: "Feeds the tigers" }]));
  expect(search(registry.catalog, "lions").results.map(({ path }) => path)).toEqual(["BirdSkill.count"]);
  expect(search(registry.catalog, "tigers").results.map(({ path }) => path)).toEqual(["ZooSkill.feed"]);
});

test("still finds the remaining skills after most were removed [T5]", { tags: "rest" }, () => {
  const registry = createRegistry();
  const letter = (at: number): string => String.fromCodePoint(97 + at).repeat(3);
  const word = (at: number): string => letter(at % 26) + letter(Math.floor(at / 26));
  for (let at = 0; at < 300; at++) {
    const methods = Array.from({ length: 20 }, (_, number) => ({
      name: `m${at}n${number}`,
      description: `Common ${word(at)}`,
    }));
    registry.register(createSkill(`S${at}`, methods));
  }
  expect(search(registry.catalog, word(7)).results).toHaveLength(8);
  for (let at = 0; at < 290; at++) registry.unregister(`S${at}`);
  expect(search(registry.catalog, "common", { limit: 100 }).results).toHaveLength(100);
  expect(search(registry.catalog, word(299), { limit: 100 }).results).toHaveLength(20);
  expect(search(registry.catalog, word(7), { limit: 100 }).results).toEqual([]);
  expect(search(registry.catalog, "m295n3").results[0]?.path).toBe("S295.m295n3");
});

test("neither finds, names nor counts methods that a caller may not read [D1]", () => {
  const registry = createRegistry();
  for (const skill of sampleSkills()) registry.register(skill);
  const view = registry.viewFor({ id: "ada", permissions: ["call:WeatherMCP.*", "call:FilesystemMCP.read_*"] });
  for (const query of ["", "send email", "write file", "HassTurnOn", "GithubMCP.delete", "github", "serch", "wirte"]) {
    const { results, text } = search(view, query);
    expect(results.every(({ path }) => /^(?:WeatherMCP\.|FilesystemMCP\.read_)/.test(path))).toBe(true);
    expect(text).not.toMatch(/Github|Mail|Hass|write_file/);
  }
  expect(search(view, "brightness").text).toMatch(/^No results found/);
  expect(search(view, "read the inbox").text).toContain("Words without a match: inbox");
});

describe("answers any query of up to 10,000 characters [D1]", () => {
  const servers = recordedSkills();
  const copies = Array.from({ length: 40 }, (_, at) =>
    servers.map((skill) => ({ ...skill, name: `${skill.name.replace(/MCP$/, "")}${at}MCP` })),
  );
  const large = createCatalog(...sampleSkills(), ...copies.flat());

  test.each([
    ["a"],
    ["😀"],
    ["\u0000\u001F"],
    ["\u202E"],
    ["漢字かな交じり文"],
    ["ﷺ"],
    ["e\u0301\u0302\u0303"],
    ["הזמן"],
    ["%_*?[](){}^$\\"],
    ["aA"],
    ["a_"],
    ["a.b."],
    ["ghp_"],
    ["9"],
    ["the "],
    ["then "],
    ["search files "],
    ["get data. "],
    ["\uD800"],
    ["xq"],
    ["git.git_add "],
  ])("%j, again and again", (text) => {
    expect(search(large, text.repeat(10_000 / text.length)).results.length).toBeLessThanOrEqual(8);
  });

  test("texts of any script", { tags: "rest" }, () => {
    const scripts = [
      [0x00, 0x7f],
      [0x80, 0x24f],
      [0x300, 0x36f],
      [0x370, 0x52f],
      [0x590, 0x6ff],
      [0x900, 0xdff],
      [0xe00, 0xeff],
      [0x2000, 0x2fff],
      [0x3040, 0x30ff],
      [0x4e00, 0x9fff],
      [0xac00, 0xd7a3],
      [0xd800, 0xdfff],
      [0xf900, 0xffff],
      [0x1f300, 0x1faff],
      [0x20000, 0x2ffff],
    ] as const;
    const character = fc.oneof(
      ...scripts.map(([min, max]) => fc.integer({ min, max }).map((point) => String.fromCodePoint(point))),
    );
    const ofOneScript = fc
      .constantFrom(...scripts)
      .chain(([min, max]) => fc.array(fc.integer({ min, max }), { minLength: 1, maxLength: 5_000, size: "max" }))
      .map((points) => points.map((point) => String.fromCodePoint(point)).join(""));
    const mixed = fc.string({ unit: character, maxLength: 5_000, size: "max" });
    const words = fc
      .array(fc.constantFrom(...large.methods.slice(0, 200).flatMap(({ name, description }) => [name, description])))
      .map((texts) => texts.join(" ").slice(0, 10_000));
    fc.assert(
      fc.property(fc.oneof(ofOneScript, mixed, words), (query) => {
        expect(search(large, query).results.length).toBeLessThanOrEqual(8);
      }),
      { numRuns: 100, endOnFailure: true },
    );
  });
});

test("limits the number of results [D1]", () => {
  expect(search(catalog, "file", { limit: 0 }).results).toHaveLength(1);
  expect(search(catalog, "", { limit: 1e9 }).results).toHaveLength(23);
  expect(search(catalog, "", { limit: Number.NaN }).results.length).toBeGreaterThan(0);
});

test("reads the first 128 different words of a query [S13]", () => {
  const words = Array.from({ length: 127 }, (_, at) => `word${at}`).join(" ");
  const { results, text } = search(catalog, `${words} file`);
  expect(results.length).toBeGreaterThan(0);
  expect(search(catalog, `${words} file ${"send an email to Bob. ".repeat(12_000)}`)).toEqual({ results, text });
  expect(search(catalog, `${words} ${"word1 ".repeat(300)}file send`).results[0]?.path).toBe(results[0]?.path);
});

describe("methods of an API", () => {
  const requests = [
    ["issues_create", "Create an issue", "post /repos/{owner}/{repo}/issues"],
    ["issues_listForRepo", "List repository issues", "get /repos/{owner}/{repo}/issues"],
    ["issues_get", "Get an issue", "get /repos/{owner}/{repo}/issues/{issue_number}"],
    ["issues_update", "Update an issue", "patch /repos/{owner}/{repo}/issues/{issue_number}"],
    ["issues_createComment", "Create an issue comment", "post /repos/{owner}/{repo}/issues/{issue_number}/comments"],
    ["issues_deleteComment", "Delete an issue comment", "delete /repos/{owner}/{repo}/issues/comments/{comment_id}"],
    ["orgs_createIssueField", "Create issue field for an organization", "post /orgs/{org}/issue-fields"],
    ["orgs_get", "Get an organization", "get /orgs/{org}"],
    ["orgs_listForUser", "List organizations of a user", "get /users/{username}/orgs"],
    ["pulls_merge", "Merge a pull request", "put /repos/{owner}/{repo}/pulls/{pull_number}/merge"],
    [
      "pulls_checkIfMerged",
      "Check if a pull request was merged",
      "get /repos/{owner}/{repo}/pulls/{pull_number}/merge",
    ],
  ] as const;
  const methods = requests.map(([name, summary, written]) => {
    const [verb = "", path = ""] = written.split(" ");
    const argumentNames = [...path.matchAll(/\{(\w+)\}/g)].map(([, argument = ""]) => argument);
    const description = `${summary}. ${verb.toUpperCase()} ${path}`;
    return { name, description, input: {}, argumentNames, request: { verb, path } };
  });
  const api = createCatalog(createSkill("GithubAPI", methods, { kind: "api" }));

  test.each([
    ["create an issue in a repository", "issues_create"],
    ["all issues of a repo", "issues_listForRepo"],
    ["edit an issue", "issues_update"],
    ["comment on an issue", "issues_createComment"],
    ["remove a comment", "issues_deleteComment"],
    ["get organization", "orgs_get"],
    ["merge a PR", "pulls_merge"],
    ["was the pull request merged", "pulls_checkIfMerged"],
  ])("are found by what their request does: %j finds %s first [D1]", (query, name) => {
    expect(search(api, query).results[0]?.path).toBe(`GithubAPI.${name}`);
  });
});
