import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  Client as NewClient,
  type ElicitResult,
  StreamableHTTPClientTransport as NewHttp,
} from "@modelcontextprotocol/client";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OldHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  ElicitRequestSchema,
  type ElicitResult as OldElicitResult,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { afterAll, onTestFinished } from "vitest";

import { defineSkill } from "../../src/authoring/define-skill.ts";
import type { RuntimeOptions } from "../../src/runtime/options.ts";
import { createRuntime, type Runtime } from "../../src/runtime.ts";
import { SERVER_DEFAULTS, serveHttp, type HttpServerSettings } from "../../src/surfaces/http/index.ts";

/** Starts a server for one test, with a skill whose methods succeed and fail in many ways. */
export async function serve(
  settings: Partial<HttpServerSettings> = {},
  options: RuntimeOptions = {},
  isToken?: (token: string) => boolean,
  times?: Parameters<typeof serveHttp>[3],
): Promise<{ readonly url: string; readonly runtime: Runtime; readonly close: () => Promise<void> }> {
  const runtime = await openRuntime(options);
  const server = await listen(runtime, settings, isToken, times);
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= server.close().then(() => runtime.close()));
  onTestFinished(close);
  return { url: server.url, runtime, close };
}

/**
 * Opens one runtime for the tests of a file that change nothing of it, and serves it with one server for each settings. All
 * close after the tests, because the end of one server releases the callers of the runtime.
 */
export function shareRuntime(
  open: () => Promise<Runtime> = openRuntime,
): (settings?: Partial<HttpServerSettings>) => Promise<{ readonly url: string; readonly runtime: Runtime }> {
  let shared: Promise<Runtime> | undefined;
  const servers = new Map<string, ReturnType<typeof serveHttp>>();
  afterAll(async () => {
    for (const server of servers.values()) await (await server).close();
    await (await shared)?.close();
  });
  return async (settings = {}) => {
    const runtime = await (shared ??= open());
    const key = JSON.stringify(settings);
    const server = servers.get(key) ?? listen(runtime, settings);
    servers.set(key, server);
    return { url: (await server).url, runtime };
  };
}

/** Opens a runtime with the skill for tests. */
export async function openRuntime(options: RuntimeOptions = {}): Promise<Runtime> {
  return createRuntime({ skillsDir: false, skills: [TestSkill], workers: 1, typecheck: false, ...options });
}

function listen(
  runtime: Runtime,
  settings: Partial<HttpServerSettings>,
  isToken?: (token: string) => boolean,
  times?: Parameters<typeof serveHttp>[3],
): ReturnType<typeof serveHttp> {
  const given = { ...SERVER_DEFAULTS, port: 0, auth: isToken !== undefined, drainSeconds: 2, ...settings };
  return serveHttp(runtime, given, isToken, times);
}

/** Events of the slow method, to wait for instead of a fixed time. */
export const slow = { began: () => {}, aborted: () => {} };

export function whenSlow(what: keyof typeof slow): Promise<void> {
  return new Promise((resolve) => (slow[what] = resolve));
}

const TEXT = { type: "string" } as const;

export const TestSkill = defineSkill({
  name: "TestSkill",
  description: "Does what tests want",
  guidance: "Use it in tests only.",
  methods: {
    add: {
      description: "Add two numbers",
      input: {
        type: "object",
        properties: { a: { type: "number", minimum: 0 }, b: { type: "number" } },
        required: ["a", "b"],
      },
      output: { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] },
      readOnly: true,
      idempotent: true,
      run: ({ a, b }) => ({ sum: a + b }),
    },
    fail: {
      description: "Always fails",
      run: () => {
        throw new Error("no luck today");
      },
    },
    late: { description: "Is too late", timeoutMs: 50, run: () => new Promise(() => {}) },
    slow: {
      description: "Waits until it is cancelled",
      run: (_input, { signal, progress }) =>
        new Promise((_resolve, reject) => {
          progress(1, 10, "waiting");
          signal.addEventListener("abort", () => {
            slow.aborted();
            reject(new Error("stopped"));
          });
          slow.began();
        }),
    },
    large: {
      description: "Returns much text",
      input: { type: "object", properties: { size: { type: "integer" } }, required: ["size"] },
      run: ({ size }) => "x".repeat(size),
    },
    picture: {
      description: "Returns text and an image",
      run: () => ["a picture", { type: "image", data: new Uint8Array([1, 2, 3]), mimeType: "image/png" }],
    },
    chatty: {
      description: "Says what it does",
      run: (_input, { log, progress }) => {
        progress(1, 2, "half");
        log("warn", "look out");
        progress(2, 2);
        return "done";
      },
    },
    greet: {
      description: "Asks for a name and greets",
      run: async (_input, { client }) => {
        const requestedSchema = { type: "object", properties: { name: TEXT }, required: ["name"] };
        const answer = await client?.ask("elicitation/create", { message: "Who?", requestedSchema }, "who");
        return `Hello, ${(answer as { content: { name: string } }).content.name}!`;
      },
    },
    pay: { description: "Pays", approval: "user", run: () => "paid" },
    rare: { description: "May be called once a minute", cooldownSeconds: 60, run: () => "called" },
  },
});

type AnyClient = OldClient | NewClient;

export const OLD = { name: "old", version: "1" };

/** A client of the SDK's first generation, over HTTP. */
export async function oldClient(url: string, headers: Record<string, string> = {}, path = "/mcp"): Promise<OldClient> {
  const client = new OldClient(OLD, { capabilities: { elicitation: {}, sampling: {} } });
  const transport = new OldHttp(new URL(path, url), { requestInit: { headers } });
  // The SDK's own types do not fit each other under exactOptionalPropertyTypes.
  await client.connect(transport as never);
  onTestFinished(() => client.close());
  return client;
}

/** A client of the second generation, which speaks the protocol of 2026. */
export async function newClient(
  url: string,
  headers: Record<string, string> = {},
  path = "/mcp",
  mode: "auto" | "legacy" = "auto",
): Promise<NewClient> {
  const client = new NewClient(
    { name: "new", version: "2" },
    { capabilities: { elicitation: { form: {} }, sampling: {} }, versionNegotiation: { mode } },
  );
  await client.connect(new NewHttp(new URL(path, url), { requestInit: { headers } }));
  onTestFinished(() => client.close());
  return client;
}

/** Answers for the user of a client. */
export function onElicitation(
  client: AnyClient,
  answer: (params: { message: string }) => ElicitResult | Promise<ElicitResult>,
): void {
  if ("listen" in client) client.setRequestHandler("elicitation/create", ({ params }) => answer(params));
  else client.setRequestHandler(ElicitRequestSchema, async ({ params }) => (await answer(params)) as OldElicitResult);
}

export function onToolsChanged(client: AnyClient, listener: () => void): void {
  if ("listen" in client) client.setNotificationHandler("notifications/tools/list_changed", listener);
  else client.setNotificationHandler(ToolListChangedNotificationSchema, listener);
}

/** Any JSON value. */
export type Parsed = ReturnType<typeof JSON.parse>;

/** Posts JSON; returns the status and the JSON of the answer, if any. */
export async function post(
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number; readonly json: Parsed; readonly headers: Headers }> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const text = await response.text();
  const data = text.startsWith("event:") || text.startsWith("id:") ? (/^data: (.*)$/m.exec(text)?.[1] ?? "") : text;
  return { status: response.status, json: data === "" ? undefined : JSON.parse(data), headers: response.headers };
}

/** Creates a folder that is removed after the test. */
export function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "skillgate-serve-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** Collects the uncaught errors of the process from now on. */
export function faultsOfProcess(): readonly unknown[] {
  const faults: unknown[] = [];
  const listener = (thrown: unknown): void => void faults.push(thrown);
  process.on("uncaughtExceptionMonitor", listener);
  onTestFinished(() => void process.off("uncaughtExceptionMonitor", listener));
  return faults;
}
