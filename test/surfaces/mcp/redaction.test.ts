import { describe, expect, test } from "vitest";

import { serve } from "../serving.ts";
import { takeShare } from "../../support/repetitions.ts";
import { ERAS } from "./raw-client.ts";

const TOKEN = `AIza${"Sy0-".repeat(9)}`;
const CONFIGURED = "correct horse battery";

const REFUSAL = `GET /files/abc123?key=${TOKEN} with ${CONFIGURED}: 400`;

const REFUSING = {
  command: process.execPath,
  args: ["test/fixtures/mcp/refusing.js", Buffer.from(REFUSAL).toString("hex")],
  env: { API_TOKEN: CONFIGURED },
};

const REDACTED = "GET /files/abc123?key=[redacted] with [redacted]: 400";

const REQUESTS: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
  ["tools/call", { name: "get", arguments: {} }],
  ["resources/read", { uri: "note://one" }],
  ["prompts/get", { name: "greet" }],
  ["completion/complete", { ref: { type: "ref/prompt", name: "greet" }, argument: { name: "who", value: "a" } }],
];

describe.each(takeShare(2, ERAS))("errors of a server, for a client of %s", { tags: "repeated" }, (_era, open) => {
  test.each(REQUESTS)("mask secrets in answers to %s, and keep the path of a web API [P9]", async (method, params) => {
    const mcpServers = { refusing: REFUSING };
    const { url, runtime } = await serve({ expose: "both", names: "raw" }, { skills: [], mcpServers });
    await runtime.ready;
    const client = await open(`${url}/mcp`);
    const answer = await client.request(method, params).catch((error: unknown) => error);
    const text = answer instanceof Error ? JSON.stringify([answer.message, answer]) : JSON.stringify(answer);
    expect(text).toContain(REDACTED);
    expect(text).not.toContain(TOKEN);
    expect(text).not.toContain(CONFIGURED);
  });
});
