import { expect, test } from "vitest";

import { createRuntime, defineSkill, type Runtime } from "../../src/index.ts";
import { callCode, callTool, collect, createAgent, getDone, pick, sayText, serveReplies } from "../support/agent.ts";

/** A runtime in which a call waits for an approval, and its caller does not wait long. */
async function createPayRuntime(wait: true | "programs" = true): Promise<Runtime> {
  const PaySkill = defineSkill({
    name: "PaySkill",
    description: "Pays",
    methods: {
      pay: {
        description: "Pay a person",
        input: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
        approval: "user",
        run: ({ name }) => `paid ${String(name)}`,
      },
    },
  });
  return createRuntime({
    skillsDir: false,
    skills: [PaySkill],
    typecheck: false,
    approvals: { wait, holdSeconds: 0.5 },
  });
}

async function resume(agent: ReturnType<typeof createAgent>) {
  const events = [];
  for await (const event of agent.resume()) events.push(event);
  return events;
}

test.each(["tools", "code"] as const)(
  "ends when a program waits, and resumes with its outcome: %s [P6, G7]",
  { tags: "rest" },
  async (mode) => {
    await using runtime = await createPayRuntime();
    const program = `const paid = await device.PaySkill.pay("Ada"); paid`;
    await using server = await serveReplies([
      mode === "tools" ? callCode(program) : sayText(`\`\`\`{fence}\n${program}\n\`\`\``),
      sayText("Ada was paid."),
    ]);
    const agent = createAgent({ runtime, mode, ...server.options("openai") });
    const events = await collect(agent, "pay Ada");
    const [waiting] = pick(events, "waiting");
    expect(getDone(events)).toMatchObject({ reason: "waiting", calls: 1 });
    expect(agent.waiting).toEqual({ step: "s1", runId: waiting?.runId, approvals: waiting?.approvals });
    expect(getDone(await resume(agent))).toMatchObject({ reason: "waiting" });
    const [id = ""] = agent.waiting?.approvals ?? [];
    await runtime.approvals.answer(id, { approve: true });
    const resumed = await resume(agent);
    expect(getDone(resumed)).toMatchObject({ reason: "answer", text: "Ada was paid." });
    expect(pick(resumed, "result")).toMatchObject([{ step: "s1", isError: false, text: "paid Ada" }]);
    expect(agent.waiting).toBeUndefined();
    const last = server.requests()[1]?.messages.at(-1);
    expect(last?.role).toBe(mode === "tools" ? "tool" : "user");
    expect(JSON.stringify(last?.content)).toContain("paid Ada");
    expect(server.requests()).toHaveLength(2);
  },
);

test("answers the calls behind a program that waits, and leaves it when a message follows [P6]", async () => {
  await using runtime = await createPayRuntime();
  await using server = await serveReplies([
    {
      response: {
        toolCalls: [
          { name: "run_code", arguments: JSON.stringify({ code: 'await device.PaySkill.pay("Ada")' }) },
          { name: "search_skills", arguments: '{"query": "pay"}' },
        ],
      },
    },
    sayText("Never mind, then."),
  ]);
  const agent = createAgent({ runtime, mode: "tools", ...server.options("openai") });
  const events = await collect(agent, "pay Ada");
  expect(getDone(events).reason).toBe("waiting");
  expect(pick(events, "call_started").map(({ path }) => path)).toEqual(["PaySkill.pay"]);
  const { runId } = agent.waiting ?? { runId: "" };
  expect(getDone(await collect(agent, "never mind")).text).toBe("Never mind, then.");
  const sent = server.requests()[1]?.messages.slice(-4) ?? [];
  expect(sent.map(({ role }) => role)).toEqual(["assistant", "tool", "tool", "user"]);
  expect(JSON.stringify(sent[1])).toContain("was not run, because the program before it waits");
  expect(JSON.stringify(sent[2])).toContain(`Run ${runId} waits for an approval`);
  expect(getDone(await resume(agent)).reason).toBe("answer");
});

test("gives a denial to the model as the failure of the program [P6]", async () => {
  await using runtime = await createPayRuntime();
  await using server = await serveReplies([
    callTool("run_code", '{"code": "await device.PaySkill.pay(\'Ada\')"}'),
    sayText("Not paid."),
  ]);
  const agent = createAgent({ runtime, mode: "tools", ...server.options("anthropic") });
  await collect(agent, "pay Ada");
  const [id = ""] = agent.waiting?.approvals ?? [];
  await runtime.approvals.answer(id, { approve: false });
  const resumed = await resume(agent);
  expect(pick(resumed, "result")[0]).toMatchObject({ isError: true });
  expect(getDone(resumed)).toMatchObject({ reason: "answer", text: "Not paid." });
});

test("does not let a call outside of a program wait for a person [P6]", async () => {
  await using runtime = await createPayRuntime("programs");
  await using server = await serveReplies([
    callTool("PaySkill__pay", '{"name": "Ada"}'),
    sayText("A person must approve."),
  ]);
  const events = await collect(createAgent({ runtime, mode: "tools", ...server.options("openai") }), "pay Ada");
  expect(getDone(events)).toMatchObject({ reason: "answer", text: "A person must approve." });
  const [{ text } = { text: "" }] = pick(events, "result");
  expect(text).toContain("APPROVAL_MISSING");
  const [question] = await runtime.approvals.list();
  expect(question).toMatchObject({ path: "PaySkill.pay", isWaiting: false });
});
