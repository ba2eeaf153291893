import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { createRuntime, defineSkill, type Limits, type Outcome, type Runtime } from "../../src/index.ts";
import { ADD } from "../support/math-skill.ts";

const A_CALLER = "caller must be an object";
const A_STATE = "the state of approvals must be";
const EVE = { id: "eve", permissions: [] };

const MathSkill = defineSkill({
  name: "MathSkill",
  description: "Does sums",
  methods: {
    add: ADD,
    fail: {
      description: "Always fails",
      run: async () => {
        throw new Error("the disk is full");
      },
    },
    hang: { description: "Never answers", timeoutMs: 50, run: () => new Promise(() => {}) },
    bytes: {
      description: "Gives bytes and a date",
      run: async () => ({ bytes: new Uint8Array([1, 2]), date: new Date(0) }),
    },
    echo: {
      description: "Gives back what it got",
      input: { type: "object", properties: { value: {} }, required: ["value"] },
      run: async ({ value }: { value: unknown }) => value,
    },
  },
});

let runtime: Runtime;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "skillgate-"));
  writeFileSync(join(folder, "notes.txt"), "alpha\nbeta\n");
  runtime = await createRuntime({
    skillsDir: false,
    skills: [MathSkill],
    mcpServers: {
      filesystem: {
        command: process.execPath,
        args: ["node_modules/@modelcontextprotocol/server-filesystem/dist/index.js", folder],
      },
      broken: { command: process.execPath, args: ["-e", "process.exit(3)"] },
    },
    limits: { cpuMs: 500, wallMs: 5_000 },
  });
  await runtime.ready;
});

afterAll(async () => {
  await runtime.close();
  rmSync(folder, { recursive: true });
});

async function value(source: string): Promise<unknown> {
  const outcome = await runtime.run(source);
  expect(outcome, outcome.text).toMatchObject({ kind: "completed" });
  return outcome.kind === "completed" ? outcome.value : undefined;
}

async function failure(
  source: string,
  limits: Partial<Limits> = {},
): Promise<Extract<Outcome, { kind: "failed" }>["error"]> {
  const outcome = await runtime.run(source, { limits });
  if (outcome.kind !== "failed") throw new Error(`it ${outcome.kind}: ${outcome.text}`);
  return outcome.error;
}

describe("the pipeline of a program", () => {
  test("passes arguments in every form to the skill [S1]", async () => {
    expect(await value("device.MathSkill.add(2, 3)")).toBe(5);
    expect(await value("await device.MathSkill.add({ a: 2, b: 3 })")).toBe(5);
    expect(await value("device.MathSkill.add(a=2, b=3)")).toBe(5);
    expect(await value("device.MathSkill.add(2, { b: 3 })")).toBe(5);
  });

  test("passes named arguments in every form to a real MCP server [S1, M5]", async () => {
    const lines = ["({ path: FOLDER })", "(FOLDER)", "(path=FOLDER)"].map((args) =>
      args.replace("FOLDER", JSON.stringify(folder)),
    );
    for (const args of lines) {
      const source = `const r = await device.FilesystemMCP.list_directory${args}; r.content.split("\\n")`;
      expect(await value(source)).toEqual(["[FILE] notes.txt"]);
    }
  });

  test("gives the right answer despite a forgotten await [S2]", async () => {
    expect(await value("const sum = device.MathSkill.add(1, 2); sum + 1")).toBe(4);
    expect(await value("[1, 2].map((n) => device.MathSkill.add(n, n))")).toEqual([2, 4]);
  });

  test("reports a run without output and value, with its notes [S3]", async () => {
    expect(await runtime.run("const x = 1;")).toMatchObject({
      kind: "completed",
      text: "(no output)\nNote: The program has no result: end it with x",
    });
    expect(await runtime.run("for (const x of []) print(x)")).toMatchObject({ text: "(no output)" });
  });

  test("shows printed text before the value, in order [S3]", async () => {
    const outcome = await runtime.run("print('one'); console.log('two', { a: 1 }); 3");
    expect(outcome).toMatchObject({ output: "one\ntwo {a: 1}", text: "one\ntwo {a: 1}\n3", value: 3 });
  });

  test("keeps bytes and dates on the way in [S9]", async () => {
    expect(
      await value(
        "const r = await device.MathSkill.bytes(); [r.bytes instanceof Uint8Array, r.bytes[1], r.date.getTime()]",
      ),
    ).toEqual([true, 2, 0]);
  });

  test("returns bytes as bytes, and passes bytes to a skill [S9]", async () => {
    expect(await value("new Uint8Array([7, 8])")).toEqual(new Uint8Array([7, 8]));
    expect(await value("(await device.MathSkill.echo(new Uint8Array([7, 8])))[1]")).toBe(8);
  });

  test("lets the program catch a failed call with all its facts [S10]", async () => {
    const source =
      "try { await device.MathSkill.fail() } catch (e) { [e instanceof Error, e.name, e.message, e.code, e.skill, e.method] }";
    expect(await value(source)).toEqual([true, "CallError", "the disk is full", "CALL_FAILED", "MathSkill", "fail"]);
  });

  test("reports an error with the line and column of the model's own text [S10]", async () => {
    const error = await failure("```ts\nconst a: number = 1;\nlet b: { c: string } | null = null;\n\nb.c.length\n```");
    expect(error).toMatchObject({ name: "TypeError", code: "THROWN", line: 5, column: 1 });
    expect(error.frame).toContain("> 5 | b.c.length");
  });

  test.each([
    ["const { a } = none;", 1, 0],
    ["const { a: { b } } = {};", 1, 0],
    ["const [a] = none;", 1, 0],
    ["let [a] = 5;", 1, 0],
    ["var { a } = none, b;", 1, 0],
    ["print(2); const { a } = none;", 1, 10],
    ["let a;\n({ a } = none);", 2, 1],
    ["let a, b;\n[a, b] = none;", 2, 0],
    ["for (const [key] of [1]) print(key)", 1, 0],
    ["for (const { a } of [null]) print(a)", 1, 0],
    ["let a; for ([a] of [1]) print(a)", 1, 7],
    ["outer: for (const { a } of [null]) { continue outer }", 1, 0],
    ["if (true) { const { a } = none; }", 1, 12],
    ["switch (1) { case 1: const { a } = none; }", 1, 21],
    ["class A { static { const { a } = none } }", 1, 19],
    ["const f = () => {\n  const { a } = none;\n};\nf()", 2, 2],
    ["const f = async () => {\n  for await (const [a] of [1]) print(a);\n};\nawait f()", 2, 2],
    ["const { a } = await device.MathSkill.echo({ a: null });\nconst { b } = a;", 2, 0],
    ["export const { a } = none;", 1, 7],
  ])("reports a failed destructuring at its own line: %s [S10]", async (source, line, column) => {
    const error = await failure(`const none = null;\nprint(1);\n${source}`);
    expect(error).toMatchObject({ name: "TypeError", line: line + 2, column });
  });

  test.each([
    ["total = 2;\nprint(total)", 3, 0],
    ["total += 2;\nprint(total)", 3, 6],
    ["let f = print\ntotal = 2\nf", 4, 0],
    ["const f = () => {\n  total++;\n  return total;\n};\nf()", 4, 7],
    ["if (total > 0) total = 2\nelse print(1)\nprint(2)", 3, 15],
    ["total = await device.MathSkill.echo({ a: 1 });\nprint(total)", 3, 35],
  ])("reports an assignment to a constant at its own line: %s [S10]", async (source, line, column) => {
    const error = await failure(`const total = 1;\nprint(1);\n${source}`);
    expect(error).toMatchObject({ name: "TypeError", line, column });
  });

  test("fails a call that takes too long with the exact text, and continues the run [X2]", async () => {
    expect(await value("try { await device.MathSkill.hang() } catch (e) { e.message + ' ' + e.code }")).toBe(
      "Tool 'MathSkill.hang' timed out after 0.05s CALL_TIMEOUT",
    );
  });

  test("reports all violations at once, and calls nothing [S5]", async () => {
    const outcome = await runtime.run(
      "await device.MathSkill.ad(1);\nawait fetch('x');\nawait device.MathSkil.add(1, 2)",
    );
    expect(outcome.kind === "refused" && outcome.violations.map(({ code, line }) => [code, line])).toEqual([
      ["METHOD_UNKNOWN", 1],
      ["GLOBAL_FORBIDDEN", 2],
      ["SKILL_UNKNOWN", 3],
    ]);
  });

  test("shows and runs for a caller only what it was granted [P2]", async () => {
    const caller = { id: "ada", permissions: ["call:MathSkill.echo"] };
    expect(await runtime.run("device.MathSkill.echo(1)", { caller })).toMatchObject({ kind: "completed", value: 1 });
    expect(await runtime.run("device.MathSkill.add(1, 2)", { caller })).toMatchObject({
      kind: "refused",
      violations: [{ code: "METHOD_UNKNOWN" }],
    });
    expect(runtime.describe("MathSkill.add", { caller }).text).toContain("not found");
  });

  test("ends each run at its limit, and starts the next one clean [S7]", { tags: "rest" }, async () => {
    expect(await failure("for (;;);")).toMatchObject({ code: "CPU_LIMIT" });
    expect(await failure("[].lastIndexOf.call({ length: 2 ** 53 - 1 }, 1)")).toMatchObject({ code: "CPU_LIMIT" });
    expect(
      await failure("const a = []; for (;;) a.push(new Array(1000).fill(0))", { cpuMs: 5_000, memoryBytes: 8 << 20 }),
    ).toMatchObject({
      code: "MEMORY_LIMIT",
    });
    const calls = "for (let i = 0; i < 2000; i++) await device.MathSkill.add(1, 1)";
    expect(await failure(calls, { cpuMs: 60_000, wallMs: 60_000 })).toMatchObject({ code: "CALL_LIMIT" });
    expect(await failure("await new Promise(() => {})")).toMatchObject({ code: "NEVER_SETTLES" });
    expect(await value("typeof a")).toBe("undefined");
  });

  test("cuts a result over its limit visibly, and serves it in parts [S11]", async () => {
    const outcome = await runtime.run("'x'.repeat(300000)", { limits: { resultBytes: 1_000 } });
    expect(outcome).toMatchObject({ kind: "completed" });
    const uri = /result:\/\/\S+/.exec(outcome.text)?.[0] ?? "";
    expect(runtime.results.read(uri, 299_990, 100)).toEqual({ text: `${"x".repeat(11)}"`, total: 300_002 });
  });

  test("records the calls of a run [S12]", async () => {
    const outcome = await runtime.run(
      "await device.MathSkill.add(1, 2); try { await device.MathSkill.fail() } catch {}",
    );
    expect(
      outcome.kind === "completed" && outcome.calls.map(({ skill, method, outcome }) => [skill, method, outcome]),
    ).toEqual([
      ["MathSkill", "add", "ok"],
      ["MathSkill", "fail", "error"],
    ]);
  });

  test("reads a large result in parts in a later program [S11]", async () => {
    const limits = { cpuMs: 4_000 }; // on a machine with other work
    const large = await runtime.run("Array.from({ length: 100_000 }, (_, n) => n)", { limits });
    expect(large.kind, large.text.slice(-500)).toBe("completed");
    const [, uri] = /read it in parts at (\S+) with device\.read_result\(uri, offset, length\)$/.exec(large.text) ?? [];
    const read = `
      let text = "";
      for (let part = await device.read_result("${uri}"); part !== ""; )
        part = await device.read_result("${uri}", (text += part).length, 100_000);
      JSON.parse(text).at(-1)`;
    expect(await value(read)).toBe(99_999);
    const gone = await runtime.run('device.read_result("result://none/1")');
    expect(gone).toMatchObject({
      kind: "failed",
      error: {
        message:
          'Cannot complete the call: there is no result "result://none/1" any more; run the program again (CALL_FAILED)',
      },
    });
  });

  test("cancels and names calls that the program did not await [S12]", async () => {
    const outcome = await runtime.run(
      "await Promise.race([device.MathSkill.hang(), new Promise((done) => setTimeout(done, 5))]); 1",
    );
    expect(outcome).toMatchObject({ kind: "completed", value: 1, calls: [{ method: "hang", outcome: "unfinished" }] });
    expect(outcome.text).toContain("MathSkill.hang");
  });
});

describe("the runtime", () => {
  test("reports a server that does not start, and works without it [M3]", () => {
    expect(runtime.servers.map(({ name, status }) => [name, status])).toEqual([
      ["filesystem", "connected"],
      ["broken", "error"],
    ]);
  });

  test("adds and removes skills at run time, and updates the version of the catalog [T5]", async () => {
    const before = runtime.catalog.version;
    runtime.register(
      defineSkill({
        name: "LateSkill",
        description: "Late",
        methods: { hi: { description: "Says hi", run: async () => "hi" } },
      }),
    );
    expect(runtime.catalog.version).toBeGreaterThan(before);
    expect(await value("device.LateSkill.hi()")).toBe("hi");
    expect(runtime.unregister("LateSkill")).toBe(true);
    expect(runtime.unregister("LateSkill")).toBe(false);
    expect(await runtime.run("device.LateSkill.hi()")).toMatchObject({ kind: "refused" });
  });

  test("searches and describes local skills and servers alike [D1, D3]", () => {
    expect(runtime.search("add two numbers").results[0]?.path).toBe("MathSkill.add");
    expect(runtime.describe("FilesystemMCP.read_text_file").declaration).toContain("read_text_file(");
    expect(runtime.describe("nonsense").text).toContain(
      "Error: Invalid path 'nonsense'. Use format 'SkillName.method_name'",
    );
  });

  test("continues a search at its offset, from the library and from a program [D1]", async () => {
    const all = runtime.search("", { limit: 100 }).results.map(({ path }) => path);
    expect(runtime.search("", { limit: 2, offset: 2 }).results.map(({ path }) => path)).toEqual(all.slice(2, 4));
    const page = `Found ${all.length} result(s), starting with number ${all.length}:\n- ${all.at(-1)}`;
    for (const args of [`"", 8, ${all.length - 1}`, `{ offset: ${all.length - 1} }`])
      expect(await value(`await device.search_skills(${args})`)).toContain(page);
  });

  test("reports the plan of a check without any side effect [S5]", () => {
    expect(runtime.check("for (const n of [1, 2]) await device.MathSkill.add(n, 1)").plan).toMatchObject([
      { path: "MathSkill.add", line: 1, column: 30, inLoop: true, blocking: false },
    ]);
  });

  test("accepts a signal of another implementation like one of Node's [S7]", async () => {
    const signal = Object.assign(new EventTarget(), { aborted: false }) as AbortSignal;
    const run = runtime.run("await device.MathSkill.hang()", { signal });
    Object.assign(signal, { aborted: true }).dispatchEvent(new Event("abort"));
    expect(await run).toMatchObject({ kind: "failed", error: { code: "CANCELLED" } });
  });

  test("stops a cancelled run at once [S6]", async () => {
    const cancel = new AbortController();
    const run = runtime.run("await device.MathSkill.hang()", { signal: cancel.signal });
    cancel.abort();
    expect(await run).toMatchObject({ kind: "failed", error: { code: "CANCELLED" } });
  });

  test.each([
    ["a caller without an id", () => runtime.run("1", { caller: { permissions: [] } as never }), A_CALLER],
    ["a text as the caller", () => runtime.run("1", { caller: "ada" as never }), A_CALLER],
    ["a number as the signal", () => runtime.run("1", { signal: 5 as never }), "signal must be an AbortSignal"],
    [
      "a search of a caller without an id",
      () => runtime.search("x", { caller: { permissions: [] } as never }),
      A_CALLER,
    ],
    ["a view of a text", () => runtime.viewFor("ada" as never).catalog, A_CALLER],
    // Code that finds no user has null, which must not become the owner.
    ["null as the caller that describes", () => runtime.describe("x", { caller: null as never }), A_CALLER],
    ["null as the caller that forgets", () => runtime.forget({ caller: null as never }), A_CALLER],
    ["null as the caller of a list", () => runtime.runs.list({ caller: null as never }), A_CALLER],
    ["a list of a caller without an id", () => runtime.runs.list({ caller: { permissions: [] } as never }), A_CALLER],
    ["null as the caller of a replay", () => runtime.runs.replay("x", { caller: null as never }), A_CALLER],
    ["null as the caller of accounts", () => runtime.accounts.list({ caller: null as never }), A_CALLER],
    ["null as the caller of automations", () => runtime.automations.list({ caller: null as never }), A_CALLER],
    ["null as the caller of approvals", () => runtime.approvals.list(undefined, null as never), A_CALLER],
    ["options as a state", () => runtime.approvals.list({ caller: EVE } as never), A_STATE],
    ["null as the caller that reads an approval", () => runtime.approvals.get("x", null as never), A_CALLER],
    [
      "null as the caller that answers",
      () => runtime.approvals.answer("x", { approve: true }, null as never),
      A_CALLER,
    ],
    ["one name of a skill", () => runtime.declarations("MathSkill" as never), "the names of skills must be a list"],
    ["an unknown mode", () => runtime.systemPrompt({ mode: "x" as never }), "mode must be code, tools or native"],
  ])("refuses %s with a message that says what to write", async (_, act, says) => {
    const message = expect.stringContaining(says) as string;
    await expect((async () => act())()).rejects.toMatchObject({ code: "OPTION_INVALID", message });
  });

  test("refuses an unknown limit with the nearest name [L2]", async () => {
    await expect(runtime.run("1", { limits: { cpums: 1 } as never })).rejects.toMatchObject({ code: "OPTION_INVALID" });
  });
});
