import {
  addDeclaredServer,
  changeDeclaredServer,
  createSwitchChanges,
  createUnknownServerError,
  findDeclaredServer,
  maskEntry,
  type LoadedConfig,
  type WritableScope,
} from "../../../config/index.ts";
import { type Caller, mayAdminister } from "../../../model/caller.ts";
import { isRecord } from "../../../model/json.ts";
import { truncateText } from "../../../shared/format-text.ts";
import { connectServers, type ServerConfig } from "../../../providers/mcp/index.ts";
import type { Runtime } from "../../../runtime.ts";
import { resolveMcpOptions } from "../../../runtime/mcp-options.ts";
import { answerLines, type SendLine } from "../follow-run.ts";
import { openConfigFiles } from "../config-files.ts";
import { filterServers } from "../events/event-hub.ts";
import { summarizeServer } from "../events/activity.ts";
import { type Endpoints, forAdmin, readEnabled, readText } from "../endpoints.ts";
import type { ServerDetail, ServerTestLine } from "../messages.ts";
import { invalidRequest } from "../problem.ts";
import { restoreSecrets } from "../restore-secrets.ts";
import type { ConsoleServices } from "../services.ts";

/** The list of MCP servers, and what an administrator may do with them. */
export function createServerEndpoints(services: ConsoleServices): Endpoints {
  const { runtime } = services;
  return {
    "GET /servers": ({ caller }) => ({
      servers: filterServers(runtime.servers.map(summarizeServer), caller, runtime),
    }),
    "GET /servers/:name": ({ caller, getPart }) => describeServer(getPart("name"), caller, services),
    "POST /servers": forAdmin("write", async ({ c, readBody }) => {
      const body = await readBody();
      const server = { name: readText(body, "name"), entry: readEntry(body["entry"]) };
      const config = await openConfigFiles(services.config);
      const written = await addDeclaredServer(server, readScope(body["scope"]), { config });
      await runtime.reloadServers();
      return c.json(written, 201);
    }),
    "PUT /servers/:name": forAdmin("write", async ({ getPart, readBody }) => {
      const entry = readEntry((await readBody())["entry"]);
      await changeEntry(getPart("name"), services, (server) => [
        { path: [], value: restoreSecrets(entry, server.entry) },
      ]);
    }),
    "POST /servers/:name/enabled": forAdmin("write", async ({ getPart, readBody }) => {
      const enabled = readEnabled(await readBody());
      await changeEntry(getPart("name"), services, (server) => createSwitchChanges(server, enabled));
    }),
    "POST /servers/:name/test": forAdmin("write", async ({ c, getPart }) => {
      const { config, problem } = findDeclaredServer(getPart("name"), await openConfigFiles(services.config));
      if (config === undefined) throw invalidRequest(problem?.error ?? "this server is Skillgate itself");
      return answerLines<ServerTestLine>(c, (send, signal) =>
        testServer({ ...config, enabled: true }, services, { signal, send }),
      );
    }),
    "DELETE /servers/:name": forAdmin("write", ({ getPart }) =>
      changeEntry(getPart("name"), services, () => [{ path: [], value: undefined }]),
    ),
  };
}

type Declared = ReturnType<typeof findDeclaredServer>;

/** Changes the entry of a server in its file, and applies the change to the runtime. */
async function changeEntry(
  name: string,
  { runtime, config }: ConsoleServices,
  createChanges: (server: Declared) => ReturnType<typeof createSwitchChanges>,
): Promise<void> {
  const files = await openConfigFiles(config);
  const server = findDeclaredServer(name, files);
  await changeDeclaredServer(server, createChanges(server), files);
  await runtime.reloadServers();
}

/** Describes a server to a caller that may see it; entries, logs and problems only to an administrator. */
async function describeServer(
  name: string,
  caller: Caller,
  { runtime, config }: ConsoleServices,
): Promise<ServerDetail> {
  const isAdmin = mayAdminister(caller, "read");
  const visible = filterServers(runtime.servers.map(summarizeServer), caller, runtime);
  const summary = visible.find((server) => server.name === name);
  const status = summary && runtime.servers.find((server) => server.name === name);
  const files: LoadedConfig | undefined = isAdmin && config !== undefined ? await openConfigFiles(config) : undefined;
  const declared = files?.declared.find((server) => server.name === name && !server.isOverruled);
  if (summary === undefined || status === undefined)
    throw createUnknownServerError(
      name,
      visible.map((server) => server.name),
    );
  return {
    ...summary,
    tools: listTools(status, caller, runtime),
    quarantined: isAdmin ? status.quarantined.map(({ tool, reason }) => ({ tool, reason })) : [],
    log: isAdmin ? status.stderrTail : "",
    declaration:
      declared === undefined
        ? null
        : {
            file: declared.file.label,
            line: declared.location.line,
            scope: declared.file.scope,
            isHeld: declared.isHeld,
            entry: maskEntry(declared.entry),
            problem: declared.problem?.error ?? null,
          },
  };
}

function listTools(
  { skill, tools }: Runtime["servers"][number],
  caller: Caller,
  { catalogFor }: Pick<Runtime, "catalogFor">,
): ServerDetail["tools"] {
  const catalog = catalogFor(caller);
  return tools.flatMap(({ name, method }) => {
    const path = `${skill}.${method}`;
    const found = catalog.method(path);
    return found === undefined ? [] : [{ name, path, description: truncateText(found.description, MAX_TEXT_UNITS) }];
  });
}

/** UTF-16 units of a description in lists. */
const MAX_TEXT_UNITS = 200;

function readEntry(value: unknown): Readonly<Record<string, unknown>> {
  if (isRecord(value)) return value;
  throw invalidRequest('entry must be an object, such as { "command": "npx", "args": ["-y", "weather-mcp"] }');
}

function readScope(value: unknown = "project"): WritableScope {
  if (value === "project" || value === "local" || value === "user") return value;
  throw invalidRequest("scope must be project, local or user");
}

interface TestRun {
  readonly signal: AbortSignal;
  readonly send: SendLine<ServerTestLine>;
}

/** Tests a server by a second connection of its own, with its output as it comes. */
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
