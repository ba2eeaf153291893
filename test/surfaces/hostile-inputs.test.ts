import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";

import { createRuntime, type Runtime } from "../../src/runtime.ts";
import { takeShare } from "../support/repetitions.ts";
import { BIN, environment, skillgate } from "./cli/command.ts";
import { DEEP_SERVER, HOSTILE_SKILL, METHODS, PROGRAMS, TEXTS } from "./hostile.ts";
import { faultsOfProcess, type Parsed } from "./serving.ts";

/** The surfaces of Skillgate; each answers an input with text. */
interface Surface {
  readonly run?: (code: string) => Promise<string>;
  readonly call?: (path: string) => Promise<string>;
  readonly send?: (text: string | Buffer) => Promise<string>;
}

const base = realpathSync(mkdtempSync(join(tmpdir(), "skillgate-hostile-")));
const cwd = join(base, "project");
const env = environment(cwd);
let library: Runtime;
let http: Server & { readonly url: string };
let stdio: Server & { readonly lines: Interface };

beforeAll(async () => {
  mkdirSync(join(cwd, "skills"), { recursive: true });
  writeFileSync(join(cwd, "skills", "hostile.js"), HOSTILE_SKILL);
  const server = join(base, "deep.mjs");
  writeFileSync(server, DEEP_SERVER);
  const mcpServers = { deep: { command: process.execPath, args: [server] } };
  writeFileSync(join(cwd, ".mcp.json"), JSON.stringify({ mcpServers }));
  library = await createRuntime({ skillsDir: join(cwd, "skills"), mcpServers, workers: 1 });
  await library.ready;
  const byHttp = startServer("--http", "--no-auth", "--port", "0", "--expose", "both");
  http = { ...byHttp, url: await byHttp.said(/(?:Serving|MCP) at (\S+)\/mcp/) };
  const byStdio = startServer("--stdio", "--expose", "both");
  stdio = { ...byStdio, lines: createInterface(byStdio.child.stdout as NodeJS.ReadableStream) };
}, 60_000);

afterAll(async () => {
  for (const { child } of [http, stdio]) child.kill("SIGKILL");
  await library.close();
  rmSync(base, { recursive: true, force: true });
});

const SURFACES: Readonly<Record<string, Surface>> = {
  "the library": {
    run: async (code) => JSON.stringify(await library.run(code)),
    call: (path) => library.call(path, {}).then(String, String),
  },
  "serve --stdio": {
    run: (code) => askStdio("run_code", { code }),
    call: (path) => askStdio(path.replace(".", "__"), {}),
    async send(sent) {
      stdio.child.stdin?.write(sent);
      stdio.child.stdin?.write("\n");
      return askStdio("run_code", { code: "1" });
    },
  },
  "/mcp": {
    run: (code) => askMcp("run_code", { code }),
    call: (path) => askMcp(path.replace(".", "__"), {}),
    send: (sent) => post("/mcp", sent, BOTH),
  },
  "/rpc": rpcSurface("application/json"),
  "/rpc as a stream": rpcSurface("text/event-stream"),
  "/ws": {
    run: (code) => askSocket(JSON.stringify(rpcCall("run_code", { code }))),
    call: (path) => askSocket(JSON.stringify(rpcCall(path, {}))),
    // An input without an answer, such as a notification, is followed by a request that has one.
    send: (sent) => askSocket(sent, JSON.stringify({ jsonrpc: "2.0", id: "last", method: "health" })),
  },
  "POST /tools": toolSurface("application/json"),
  "POST /tools as a stream": toolSurface("text/event-stream"),
};

describe.each(Object.entries(SURFACES))("%s", (surface, { run, call, send }) => {
  const inputs = [
    ...PROGRAMS.map(({ name, code }) => ({ name, give: () => run?.(code) })),
    ...METHODS.map(({ name, path }) => ({ name: `${name} in a program`, give: () => run?.(`await device.${path}()`) })),
    ...METHODS.map(({ name, path }) => ({ name, give: () => call?.(path) })),
    ...(send === undefined ? [] : TEXTS.map(([name, sent]) => ({ name, give: () => send(sent) }))),
  ];

  test.each(takeShare(16, inputs, 3))(
    "answers $name, and then the next request [V6]",
    { tags: "repeated" },
    async ({ give }) => {
      const faults = faultsOfProcess();
      expect(await give()).not.toBe("");
      expect(await run?.("20 + 22")).toContain("42");
      expect(faults).toEqual([]);
      for (const { child, errors } of surface === "the library" ? [] : [http, stdio])
        expect([child.exitCode, errors().match(/.*uncaught exception[^]*/)?.[0]]).toEqual([null, undefined]);
    },
  );
});

describe("the command line", () => {
  const commands = [
    ...PROGRAMS.map(({ name, code, exit }) => ({ name: `run with ${name}`, args: ["run"], input: code, exit })),
    ...METHODS.map(({ name, path, exit }) => ({ name: `call with ${name}`, args: ["call", path], input: "", exit })),
  ];

  test.each(takeShare(10, commands, 3))(
    "answers $name with a readable error, and runs the next command [V6]",
    { tags: "repeated" },
    async ({ args, input, exit }) => {
      const ended = await skillgate(args, { cwd, input, env });
      // Owners see lines of the skill's own file, and no other frame.
      const strange = ended.stderr.match(/^ {4}at (?!HostileSkill\.\w+ \(skills\/hostile\.js:).*|call stack/m)?.[0];
      expect([ended.exit, strange]).toEqual([exit, undefined]);
      if (exit !== 0) expect(ended.stderr).toMatch(/^\S.{10,}$/m);
      expect(await skillgate(["run", "-e", "20 + 22"], { cwd, env })).toEqual({ exit: 0, stdout: "42\n", stderr: "" });
    },
  );
});

/** A server in its own process. */
interface Server {
  readonly child: ChildProcess;
  /** Everything that it has written to stderr. */
  readonly errors: () => string;
  /** Waits until stderr matches; returns the first group. */
  readonly said: (pattern: RegExp) => Promise<string>;
}

function startServer(...flags: readonly string[]): Server {
  const child = spawn(process.execPath, [BIN, "serve", ...flags], { cwd, env, stdio: "pipe" });
  let errors = "";
  child.stderr.on("data", (chunk: Buffer) => (errors += chunk.toString()));
  return {
    child,
    errors: () => errors,
    async said(pattern) {
      for (;;) {
        const [, group] = pattern.exec(errors) ?? [];
        if (group !== undefined) return group;
        await once(child.stderr, "data");
      }
    },
  };
}

let lastId = 0;

/** Sends a request and waits for its answer, ignoring other answers before it. */
function askStdio(name: string, args: object): Promise<string> {
  const id = `own ${++lastId}`;
  stdio.child.stdin?.write(`${JSON.stringify(mcpCall(id, name, args))}\n`);
  return new Promise((resolve) => {
    stdio.lines.on("line", function listen(line) {
      if ((JSON.parse(line) as Parsed).id !== id) return;
      stdio.lines.off("line", listen);
      resolve(line);
    });
  });
}

const BOTH = { accept: "application/json, text/event-stream" };

function askMcp(name: string, args: object): Promise<string> {
  const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": name };
  return post("/mcp", JSON.stringify(mcpCall(1, name, args)), { ...BOTH, ...headers });
}

function rpcSurface(accept: string): Surface {
  return {
    run: (code) => post("/rpc", JSON.stringify(rpcCall("run_code", { code })), { accept }),
    call: (path) => post("/rpc", JSON.stringify(rpcCall(path, {})), { accept }),
    send: (sent) => post("/rpc", sent, { accept }),
  };
}

function toolSurface(accept: string): Surface {
  return {
    run: (code) => post("/tools/run_code", JSON.stringify({ code }), { accept }),
    call: (path) => post(`/tools/${path}`, "{}", { accept }),
    send: (sent) => post("/tools/HostileSkill.echo", sent, { accept }),
  };
}

/** Returns the first answer to messages, or the reason why the socket was closed. */
async function askSocket(...messages: readonly (string | Buffer)[]): Promise<string> {
  const socket = new WebSocket(`${http.url.replace("http", "ws")}/ws`);
  try {
    await once(socket, "open");
    const answer = new Promise<string>((resolve) => {
      socket.on("message", (data) => {
        const message = (data as Buffer).toString();
        if ("id" in (JSON.parse(message) as Parsed)) resolve(message);
      });
      socket.on("close", (code) => resolve(`closed with ${code}`));
    });
    for (const message of messages) socket.send(message.toString());
    return await answer;
  } finally {
    socket.terminate();
  }
}

async function post(path: string, body: string | Buffer, headers: Readonly<Record<string, string>>): Promise<string> {
  const sent = { method: "POST", headers: { "content-type": "application/json", ...headers }, body };
  const response = await fetch(http.url + path, sent);
  return `${response.status} ${await response.text()}`;
}

function rpcCall(name: string, args: object): object {
  return { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } };
}

/** Calls as a client of the 2026 protocol does. */
function mcpCall(id: string | number, name: string, args: object): object {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  return { jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args, _meta } };
}
