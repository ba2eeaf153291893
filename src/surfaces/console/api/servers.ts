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
import type { Runtime } from "../../../runtime.ts";
import { openConfigFiles } from "../config-files.ts";
import { filterServers } from "../events/event-hub.ts";
import { summarizeServer } from "../events/summaries.ts";
import type { ServerDetail } from "../messages.ts";
import { invalidRequest } from "../problem.ts";
import { restoreSecrets } from "../restore-secrets.ts";
import { readObject, readText } from "../read-body.ts";
import { requireAdmin } from "../security/guard.ts";
import type { AddConsoleApi, ConsoleServices } from "../services.ts";

/** Adds the list of MCP servers, and what an administrator may do with them. */
export const addServersApi: AddConsoleApi = (api, services) => {
  const { runtime, http } = services;
  api.get("/servers", (c) =>
    c.json({ servers: filterServers(runtime.servers.map(summarizeServer), c.get("caller"), runtime) }),
  );
  api.get("/servers/:name", async (c) => c.json(await describeServer(c.req.param("name"), c.get("caller"), services)));
  api.post("/servers", async (c) => {
    requireAdmin(c.get("caller"), "write");
    const body = await readObject(c, http);
    const server = { name: readText(body, "name"), entry: readEntry(body["entry"]) };
    const config = await openConfigFiles(services.config);
    const written = await addDeclaredServer(server, readScope(body["scope"]), { config });
    await runtime.reloadServers();
    return c.json(written, 201);
  });
  api.put("/servers/:name", async (c) => {
    requireAdmin(c.get("caller"), "write");
    const entry = readEntry((await readObject(c, http))["entry"]);
    await changeEntry(c.req.param("name"), services, (server) => [
      { path: [], value: restoreSecrets(entry, server.entry) },
    ]);
    return c.body(null, 204);
  });
  api.post("/servers/:name/enabled", async (c) => {
    requireAdmin(c.get("caller"), "write");
    const { enabled } = await readObject(c, http);
    if (typeof enabled !== "boolean") throw invalidRequest("enabled must be true or false");
    await changeEntry(c.req.param("name"), services, (server) => createSwitchChanges(server, enabled));
    return c.body(null, 204);
  });
  api.delete("/servers/:name", async (c) => {
    requireAdmin(c.get("caller"), "write");
    await changeEntry(c.req.param("name"), services, () => [{ path: [], value: undefined }]);
    return c.body(null, 204);
  });
};

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
