import {
  addDeclaredServer,
  changeDeclaredServer,
  createSwitchChanges,
  createUnknownServerError,
  findDeclaredServer,
  maskEntry,
  type WritableScope,
} from "../../../../config/index.ts";
import { isRecord } from "../../../../model/json.ts";
import { truncateText } from "../../../../shared/format-text.ts";
import type { ServerConfig } from "../../../../providers/mcp/index.ts";
import type { RuntimeView } from "../../../../runtime/api/view.ts";
import { answerLines, type SendLine } from "../../follow-run.ts";
import { openConfigFiles } from "../../config-files.ts";
import { summarizeServer } from "../../events/activity.ts";
import { type Endpoints, readEnabled, readText } from "../../endpoints.ts";
import type { ServerDetail, ServerLog, ServerTestLine } from "../../messages.ts";
import { invalidRequest } from "../../problem.ts";
import { restoreSecrets } from "../../restore-secrets.ts";
import type { ConsoleServices } from "../../services.ts";

/** The list of MCP servers, and what an administrator may do with them. */
export function createServerEndpoints(services: ConsoleServices): Endpoints {
  return {
    "GET /servers": ({ view }) => ({ servers: view.servers.map(summarizeServer) }),
    "GET /servers/:name": ({ view, getPart }) => describeServer(getPart("name"), view, services),
    "GET /servers/:name/log": ({ view, getPart }): ServerLog => ({
      log: view.may("Read") ? findServer(getPart("name"), view).stderrTail : "",
    }),
    "POST /servers": async ({ c, view, readBody }) => {
      const { reloadServers } = view.admin("ManageServers");
      const body = await readBody();
      const server = { name: readText(body, "name"), entry: readEntry(body["entry"]) };
      const config = await openConfigFiles(services.config, view, "ManageServers");
      const written = await addDeclaredServer(server, readScope(body["scope"]), { config });
      await reloadServers();
      return c.json(written, 201);
    },
    "PUT /servers/:name": async ({ view, getPart, readBody }) => {
      view.require("ManageServers");
      const entry = readEntry((await readBody())["entry"]);
      await changeEntry(getPart("name"), view, services, (server) => [
        { path: [], value: restoreSecrets(entry, server.entry) },
      ]);
    },
    "POST /servers/:name/enabled": async ({ view, getPart, readBody }) => {
      view.require("ManageServers");
      const enabled = readEnabled(await readBody());
      await changeEntry(getPart("name"), view, services, (server) => createSwitchChanges(server, enabled));
    },
    "POST /servers/:name/test": async ({ c, view, getPart }) => {
      const files = await openConfigFiles(services.config, view, "ManageServers");
      const { config, problem } = findDeclaredServer(getPart("name"), files);
      if (config === undefined) throw invalidRequest(problem?.error ?? "this server is Skillgate itself");
      return answerLines<ServerTestLine>(c, (send, signal) =>
        testServer({ ...config, enabled: true }, { view, signal, send }),
      );
    },
    "DELETE /servers/:name": ({ view, getPart }) =>
      changeEntry(getPart("name"), view, services, () => [{ path: [], value: undefined }]),
  };
}

type Declared = ReturnType<typeof findDeclaredServer>;

/** Changes the entry of a server in its file, and applies the change to the runtime. */
async function changeEntry(
  name: string,
  view: RuntimeView,
  { config }: ConsoleServices,
  createChanges: (server: Declared) => ReturnType<typeof createSwitchChanges>,
): Promise<void> {
  const { reloadServers } = view.admin("ManageServers");
  const files = await openConfigFiles(config, view, "ManageServers");
  const server = findDeclaredServer(name, files);
  await changeDeclaredServer(server, createChanges(server), files);
  await reloadServers();
}

/** Describes a server to a caller that may see it; entries, logs and problems only to an administrator. */
async function describeServer(name: string, view: RuntimeView, { config }: ConsoleServices): Promise<ServerDetail> {
  const isAdmin = view.may("Read");
  const status = findServer(name, view);
  const files = isAdmin && config !== undefined ? await openConfigFiles(config, view, "Read") : undefined;
  const declared = files?.declared.find((server) => server.name === name && !server.isOverruled);
  return {
    ...summarizeServer(status),
    tools: listTools(status, view),
    quarantined: isAdmin ? status.quarantined.map(({ tool, reason }) => ({ tool, reason })) : [],
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

/** Finds a server that the caller may see. */
function findServer(name: string, { servers }: RuntimeView): RuntimeView["servers"][number] {
  const found = servers.find((server) => server.name === name);
  if (found !== undefined) return found;
  throw createUnknownServerError(
    name,
    servers.map((server) => server.name),
  );
}

function listTools({ skill, tools }: RuntimeView["servers"][number], { catalog }: RuntimeView): ServerDetail["tools"] {
  return tools.flatMap(({ name, method }) => {
    const path = `${skill}.${method}`;
    const found = catalog.method(path);
    return found === undefined ? [] : [{ name, path, description: truncateText(found.description, MAX_TEXT_UNITS) }];
  });
}

/** UTF-16 units of a description in lists. */
const MAX_TEXT_UNITS = 200;

const MAX_ENTRY_UNITS = 64 << 10;

function readEntry(value: unknown): Readonly<Record<string, unknown>> {
  if (isRecord(value)) {
    if (JSON.stringify(value).length <= MAX_ENTRY_UNITS) return value;
    throw invalidRequest(`entry must have at most ${MAX_ENTRY_UNITS} characters as JSON`);
  }
  throw invalidRequest('entry must be an object, such as { "command": "npx", "args": ["-y", "weather-mcp"] }');
}

function readScope(value: unknown = "project"): WritableScope {
  if (value === "project" || value === "local" || value === "user") return value;
  throw invalidRequest("scope must be project, local or user");
}

interface TestRun {
  readonly view: RuntimeView;
  readonly signal: AbortSignal;
  readonly send: SendLine<ServerTestLine>;
}

/** Tests a server by a second connection of its own, with its output as it comes. */
async function testServer(config: ServerConfig, { view, signal, send }: TestRun): Promise<void> {
  const { secrets } = view;
  const started = performance.now();
  const log = (text: string): void => send({ kind: "log", text: secrets.maskText(text) });
  const provider = await view
    .admin("ManageServers")
    .connectAlone(config, { signal, log: (_server, level, text) => log(`${level}: ${text}`) });
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
