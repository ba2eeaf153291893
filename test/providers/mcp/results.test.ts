import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";

import { createRuntime } from "../../../src/index.ts";
import { connectServers, type McpProvider } from "../../../src/providers/mcp/index.ts";
import { call, connected, fixture } from "../../support/mcp/servers.ts";

let old: McpProvider;
let modern: McpProvider;
beforeAll(async () => {
  old = connectServers([fixture()], { env: process.env });
  modern = connectServers([fixture(["modern"])], { env: process.env });
  await Promise.all([old.ready, modern.ready]);
});
afterAll(async () => {
  await Promise.all([old.close(), modern.close()]);
});

test.each<[tool: string, value: unknown]>([
  ["pid", expect.any(Number)],
  ["looks_like_json", { a: [1] }],
  ["json_text", { a: [1] }],
  ["declared_output", { sum: 5 }],
  ["null_structure", "the text"],
  ["two_texts", ["one", "two"]],
  ["no_content", null],
  ["no_result", null],
  ["null_result", null],
  ["text_result", "just text"],
  ["object_content", "not in a list"],
  ["odd_content", [{ type: "hologram", depth: 3 }, { text: "no type" }, "bare"]],
  ["text_id", "the id came back as text"],
  ["wrong_id", "for you"],
  ["twice", "first"],
  ["no_version", "no jsonrpc field"],
  ["batch", "in a list"],
  ["noise", "after the noise"],
  ["many", "still here"],
])("returns the answer of %s of servers of both generations [M5]", async (tool, value) => {
  expect(await call(old, tool)).toEqual(value);
  expect(await call(modern, tool)).toEqual(value);
});

test.each<[text: string, value: unknown]>([
  ['{"data":[{"id":1}]}', { data: [{ id: 1 }] }],
  [' [1, "two", null]\n', [1, "two", null]],
  ["[]", []],
  ["42", "42"],
  ['"quoted"', '"quoted"'],
  ["null", "null"],
  ["true", "true"],
  ["[INFO] started [ok]", "[INFO] started [ok]"],
  ['{"a":1} {"a":2}', '{"a":1} {"a":2}'],
  ['{"a":1}\n{"a":2}', '{"a":1}\n{"a":2}'],
  ['{"inner":"{\\"a\\":1}"}', { inner: '{"a":1}' }],
  ['{"id":"9007199254740993","at":1767323045.1234567890123456}', { id: "9007199254740993", at: 1767323045.1234567 }],
  ["[9007199254740992,-9007199254740991,1e300]", [9007199254740992, -9007199254740991, 1e300]],
])("makes the value of one text that is a JSON object or array, of %s [M5]", async (json, value) => {
  expect(await call(old, "says", { json })).toEqual(value);
  expect(await call(modern, "says", { json })).toEqual(value);
});

test.each([
  ['{"id":9007199254740993}', "9007199254740993"],
  ["[1,-12345678901234567890]", "12345678901234567890"],
  [`[1${"0".repeat(400)}]`, `1${"0".repeat(39)}`],
])(
  "keeps a text as it is if a number cannot hold its integers exactly, and notes that, for %s [M5]",
  async (json, integer) => {
    for (const as of ["application/json", undefined]) {
      const notes: string[] = [];
      const value = await call(old, "says", { json, as }, { addNote: (note) => notes.push(note) });
      expect(value).toBe(json);
      expect(notes).toEqual([
        `The result of FixtureMCP.says is text holding JSON, because a number cannot hold its integer ${integer} exactly`,
      ]);
    }
  },
);

test.each([
  ["more than 500 levels", "[".repeat(501) + "]".repeat(501)],
  ["more than 2 million values", `[${"0,".repeat(2_000_000)}0]`],
])("keeps a text as it is if its value has %s, and notes that [M5]", async (excess, json) => {
  const notes: string[] = [];
  expect(await call(old, "says", { json }, { addNote: (note) => notes.push(note) })).toBe(json);
  expect(notes).toEqual([`The result of FixtureMCP.says is text holding JSON, because its value has ${excess}`]);
});

test("shows a note on a text that was kept beside the result of the program [M5]", async () => {
  await using runtime = await createRuntime({
    skillsDir: false,
    mcpServers: { fixture: { command: process.execPath, args: ["test/fixtures/mcp/server.js"] } },
  });
  await runtime.ready;
  const outcome = await runtime.run(`(await device.FixtureMCP.says({ json: '{"id":9007199254740993}' })).length`);
  expect(outcome).toMatchObject({
    kind: "completed",
    value: 23,
    notes: [
      "The result of FixtureMCP.says is text holding JSON, because a number cannot hold its integer 9007199254740993 exactly",
    ],
  });
});

test.each<[setting: unknown, says: unknown, looksLikeJson: unknown]>([
  ["text", '{"a":1}', '{"a":[1]}'],
  ["json", { a: 1 }, { a: [1] }],
  [{ says: "text" }, '{"a":1}', { a: [1] }],
  [{ "*": "text", says: "json" }, { a: 1 }, '{"a":[1]}'],
])(
  "keeps texts of the server or of one tool, as the setting text: %j says [M5]",
  { tags: "rest" },
  async (setting, says, looksLikeJson) => {
    const provider = await connected([fixture([], { text: setting })]);
    expect(await call(provider, "says", { json: '{"a":1}' })).toEqual(says);
    expect(await call(provider, "looks_like_json")).toEqual(looksLikeJson);
  },
);

test("converts images, audio and resources to descriptors with their bytes [M5]", async () => {
  expect(await call(old, "media")).toEqual([
    { type: "image", mimeType: "image/png", data: "iVBORw==" },
    { type: "audio", mimeType: "audio/wav", data: "UklGRg==" },
    { type: "resource_link", uri: "file:///a.txt", name: "a.txt", mimeType: "text/plain", size: 3 },
    { type: "resource", uri: "file:///b.txt", mimeType: "text/plain", text: "bee" },
    { type: "resource", uri: "file:///c.bin", data: "AAEC" },
  ]);
});

test("adds images that structured content omits [M5]", async () => {
  expect(await call(old, "picture")).toEqual({
    width: 1,
    _content: [{ type: "image", mimeType: "image/png", data: "iVBORw==" }],
  });
  expect(await call(old, "repeated_picture")).toEqual({ images: [{ bytes: "iVBORw==" }] });
});

const facts = (tool: string, error: string): object => ({
  server: "fixture",
  tool,
  skill: "FixtureMCP",
  method: tool,
  error,
});

test.each([
  ["fail", "the disk is full\ntry later"],
  ["fail_silently", 'Cannot complete the call: "fail_silently" of "fixture" gives no details (CALL_FAILED)'],
  ["refuse", "no such city"],
  ["no_id", "cannot read this"],
  ["error_text", "out of order"],
  ["error_empty", "the server gives no reason"],
  ["elicit_required", "visit the page"],
])("throws the answer of %s with its text [M5]", async (tool, message) => {
  const error = { name: "SkillgateError", code: "CALL_FAILED", message, facts: facts(tool, message) };
  await expect(call(old, tool)).rejects.toMatchObject(error);
  await expect(call(modern, tool)).rejects.toMatchObject(error);
});

test("refuses input requests of a server at once without a client [M7]", async () => {
  expect(await call(old, "ask")).toMatchObject({ code: -32601, message: "Method not found" });
});

test("passes progress on to the call [M7]", async () => {
  const progress: unknown[] = [];
  expect(await call(old, "progress", {}, { progress: (...step) => progress.push(step) })).toBe("done");
  expect(progress).toEqual([
    [1, 2, "step 1"],
    [2, 2, "step 2"],
  ]);
});

test.each([true, false])("fails only the call of an answer over the limit (id first: %s) [M9]", async (idFirst) => {
  const provider = await connected([fixture()], { maxMessageBytes: 64 << 10 });
  const others = [1, 2, 3].map((n) => call(provider, "echo", { message: n }));
  await expect(call(provider, "huge", { bytes: 1 << 20, idFirst })).rejects.toMatchObject({
    code: "ANSWER_LIMIT",
    message:
      'Call result size limit exceeded: "huge" of "fixture": the answer has more than 65536 bytes (ANSWER_LIMIT)',
  });
  expect(await Promise.all(others)).toEqual(["1", "2", "3"]);
  expect(await call(provider, "echo", { message: "still here" })).toBe("still here");
});

test("accepts an answer of 30 MB [M9]", { tags: "rest" }, async () => {
  expect(await call(old, "huge", { bytes: 30_000_000 })).toHaveLength(30_000_000);
});

test("cancels a call on the server when its signal aborts, and ignores its late answer [X2]", async () => {
  const timeout = new AbortController();
  const reason = new Error("Tool 'never' timed out after 30s");
  const calling = call(old, "never", {}, { signal: timeout.signal });
  await call(old, "echo", { message: "the server has read it" });
  timeout.abort(reason);
  await expect(calling).rejects.toBe(reason);
  expect(await call(old, "cancelled")).toEqual([{ requestId: expect.any(Number) as number, reason: String(reason) }]);
  expect(await call(old, "echo", { message: "well" })).toBe("well");
});

test("names an unknown server and an unknown tool [M4]", async () => {
  await expect(old.call("nobody", "echo", {}, null as never)).rejects.toMatchObject({
    message: "MCP server not found: nobody",
  });
  await expect(call(old, "nothing")).rejects.toMatchObject({ message: "Tool not found: fixture.nothing" });
});

test.each(["structured", "error", "content", "json"])(
  "fails a call whose result nests too deeply, in %s, with an error of its own [S13]",
  { tags: "rest" },
  async (as) => {
    const runtime = await createRuntime({
      skillsDir: false,
      mcpServers: { fixture: { command: process.execPath, args: ["test/fixtures/mcp/server.js"] } },
    });
    onTestFinished(() => runtime.close());
    await runtime.ready;
    for (const levels of [501, 90_000]) {
      const called = runtime.call("FixtureMCP.nested", { levels, as });
      await expect(called).rejects.toMatchObject({
        code: "NESTING_LIMIT",
        message: expect.stringMatching(/nested too deeply: .* returned more than 500 levels/) as string,
      });
    }
    // Deeper, no text from outside is parsed: an answer is refused, and a text in it stays a text.
    const deepest = runtime.call("FixtureMCP.nested", { levels: 300_000, as });
    if (as === "json") await expect(deepest).resolves.toBe("[".repeat(300_000) + "]".repeat(300_000));
    else
      await expect(deepest).rejects.toThrow(
        "the answer has more than 100000 levels of lists and objects (ANSWER_LIMIT)",
      );
    await expect(runtime.call("FixtureMCP.nested", { levels: 400, as: "json" })).resolves.toHaveLength(1);
    const outcome = await runtime.run(`await device.FixtureMCP.nested({ levels: 6000, as: "${as}" })`);
    expect(outcome).toMatchObject({ kind: "failed", error: { code: "NESTING_LIMIT", line: 1 } });
  },
);

test("accepts a log message that nests too deeply [S13]", { tags: "rest" }, async () => {
  expect(await call(old, "nested_log")).toBe("logged");
  expect(await call(modern, "nested_log")).toBe("logged");
});
