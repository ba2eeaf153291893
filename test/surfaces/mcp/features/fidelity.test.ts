import { expect, test } from "vitest";

import { OWNER } from "../../../../src/model/caller.ts";
import { getServerTexts } from "../../../../src/surfaces/mcp/instructions.ts";
import { takeShare } from "../../../support/repetitions.ts";
import { ERAS, type RawClient } from "../raw-client.ts";
import { type Described, serveDescribed } from "./described.ts";

const META = { "openai/locale": "de-AT", "vendor/deep": { id: [1] } };
/** Members that are for Skillgate, and for nobody behind it. */
const OWN = { "io.modelcontextprotocol/related-task": { taskId: "x" }, "skillgate/idempotency-key": "mine" };

/** A server that says what it has received. */
const ECHO: Described = {
  tools: [{ name: "echo", annotations: { readOnlyHint: true } }],
  resources: [{ uri: "note://meta", name: "meta" }],
  prompts: [{ name: "meta" }],
  capabilities: { prompts: {} },
  echoesMeta: true,
};

/** The `_meta` that a server has received, without the members that each request to it has. */
function received(text: string): object {
  const { _meta: meta } = JSON.parse(text);
  return Object.fromEntries(
    Object.entries(meta).filter(([key]) => !/^io\.modelcontextprotocol\/|progressToken/.test(key)),
  );
}

test.each(takeShare(2, ERAS))(
  "a server gets the _meta of a call, a read and a prompt of a client of %s [M5] [V1]",
  { tags: "repeated" },
  async (era, open) => {
    const { url } = await serveDescribed({ echo: ECHO }, { expose: "both", passMeta: ["openai/locale"] });
    const client = await open(url);
    const send = (method: string, params: object) =>
      request(client, era, method, { ...params, _meta: { ...META, ...OWN } });
    const direct = await send("tools/call", { name: "EchoMCP__echo", arguments: {} });
    expect(received(direct.content[0].text)).toEqual(META);
    const page = await send("tools/call", { name: "echo", arguments: {} });
    expect(received(page.content[0].text)).toEqual(META);
    const { contents } = await send("resources/read", { uri: "note://meta" });
    expect(received(contents[0].text)).toEqual(META);
    const { messages } = await send("prompts/get", { name: "echo__meta", arguments: {} });
    expect(received(messages[0].content.text)).toEqual(META);
    const code = "return (await device.EchoMCP.echo())._meta";
    const { structuredContent } = await send("tools/call", { name: "run_code", arguments: { code } });
    expect(received(JSON.stringify({ _meta: structuredContent.value }))).toEqual({ "openai/locale": "de-AT" });
  },
);

/** A request whose `_meta` has further members; each request of 2026 has some already. */
async function request(client: RawClient, era: string, method: string, params: { readonly _meta: object }) {
  if (era === "2025") return client.request(method, params as never);
  const { _meta: more, ...rest } = params;
  const text = await client.requestText(method, JSON.stringify(rest), more);
  return JSON.parse(text).result;
}

test("the error of a read of a resource that does not exist has the code of the client's version [M5] [V1]", async () => {
  const { url } = await serveDescribed({ empty: { resources: [{ uri: "note://gone", name: "gone" }] } });
  for (const [[, open], code] of [
    [ERAS[0], -32_002],
    [ERAS[1], -32_602],
  ] as const) {
    const client = await open(url);
    await expect(client.request("resources/read", { uri: "note://gone" })).rejects.toMatchObject({
      code,
      message: "no note://gone",
      data: { uri: "note://gone" },
    });
    await expect(client.request("resources/read", { uri: "unknown" })).rejects.toMatchObject({
      code,
      data: { uri: "unknown" },
    });
  }
});

test.each(takeShare(2, ERAS))(
  "with raw names, a client of %s gets names with dots, of up to 128 characters [V1]",
  { tags: "repeated" },
  async (_era, open) => {
    const long = "l".repeat(128);
    const tools = ["notes.add", long, "l".repeat(129), "ü"].map((name) => ({ name }));
    const { url } = await serveDescribed({ a: { tools } }, { expose: "tools", names: "raw" });
    const client = await open(url);
    const names = (await client.request("tools/list")).tools.map(({ name }: { name: string }) => name);
    expect(names).toEqual(expect.arrayContaining(["notes.add", long]));
    expect(names.every((name: string) => /^[\w.-]{1,128}$/.test(name))).toBe(true);
    expect((await client.request("tools/call", { name: "notes.add", arguments: {} })).isError).toBeUndefined();
  },
);

test("a list of tools has whole descriptions, with the white space at their ends, and without invisible characters [V1]", async () => {
  const description = `\n\t${"word ".repeat(4_000)}\n`;
  const inputSchema = { type: "object", properties: { word: { type: "string", description } } };
  const { url } = await serveDescribed(
    {
      a: {
        tools: [
          { name: "long", description, inputSchema },
          { name: "odd", description: "\u200Bx\u0007" },
          { name: "blank", description: " " },
        ],
      },
    },
    { expose: "tools" },
  );
  const { tools } = await (await ERAS[0][1](url)).request("tools/list");
  const descriptionOf = (wanted: string) =>
    tools.find(({ name }: { name: string }) => name === `AMCP__${wanted}`).description;
  expect([descriptionOf("odd"), descriptionOf("blank")]).toEqual(["x", "MCP tool: blank"]);
  const found = tools.find(({ name }: { name: string }) => name === "AMCP__long");
  expect(found.description).toBe(description);
  expect(found.inputSchema.properties.word.description).toBe(description);
});

test("with tools alone, the instructions of servers stand in those of Skillgate, each in its share [V1]", async () => {
  const instructions = (name: string): string => `Rules of ${name}: ${`always ${name}; `.repeat(400)}`;
  const servers = Object.fromEntries(["a", "b", "c"].map((name) => [name, { instructions: instructions(name) }]));
  const { url, runtime } = await serveDescribed({ ...servers, mute: {} }, { expose: "tools" });
  const profile = { name: "a", permissions: ["call:AMCP.*"], except: [], tools: {} };
  const exposure = { expose: "tools", names: "qualified", budgetTokens: 0 } as const;
  expect(url).not.toBe("");
  const all = getServerTexts(runtime, { caller: OWNER, exposure }, "other").instructions;
  for (const name of ["a", "b", "c"]) expect(all).toContain(`\n\n## ${name}\nRules of ${name}: always ${name}`);
  expect(all).not.toContain("mute");
  expect(all.length).toBeLessThanOrEqual(2_048);
  const some = getServerTexts(runtime, { caller: { ...OWNER, profile }, exposure }, "other").instructions;
  expect(some).toContain("Rules of a");
  expect(some).not.toContain("Rules of b");
});

test.each(takeShare(2, ERAS))(
  "a client of %s learns of apps and skills only if there are some [V1] [M7]",
  { tags: "repeated" },
  async (_era, open) => {
    const page = { tools: [{ name: "show", _meta: { ui: { resourceUri: "ui://x" } } }] };
    const extensions = async (description: Described): Promise<readonly string[]> => {
      const { url } = await serveDescribed({ a: description });
      const { capabilities } = await open(url);
      return Object.keys(capabilities.extensions ?? {}).filter((name) => !name.endsWith("/tasks"));
    };
    expect(await extensions({})).toEqual([]);
    expect(await extensions(page)).toEqual(["io.modelcontextprotocol/ui"]);
    expect(await extensions({ skills: [] })).toEqual(["io.modelcontextprotocol/skills"]);
  },
);
