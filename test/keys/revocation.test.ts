import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";

import { createKeys, createKeyWatch } from "../../src/keys/index.ts";
import type { Outcome } from "../../src/model/outcome.ts";
import { openDatabase } from "../../src/store/index.ts";
import {
  folder,
  newClient,
  oldClient,
  onElicitation,
  type Parsed,
  post,
  serve,
  slow,
  whenSlow,
} from "../surfaces/serving.ts";
import { startServeProcess } from "./serve-process.ts";

const REVOKED = "The run was cancelled: the key was revoked";

const RPC = { jsonrpc: "2.0", id: 1 };

function callOf(name: string, args: object): object {
  return { ...RPC, method: "tools/call", params: { name, arguments: args } };
}

test(
  "cancels the programs of a key that another process revokes, and says why, on every endpoint [P1]",
  { tags: "rest", timeout: 120_000 },
  async () => {
    const { url, point, nextWait, run, createKey } = await startServeProcess();
    const header = await createKey("ada", "--invoke", "*");
    const other = await createKey("bob", "--invoke", "*");
    const code = `await device.MathSkill.wait(${JSON.stringify(point)})`;
    const client = await oldClient(url, header);
    const modern = await newClient(url, header);
    const socket = new WebSocket(`${url.replace("http", "ws")}/ws`, { headers: header });
    onTestFinished(() => socket.terminate());
    await once(socket, "open");
    const answered = readAnswer(socket);
    const closed = once(socket, "close");
    const token = header.authorization.slice("Bearer ".length);
    const answers = [
      post(`${url}/tools/run_code`, { code }, header).then(({ json }) => json.error),
      post(`${url}/rpc`, callOf("run_code", { code }), header).then(({ json }) => json.error.data.reason),
      post(`${url}/rpc`, { ...callOf("run_code", { code }), auth: { type: "bearer", token } }).then(
        ({ json }) => json.error.data.reason,
      ),
      client.callTool({ name: "run_code", arguments: { code } }).catch((error: Parsed) => error.data.reason),
      modern.callTool({ name: "run_code", arguments: { code } }).then((result) => JSON.stringify(result)),
      answered.then(({ error }) => error.data.reason),
      post(`${url}/tools/MathSkill.wait`, { meetingPoint: point }, header).then(({ json }) => json.error),
    ];
    socket.send(JSON.stringify(callOf("run_code", { code })));
    for (let n = 0; n < answers.length; n++) await nextWait();
    const kept = post(`${url}/tools/run_code`, { code }, other);
    await nextWait();

    await run("keys", "revoke", "ada");
    const texts = await Promise.all(answers);
    const call = texts.pop();
    expect(texts.filter((text) => !String(text).includes(REVOKED))).toEqual([]);
    expect(call).toContain("MathSkill.wait; the key was revoked (CALL_CANCELLED)");
    expect(String((await closed)[1])).toBe("the key was revoked");
    await run("keys", "revoke", "bob");
    expect((await kept).json.error).toContain(REVOKED);
  },
);

/** Returns the first message that is not a notification. */
function readAnswer(socket: WebSocket): Promise<Parsed> {
  return new Promise((resolve) => {
    socket.on("message", (data: Buffer) => {
      const message = JSON.parse(data.toString()) as Parsed;
      if (message.id !== undefined) resolve(message);
    });
  });
}

test(
  "ends the event streams and MCP sessions of a key that another process revokes [P1]",
  { tags: "rest", timeout: 120_000 },
  async () => {
    const { url, run, createKey } = await startServeProcess();
    const header = await createKey("ada", "--invoke", "*");
    const owner = await createKey("metrics", "--permission", "admin:Read");
    const listen = { ...header, accept: "text/event-stream" };
    const initialize = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "raw", version: "1" } };
    const begun = await post(`${url}/mcp`, { ...RPC, method: "initialize", params: initialize }, header);
    const session = { "mcp-session-id": begun.headers.get("mcp-session-id") ?? "" };
    const legacy = await fetch(`${url}/mcp`, { headers: { ...listen, ...session } });
    expect(legacy.status).toBe(200);
    const modern = await newClient(url, header);
    const ended = new Promise<void>((resolve) => (modern.onclose = resolve));
    const listening = await openModernStream(url, header);
    expect(await countSessions(url, owner)).toBe(1);
    await run("keys", "revoke", "ada");
    await legacy.text().catch(() => {});
    await listening.text().catch(() => {});
    expect(await countSessions(url, owner)).toBe(0);
    await modern.close();
    await ended;
  },
);

/** Opens the stream on which the 2026 protocol announces changes. */
async function openModernStream(url: string, header: Readonly<Record<string, string>>): Promise<Response> {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const params = { _meta: meta, notifications: { toolsListChanged: true } };
  const response = await fetch(`${url}/mcp`, {
    method: "POST",
    headers: {
      ...header,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "subscriptions/listen",
    },
    body: JSON.stringify({ ...RPC, method: "subscriptions/listen", params }),
  });
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
  return response;
}

async function countSessions(url: string, headers: Readonly<Record<string, string>>): Promise<number> {
  const text = await (await fetch(`${url}/metrics`, { headers })).text();
  return Number(/^skillgate_sessions (\d+)$/m.exec(text)?.[1]);
}

test("ends the outcome of a run whose key expires, and its suspended question, with the reason [P1]", async () => {
  const { url, runtime } = await serve({ expose: "both" }, { store: folder() }, (token) => token === "right");
  const outcomes: Outcome[] = [];
  runtime.on("run", (outcome) => outcomes.push(outcome));
  const database = await runtime.database();
  const keys = createKeys(database);
  const { text, key } = await keys.create({
    name: "ada",
    permissions: ["call:*"],
    expires: Date.now() + 3_600_000,
  });
  const header = { authorization: `Bearer ${text}` };
  const begun = whenSlow("began");
  const aborted = whenSlow("aborted");
  const running = post(`${url}/tools/run_code`, { code: "await device.TestSkill.slow()" }, header);
  await begun;
  const client = await newClient(url, header);
  const ended = new Promise<Outcome>((resolve) => {
    runtime.on("run", (outcome) => {
      if (outcomes.length === 2) resolve(outcome);
    });
  });
  // The person does not answer, so the program is suspended.
  const asked = new Promise<void>((resolve) => {
    onElicitation(client, () => {
      resolve();
      return new Promise(() => {});
    });
  });
  client.callTool({ name: "run_code", arguments: { code: "await device.TestSkill.greet()" } }).catch(() => {});
  await asked;
  await database.keys.update(key.id, { expires: Date.now() });
  expect((await running).json.error).toContain("The run was cancelled: the key has expired; it had made 1 call");
  await aborted;
  await ended;
  expect(outcomes.map((outcome) => outcome.kind === "failed" && outcome.error.code)).toEqual([
    "CANCELLED",
    "CANCELLED",
  ]);
  slow.began = () => {};
}, 120_000);

test("ends the use of the old secret of a rotated key, and not that of the new one [P1]", async () => {
  const database = await openDatabase({ folder: folder() });
  onTestFinished(() => database.close());
  const keys = createKeys(database);
  const { text: old } = await keys.create({ name: "ada", permissions: ["call:*"] });
  const watch = createKeyWatch(database);
  onTestFinished(() => watch.close());
  const ended = new Promise((resolve) => watch.follow(old).onEnd(resolve));
  const { text } = await keys.rotate("ada", { overlapMs: 0 });
  const ends: string[] = [];
  const stop = watch.follow(text).onEnd((why) => ends.push(why));
  expect(await ended).toBe("the key has a new secret");
  expect(ends).toEqual([]);
  stop();
  const after = new Promise((resolve) => watch.follow(text).onEnd(resolve));
  await keys.revoke("ada");
  expect(await after).toBe("the key was revoked");
  expect(ends).toEqual([]);
});

test("notices a revocation between the check of a key and the start of its use [P1]", async () => {
  const database = await openDatabase({ folder: folder() });
  onTestFinished(() => database.close());
  const keys = createKeys(database);
  const { text } = await keys.create({ name: "ada", permissions: ["call:*"] });
  const watch = createKeyWatch(database);
  onTestFinished(() => watch.close());
  const life = watch.follow(text);
  expect(await keys.authenticate(text)).toMatchObject({ permissions: ["call:*"] });
  await keys.revoke("ada");
  expect(await new Promise((resolve) => life.onEnd(resolve))).toBe("the key was revoked");
});
