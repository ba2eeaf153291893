import { afterAll, describe, expect, test } from "vitest";

import { createScriptedModel, type ScriptedReply } from "../../src/agent/models/scripted.ts";
import type { AgentOptions, Budgets } from "../../src/agent/index.ts";
import { createRuntime, defineSkill } from "../../src/index.ts";
import { collect, createAgent, createMathRuntime, getDone, getShown, pick } from "../support/agent.ts";
import { ADD } from "../support/math-skill.ts";

const runtime = await createMathRuntime();
afterAll(() => runtime.close());

/** A method that ends only when it is cancelled. */
const WaitSkill = defineSkill({
  name: "WaitSkill",
  description: "Waits",
  methods: {
    wait: {
      description: "Waits",
      input: { type: "object" },
      run: (_input, { signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error))),
    },
  },
});
const waiting = await createRuntime({ skillsDir: false, skills: [WaitSkill], typecheck: false });
afterAll(() => waiting.close());

const WAIT = "await device.WaitSkill.wait()";

/** A block; `{fence}` becomes the fence of programs. */
const fence = (code: string, language = "{fence}"): string => `\`\`\`${language}\n${code}\n\`\`\`\n`;
const SUM = "await device.MathSkill.add(2, 3)";

function agentWith(replies: readonly (string | ScriptedReply)[], options: Partial<AgentOptions> = {}) {
  const script = replies.map((reply) => (typeof reply === "string" ? { text: reply } : reply));
  return createAgent({ runtime, model: createScriptedModel("test", script), ...options });
}

describe("programs in fences", () => {
  const code = (replies: readonly (string | ScriptedReply)[]) => collect(agentWith(replies, { mode: "code" }));

  test.each(["{fence}", "typescript {fence}", "TS:{fence}", "{fence} title=sum"])(
    "runs a block marked %j, where {fence} has the word of the conversation [G2]",
    async (language) => {
      const events = await code([fence(SUM, language), "5"]);
      expect(pick(events, "code")).toEqual([{ type: "code", step: "s1", code: `${SUM}\n` }]);
    },
  );

  test.each([
    ["a block of another language", fence(SUM, "json")],
    ["a block without device and without the word", fence("1 + 1", "js")],
    ["an empty block", fence("")],
    ["prose that mentions device.MathSkill", "You can use device.MathSkill.add for this."],
    ["a program in its thoughts", `<think>\n${fence(SUM)}</think>\nIt is 5.`],
    ["a program in thoughts without their opening tag", `Hm: device.MathSkill\n${fence("1", "js")}</think>\nIt is 5.`],
  ])("runs nothing for %s [G2]", async (_what, text) => {
    const events = await code([text]);
    expect(pick(events, "code")).toEqual([]);
    expect(getDone(events)).toMatchObject({ reason: "answer", turns: 0 });
  });

  test("runs a program that calls nothing [G2]", async () => {
    expect(pick(await code([fence("1 + 1"), "2"]), "result")).toMatchObject([{ text: "2" }]);
  });

  test("sends the result back with its name, its outcome and what to do next [G2]", async () => {
    const agent = agentWith([fence(SUM), fence("await device.MathSkill.sub(1)"), "5"], { mode: "code" });
    await collect(agent);
    const [, , success, , failure] = agent.messages;
    expect(success).toEqual({
      role: "user",
      content:
        "[Tool Result: run_code — SUCCESS]\n5\n\nAnswer the user from this result, or send one more program if something is missing.",
    });
    expect(failure?.content).toMatch(
      /^\[Tool Result: run_code — ERROR\]\n[^]*sub[^]*\^[^]*send the whole program again/,
    );
  });

  test("runs at most 3 programs of a reply, and cuts the reply behind them [G2]", async () => {
    const blocks = [1, 2, 3, 4].map((n) => fence(`await device.MathSkill.add(${n}, 0)`));
    const events = await code([`First:\n${blocks.join("\n")}\nAll is done.`, "5"]);
    expect(pick(events, "result").map(({ text }) => text)).toEqual(["1", "2", "3"]);
    expect(getShown(events)).not.toContain("All is done");
  });

  test("cuts a reply at text or at another block that follows a program [G2]", async () => {
    const prose = await code([`${fence(SUM)}The result is 6.\n${fence(SUM)}`, "5"]);
    expect(pick(prose, "code")).toHaveLength(1);
    const block = await code([`${fence(SUM)}${fence("6", "json")}The result is 6.`, "5"]);
    expect(getShown(block)).toMatch(/^```js run-\w+\n.*\n```5$/);
  });

  test("runs a program that stands twice in one reply once [G6]", async () => {
    const events = await code([fence(SUM) + fence(SUM), "5"]);
    expect(pick(events, "result")).toHaveLength(1);
    expect(pick(events, "notice").map(({ code: notice }) => notice)).toContain("skipped");
  });

  test("separates thoughts from the text while both are streamed [G7]", async () => {
    const events = await code([`<think>Let me see: a < b</think>\n\nThe answer.`]);
    expect(getShown(events, "thinking")).toBe("Let me see: a < b");
    expect(getShown(events)).toBe("The answer.");
  });

  test("ends after 5 replies with programs, with one further reply [G2]", async () => {
    const programs = [1, 2, 3, 4, 5].map((n) => fence(`await device.MathSkill.add(${n}, 0)`));
    const events = await code([...programs, "It may be 5."]);
    expect(getDone(events)).toMatchObject({ reason: "budget", budget: "turns", turns: 5, text: "It may be 5." });
  });
});

describe("the mode auto", () => {
  test("changes to programs in fences where the model writes them [G2]", async () => {
    const events = await collect(agentWith([fence(SUM), "5"]));
    expect(pick(events, "turn").map(({ mode }) => mode)).toEqual(["tools", "code"]);
    expect(pick(events, "notice")[0]).toMatchObject({ code: "mode" });
  });

  test("changes to programs in fences where the server offers no tools [G2]", async () => {
    const refusal = { error: { status: 400, message: "test does not support tools" } };
    const events = await collect(agentWith([refusal, fence(SUM), "5"]));
    expect(pick(events, "turn").map(({ mode }) => mode)).toEqual(["tools", "code", "code"]);
    expect(getDone(events)).toMatchObject({ reason: "answer", text: "5" });
  });

  test("runs no example in the answer of a model that calls tools [G2]", async () => {
    const events = await collect(agentWith([{ code: SUM }, `Write:\n${fence(SUM)}`]));
    expect(pick(events, "code")).toHaveLength(1);
    expect(getDone(events).reason).toBe("answer");
  });
});

describe("tool calls", () => {
  test("reads calls that are written as JSON in a text [G5]", async () => {
    const call = JSON.stringify({ name: "run_code", arguments: { code: SUM } });
    for (const text of [call, `<tool_call>\n${call}\n</tool_call>`, fence(call, "json")]) {
      const events = await collect(agentWith([text, "5"]));
      expect(pick(events, "result")).toMatchObject([{ name: "run_code", text: "5" }]);
    }
  });

  test("calls a method by its own name if it is unambiguous, else lists the whole names [G5]", async () => {
    const skills = ["OneSkill", "TwoSkill"].map((name) =>
      defineSkill({ name, description: name, methods: { add: ADD, [`only${name}`]: ADD } }),
    );
    await using two = await createRuntime({ skillsDir: false, skills, typecheck: false });
    const tools = ["add", "onlyOneSkill", "OneSkill.add", "TwoSkill__add"].map((name) => ({
      name,
      arguments: { a: 2, b: 3 },
    }));
    const events = await collect(agentWith([{ tools }, "5"], { runtime: two }));
    expect(pick(events, "result").map(({ text }) => text)).toEqual([
      "Several methods are called add: OneSkill.add, TwoSkill.add. Call one of them by its whole name",
      "5",
      "5",
      "5",
    ]);
  });

  test("makes identical calls of one reply once, and repeats a call of an earlier reply with a notice [G6]", async () => {
    const call = { name: "run_code", arguments: { code: SUM } };
    const agent = agentWith([{ tools: [call, call] }, { tools: [call] }, "5"]);
    const events = await collect(agent);
    expect(pick(events, "code")).toHaveLength(2);
    expect(pick(events, "notice").map(({ code }) => code)).toEqual(["skipped", "repeated"]);
    const results = agent.messages.filter(({ role }) => role === "tool").map(({ content }) => content);
    expect(results).toEqual(["5", expect.stringContaining("it ran once"), expect.stringContaining("done before")]);
  });

  test("asks once more after an empty reply [G6]", async () => {
    const events = await collect(agentWith(["", "5"]));
    expect(pick(events, "notice")).toMatchObject([{ code: "empty" }]);
    expect(getDone(events).text).toBe("5");
    expect(getDone(await collect(agentWith(["", ""])))).toMatchObject({ reason: "answer", text: "" });
  });

  test("sends refusals and failures back with their frames [G2]", async () => {
    const events = await collect(agentWith([{ code: "device.MathSkill.ad(1, 2)" }, { code: "null.x" }, "No."]));
    const [refused, failed] = pick(events, "result");
    expect(refused).toMatchObject({ isError: true, outcome: { kind: "refused" } });
    expect(refused?.text).toMatch(/METHOD_UNKNOWN[^]*\^/);
    expect(failed?.text).toMatch(/line 1[^]*\^/);
  });
});

describe("native mode", () => {
  const many = (count: number) =>
    createRuntime({
      skillsDir: false,
      typecheck: false,
      skills: [
        defineSkill({
          name: "ManySkill",
          description: "Many methods",
          methods: Object.fromEntries(
            Array.from({ length: count }, (_, n) => [`method${n}`, { ...ADD, description: `Does number ${n}` }]),
          ),
        }),
      ],
    });

  test("offers each method as a tool, up to 15 [G3]", async () => {
    await using few = await many(15);
    const { options, requests } = spyOnTools([
      { tools: [{ name: "ManySkill__method3", arguments: { a: 1, b: 2 } }] },
      "3",
    ]);
    const events = await collect(createAgent({ runtime: few, mode: "native", ...options }));
    expect(requests[0]).toHaveLength(15);
    expect(requests[0]).toContain("ManySkill__method3");
    expect(pick(events, "call_started", "call_ended")).toMatchObject([
      { path: "ManySkill.method3" },
      { outcome: "ok" },
    ]);
    expect(getDone(events)).toMatchObject({ text: "3", calls: 1 });
  });

  test("offers above 15 methods only those that a search found or that were used [G3]", async () => {
    await using all = await many(40);
    const { options, requests } = spyOnTools([
      { tools: [{ name: "search_skills", arguments: { query: "method31", limit: 1 } }] },
      { tools: [{ name: "ManySkill__method31", arguments: { a: 1, b: 2 } }] },
      "3",
    ]);
    await collect(createAgent({ runtime: all, mode: "native", ...options }), "hello");
    expect(requests.every((names) => names.length <= 15 && names[0] === "search_skills")).toBe(true);
    expect(requests[0]).not.toContain("ManySkill__method31");
    expect(requests[1]?.[1]).toBe("ManySkill__method31");
    expect(requests[2]).toContain("ManySkill__method31");
  });
});

describe("budgets", () => {
  test("ends at the budget of calls, with an answer [G2]", async () => {
    const events = await collect(agentWith([{ code: SUM }, "It is 5."], { budgets: { calls: 1 } }));
    expect(getDone(events)).toMatchObject({ reason: "budget", budget: "calls", calls: 1, text: "It is 5." });
  });

  test("ends at the budget of tokens, and of seconds [G2]", async () => {
    const usage = { input: 900, output: 200 };
    const tokens = await collect(agentWith([{ code: SUM, usage }], { budgets: { tokens: 1_000 } }));
    expect(getDone(tokens)).toMatchObject({ reason: "budget", budget: "tokens" });
    const seconds = await collect(agentWith([{ code: WAIT }], { runtime: waiting, budgets: { seconds: 0.2 } }));
    expect(getDone(seconds)).toMatchObject({ reason: "budget", budget: "seconds" });
    expect(pick(seconds, "notice")).toMatchObject([{ code: "budget", text: "The budget of 0.2 seconds is used up" }]);
  });

  test("does not count the time in which a person is asked", { tags: "rest" }, async () => {
    const ask = { ...ADD, approval: "user" as const };
    const PaySkill = defineSkill({ name: "PaySkill", description: "Pays", methods: { pay: ask } });
    await using asking = await createRuntime({ skillsDir: false, skills: [PaySkill], typecheck: false });
    const approve = async () => {
      await new Promise((resolve) => setTimeout(resolve, 1_500)); // longer than the budget of seconds
      return true;
    };
    const replies = [{ code: "await device.PaySkill.pay(2, 3)" }, "Paid."];
    const events = await collect(agentWith(replies, { runtime: asking, approve, budgets: { seconds: 1 } }));
    expect(getDone(events)).toMatchObject({ reason: "answer", text: "Paid." });
  });

  test.each([
    [{ turns: 0 }, "budgets.turns must be a number above 0, not 0"],
    [{ seconds: Number.NaN }, "budgets.seconds must be a number above 0, not NaN"],
    [{ money: 1 }, "budgets has the unknown setting money"],
  ])("refuses budgets that are none: %j", (budgets, message) => {
    expect(() => createAgent({ runtime, budgets: budgets as Partial<Budgets> })).toThrow(message);
  });
});

describe("a conversation", () => {
  test("continues with the next message", async () => {
    const agent = agentWith(["Hello.", "Again."]);
    await collect(agent, "hi");
    await collect(agent, "hi again");
    expect(agent.messages.map(({ content }) => content)).toEqual(["hi", "Hello.", "hi again", "Again."]);
  });

  test("can be cancelled while a program runs, and continues afterwards [G7]", async () => {
    const agent = agentWith([{ tools: [run(WAIT), run(`1; ${WAIT}`)] }, "Hello."], { runtime: waiting });
    const controller = new AbortController();
    const events: string[] = [];
    for await (const event of agent.send("wait", { signal: controller.signal })) {
      if (event.type === "call_started") controller.abort();
      events.push(event.type === "done" ? event.reason : event.type);
    }
    expect(events.at(-1)).toBe("cancelled");
    const [, assistant, ...results] = agent.messages;
    expect(assistant).toMatchObject({ tool_calls: [{}, {}] });
    expect(results.map(({ role }) => role)).toEqual(["tool", "tool"]);
    expect(getDone(await collect(agent, "hi")).text).toBe("Hello.");
  });

  test("is cancelled when its events are not read any more [G7]", async () => {
    const agent = agentWith([{ code: WAIT }, "Hello."], { runtime: waiting });
    for await (const event of agent.send("wait")) if (event.type === "call_started") break;
    expect(getDone(await collect(agent, "hi")).text).toBe("Hello.");
  });

  test("takes one message at a time", async () => {
    const agent = agentWith(["Hello."]);
    const events = agent.send("one");
    expect(() => agent.send("two")).toThrow("(AGENT_BUSY)");
    await events.return?.();
  });

  test("shortens old results where the context window is too small", async () => {
    const print = { code: `"x".repeat(3000) + ${SUM}` };
    const replies = [
      print,
      { code: `1; ${print.code}` },
      { code: `2; ${print.code}` },
      { code: `3; ${print.code}` },
      "5",
    ];
    const settings = { contextTokens: 5_500 };
    const events = await collect(agentWith(replies, { settings }));
    expect(pick(events, "notice")).toContainEqual(expect.objectContaining({ code: "context" }));
    expect(getDone(events).text).toBe("5");
  });
});

function run(code: string) {
  return { name: "run_code", arguments: { code } };
}

/** A scripted model that records the names of the tools of each request. */
function spyOnTools(replies: readonly (string | ScriptedReply)[]) {
  const requests: string[][] = [];
  const script = replies.map((reply) => (typeof reply === "string" ? { text: reply } : reply));
  const scripted = createScriptedModel("test", script);
  const doStream: typeof scripted.doStream = (options) => {
    requests.push((options.tools ?? []).map(({ name }) => name));
    return scripted.doStream(options);
  };
  return { options: { model: { ...scripted, doStream } }, requests };
}
