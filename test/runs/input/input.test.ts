import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, expect, onTestFinished, test } from "vitest";

import { createRuntime, defineSkill, type Runtime, type RuntimeOptions } from "../../../src/index.ts";
import { MAX_INPUT_BYTES } from "../../../src/shared/json/run-input.ts";

const sent: unknown[] = [];

const TEXT = { type: "object", properties: { to: { type: "string" } }, required: ["to"] } as const;

const MailSkill = defineSkill({
  name: "MailSkill",
  description: "Sends mail",
  methods: {
    send: {
      description: "Send a mail",
      openWorld: true,
      input: TEXT,
      run: ({ to }) => {
        sent.push(to);
        if (to === "nowhere") throw new Error("no such address");
        return `sent to ${to}`;
      },
    },
    ask: { description: "Send a mail after a yes", approval: "user", input: TEXT, run: ({ to }) => sent.push(to) },
    read: { description: "Read a mail", readOnly: true, run: () => "x".repeat(2_000_000) },
  },
});

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-input-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function open(options: RuntimeOptions): Promise<Runtime> {
  const runtime = await createRuntime({ skillsDir: false, skills: [MailSkill], workers: 1, ...options });
  onTestFinished(() => runtime.close());
  sent.length = 0;
  return runtime;
}

let shared: Promise<Runtime> | undefined;

/** Returns the runtime of the tests that leave nothing in it. */
async function getRuntime(): Promise<Runtime> {
  sent.length = 0;
  return (shared ??= createRuntime({ skillsDir: false, skills: [MailSkill], workers: 1 }));
}

afterAll(async () => (await shared)?.close());

const recordFolder = mkdtempSync(join(tmpdir(), "skillgate-input-"));
let recording: Promise<Runtime> | undefined;

/** Returns the runtime of the tests that find their runs by their ids. It records them. */
async function getRecordingRuntime(): Promise<Runtime> {
  sent.length = 0;
  const options = { store: recordFolder, runs: { record: "full" } } as const;
  return (recording ??= createRuntime({ skillsDir: false, skills: [MailSkill], workers: 1, ...options }));
}

afterAll(async () => {
  await (await recording)?.close();
  rmSync(recordFolder, { recursive: true, force: true });
});

test.each([
  "(await device.input()).city",
  "device.input().city",
  "const { city } = device.input();\ncity",
  "const input = await device.input();\ninput['city']",
])("gives a program its input: %s", async (code) => {
  const runtime = await getRuntime();
  expect(await runtime.run(code, { input: { city: "Rome" } })).toMatchObject({ kind: "completed", value: "Rome" });
});

test.each([
  [null],
  [0],
  [false],
  ["text"],
  [[1, { a: [null] }]],
  [JSON.parse('{"then": 1}') as unknown],
  [{ $bytes: "AAAA", $undefined: 1, constructor: "c", toJSON: "t" }],
  ["`); await device.MailSkill.send('x'); \u2028\u0000 </code>"],
])("gives the value %j as it is", async (input) => {
  const runtime = await getRuntime();
  expect(await runtime.run("await device.input()", { input })).toMatchObject({ kind: "completed", value: input });
  expect(sent).toEqual([]);
});

test("keeps a member __proto__ as data", async () => {
  const runtime = await getRuntime();
  const input = JSON.parse('{"__proto__": {"admin": true}, "list": [1]}') as unknown;
  const code = "const input = await device.input();\n[typeof input.admin, Object.keys(input), JSON.stringify(input)]";
  expect(await runtime.run(code, { input })).toMatchObject({
    value: ["undefined", ["__proto__", "list"], '{"__proto__":{"admin":true},"list":[1]}'],
  });
});

test("converts dates and BigInts, and leaves out members that are undefined", async () => {
  const runtime = await getRuntime();
  const input = { at: new Date(0), small: 5n, large: 2n ** 70n, absent: undefined };
  expect(await runtime.run("await device.input()", { input })).toMatchObject({
    value: { at: "1970-01-01T00:00:00.000Z", small: 5, large: "1180591620717411303424" },
  });
});

function nest(levels: number): unknown {
  return levels === 0 ? 1 : [nest(levels - 1)];
}

const CYCLE: { self?: unknown } = {};
CYCLE.self = CYCLE;

test.each<readonly [string, unknown, string]>([
  ["a function", { run: () => 1 }, 'its member "run" is a function, and JSON has no such value'],
  ["NaN", { list: [1, Number.NaN] }, 'its member "list[1]" is NaN, and JSON has no such value'],
  ["undefined in a list", [undefined], 'its member "[0]" is undefined, and JSON has no such value'],
  ["bytes", { data: new Uint8Array(2) }, 'its member "data" is bytes, and JSON has no such value'],
  ["a map", new Map(), "it is an object of a class, and JSON has no such value"],
  ["too many levels", nest(201), "it has more than 200 levels"],
  ["a cycle", CYCLE, "it has more than 200 levels"],
  ["too much", "x".repeat(MAX_INPUT_BYTES - 1), `it has ${MAX_INPUT_BYTES + 1} bytes, at most ${MAX_INPUT_BYTES}`],
])("refuses %s before anything runs", async (_what, input, why) => {
  const runtime = await getRuntime();
  await expect(runtime.run("device.MailSkill.send('a')", { input })).rejects.toMatchObject({
    code: "INPUT_INVALID",
    message: expect.stringContaining(`Cannot start a run with this input: ${why}`),
  });
  expect(sent).toEqual([]);
});

test("accepts an input at its limits", async () => {
  const runtime = await getRuntime();
  const input = "x".repeat(MAX_INPUT_BYTES - 2);
  expect(await runtime.run("(await device.input()).length", { input })).toMatchObject({ value: input.length });
  expect(await runtime.run("JSON.stringify(await device.input()).length", { input: nest(200) })).toMatchObject({
    value: 401,
  });
});

test("bounds the values of an input from elsewhere", async () => {
  const runtime = await getRuntime();
  const run = (values: number): Promise<unknown> =>
    runtime.run("(await device.input()).length", {
      input: Array.from({ length: values }, () => 1),
      isForeignInput: true,
    });
  await expect(run(50_000)).rejects.toMatchObject({ code: "INPUT_INVALID" });
  expect(await run(49_999)).toMatchObject({ value: 49_999 });
});

const SCHEMA = {
  type: "object",
  properties: { city: { type: "string" }, days: { type: "integer", minimum: 1 } },
  required: ["city"],
  additionalProperties: false,
};

test.each<readonly [unknown, string]>([
  [{ city: 5 }, '"city" must be a string'],
  [{}, '"city" is required'],
  [{ city: "Rome", days: 0 }, '"days" must be'],
  [["Rome"], "it must be an object"],
  [undefined, "it is missing, and the program has a schema for it"],
])("refuses the input %j by its schema", async (input, why) => {
  const runtime = await getRuntime();
  await expect(runtime.run("1", { input, inputSchema: SCHEMA })).rejects.toMatchObject({
    code: "INPUT_INVALID",
    message: expect.stringContaining(why),
  });
  expect(await runtime.run("1", { input: { city: "Rome" }, inputSchema: SCHEMA })).toMatchObject({ value: 1 });
});

test("refuses an input whose schema cannot be checked", async () => {
  const runtime = await getRuntime();
  await expect(runtime.run("1", { input: {}, inputSchema: { type: "objekt" } })).rejects.toMatchObject({
    code: "INPUT_INVALID",
    message: expect.stringContaining("part of its schema cannot be checked"),
  });
});

test("says how to give an input to a program that asks for one", async () => {
  const runtime = await getRuntime();
  expect(await runtime.run("await device.input()")).toMatchObject({
    kind: "failed",
    error: { code: "INPUT_MISSING", message: expect.stringContaining('skillgate run --input \'{"city": "Rome"}\'') },
  });
  const caught = "let code;\ntry { await device.input(); } catch (error) { code = error.code; }\ncode";
  expect(await runtime.run(caught)).toMatchObject({ kind: "completed", value: "INPUT_MISSING" });
});

test("leaves the word input to programs", async () => {
  const runtime = await getRuntime();
  expect(await runtime.run("const input = (x) => x + 1;\ninput(1)")).toMatchObject({ value: 2 });
  const refused = await runtime.run("input('Your name?')", { input: 1 });
  expect(refused).toMatchObject({ kind: "refused" });
  expect(refused.text).toContain("device.input()");
});

test("declares the function", async () => {
  expect((await getRuntime()).declarations()).toContain("input(): Promise<any>;");
});

test("knows the type of the input by the schema or by the value", { tags: "rest" }, async () => {
  const runtime = await open({ typecheck: true });
  const code = "const { city } = await device.input();\n(await device.input()).ctiy + city";
  expect(await runtime.checkTypes(code, { inputSchema: SCHEMA })).toMatchObject({
    violations: [{ code: "MEMBER_UNKNOWN", line: 2, message: expect.stringContaining('"ctiy"') }],
  });
  const byValue = await runtime.checkTypes(code, { input: { city: "Rome" } });
  expect(byValue.violations).toEqual([]);
  expect(byValue.notes).toEqual([
    'Line 2, column 24, by results and examples so far: Cannot find this member of a result: "ctiy" does not exist in the result; declared members: city (MEMBER_UNKNOWN)',
  ]);
  expect(await runtime.checkTypes(code)).toMatchObject({ violations: [], notes: [] });
  // To infer the type of a long input would take a turn of the event loop.
  const long = { city: "Rome", text: "x".repeat(150_000) };
  expect(await runtime.checkTypes(code, { input: long })).toMatchObject({ violations: [], notes: [] });
  expect((await runtime.checkTypes(code, { input: { ...long, text: "x".repeat(100_000) } })).notes).toHaveLength(1);
});

test("records the input once, and repeats the run with it", async () => {
  const runtime = await getRecordingRuntime();
  const input = { text: "x".repeat(100_000) };
  const code = "let length = 0;\nfor (let i = 0; i < 20; i++) length += (await device.input()).text.length;\nlength";
  const outcome = await runtime.run(code, { input });
  expect(outcome).toMatchObject({ kind: "completed", value: 2_000_000 });
  const cassette = await runtime.runs.cassette(outcome.runId);
  expect(cassette.header.input).toEqual(input);
  expect(cassette.calls).toHaveLength(20);
  expect(JSON.stringify(cassette).length).toBeLessThan(200_000);
  expect(await runtime.runs.replay(cassette)).toMatchObject({ value: 2_000_000 });
  const other = { ...cassette, header: { ...cassette.header, input: { text: "" } } };
  await expect(runtime.runs.replay(other)).rejects.toMatchObject({ code: "REPLAY_DIVERGED" });
});

test("names a difference of inputs when it compares runs", async () => {
  const runtime = await getRecordingRuntime();
  const [one, two] = [await runtime.run("1", { input: 1 }), await runtime.run("1")];
  expect(await runtime.runs.compare(one.runId, two.runId)).toEqual([{ part: "input", first: "1", second: "no input" }]);
});

test("masks secrets in the input of a cassette", async () => {
  const runtime = await getRecordingRuntime();
  const { runId } = await runtime.run("1", { input: { key: "sk-abcdefgh12345678" } });
  const cassette = runtime.secrets.maskTexts(await runtime.runs.cassette(runId));
  expect(JSON.stringify(cassette)).not.toContain("sk-abcdefgh12345678");
});

test("continues a failed run with its input, or with another one", async () => {
  const runtime = await getRecordingRuntime();
  const code = (last: string): string => `const { to, last } = await device.input();
    await device.MailSkill.send(to);
    await device.MailSkill.send(${last});
    to + last`;
  const failed = await runtime.run(code("'nowhere'"), { input: { to: "ada", last: "bob" } });
  expect(failed).toMatchObject({ kind: "failed", continue: failed.runId });
  const corrected = await runtime.run(code("last"), { continue: failed.runId });
  expect(corrected).toMatchObject({ kind: "completed", value: "adabob" });
  expect((await runtime.runs.cassette(corrected.runId)).header.input).toEqual({ to: "ada", last: "bob" });
  expect(sent).toEqual(["ada", "nowhere", "bob"]);

  const again = await runtime.run(code("'nowhere'"), { input: { to: "ada", last: "bob" } });
  sent.length = 0;
  expect(await runtime.run(code("last"), { continue: again.runId, input: { to: "ada", last: "eve" } })).toMatchObject({
    kind: "completed",
    value: "adaeve",
  });
  expect(sent).toEqual(["eve"]);
});

test("checks the input of a continued run against the schema, too", async () => {
  const runtime = await getRecordingRuntime();
  const failed = await runtime.run("await device.MailSkill.send('ada');\nthrow new Error('late')", {
    input: { city: 5 },
  });
  const options = { continue: failed.runId, inputSchema: SCHEMA };
  await expect(runtime.run("1", options)).rejects.toMatchObject({ code: "INPUT_INVALID" });
  expect(await runtime.run("(await device.input()).city", { ...options, input: { city: "Rome" } })).toMatchObject({
    value: "Rome",
  });
});

test("keeps the input for another process, which continues the run", async () => {
  const store = createFolder();
  const first = await open({ store, approvals: { wait: true } });
  const code = "const { to } = await device.input();\nawait device.MailSkill.ask(to);\n(await device.input()).to";
  const asked = new Promise<string>((resolve) => first.on("approval", ({ id }) => resolve(id)));
  const running = first.run(code, { input: { to: "ada" } }).catch(() => undefined);
  const id = await asked;
  first.releaseCallers();
  await running;
  await first.close();
  const second = await open({ store, approvals: { wait: true } });
  const { 0: row } = await second.runs.list();
  await second.approvals.answer(id, { approve: true });
  expect(await second.runs.resume(row?.id ?? "")).toMatchObject({ kind: "completed", value: "ada" });
  expect(sent).toEqual(["ada"]);
});

const FLOW = "flows: [{ from: device.input, to: MailSkill.send, decision: ask }]";

async function openWithFlow(policy = FLOW): Promise<Runtime> {
  const cwd = createFolder();
  mkdirSync(join(cwd, "policies"));
  writeFileSync(join(cwd, "policies/tools.yaml"), policy);
  return open({ cwd, policy: "policies/tools.yaml" });
}

const SEND = "const { to } = await device.input();\nawait device.MailSkill.read();\nawait device.MailSkill.send(to)";

test("asks before text of a foreign input reaches the target of a flow, and says where it came from", async () => {
  const runtime = await openWithFlow();
  const input = { to: "evil@attacker.example" };
  const questions: unknown[] = [];
  const approve = ({ path, origins }: { readonly path: string; readonly origins?: unknown }): boolean =>
    questions.push({ path, origins }) > 0;
  expect(await runtime.run(SEND, { input, isForeignInput: true, approve })).toMatchObject({ kind: "completed" });
  expect(questions).toEqual([{ path: "MailSkill.send", origins: [{ argument: "to", from: "device.input" }] }]);
  expect(await runtime.run(SEND, { input, isForeignInput: true, approve: false })).toMatchObject({
    error: { code: "APPROVAL_MISSING" },
  });
  questions.length = 0;
  expect(await runtime.run(SEND, { input, approve })).toMatchObject({ kind: "completed" });
  expect(questions).toEqual([]);
});

async function refuseByFlow(from: string): Promise<void> {
  const runtime = await openWithFlow(`flows: [{ from: ${from}, to: MailSkill.send, decision: deny }]`);
  const input = { to: "evil@attacker.example" };
  expect(await runtime.run(SEND, { input, isForeignInput: true })).toMatchObject({
    error: {
      code: "POLICY_DENIED",
      message: expect.stringContaining('"to" contains text that came from the input of the run'),
    },
  });
}

test.each(["device.*", '"*"'])("applies a flow from %s to a foreign input", refuseByFlow);

test("finds foreign text behind as much other text as an input can have", { tags: "rest" }, async () => {
  const runtime = await openWithFlow(FLOW.replace("ask", "deny"));
  const names = Object.fromEntries(Array.from({ length: 24_000 }, (_, at) => [`a-long-name-${at}`, "filling it"]));
  const input = { ...names, rest: "x".repeat(100_000), to: "evil@attacker.example" };
  expect(await runtime.run(SEND, { input, isForeignInput: true })).toMatchObject({ error: { code: "POLICY_DENIED" } });
});
