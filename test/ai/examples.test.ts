// @module-tag rest

import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const PAGE = readFileSync("docs/library.md", "utf8");

const RUNTIME = `
import { createRuntime, defineSkill } from "skillgate";
const add = { description: "Adds", input: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } }, run: ({ a, b }) => a + b };
const MathSkill = defineSkill({ name: "MathSkill", description: "Adds numbers", methods: { add } });
export const runtime = await createRuntime({ skillsDir: false, skills: [MathSkill], typecheck: false });
process.on("beforeExit", () => runtime.close());`;

/** The model runs a program, then answers with the text of its result. */
const CALL = `const args = { code: "device.MathSkill.add(2, 3)" };`;

const MODEL = `
import { MockLanguageModelV3 } from "ai/test";
${CALL}
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
export const model = new MockLanguageModelV3({
  doGenerate: async ({ prompt }) => {
    const last = prompt.at(-1);
    if (last.role === "user") return {
      content: [{ type: "tool-call", toolCallId: "1", toolName: "run_code", input: JSON.stringify(args) }],
      finishReason: { unified: "tool-calls" }, usage, warnings: [],
    };
    const text = "Answer: " + last.content[0].output.value;
    return { content: [{ type: "text", text }], finishReason: { unified: "stop" }, usage, warnings: [] };
  },
});`;

const OPENAI = `
${CALL}
const answer = ({ messages, tools }) => {
  const last = messages.at(-1);
  if (last.role === "tool") return { role: "assistant", content: "Answer: " + last.content };
  const { name } = tools.at(-1).function;
  return { role: "assistant", tool_calls: [{ id: "1", function: { name, arguments: JSON.stringify(args) } }] };
};
export const client = { chat: { completions: { create: async (request) => ({ choices: [{ message: answer(request) }] }) } } };`;

const ANTHROPIC = `
${CALL}
const answer = ({ messages, tools }) => {
  const [result] = messages.at(-1).content;
  if (result.type === "tool_result") return { type: "text", text: "Answer: " + result.content };
  return { type: "tool_use", id: "1", name: tools.at(-1).name, input: args };
};
export const client = { messages: { create: async (request) => ({ content: [answer(request)] }) } };`;

/** A server that speaks the API of Ollama, in the process of the example. */
const OLLAMA = `
import { createServer } from "node:http";
${CALL}
const answer = ({ messages, tools, stream }) => {
  const last = messages.at(-1);
  if (last.role === "tool") return { role: "assistant", content: "Answer: " + last.content };
  const { name } = tools.at(-1).function;
  return { role: "assistant", content: "", tool_calls: [{ function: { name, arguments: args } }] };
};
const server = createServer(async (request, response) => {
  const body = JSON.parse((await request.toArray()).join(""));
  const isChat = request.method === "POST" && request.url === "/api/chat" && body.stream === false;
  response.writeHead(isChat ? 200 : 404, { connection: "close" });
  response.end(JSON.stringify(isChat ? { message: answer(body), done: true } : { error: "not found" }));
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
server.unref();
process.env.OLLAMA_HOST = "http://127.0.0.1:" + server.address().port;`;

test.each([
  ["AI SDK", { "model.js": MODEL }],
  ["OpenAI", { "client.js": OPENAI }],
  ["Anthropic", { "client.js": ANTHROPIC }],
  ["Ollama", { "ollama.js": OLLAMA }],
])("runs the example of docs/library.md for the %s API", (title, files) => {
  const [, example = ""] = new RegExp(`### ${title}\n\n\`\`\`js\n([^]*?)\`\`\``).exec(PAGE) ?? [];
  const folder = join(".cache", `examples-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  try {
    const all = {
      ...files,
      "runtime.js": title === "Ollama" ? `import "./ollama.js";${RUNTIME}` : RUNTIME,
      "example.js": example,
    };
    for (const [name, text] of Object.entries(all)) writeFileSync(join(folder, name), text);
    const { stdout, stderr } = spawnSync(process.execPath, [join(folder, "example.js")], { encoding: "utf8" });
    expect({ stdout, stderr }).toEqual({ stdout: expect.stringMatching(/^Answer: .*\b5\b/), stderr: "" });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
