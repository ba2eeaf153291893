import { afterAll, describe, expect, test } from "vitest";

import { collect, createAgent, createMathRuntime, getDone, getShown, pick, WIRES } from "../support/agent.ts";
import { events, rawText, rawToolCall, serveRaw } from "./raw-model-server.ts";

const runtime = await createMathRuntime();
afterAll(() => runtime.close());

const FENCE = "```{fence}\nawait device.MathSkill.add(2, 3)\n```\n";

describe.each(WIRES)("over the wire of %s", (wire) => {
  test("answers invalid JSON of a tool call with what to send instead [G5]", async () => {
    await using server = await serveRaw([rawToolCall(wire, "run_code", '{"code": "1 + '), rawText(wire, "Sorry.")]);
    const found = await collect(createAgent({ runtime, ...server.options(wire) }));
    expect(pick(found, "result")).toMatchObject([
      {
        isError: true,
        text: expect.stringMatching(/^Cannot read the arguments of "run_code" as JSON: .*Send the call again/),
      },
    ]);
    expect(getDone(found)).toMatchObject({ reason: "answer", text: "Sorry." });
    expect(server.bodies).toHaveLength(2);
  });

  test("asks again where a model stops in the middle of a reply", async () => {
    await using server = await serveRaw([rawText(wire, "The sum is 6", "none"), rawText(wire, "The sum is 5.")]);
    const found = await collect(createAgent({ runtime, ...server.options(wire) }));
    expect(pick(found, "notice")).toMatchObject([
      { code: "retry", text: expect.stringContaining("MODEL_UNREACHABLE") },
    ]);
    expect(getDone(found)).toMatchObject({ reason: "answer", text: "The sum is 5." });
  });

  test("asks again where the connection is lost in the middle of a reply", async () => {
    const { body } = rawText(wire, "The sum is 6", "none");
    await using server = await serveRaw([{ body, isDropped: true }, rawText(wire, "The sum is 5.")]);
    const found = await collect(createAgent({ runtime, ...server.options(wire) }));
    expect(pick(found, "notice")).toMatchObject([
      { code: "retry", text: expect.stringContaining("the connection was cut") },
    ]);
    expect(getDone(found)).toMatchObject({ reason: "answer", text: "The sum is 5." });
  });

  test("closes the connection behind a program, and shows nothing of what follows [G2]", async () => {
    const { body } = rawText(wire, `I add.\n${FENCE}The result is 6.`, "none");
    await using server = await serveRaw([{ body, isOpen: true }, rawText(wire, "It is 5.")]);
    const found = await collect(createAgent({ runtime, mode: "code", ...server.options(wire) }));
    await server.abandoned;
    expect(getShown(found).replace(/js run-\w+/, "{fence}")).toBe(`I add.\n${FENCE.trimEnd()}It is 5.`);
    expect(pick(found, "result")).toMatchObject([{ isError: false, text: "5" }]);
    expect(getDone(found).text).toBe("It is 5.");
  });

  test("does not run a program that is cut off at the maximum length of a reply [G2]", async () => {
    await using server = await serveRaw([rawText(wire, "```{fence}\nawait device.MathSkill.add(2,", "length")]);
    const found = await collect(createAgent({ runtime, mode: "code", ...server.options(wire) }));
    expect(pick(found, "code")).toEqual([]);
    expect(getDone(found).reason).toBe("answer");
  });

  test("says that an answer ended at its maximum length", async () => {
    await using server = await serveRaw([rawText(wire, "The sum is", "length")]);
    const found = await collect(createAgent({ runtime, ...server.options(wire) }));
    expect(pick(found, "notice")).toMatchObject([
      { code: "incomplete", text: "The reply is not complete: it reached its maximum length" },
    ]);
    expect(getDone(found)).toMatchObject({ reason: "answer", text: "The sum is" });
  });

  test("reports a reply that is not of this protocol", async () => {
    await using server = await serveRaw(
      Array.from({ length: 4 }, () => ({ body: 'data: {"hello": 1}\n\n{"hello"}\n' })),
    );
    const found = await collect(createAgent({ runtime, budgets: { seconds: 1 }, ...server.options(wire) }));
    expect(["MODEL_REPLY_INVALID", "MODEL_UNREACHABLE"]).toContain(pick(found, "error")[0]?.error.code);
    expect(getDone(found).reason).toBe("error");
  });
});

test.each(["openai", "anthropic"] as const)("reports a page in place of a reply over the wire of %s", async (wire) => {
  await using server = await serveRaw([{ body: "<html>Log in</html>", type: "text/html" }]);
  const found = await collect(createAgent({ runtime, ...server.options(wire) }));
  expect(pick(found, "error")).toMatchObject([
    {
      error: {
        code: "MODEL_REPLY_INVALID",
        message: expect.stringContaining("the server answered with text/html in place of a stream of events"),
      },
    },
  ]);
  expect(server.bodies).toHaveLength(1);
});

test("says that a filter ended a reply, and that there is no answer", async () => {
  const noAnswer = events([{ choices: [{ index: 0, delta: {}, finish_reason: "content_filter" }] }]);
  await using server = await serveRaw([noAnswer, noAnswer]);
  const found = await collect(createAgent({ runtime, ...server.options("openai") }));
  const incomplete = "The reply is not complete: a filter of the server ended it";
  expect(pick(found, "notice").map(({ text }) => text)).toEqual([
    incomplete,
    "The reply was empty; the model is asked again",
    incomplete,
    "The reply was empty; the model gave no answer",
  ]);
});

test("makes a call in the format that came before tool_calls [G5]", async () => {
  const delta = { function_call: { name: "run_code", arguments: '{"code": "device.MathSkill.add(2, 3)"}' } };
  const call = events([
    { choices: [{ index: 0, delta }] },
    { choices: [{ index: 0, delta: {}, finish_reason: "function_call" }] },
  ]);
  await using server = await serveRaw([call, rawText("openai", "It is 5.")]);
  const found = await collect(createAgent({ runtime, ...server.options("openai") }));
  expect(pick(found, "result")).toMatchObject([{ text: "5", isError: false }]);
});

test("sends the size of the context window to Ollama [G1]", async () => {
  await using server = await serveRaw([rawText("ollama", "Hello.")]);
  const settings = { contextTokens: 32_768 };
  await collect(createAgent({ runtime, settings, ...server.options("ollama") }));
  expect(server.bodies).toMatchObject([{ model: "test-model", options: { num_ctx: 32_768 } }]);
});
