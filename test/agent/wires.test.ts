import { afterAll, describe, expect, test } from "vitest";

import {
  callCode,
  callTool,
  collect,
  createAgent,
  createMathRuntime,
  failWith,
  getDone,
  getShown,
  pick,
  sayText,
  serveReplies,
  WIRES,
} from "../support/agent.ts";

const runtime = await createMathRuntime();
afterAll(() => runtime.close());

const CODE = "return await device.MathSkill.add(2, 3);";

describe.each(WIRES)("over the wire of %s", (wire) => {
  test("runs a program and answers, with all events in their order [G1, G7]", async () => {
    await using server = await serveReplies([callCode(CODE), sayText("The sum is 5.")]);
    const agent = createAgent({ runtime, ...server.options(wire) });
    const events = await collect(agent);
    expect(getDone(events)).toMatchObject({ reason: "answer", text: "The sum is 5.", turns: 1, calls: 1 });
    expect(getShown(events)).toBe("The sum is 5.");
    const order = events.map(({ type }) => type).filter((type) => type !== "delta");
    expect(order).toEqual([
      "message",
      "turn",
      "usage",
      "message",
      "code",
      "plan",
      "call_started",
      "call_ended",
      "result",
      "message",
      "turn",
      "usage",
      "message",
      "done",
    ]);
    expect(pick(events, "plan")).toMatchObject([
      { calls: [{ line: 1, path: "MathSkill.add", text: "MathSkill.add(2, 3)" }] },
    ]);
    expect(pick(events, "call_started", "call_ended")).toMatchObject([
      { step: "s1", call: 1, path: "MathSkill.add" },
      { step: "s1", call: 1, path: "MathSkill.add", outcome: "ok" },
    ]);
    const [first, second] = server.requests();
    expect(first?.tools?.map((tool) => tool.function.name)).toEqual(["search_skills", "describe_function", "run_code"]);
    expect(second?.messages.filter(({ role }) => role === "tool")).toMatchObject([{ content: "5" }]);
    expect(agent.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"]);
  });

  test("answers a call of a tool that does not exist with the tools that do [G5]", async () => {
    await using server = await serveReplies([callTool("run_cod", "{}"), sayText("Sorry.")]);
    const events = await collect(createAgent({ runtime, ...server.options(wire) }));
    expect(pick(events, "result")).toMatchObject([
      { isError: true, text: "Unknown tool: run_cod; did you mean run_code?" },
    ]);
    expect(getDone(events).reason).toBe("answer");
  });

  test("asks again after 429 with retry-after, 500 and a cut connection", { tags: "rest" }, async () => {
    await using server = await serveReplies([
      failWith(429, "slow down", 1),
      { ...sayText("The sum is most probably 6, or so", 4), truncateAfterChunks: 2 },
      failWith(500, "out of order"),
      sayText("The sum is 5."),
    ]);
    const events = await collect(createAgent({ runtime, ...server.options(wire) }));
    const notices = pick(events, "notice");
    expect(notices.map(({ code }) => code)).toEqual(["retry", "retry", "retry"]);
    expect(notices[0]).toMatchObject({ waitMs: 1_000, text: expect.stringContaining("slow down") });
    expect(notices[1]?.text).toContain("MODEL_UNREACHABLE");
    expect(getDone(events)).toMatchObject({ reason: "answer", text: "The sum is 5." });
    expect(server.requests()).toHaveLength(4);
  });

  test("reports a refusal of the server with its reason", async () => {
    await using server = await serveReplies([failWith(401, "no such key")]);
    const events = await collect(createAgent({ runtime, ...server.options(wire) }));
    expect(pick(events, "error")).toMatchObject([
      { error: { code: "MODEL_REFUSED", message: expect.stringContaining(`${wire}:test-model: HTTP 401: `) } },
    ]);
    expect(getDone(events).reason).toBe("error");
    expect(server.requests()).toHaveLength(1);
  });
});
