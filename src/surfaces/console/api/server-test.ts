import { findDeclaredServer } from "../../../config/index.ts";
import { connectServers, type ServerConfig } from "../../../providers/mcp/index.ts";
import { resolveMcpOptions } from "../../../runtime/mcp-options.ts";
import { followCredential } from "../../http/index.ts";
import { openConfigFiles } from "../config-files.ts";
import { summarizeServer } from "../events/summaries.ts";
import type { ServerTestLine } from "../messages.ts";
import { answerProblem, invalidRequest } from "../problem.ts";
import { requireAdmin } from "../security/guard.ts";
import type { AddConsoleApi, ConsoleServices } from "../services.ts";

/** Adds the test of a server: a second connection of its own, with its output as it comes, one JSON object a line. */
export const addServerTestApi: AddConsoleApi = (api, services) => {
  api.post("/servers/:name/test", async (c) => {
    requireAdmin(c.get("caller"), "write");
    const files = await openConfigFiles(services.config);
    const { config, problem } = findDeclaredServer(c.req.param("name"), files);
    if (config === undefined) throw invalidRequest(problem?.error ?? "this server is Skillgate itself");
    const controller = new AbortController();
    c.env.outgoing.once("close", () => controller.abort());
    const { signal, stop } = followCredential(controller.signal, c.get("life"));
    c.env.outgoing.once("close", stop);
    const body = streamTest({ ...config, enabled: true }, services, signal);
    return c.body(body, 200, { "content-type": "application/x-ndjson", "x-accel-buffering": "no" });
  });
};

function streamTest(config: ServerConfig, services: ConsoleServices, signal: AbortSignal): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    async start(controller) {
      const send = (line: ServerTestLine): void => {
        if (!signal.aborted) controller.enqueue(encoder.encode(`${JSON.stringify(line)}\n`));
      };
      try {
        await testServer(config, services, { signal, send });
      } catch (thrown) {
        send({ kind: "problem", problem: (await answerProblem(thrown).json()) as never });
      }
      if (!signal.aborted) controller.close();
    },
  });
}

interface TestRun {
  readonly signal: AbortSignal;
  readonly send: (line: ServerTestLine) => void;
}

async function testServer(config: ServerConfig, services: ConsoleServices, { signal, send }: TestRun): Promise<void> {
  const { runtime, config: files } = services;
  const started = performance.now();
  const { cwd, env } = files?.options ?? { cwd: process.cwd(), env: process.env };
  const { stateDir } = resolveMcpOptions({}, { section: {}, cwd, env, discover: true, lazy: false });
  const log = (text: string): void => send({ kind: "log", text: runtime.secrets.maskText(text) });
  const provider = connectServers([config], {
    env,
    connectTimeoutMs: runtime.timeouts.connectMs,
    secrets: runtime.secrets,
    signal,
    ...(stateDir !== undefined && { stateDir }),
    log: (_server, level, text) => log(`${level}: ${text}`),
  });
  try {
    await provider.ready;
    const [status] = provider.servers;
    if (status === undefined) return;
    if (status.stderrTail !== "") log(status.stderrTail);
    const tools = status.tools.map(({ name }) => name);
    send({ kind: "result", server: summarizeServer(status), tools, durationMs: performance.now() - started });
  } finally {
    await provider.close();
  }
}
