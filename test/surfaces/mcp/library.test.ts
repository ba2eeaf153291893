import { describe, expect, test } from "vitest";

import type { ResourcesAndPrompts } from "../../../src/model/mcp-features.ts";
import { newClient, oldClient, onElicitation, serve, TestSkill } from "../serving.ts";

const CLIENTS = [
  ["the first generation", oldClient],
  ["the second generation", newClient],
] as const;

let changed = (): void => {};

const OFFERS: ResourcesAndPrompts = {
  resources: [{ uri: "memo://today", name: "today", mimeType: "text/plain" }],
  templates: [{ uriTemplate: "memo://{day}", name: "memo" }],
  prompts: [{ name: "plan", description: "Plans a day", arguments: [{ name: "day", required: true }] }],
  read: (uri) => Promise.resolve({ contents: [{ uri, mimeType: "text/plain", text: `memo of ${uri}` }] }),
  prompt: async (_name, { day = "" }, { client }) => {
    const answer = await client?.ask("elicitation/create", {
      message: "Which mood?",
      requestedSchema: { type: "object", properties: { mood: { type: "string" } } },
    });
    const { content } = answer as { content: { mood: string } };
    const text = `Plan ${day} in a ${content.mood} mood`;
    return { messages: [{ role: "user", content: { type: "text", text } }] };
  },
  complete: () => Promise.resolve({ completion: { values: ["monday"], total: 1, hasMore: false } }),
  subscribe: (_uri, listener) => {
    changed = () => listener("memo://today");
    return () => {};
  },
};

const skills = [{ ...TestSkill, offers: OFFERS }];

describe.each(CLIENTS)("a client of %s [V1]", (_name, connect) => {
  test("lists and reads pages, declarations and resources of skills [V1]", { tags: "rest" }, async () => {
    const { url } = await serve({}, { skills });
    const client = await connect(url);
    const { resources } = await client.listResources();
    expect(resources.map(({ uri, title }) => [uri, title])).toEqual([
      ["memo://today", "TestSkill: today"],
      ["skillgate://declarations", "TypeScript of every method"],
      ["skillgate://skills/TestSkill", undefined],
    ]);
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      "memo://{day}",
      "skillgate://skills/{skill}",
      "skillgate://skills/{skill}/declarations",
      "run://{runId}",
      "result://{runId}/{n}{?offset,length}",
    ]);
    const read = async (uri: string): Promise<unknown> => (await client.readResource({ uri })).contents[0];
    expect(await read("memo://today")).toMatchObject({ text: "memo of memo://today" });
    expect(await read("memo://tomorrow")).toMatchObject({ text: "memo of memo://tomorrow" });
    expect(await read("skillgate://skills/TestSkill")).toMatchObject({
      mimeType: "text/markdown",
      text: expect.stringContaining("Use it in tests only."),
    });
    expect(await read("skillgate://skills/TestSkill/declarations")).toMatchObject({
      mimeType: "text/typescript",
      text: expect.stringContaining("add(a: number, b: number)"),
    });
    for (const uri of ["skillgate://skills/NoSkill", "run://none", "result://none/1", "nothing://here"])
      await expect(client.readResource({ uri })).rejects.toMatchObject({ data: { uri } });
  });

  test("reads the record of its own run [S12]", async () => {
    const { url } = await serve();
    const client = await connect(url);
    const code = "print('hi'); await device.TestSkill.add(1, 2)";
    const { structuredContent } = await client.callTool({ name: "run_code", arguments: { code } });
    const { runId } = structuredContent as { runId: string };
    const { contents } = await client.readResource({ uri: `run://${runId}` });
    const [record] = contents as { text: string }[];
    expect(JSON.parse(record?.text ?? "")).toMatchObject({
      runId,
      caller: "owner",
      kind: "completed",
      source: code,
      value: { sum: 3 },
      output: "hi",
      calls: [{ skill: "TestSkill", method: "add", outcome: "ok", argumentsDigest: expect.any(String) }],
      usage: { calls: 1 },
    });
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toContain(`run://${runId}`);
  });

  test("reads a large result of a program in parts [S11]", async () => {
    const { url } = await serve();
    const client = await connect(url);
    const result = await client.callTool({ name: "run_code", arguments: { code: '"x".repeat(300_000)' } });
    const [{ text = "" } = {}] = result.content as { text?: string }[];
    const uri = /result:\/\/\S+/.exec(text)?.[0] ?? "";
    const { contents } = await client.readResource({ uri: `${uri}?offset=300000` });
    expect(contents).toMatchObject([{ text: 'x"' }]);
  });

  test("lists prompts under their skill's name, and gets one that asks the user [V1]", async () => {
    const { url } = await serve({}, { skills });
    const client = await connect(url);
    onElicitation(client, () => ({ action: "accept", content: { mood: "good" } }));
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual(["use_skills", "TestSkill__plan"]);
    const { messages } = await client.getPrompt({ name: "TestSkill__plan", arguments: { day: "monday" } });
    expect(messages).toEqual([{ role: "user", content: { type: "text", text: "Plan monday in a good mood" } }]);
    const own = await client.getPrompt({ name: "use_skills" });
    expect(JSON.stringify(own.messages)).toContain("You act through three tools");
    await expect(client.getPrompt({ name: "TestSkill__plans" })).rejects.toThrow(
      "Unknown prompt: TestSkill__plans; did you mean TestSkill__plan?",
    );
    const ref = { type: "ref/prompt", name: "TestSkill__plan" } as const;
    const { completion } = await client.complete({ ref, argument: { name: "day", value: "mo" } });
    expect(completion.values).toEqual(["monday"]);
  });
});

test("notifies a subscribed client of a change [V1]", async () => {
  const { url } = await serve({}, { skills });
  const client = await oldClient(url);
  await client.subscribeResource({ uri: "memo://today" });
  const { ResourceUpdatedNotificationSchema } = await import("@modelcontextprotocol/sdk/types.js");
  const heard = new Promise((resolve) => {
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => resolve(params.uri));
  });
  changed();
  expect(await heard).toBe("memo://today");
});
