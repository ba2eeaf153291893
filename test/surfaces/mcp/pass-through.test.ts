import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, describe, expect, test } from "vitest";

import { createRuntime, type Outcome, type Runtime } from "../../../src/index.ts";

import { folder, openRuntime, serve, shareRuntime } from "../serving.ts";
import { takeEvery, takeShare } from "../../support/repetitions.ts";
import { ERAS, openLegacy, type RawClient } from "./raw-client.ts";
import { BIN, environment, project } from "./stdio-server.ts";

const RICH = { rich: { command: process.execPath, args: ["test/fixtures/mcp/rich-server.js"] } };
const ICON = "https://clock.example/icon.png";

const serveShared = shareRuntime(() => openRich());
const serveSecret = shareRuntime(() => openRich({ CLOCK_TOKEN: "clock-token-1234567" }));

async function openRich(env: Readonly<Record<string, string>> = {}): Promise<Runtime> {
  const runtime = await openRuntime({ skills: [], mcpServers: { rich: { ...RICH.rich, env } } });
  await runtime.ready;
  return runtime;
}

async function serveRich(expose: "tools" | "both" = "tools"): Promise<string> {
  return `${(await serveShared({ expose })).url}/mcp`;
}

const CLIENT = { elicitation: {}, sampling: {} };

describe.each(takeEvery(2, ERAS))(
  "of a server with tools that need a capability, a client of %s",
  { tags: "repeated" },
  (_era, open) => {
    const capable = async (client: RawClient): Promise<readonly string[]> =>
      (await client.request("tools/list")).tools
        .map(({ name }: { name: string }) => name)
        .filter((name: string) => name.startsWith("RichMCP__ask"));
    const run = (client: RawClient, code: string) =>
      client.request("tools/call", { name: "run_code", arguments: { code } });

    test(
      "gets those whose capability it has, directly, in programs and in searches [M7] [V1]",
      { tags: "rest" },
      async () => {
        const url = await serveRich("both");
        const [all, one, none] = await Promise.all([open(url, CLIENT), open(url, { sampling: {} }), open(url)]);
        expect((await capable(all)).toSorted()).toEqual(["RichMCP__ask_model", "RichMCP__ask_user"]);
        expect(await capable(one)).toEqual(["RichMCP__ask_model"]);
        expect(await capable(none)).toEqual([]);
        const direct = await all.request("tools/call", { name: "RichMCP__ask_user", arguments: {} });
        expect(direct.content[0].text).toBe("asked, elicitation sampling");
        const code = "device.RichMCP.ask_model()";
        expect(await run(one, code)).toMatchObject({ structuredContent: { value: "asked the model" } });
        expect(await run(none, code)).toMatchObject({ isError: true });
        // The verdict on a program depends on what its client answers.
        expect(await run(one, code)).toMatchObject({ structuredContent: { value: "asked the model" } });
        const search = { name: "search_skills", arguments: { query: "ask the model" } };
        expect((await one.request("tools/call", search)).structuredContent.paths).toContain("RichMCP.ask_model");
        expect((await none.request("tools/call", search)).structuredContent.paths).not.toContain("RichMCP.ask_model");
      },
    );

    test(
      "has MCP Apps announced to the server, and those of a server announced to it [M7] [V1]",
      { tags: "rest" },
      async () => {
        const url = await serveRich("both");
        const extension = { mimeTypes: ["text/html;profile=mcp-app"], other: "not passed on" };
        const extensions = { "io.modelcontextprotocol/ui": extension, "x.example/other": {} };
        const [shows, none] = await Promise.all([open(url, { ...CLIENT, extensions }), open(url, CLIENT)]);
        expect(shows.capabilities.extensions).toMatchObject({ "io.modelcontextprotocol/ui": {} });
        const ask = (client: RawClient) => client.request("tools/call", { name: "RichMCP__announced", arguments: {} });
        const announced = { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } };
        expect(JSON.parse((await ask(shows)).content[0].text).extensions).toEqual(announced);
        expect(JSON.parse((await ask(none)).content[0].text).extensions).toBeUndefined();
        const { tools } = await shows.request("tools/list");
        expect(tools.find(({ name }: { name: string }) => name === "RichMCP__show")._meta.ui).toEqual({
          resourceUri: "ui://clock/face.html",
        });
        const { contents } = await shows.request("resources/read", { uri: "ui://clock/face.html" });
        expect(contents[0]._meta.ui).toEqual({
          csp: { connectDomains: ["https://clock.example"] },
          prefersBorder: true,
        });
      },
    );

    test("learns of no MCP Apps if no server has some [V1]", async () => {
      const { url } = await serve({ expose: "both" });
      const { extensions } = (await open(`${url}/mcp`, CLIENT)).capabilities;
      expect(extensions).not.toHaveProperty("io.modelcontextprotocol/ui");
    });

    test("cannot call one without the capability [M7] [V1]", { tags: "rest" }, async () => {
      const url = await serveRich("both");
      const [all, none] = await Promise.all([open(url, CLIENT), open(url)]);
      await all.request("tools/list");
      await expect(none.request("tools/call", { name: "RichMCP__ask_user", arguments: {} })).rejects.toThrow(
        "Unknown tool: RichMCP__ask_user",
      );
    });
  },
);

describe.each(takeShare(2, ERAS))(
  "of a server, a client of %s gets unchanged [M5]",
  { tags: "repeated" },
  (era, open) => {
    test("the title, icons, annotations, execution and _meta of tools [V1]", async () => {
      const client = await open(await serveRich());
      const { tools } = await client.request("tools/list");
      expect(tools.find(({ name }: { name: string }) => name === "RichMCP__show")).toEqual({
        name: "RichMCP__show",
        title: "Show the clock",
        description: "Does show",
        inputSchema: { type: "object" },
        icons: [{ src: ICON, mimeType: "image/png", sizes: ["48x48"] }],
        annotations: { title: "Clock", readOnlyHint: true, "x.example/hint": "calm" },
        // The protocol of 2026 does not have it.
        ...(era === "2025" && { execution: { taskSupport: "optional" } }),
        _meta: { ui: { resourceUri: "ui://clock/face.html" }, "x.example/tag": [1, { deep: true }] },
      });
    });

    test("the _meta of results, the annotations of content, and content of types that it does not know [V1]", async () => {
      const client = await open(await serveRich());
      expect(await client.request("tools/call", { name: "RichMCP__rich", arguments: {} })).toMatchObject({
        content: [
          { type: "text", text: "one", annotations: { audience: ["user"], priority: 0.5 }, _meta: { a: 1 } },
          { type: "image", mimeType: "image/png", data: "iVBORw==", _meta: { "x.example/page": 2 } },
        ],
        structuredContent: { n: 1 },
        _meta: { "x.example/page": { next: "2" } },
      });
      expect(await client.request("tools/call", { name: "RichMCP__hologram", arguments: {} })).toMatchObject({
        content: [
          { type: "text", text: "see" },
          { type: "hologram", depth: 3, data: "AAEC" },
        ],
        extra: 1,
      });
    });

    test.each([
      ["resources/read", { uri: "zone:///refused" }, "zone"],
      ["prompts/get", { name: "rich__tell", arguments: { zone: "refused" } }, "prompt"],
      [
        "completion/complete",
        { ref: { type: "ref/prompt", name: "rich__tell" }, argument: { name: "zone", value: "refused" } },
        "value",
      ],
    ])("the code and data of an error of %s, without secrets [V1] [P9]", async (method, params, word) => {
      const { url } = await serveSecret({ expose: "tools" });
      const client = await open(`${url}/mcp`);
      await expect(client.request(method, params)).rejects.toMatchObject({
        code: -32032,
        message: `no ${word}`,
        data: { word, token: "[redacted]" },
      });
    });

    test("the code and data of errors, and the images of failed tools [V1]", async () => {
      const client = await open(await serveRich());
      await expect(client.request("tools/call", { name: "RichMCP__refuse", arguments: {} })).rejects.toMatchObject({
        code: -32031,
        message: "no such city",
        data: { near: ["Athens"] },
      });
      expect(await client.request("tools/call", { name: "RichMCP__fail", arguments: {} })).toMatchObject({
        isError: true,
        content: [
          { type: "text", text: "out of paper" },
          { type: "image", mimeType: "image/png", data: "iVBORw==", _meta: { "x.example/page": 2 } },
        ],
        structuredContent: { tray: 2, left: 0 },
      });
    });

    test("the fields of resources, templates and their contents [V1]", async () => {
      const client = await open(await serveRich());
      const { resources } = await client.request("resources/list");
      expect(resources[0]).toEqual({
        uri: "ui://clock/face.html",
        name: "face",
        title: "rich: Face",
        mimeType: "text/html;profile=mcp-app",
        icons: [{ src: "data:image/png;base64,AA==" }],
        annotations: { priority: 1 },
        _meta: { ui: { csp: { connectDomains: ["https://clock.example"] } } },
      });
      const { resourceTemplates } = await client.request("resources/templates/list");
      expect(resourceTemplates[0]).toEqual({
        uriTemplate: "zone:///{name}",
        name: "zone",
        title: "rich: zone",
        icons: [{ src: "https://clock.example/zone.png" }],
        _meta: { "x.example/kind": "zone" },
      });
      expect(await client.request("resources/read", { uri: "zone:///utc" })).toMatchObject({
        contents: [
          {
            uri: "zone:///utc",
            mimeType: "text/html;profile=mcp-app",
            text: "<p>12:00</p>",
            _meta: { ui: { csp: { connectDomains: ["https://clock.example"] }, prefersBorder: true } },
          },
        ],
        _meta: { "x.example/read": true },
      });
    });

    test("the fields of prompts and their messages [V1]", async () => {
      const client = await open(await serveRich());
      const { prompts } = await client.request("prompts/list");
      expect(prompts).toEqual([
        {
          name: "rich__tell",
          title: "Tell the time",
          icons: [{ src: "https://clock.example/tell.png" }],
          arguments: [{ name: "zone", required: true }],
          _meta: { "x.example/kind": "prompt" },
        },
      ]);
      const got = await client.request("prompts/get", { name: "rich__tell", arguments: { zone: "utc" } });
      expect(got).toMatchObject({
        description: "Tell",
        messages: [
          {
            role: "user",
            content: { type: "text", text: "In utc", annotations: { priority: 1 }, _meta: { b: 2 } },
          },
          { role: "user", content: { type: "hologram", depth: 4 } },
        ],
        _meta: { "x.example/got": true },
      });
    });

    test("the completions of prompts and templates [V1]", async () => {
      const client = await open(await serveRich());
      const prompt = await client.request("completion/complete", {
        ref: { type: "ref/prompt", name: "rich__tell" },
        argument: { name: "zone", value: "u" },
        context: { arguments: { day: "monday" } },
      });
      expect(prompt.completion).toEqual({ values: ["ref/prompt tell zone=u monday"], total: 7, hasMore: true });
      const template = await client.request("completion/complete", {
        ref: { type: "ref/resource", uri: "zone:///{name}" },
        argument: { name: "name", value: "" },
      });
      expect(template.completion.values).toEqual(["ref/resource zone:///{name} name= undefined"]);
    });
  },
);

test.each(takeShare(2, ERAS))(
  "a client of %s gets the skills of a server, and their files [M7]",
  { tags: "repeated" },
  async (_era, open) => {
    const client = await open(await serveRich());
    expect(client.capabilities.extensions).toMatchObject({ "io.modelcontextprotocol/skills": {} });
    const { skills } = await client.request("skills/list");
    expect(skills).toMatchObject([
      { uri: "skill://clock/SKILL.md", frontmatter: { name: "clock", description: "How to read the clock" } },
    ]);
    const { skill } = await client.request("skills/get", { uri: "skill://clock/SKILL.md" });
    expect(skill).toEqual({ ...skills[0], _meta: { c: 3 } });
    const { contents } = await client.request("resources/read", { uri: "skill://clock/hands.md" });
    expect(contents).toMatchObject([{ uri: "skill://clock/hands.md", text: "<p>12:00</p>" }]);
    await expect(client.request("skills/get", { uri: "skill://moon/SKILL.md" })).rejects.toMatchObject({
      code: -32602,
      message: 'Unknown skill: "skill://moon/SKILL.md"; skills/list has the URIs',
    });
    await expect(client.request("skills/get", { uri: 7 })).rejects.toMatchObject({ code: -32602 });
    // The server answers for what it has not listed.
    const unlisted = await client.request("resources/read", { uri: "skill://moon/hands.md" });
    expect(unlisted.contents).toMatchObject([{ uri: "skill://moon/hands.md" }]);
    await expect(client.request("resources/read", { uri: "skill://moon/refused" })).rejects.toThrow("no zone");
  },
);

test("a program reads the skills of a server [M7]", async () => {
  const outcome = await runRich(
    "const [first] = await device.RichMCP.skills.list(); return [first.frontmatter.name, (await device.RichMCP.skills.get(first.uri)).uri]",
  );
  expect(outcome).toMatchObject({ kind: "completed", value: ["clock", "skill://clock/SKILL.md"] });
});

test("a field of a tool that is not as the protocol has it is left out; the rest of the list stays valid [M5]", async () => {
  const file = join(folder(), "tools.json");
  const inputSchema = { type: "object" };
  const odd = { title: 7, icons: "icon.png", annotations: { readOnlyHint: "yes" }, execution: [], _meta: "none" };
  const hidden = { title: "Sp\u200Bring", annotations: { title: "a\u202Eb" }, icons: [{ href: "x" }] };
  writeFileSync(
    file,
    JSON.stringify([
      { name: "odd", description: "Is odd", inputSchema, ...odd },
      { name: "hidden", description: "Hides", inputSchema, ...hidden },
    ]),
  );
  const fixture = { command: process.execPath, args: ["test/fixtures/mcp/server.js", `tools=${file}`] };
  const { url, runtime } = await serve({ expose: "tools" }, { skills: [], mcpServers: { fixture } });
  await runtime.ready;
  const client = await openLegacy(`${url}/mcp`);
  expect((await client.request("tools/list")).tools).toEqual([
    { name: "FixtureMCP__hidden", title: "Spring", description: "Hides", inputSchema, annotations: { title: "ab" } },
    { name: "FixtureMCP__odd", description: "Is odd", inputSchema },
  ]);
});

const CLOCK_TOKEN = "tok-5up3r-s3cret-9d8f7";

let programs: Promise<Runtime> | undefined;
afterAll(async () => (await programs)?.close());

/** Runs a program in a runtime that all programs share. */
async function runRich(source: string): Promise<Outcome> {
  programs ??= createRuntime({
    skillsDir: false,
    workers: 1,
    mcpServers: { rich: { ...RICH.rich, env: { CLOCK_TOKEN } } },
  });
  const runtime = await programs;
  await runtime.ready;
  return runtime.run(source);
}

describe("a program [M5]", () => {
  test("reads the code and the data of an error of a server, without secrets [P9]", async () => {
    const outcome = await runRich(
      `try { await device.RichMCP.refuse() } catch ({ name, code, data, message }) { return { name, code, data, message } }`,
    );
    expect(outcome).toMatchObject({
      kind: "completed",
      value: {
        name: "CallError",
        code: -32031,
        data: { near: ["Athens"], token: "[secret:1]" },
        message: "no such city",
      },
    });
  });

  test("reads the structured content and the images of a tool that failed", async () => {
    const outcome = await runRich(
      `try { await device.RichMCP.fail() } catch ({ code, data, content }) { return { code, data, content } }`,
    );
    expect(outcome).toMatchObject({
      kind: "completed",
      value: {
        code: "CALL_FAILED",
        data: { tray: 2, left: 0 },
        content: [{ type: "image", mimeType: "image/png", data: "iVBORw==" }],
      },
    });
  });

  test("that does not catch an error of a server fails with the code of the table", async () => {
    expect(await runRich("await device.RichMCP.refuse()")).toMatchObject({
      kind: "failed",
      error: { name: "CallError", code: "CALL_FAILED", message: "no such city", server: "rich" },
    });
  });
});

test("a search finds a server by its instructions [D1]", async () => {
  const { runtime } = await serve({}, { mcpServers: RICH });
  await runtime.ready;
  const { results } = runtime.search("wind the pendulum");
  expect(results[0]?.path).toMatch(/^RichMCP\./);
});

test(
  "gives a capable client over stdio its tools, also if its first list is answered before the start [M7] [V1]",
  { tags: "rest" },
  async () => {
    const rich = { ...RICH.rich, args: [resolve("test/fixtures/mcp/rich-server.js")] };
    const cwd = project({ ".mcp.json": JSON.stringify({ mcpServers: { rich } }) });
    for (const _start of ["the first", "a later one"]) {
      const client = new Client({ name: "test", version: "1" }, { capabilities: { elicitation: {} } });
      const args = [BIN, "serve", "--stdio", "--expose", "tools"];
      const changed = new Promise<void>((settle) =>
        client.setNotificationHandler("notifications/tools/list_changed", () => settle()),
      );
      await client.connect(new StdioClientTransport({ command: process.execPath, args, cwd, env: environment(cwd) }));
      const names = async () => (await client.listTools()).tools.map(({ name }) => name);
      if (!(await names()).includes("RichMCP__ask_user")) await changed;
      await expect.poll(names, { timeout: 10_000 }).toContain("RichMCP__ask_user");
      expect(await names()).not.toContain("RichMCP__ask_model");
      await client.close();
    }
  },
);
