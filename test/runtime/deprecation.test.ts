import { describe, expect, test } from "vitest";

import { createRuntime, defineSkill } from "../../src/index.ts";
import { project, skillgate } from "../surfaces/cli/command.ts";
import { newClient, oldClient, post, serve } from "../surfaces/serving.ts";

const WARNING = "OldSkill.plus is deprecated: Use OldSkill.sum";

const OldSkill = defineSkill({
  name: "OldSkill",
  description: "Adds",
  methods: {
    plus: { description: "Adds one", deprecated: "Use OldSkill.sum", cacheTtlSeconds: 60, run: () => 2 },
    sum: { description: "Adds", run: () => 2 },
  },
});

describe("a call of a deprecated method warns", () => {
  test("in the notes and the text of a run, and once in its log [P10]", async () => {
    const logged: unknown[] = [];
    await using runtime = await createRuntime({
      skillsDir: false,
      skills: [OldSkill],
      workers: 1,
      log: (...words) => logged.push(words),
    });
    const outcome = await runtime.run("await device.OldSkill.plus() + await device.OldSkill.plus()");
    expect(outcome).toMatchObject({ kind: "completed", value: 4, notes: [WARNING], text: `4\nNote: ${WARNING}` });
    expect(logged).toEqual([["warn", WARNING, "OldSkill.plus"]]);
    expect(await runtime.run("device.OldSkill.sum()")).toMatchObject({ notes: [], text: "2" });
    expect(await runtime.call("OldSkill.plus", {})).toBe(2);
    expect(logged).toHaveLength(2);
  });

  test("in the result object, which also marks cached results [P10] [X5] [X7]", async () => {
    await using runtime = await createRuntime({ skillsDir: false, skills: [OldSkill], workers: 1 });
    const calls = [{ path: "OldSkill.plus" }, { path: "OldSkill.plus" }, { path: "OldSkill.sum" }];
    const shown = { success: true, data: 2, execution_time: expect.any(Number) };
    expect(await runtime.callAll(calls)).toEqual([
      { ...shown, tool_name: "OldSkill.plus", notes: [WARNING] },
      { ...shown, tool_name: "OldSkill.plus", notes: [WARNING], cached: true },
      { ...shown, tool_name: "OldSkill.sum" },
    ]);
  });

  test("in search results and descriptions for programs [P10]", async () => {
    await using runtime = await createRuntime({ skillsDir: false, skills: [OldSkill], workers: 1 });
    const { results, text } = runtime.search("plus");
    expect(results[0]).toMatchObject({ path: "OldSkill.plus", deprecated: "Use OldSkill.sum" });
    expect(text).toContain("(deprecated: Use OldSkill.sum)");
    expect(runtime.search("sum").results[0]).not.toHaveProperty("deprecated");
    const described = runtime.describe("OldSkill.plus");
    expect(described.notes).toEqual(["Deprecated: Use OldSkill.sum"]);
    expect(described.text).toContain("@deprecated Use OldSkill.sum");
    expect(runtime.describe("OldSkill.sum").text).not.toContain("eprecated");
  });

  test("in answers over HTTP, which also mark cached results [P10] [X5]", async () => {
    const { url } = await serve({}, { skills: [OldSkill] });
    const rpc = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "OldSkill.plus", arguments: {} } };
    expect((await post(`${url}/rpc`, rpc)).json).toEqual({
      jsonrpc: "2.0",
      id: 1,
      result: {
        success: true,
        data: 2,
        execution_time: expect.any(Number),
        tool_name: "OldSkill.plus",
        notes: [WARNING],
      },
    });
    const direct = await post(`${url}/tools/OldSkill.plus`, {});
    expect(direct.json).toMatchObject({ data: 2, cached: true, notes: [WARNING] });
    const streamed = await fetch(`${url}/tools/OldSkill.plus`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "text/event-stream" },
      body: "{}",
    });
    const events = await streamed.text();
    expect(events).toContain('"cached":true');
    expect(events).toContain(`"level":"warn","text":"${WARNING}"`);
    const program = { name: "run_code", arguments: { code: "device.OldSkill.plus()" } };
    const ran = await post(`${url}/rpc`, { ...rpc, params: program });
    expect(ran.json).toMatchObject({ result: { data: { value: 2, notes: [WARNING] } } });
  });

  test.each([
    ["the first generation", oldClient],
    ["the second generation", newClient],
  ] as const)("in results for an MCP client of %s [P10]", async (_name, connect) => {
    const { url } = await serve({ expose: "both" }, { skills: [OldSkill] });
    const client = await connect(url);
    const note = { type: "text", text: `Note: ${WARNING}` };
    const called = await client.callTool({ name: "OldSkill__plus", arguments: {} });
    expect(called.content).toEqual([{ type: "text", text: "2" }, note]);
    const ran = await client.callTool({ name: "run_code", arguments: { code: "device.OldSkill.plus()" } });
    expect(ran.content).toEqual([{ type: "text", text: `2\nNote: ${WARNING}` }]);
  });

  test("beside the results of run and call [P10]", { tags: "rest" }, async () => {
    const cwd = project({
      "skills/old.ts": `export class OldSkill {
        /** Adds one.
         * @deprecated Use OldSkill.sum */
        plus() { return 2; }
      }`,
    });
    const note = expect.stringContaining(`Note: ${WARNING}`);
    for (const args of [
      ["call", "OldSkill.plus"],
      ["run", "-e", "device.OldSkill.plus()"],
    ])
      expect(await skillgate(args, { cwd })).toMatchObject({ exit: 0, stdout: "2\n", stderr: note });
    const { stdout } = await skillgate(["call", "OldSkill.plus", "--json"], { cwd });
    expect(JSON.parse(stdout)).toEqual({ path: "OldSkill.plus", value: 2, notes: [WARNING] });
  });
});
