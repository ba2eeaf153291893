import { afterAll, describe, expect, test } from "vitest";

import { chooseModel } from "../../src/agent/index.ts";
import { collect, createAgent, createMathRuntime, failWith, getDone, pick, serveReplies } from "../support/agent.ts";

const runtime = await createMathRuntime();
afterAll(() => runtime.close());

const KEY = "sk-own-key-of-the-owner";

describe("the choice of a model", () => {
  test.each([
    ["openai:gpt-5", {}, { OPENAI_API_KEY: KEY }, ["openai", "gpt-5", "https://api.openai.com/v1", KEY]],
    ["gpt-5", {}, { OPENAI_API_KEY: KEY }, ["openai", "gpt-5", "https://api.openai.com/v1", KEY]],
    ["claude-x", {}, { ANTHROPIC_API_KEY: KEY }, ["anthropic", "claude-x", "https://api.anthropic.com/v1", KEY]],
    ["openai:m", {}, { OPENAI_BASE_URL: "http://[::1]:80/v1/" }, ["openai", "m", "http://[::1]/v1", undefined]],
    ["ollama:qwen3:8b", {}, {}, ["ollama", "qwen3:8b", "http://127.0.0.1:11434", undefined]],
    ["ollama:m", {}, { OLLAMA_HOST: "0.0.0.0" }, ["ollama", "m", "http://127.0.0.1:11434", undefined]],
    ["ollama:m", {}, { OLLAMA_HOST: "gpu:8080" }, ["ollama", "m", "http://gpu:8080", undefined]],
    [
      undefined,
      {},
      { ANTHROPIC_API_KEY: KEY },
      ["anthropic", "claude-sonnet-4-5", "https://api.anthropic.com/v1", KEY],
    ],
    [undefined, {}, { OLLAMA_MODEL: "m" }, ["ollama", "m", "http://127.0.0.1:11434", undefined]],
    ["m:7b", { provider: "ollama" as const }, {}, ["ollama", "m:7b", "http://127.0.0.1:11434", undefined]],
  ])("reads %j with the settings %j and the variables %j [G1]", (name, settings, variables, expected) => {
    const choice = chooseModel(name, settings, (variable) => (variables as Record<string, string>)[variable]);
    expect([choice.provider, choice.name, choice.baseUrl, choice.apiKey]).toEqual(expected);
  });

  test("uses the address and the key of the settings only for the provider of the settings [G1]", () => {
    const settings = { model: "openai:m", baseUrl: "http://127.0.0.1:1/v1", keyVariable: "OWN" };
    const variables: Record<string, string> = { OWN: "own-key", ANTHROPIC_API_KEY: KEY };
    const read = (name: string): string | undefined => variables[name];
    expect(chooseModel(undefined, settings, read)).toMatchObject({
      baseUrl: "http://127.0.0.1:1/v1",
      apiKey: "own-key",
    });
    expect(chooseModel("anthropic:m", settings, read)).toMatchObject({
      baseUrl: "https://api.anthropic.com/v1",
      apiKey: KEY,
    });
  });

  test.each([
    ["openai:gpt-5", {}, "the variable OPENAI_API_KEY is not set"],
    [undefined, { OPENAI_BASE_URL: "http://127.0.0.1:1" }, "openai is set up, but no model is named"],
    [undefined, {}, "no key of a provider is set"],
    ["openai:m", { OPENAI_BASE_URL: "ftp://host" }, 'the address of openai is "ftp://host"'],
    ["gemini:m", {}, "Unknown provider of the model: gemini"],
    ["scripted:", {}, "write the file of the script"],
  ])("reports what is missing for %j with %j [G1]", (name, variables, message) => {
    expect(() => chooseModel(name, {}, (variable) => (variables as Record<string, string>)[variable])).toThrow(message);
  });
});

test("does not wait longer than a minute for a busy server, and says so [G1]", async () => {
  await using server = await serveReplies([failWith(429, "come back later", 600)]);
  const events = await collect(createAgent({ runtime, ...server.options("openai") }));
  expect(pick(events, "error")).toMatchObject([
    {
      error: {
        code: "MODEL_BUSY",
        message: expect.stringContaining("come back later"),
        fix: expect.stringContaining("Try again later"),
      },
    },
  ]);
  expect(getDone(events).reason).toBe("error");
});

test("masks the key in the error of a server that repeats it [P9]", async () => {
  await using server = await serveReplies([failWith(401, "invalid key sk-test-key-of-openai")]);
  const events = await collect(createAgent({ runtime, ...server.options("openai") }));
  expect(JSON.stringify(events)).toContain("invalid key [redacted]");
  expect(JSON.stringify(events)).not.toContain("sk-test-key-of-openai");
});

test("reports a server that cannot be reached [G1]", async () => {
  const agent = createAgent({
    runtime,
    model: "ollama:m",
    budgets: { seconds: 1 },
    readVariable: (name) => (name === "OLLAMA_HOST" ? "http://127.0.0.1:9" : undefined),
  });
  const events = await collect(agent);
  expect(pick(events, "error")).toMatchObject([{ error: { code: "MODEL_UNREACHABLE" } }]);
});
