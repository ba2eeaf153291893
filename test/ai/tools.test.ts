import { generateText, stepCountIs, type ToolSet } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { afterAll, expect, test } from "vitest";

import { aiTools, anthropicTools, openaiTools } from "../../src/ai/index.ts";
import { createRuntime, defineSkill, type RuntimeTool } from "../../src/index.ts";
import { BUILTIN_TOOLS } from "../../src/runtime/builtin-tools/index.ts";
import { getServerTexts } from "../../src/surfaces/mcp/instructions.ts";
import { OWNER } from "../../src/model/caller.ts";
import { ADD } from "../support/math-skill.ts";

const MathSkill = defineSkill({ name: "MathSkill", description: "Adds numbers", methods: { add: ADD } });
const SecretSkill = defineSkill({
  name: "SecretSkill",
  description: "Reads",
  methods: { read: { description: "Reads", input: { type: "object" }, run: () => "secret" } },
});
const runtime = await createRuntime({ skillsDir: false, skills: [MathSkill, SecretSkill], typecheck: false });
afterAll(() => runtime.close());

const ADA = { id: "ada", permissions: ["call:MathSkill.*"] };
const CODE = "const sum = await device.MathSkill.add(2, 3); sum * 2";

test("has the names, schemas and texts of the MCP tools [V1]", () => {
  const { description } = getServerTexts(
    runtime,
    { caller: OWNER, exposure: { expose: "code", names: "qualified", budgetTokens: 0 } },
    "other",
  );
  expect(runtime.tools().map(({ name, inputSchema }) => ({ name, inputSchema }))).toEqual(
    BUILTIN_TOOLS.map(({ name, inputSchema }) => ({ name, inputSchema })),
  );
  expect(tool("run_code").description).toBe(description);
  expect(description).toContain("\nMathSkill\n  add(a: number, b: number)");
});

test("returns text and a value for each tool", async () => {
  await expect(tool("run_code").execute({ code: CODE })).resolves.toMatchObject({ value: 10, isError: false });
  const found = await tool("search_skills").execute({ query: "add" });
  expect(found).toMatchObject({ value: [{ path: "MathSkill.add" }], isError: false });
  expect(found.text).toContain("MathSkill.add(");
  await expect(tool("describe_function").execute({ path: "MathSkill.add" })).resolves.toMatchObject({
    value: { kind: "method", path: "MathSkill.add" },
    isError: false,
  });
});

test("returns the mistakes of a model as errors with what to do", async () => {
  const results = await Promise.all([
    tool("run_code").execute({ code: "device.MathSkill.sub(1)" }),
    tool("run_code").execute({ code: "throw new Error('no luck')" }),
    tool("run_code").execute({ code: 1 }),
    tool("describe_function").execute({ path: "MathSkil" }),
  ]);
  expect(results.map(({ value, isError }) => [value, isError])).toEqual(results.map(() => [undefined, true]));
  const texts = results.map(({ text }) => text);
  expect(texts).toEqual([
    expect.stringContaining("add"),
    expect.stringContaining("no luck"),
    expect.stringContaining("code"),
    expect.stringContaining("MathSkill"),
  ]);
});

test("shows and calls only what the caller of the tools may call [P2]", async () => {
  const [, , run] = runtime.tools({ caller: ADA });
  expect(run?.description).toContain("MathSkill");
  expect(run?.description).not.toContain("SecretSkill");
  await expect(run?.execute({ code: "device.SecretSkill.read()" })).resolves.toMatchObject({ isError: true });
  await expect(run?.execute({ code: CODE })).resolves.toMatchObject({ value: 10 });
  const other = { caller: { id: "eve", permissions: [] } };
  await expect(tool("run_code").execute({ code: CODE }, other)).resolves.toMatchObject({ isError: true });
});

test("ends a run when its signal is aborted, and keeps the owner's time limit", async () => {
  const aborted = { signal: AbortSignal.abort() };
  const { text, isError } = await tool("run_code").execute({ code: CODE }, aborted);
  expect({ isError, isCancelled: text.includes("CANCELLED") }).toEqual({ isError: true, isCancelled: true });
  const endless = { code: "for (;;);", timeoutMs: 100_000 };
  const limited = await tool("run_code").execute(endless, { limits: { wallMs: 50 } });
  expect(limited.text).toContain("WALL_LIMIT");
});

test("answers a prompt with the tools in a loop of the AI SDK", async () => {
  const model = new MockLanguageModelV3({
    doGenerate: [
      callOf("run_code", { code: "device.MathSkill.sum(2, 3)" }),
      callOf("run_code", { code: CODE }),
      { ...END, content: [{ type: "text", text: "It is 10" }], finishReason: { unified: "stop", raw: "stop" } },
    ],
  });
  const tools: ToolSet = aiTools(runtime);
  const { text, steps } = await generateText({ model, tools, stopWhen: stepCountIs(5), prompt: "Twice 2 + 3?" });
  expect(text).toBe("It is 10");
  expect(steps[1]?.toolResults).toMatchObject([{ output: { value: 10, isError: false } }]);
  const [first, second, third] = model.doGenerateCalls;
  expect(first?.tools).toMatchObject([
    { name: "search_skills" },
    { name: "describe_function" },
    { name: "run_code", inputSchema: { required: ["code"] }, description: tool("run_code").description },
  ]);
  const schema = first?.tools?.find(({ name }) => name === "run_code") as { readonly inputSchema: object } | undefined;
  expect(schema?.inputSchema).toMatchObject({ properties: { input: { type: "object", additionalProperties: {} } } });
  // The SDK changes the schemas that it gets.
  const input = { type: "object", description: "The value of device.input()" };
  expect(tool("run_code").inputSchema).toMatchObject({ properties: { input } });
  expect(BUILTIN_TOOLS.find(({ name }) => name === "run_code")?.inputSchema["properties"]).toHaveProperty(
    "input",
    input,
  );
  expect(second?.prompt.at(-1)?.content).toMatchObject([
    { type: "tool-result", output: { type: "error-text", value: expect.stringContaining("MathSkill.add") } },
  ]);
  expect(third?.prompt.at(-1)?.content).toMatchObject([
    { output: { type: "text", value: expect.stringMatching(/10/) } },
  ]);
});

test("formats and calls the tools for OpenAI and Anthropic", async () => {
  const openai = openaiTools(runtime, { caller: ADA });
  expect(openai.tools.map((each) => each.function.name)).toEqual(["search_skills", "describe_function", "run_code"]);
  expect(Math.max(...openai.tools.map((each) => each.function.description.length))).toBeLessThanOrEqual(1_024);
  const json = JSON.stringify({ code: CODE });
  await expect(openai.callTool("run_code", json)).resolves.toMatchObject({ value: 10 });
  const anthropic = anthropicTools(runtime);
  expect(anthropic.tools[2]).toMatchObject({ name: "run_code", input_schema: { required: ["code"] } });
  await expect(anthropic.callTool("run_code", { code: CODE })).resolves.toMatchObject({ value: 10 });
});

test("returns an unknown tool and arguments that are not JSON as errors", async () => {
  const { callTool } = openaiTools(runtime);
  await expect(callTool("run_codes", "{}")).resolves.toEqual({
    text: "Unknown tool: run_codes; did you mean run_code?",
    value: undefined,
    isError: true,
  });
  const { text, isError } = await callTool("run_code", '{"code": "1');
  expect({ text, isError }).toEqual({ text: expect.stringContaining("must be an object"), isError: true });
  await expect(callTool("search_skills", "")).resolves.toMatchObject({ isError: false });
});

function tool(name: RuntimeTool["name"]): RuntimeTool {
  const found = runtime.tools().find((each) => each.name === name);
  if (found === undefined) throw new Error(`${name} is missing`);
  return found;
}

const TOKENS = { total: 1, noCache: undefined, cacheRead: undefined, cacheWrite: undefined };
const END = {
  usage: { inputTokens: TOKENS, outputTokens: { total: 1, text: undefined, reasoning: undefined } },
  warnings: [],
};

function callOf(toolName: string, input: unknown) {
  return {
    ...END,
    content: [{ type: "tool-call" as const, toolCallId: "call", toolName, input: JSON.stringify(input) }],
    finishReason: { unified: "tool-calls" as const, raw: "tool-calls" },
  };
}
