import { resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { WebSocket as Socket } from "ws";

import { createRuntime, defineSkill, type Runtime } from "../../src/index.ts";
import type { SkillgateError } from "../../src/errors.ts";
import { SERVER_DEFAULTS, serveHttp } from "../../src/surfaces/http/index.ts";
import { CANARY, findLeak } from "../support/canary.ts";
import { protectedServer } from "../support/mcp/authorization-server.ts";
import { newClient, oldClient, onElicitation } from "../surfaces/serving.ts";

const LEAKY = { command: process.execPath, args: [resolve("test/fixtures/mcp/leaky.js")] };
const SERVERS = {
  leaky: { ...LEAKY, env: { WEATHER_KEY: CANARY } },
  broken: { ...LEAKY, args: [...LEAKY.args, "down"], env: { WEATHER_KEY: CANARY } },
};

/** The secret of the skill, for which results have a placeholder. */
const LOCAL_KEY = `local ${CANARY}`;

const LocalSkill = defineSkill({
  name: "LocalSkill",
  description: "Knows a secret of its settings",
  settings: { type: "object", properties: { key: { type: "string", writeOnly: true } } },
  methods: {
    tell: { description: "Tells it", run: (_input, { secrets }) => ({ nested: [{ key: secrets["key"] }] }) },
    hold: { description: "Looks at it", run: (_input, { secrets }) => secrets["key"] === LOCAL_KEY },
    fail: {
      description: "Fails with it",
      run: (_input, { secrets }) => {
        throw new Error(`${secrets["key"]} is wrong`);
      },
    },
    pay: { description: "Is approved with it", approval: "user", input: { type: "object" }, run: () => "paid" },
  },
  healthCheck: () => ({ healthy: false, message: `cannot use ${CANARY}` }),
});

interface World {
  readonly runtime: Runtime;
  readonly url: string;
  readonly said: string[];
}

let world: World;
let close: () => Promise<void>;

beforeAll(async () => {
  const said: string[] = [];
  const runtime = await createRuntime({
    skillsDir: false,
    skills: [LocalSkill],
    mcpServers: SERVERS,
    env: { ...process.env, LOCAL_KEY, SKILLGATE_TOKEN: `own-token-${CANARY}` },
    workers: 1,
    limits: { resultBytes: 2_000 },
    log: (level, text) => said.push(`${level} ${text}`),
    approve: ({ input }) => said.push(JSON.stringify(input)) > 0,
  });
  runtime.on("progress", ({ text }) => said.push(String(text)));
  await runtime.ready;
  const server = await serveHttp(runtime, { ...SERVER_DEFAULTS, port: 0, auth: false, drainSeconds: 1 });
  world = { runtime, url: server.url, said };
  close = () => server.close().then(() => runtime.close());
}, 60_000);

afterAll(() => close());

const run = async (code: string): Promise<unknown> => {
  const output: string[] = [];
  const observer = { onOutput: (text: string) => void output.push(text) };
  return { outcome: await world.runtime.run(code, { observer }), output };
};

/** The message, the facts and the name of what is thrown, as surfaces show them. */
const thrownBy = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => expect.fail("nothing was thrown"),
    ({ name, message, facts }: SkillgateError) => ({ name, message, facts }),
  );

const rpc = async (method: string, params: object): Promise<string> => {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const headers = { "content-type": "application/json" };
  return (await fetch(`${world.url}/rpc`, { method: "POST", headers, body })).text();
};

const post = async (path: string, accept: string): Promise<string> => {
  const headers = { "content-type": "application/json", accept };
  return (await fetch(`${world.url}${path}`, { method: "POST", headers, body: "{}" })).text();
};

const overSocket = async (method: string, params: object): Promise<string> => {
  const socket = new Socket(`${world.url.replace("http", "ws")}/ws`);
  await new Promise((opened) => socket.once("open", opened));
  const answer = new Promise<string>((arrived) =>
    socket.once("message", (data: Buffer) => arrived(data.toString("utf8"))),
  );
  socket.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }));
  return answer.finally(() => socket.terminate());
};

/** Whatever a client of /mcp gets for a call: the result or the error, and the questions that it is asked. */
const callOverMcp = async (name: string, generation: "old" | "new" = "new"): Promise<unknown> => {
  const path = "/mcp?expose=tools";
  const client = generation === "old" ? await oldClient(world.url, {}, path) : await newClient(world.url, {}, path);
  const questions: unknown[] = [];
  onElicitation(client, (params) => {
    questions.push(params);
    return { action: "decline" };
  });
  const answer = await client
    .callTool({ name, arguments: {} })
    .catch(({ message, data }: Error & { readonly data?: unknown }) => ({ message, data }));
  return { answer, questions };
};

const readOverMcp = async (
  read: (client: Awaited<ReturnType<typeof newClient>>) => Promise<unknown>,
  expose: "tools" | "code" = "tools",
): Promise<unknown> => read(await newClient(world.url, {}, `/mcp?expose=${expose}`));

const saidDuring = async (work: Promise<unknown>): Promise<unknown> => {
  const answer = await work;
  return [answer, world.said];
};

/** Every way out, and the word that shows that something came out of it. */
const EXITS: readonly (readonly [string, string, () => Promise<unknown>])[] = [
  [
    "the value, text and output of a run",
    "[secret:",
    () => run("const t = await device.LeakyMCP.tell({}); console.log(t); return { t }"),
  ],
  ["structured content in a run", "[secret:", () => run("return await device.LeakyMCP.data({})")],
  [
    "a large result of a run",
    "result://",
    () => run('const t = await device.LeakyMCP.tell({}); return "x".repeat(1990) + t + "y".repeat(4000)'),
  ],
  [
    "a kept result",
    "[secret:",
    async () => {
      const outcome = await world.runtime.run('return "x".repeat(3000) + (await device.LeakyMCP.tell({}))');
      const uri = /result:\/\/\S+/.exec(outcome.text)?.[0] ?? "";
      return run(`return (await device.read_result(${JSON.stringify(uri)}, 2900, 500))`);
    },
  ],
  ["an error in a run", "refused", () => run("await device.LeakyMCP.fail({})")],
  [
    "an error that the program caught",
    "redacted",
    () => run("try { await device.LeakyMCP.refuse({}) } catch (e) { return e.message + JSON.stringify(e) }"),
  ],
  ["an error of a local skill in a run", "wrong", () => run("await device.LocalSkill.fail({})")],
  ["a value of a local skill in a run", "[secret:", () => run("return await device.LocalSkill.tell({})")],
  [
    "the server's own token in a run",
    "x [redacted]",
    () => run(`return "x " + ${JSON.stringify(`own-token-${CANARY}`)}`),
  ],
  ["search in a run", "Says", () => run('return await device.search_skills("says")')],
  ["an error of a call", "refused", () => thrownBy(world.runtime.call("LeakyMCP.fail", {}))],
  ["a protocol error of a call", "no:", () => thrownBy(world.runtime.call("LeakyMCP.refuse", {}))],
  ["an error of a call of a local skill", "wrong", () => thrownBy(world.runtime.call("LocalSkill.fail", {}))],
  [
    "errors of many calls",
    "refused",
    () => world.runtime.callAll([{ path: "LeakyMCP.fail" }, { path: "LocalSkill.fail" }]),
  ],
  ["the log and the progress", "logged", () => saidDuring(world.runtime.call("LeakyMCP.log", {}))],
  [
    "an approval",
    "paid",
    async () => saidDuring(run("return await device.LocalSkill.pay(await device.LocalSkill.tell({}))")),
  ],
  ["problems", "broken", async () => world.runtime.problems],
  ["servers", "using", async () => world.runtime.servers],
  ["health", "cannot use", () => world.runtime.health()],
  ["search", "Says", async () => world.runtime.search("says")],
  ["describe", "Says", async () => [world.runtime.describe("LeakyMCP"), world.runtime.describe("LeakyMCP.tell")]],
  ["declarations", "Says", async () => world.runtime.declarations()],
  ["the prompt", "LeakyMCP", async () => world.runtime.systemPrompt()],
  [
    "the catalog",
    "Says",
    async () => world.runtime.catalog.skills.map(({ provided: { settings: _settings, ...rest } }) => rest),
  ],
  ["records of calls", "LeakyMCP", async () => world.runtime.audit()],
  ["/rpc: a result", "[secret:", () => rpc("tools/call", { name: "LeakyMCP.tell" })],
  ["/rpc: an error", "refused", () => rpc("tools/call", { name: "LeakyMCP.fail" })],
  [
    "/rpc: a run",
    "[secret:",
    () => rpc("tools/call", { name: "run_code", arguments: { code: "return await device.LeakyMCP.tell({})" } }),
  ],
  ["/rpc: the tools", "Says", () => rpc("tools/list", {})],
  ["/rpc: a resource", "[secret:", () => rpc("resources/read", { uri: "note://key" })],
  ["/rpc: the resources", "note:", () => rpc("resources/list", {})],
  ["/ws: a result", "[secret:", () => overSocket("tools/call", { name: "LeakyMCP.data" })],
  ["/tools: a result", "[secret:", () => post("/tools/LeakyMCP.tell", "application/json")],
  ["/tools: an error", "refused", () => post("/tools/LeakyMCP.fail", "application/json")],
  ["/tools: a stream", "[secret:", () => post("/tools/LeakyMCP.data", "text/event-stream")],
  ["/tools: a large result in parts", "part", () => post("/tools/LeakyMCP.large", "text/event-stream")],
  ["/openapi.json", "Says", async () => (await fetch(`${world.url}/openapi.json`)).text()],
  ["/mcp: a result as the server sent it", "[secret:", () => callOverMcp("LeakyMCP__tell")],
  ["/mcp: structured content", "[secret:", () => callOverMcp("LeakyMCP__data")],
  ["/mcp: an error as the server sent it", "refused", () => callOverMcp("LeakyMCP__fail")],
  ["/mcp: an error of the protocol", "no:", () => callOverMcp("LeakyMCP__refuse")],
  ["/mcp: a value of a local skill", "[secret:", () => callOverMcp("LocalSkill__tell")],
  ["/mcp: a question of a server", "right?", () => callOverMcp("LeakyMCP__ask")],
  ["/mcp: a question of a server to an old client", "right?", () => callOverMcp("LeakyMCP__ask", "old")],
  [
    "/mcp: a run",
    "[secret:",
    () =>
      readOverMcp(
        (client) => client.callTool({ name: "run_code", arguments: { code: "return await device.LeakyMCP.tell({})" } }),
        "code",
      ),
  ],
  ["/mcp: the tools", "Says", () => readOverMcp((client) => client.listTools())],
  ["/mcp: a resource", "[secret:", () => readOverMcp((client) => client.readResource({ uri: "note://key" }))],
  ["/mcp: the resources", "note:", () => readOverMcp((client) => client.listResources())],
  ["/mcp: a prompt", "[secret:", () => readOverMcp((client) => client.getPrompt({ name: "leaky__key" }))],
  ["/mcp: the prompts", "leaky__key", () => readOverMcp((client) => client.listPrompts())],
];

describe("keeps a secret of the configuration out of [P9]", () => {
  test.each(EXITS)("%s", { tags: "rest" }, async (_exit, shown, use) => {
    const said = await use();
    const text = typeof said === "string" ? said : JSON.stringify(said);
    expect(text).toContain(shown);
    expect(findLeak(text)).toBeUndefined();
  });

  test("finds an output that does not mask", async () => {
    expect(JSON.stringify(await world.runtime.call("LeakyMCP.tell", {}))).toContain("[secret:");
    expect(findLeak({ text: `the key is ${CANARY}` })).toBe("7d1f9b2c5e");
    expect(findLeak(encodeURIComponent(CANARY))).toBe("7d1f9b2c5e");
    expect(findLeak(`x${Buffer.from(CANARY).toString("base64")}`)).toBeDefined();
  });

  test("a problem of a server with its fix", async () => {
    const runtime = await createRuntime({
      skillsDir: false,
      mcpServers: { line: { command: `no-such-program --api-key 7d1f9b2c5e` } },
      workers: 1,
    });
    onTestFinished(() => runtime.close());
    await runtime.ready;
    expect(JSON.stringify([runtime.problems, runtime.servers])).toContain("no-such-program");
    expect(findLeak([runtime.problems, runtime.servers])).toBeUndefined();
  });

  test("a run: the tokens of an OAuth login", async () => {
    const server = await protectedServer();
    const runtime = await createRuntime({
      skillsDir: false,
      mcpServers: { web: { url: server.url } },
      mcp: { authorize: async ({ url }) => void (await fetch(url)) },
      workers: 1,
    });
    onTestFinished(() => runtime.close());
    await runtime.ready;
    expect(await runtime.call("WebMCP.hello", {})).toBe("hello");
    expect(server.tokens).toHaveLength(2);
    const outcome = await runtime.run(`print("${server.tokens[0]}"); return "${server.tokens[1]}"`);
    expect(outcome).toMatchObject({ output: "[redacted]", value: "[redacted]" });
    // Larger than what a model reads.
    const rows = `Array.from({ length: 2_000 }, (_, id) => id === 1_500 ? { id, note: "${server.tokens[1]}" } : { id })`;
    const large = await runtime.run(rows);
    expect(large).toMatchObject({ kind: "completed", value: { 1_500: { id: 1_500, note: "[redacted]" } } });
    const whole = await runtime.run(`(await device.result("r1"))[1_500].note`);
    expect(whole).toMatchObject({ kind: "completed", value: "[redacted]" });
    for (const token of server.tokens) expect(JSON.stringify(outcome)).not.toContain(token);
  });
});
