import { expect, test } from "vitest";

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

test.each(ERAS)(
  "a server gets the _meta of a call, a read and a prompt of a client of %s [M5] [V1]",
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
