import { afterAll, describe, expect, test } from "vitest";

import { parseToolCalls } from "../../src/agent/index.ts";
import {
  callCode,
  callTool,
  createAgent,
  createMathRuntime,
  failWith,
  sayText,
  serveReplies,
  WIRES,
} from "../support/agent.ts";

const runtime = await createMathRuntime();
afterAll(() => runtime.close());

const CODE = "await device.MathSkill.add(2, 3)";
const QUESTION = { role: "user", content: "What is 2 + 3?" };

describe.each(WIRES)("chat over the wire of %s", (wire) => {
  test("appends the assistant message and one tool message for each result [G4]", async () => {
    await using server = await serveReplies([callCode(CODE), callTool("nothing", "{}"), sayText("It is 5.")]);
    const agent = createAgent({ runtime, ...server.options(wire) });
    const { content, messages, toolCalls } = await agent.chat([QUESTION]);
    expect({ content, toolCalls }).toEqual({ content: "It is 5.", toolCalls: 2 });
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant", "tool", "assistant"]);
    expect(messages[2]).toMatchObject({ content: "5" });
    expect(messages[4]?.content).toMatch(/^Error: Unknown tool: nothing/);
    expect(agent.messages).toEqual([]);
  });

  test("asks once more without tools after 5 calls [G4]", async () => {
    const calls = [1, 2, 3, 4, 5].map((n) => callCode(`await device.MathSkill.add(${n}, 0)`));
    await using server = await serveReplies([...calls, sayText("Enough.")]);
    const { content, toolCalls } = await createAgent({ runtime, ...server.options(wire) }).chat([QUESTION]);
    expect({ content, toolCalls }).toEqual({ content: "Enough.", toolCalls: 5 });
    const requests = server.requests();
    expect(requests.map(({ tools = [] }) => tools.length)).toEqual([3, 3, 3, 3, 3, 0]);
  });
});

test("makes the calls of one reply in their order, up to the given number [G4]", async () => {
  const toolCalls = [2, 1].map((n) => ({ name: "run_code", arguments: JSON.stringify({ code: `${n}` }) }));
  await using server = await serveReplies([{ response: { toolCalls } }, sayText("Enough.")]);
  const agent = createAgent({ runtime, ...server.options("openai") });
  const { messages } = await agent.chat([QUESTION], { maxToolCalls: 1 });
  expect(messages.filter(({ role }) => role === "tool").map(({ content }) => content)).toEqual(["2", "1"]);
  expect(server.requests()).toHaveLength(2);
});

test("answers a request of a program, with and without tools [G4]", async () => {
  await using server = await serveReplies([callCode(CODE), sayText("It is 5."), sayText("Hello.")]);
  const agent = createAgent({ runtime, ...server.options("openai") });
  const request = { channel: "home", user: "ada", message: "2 + 3?", enable_tools: true };
  expect(await agent.respond(request)).toEqual({ content: "It is 5." });
  expect(await agent.respond({ ...request, enable_tools: false })).toEqual({ content: "Hello." });
  expect(server.requests().at(-1)?.tools).toBeUndefined();
  await expect(agent.respond({ ...request, message: "" })).rejects.toThrow("message of a request must be a text");
});

test("rejects with the error of the model, and reports messages that are none [G4]", async () => {
  await using server = await serveReplies([failWith(403, "not yours")]);
  const agent = createAgent({ runtime, ...server.options("openai") });
  await expect(agent.chat([QUESTION])).rejects.toMatchObject({ code: "MODEL_REFUSED" });
  await expect(agent.chat([{ role: "robot", content: "x" }])).rejects.toThrow(
    "messages[0].role must be system, user, assistant or tool",
  );
  await expect(agent.chat([{ role: "tool", content: "x" }])).rejects.toThrow("messages[0].tool_call_id");
});

test.each([
  [
    "tool_calls",
    { content: null, tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: '{"x":1}' } }] },
  ],
  ["function_call", { content: null, function_call: { name: "f", arguments: '{"x":1}' } }],
  [
    "tool_use",
    {
      content: [
        { type: "text", text: "So." },
        { type: "tool_use", id: "a", name: "f", input: { x: 1 } },
      ],
    },
  ],
  ["JSON", { content: '{"name": "f", "arguments": {"x": 1}}' }],
  ["JSON in a tag", '<tool_call>{"name": "f", "arguments": {"x":1}}</tool_call>'],
])("parses a tool call in the form %s [G5]", (_form, message) => {
  expect(parseToolCalls(message).map((call) => call.function)).toEqual([{ name: "f", arguments: '{"x":1}' }]);
});

test.each([
  [null],
  [1],
  ["Hello"],
  [{ content: "Hello" }],
  [{ tool_calls: [null, { function: 1 }] }],
  [{ content: [null] }],
])("finds no tool call in %j [G5]", (message) => {
  expect(parseToolCalls(message)).toEqual([]);
});
