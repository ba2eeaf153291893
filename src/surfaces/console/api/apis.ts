import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { toRecord } from "../../../model/json.ts";
import type { RuntimeView } from "../../../runtime/api/view.ts";
import type { SourceSettings } from "../../../runtime/options.ts";
import { addSource, describeAddedDocument, findSourceMistakes, isSchemaText } from "../../../runtime/settings/index.ts";
import { changeSettingsFile, requireConfig } from "../config-files.ts";
import { type Endpoints, type JsonObject, readText } from "../endpoints.ts";
import type { ApiDetail, ApiSummary } from "../messages.ts";
import { invalidRequest } from "../problem.ts";
import type { ConsoleServices } from "../services.ts";

/** The APIs of the settings, their operations, and what an administrator may do with them. */
export function createApiEndpoints(services: ConsoleServices): Endpoints {
  return {
    "GET /apis": ({ view }) => ({ apis: view.admin("Read").listApis().map(summarize) }),
    "GET /apis/:name": ({ view, getPart }) => describeApi(getPart("name"), view),
    "POST /apis": async ({ c, view, readBody }) => c.json(await addApi(await readBody(), view, services), 201),
    "POST /apis/:name/refresh": async ({ view, getPart }) => {
      const { listApis, refreshApi } = view.admin("ManageServers");
      return summarize(await refreshApi(findApi(getPart("name"), listApis()).name));
    },
    "POST /apis/:name/accept": async ({ view, getPart }) => {
      const { listApis, acceptApi } = view.admin("ManageServers");
      return summarize(await acceptApi(findApi(getPart("name"), listApis()).name));
    },
    "DELETE /apis/:name": async ({ view, getPart }) => {
      const { listApis } = view.admin("ManageServers");
      await writeSource(findApi(getPart("name"), listApis()).name, undefined, view, services);
    },
  };
}

type ApiStatus = ReturnType<ReturnType<typeof readAdmin>["listApis"]>[number];

const readAdmin = (view: RuntimeView) => view.admin("Read");

function summarize(status: ApiStatus): ApiSummary {
  const { name, skill, title, document, server, methods, problems, changes, readAt, error } = status;
  return {
    name,
    skill,
    title,
    document,
    server: server ?? null,
    methods,
    problemCount: problems.length,
    changeCount: changes.length,
    readAt: readAt ?? null,
    error: error ?? null,
  };
}

/** Changes whose differences are shown; each reads two definitions. */
const MAX_CHANGES = 100;

function describeApi(name: string, view: RuntimeView): ApiDetail {
  const { listApis, listOperations } = readAdmin(view);
  const status = findApi(name, listApis());
  const { catalog } = view;
  return {
    ...summarize(status),
    holdsChanges: status.holdsChanges,
    problems: status.problems,
    changes: status.changes
      .slice(0, MAX_CHANGES)
      .map((change) => ({ name: change.name, kind: change.kind, differences: change.differences })),
    operations: listOperations(name).map(({ method, verb, path, summary, effect, reason, isLoosened }) => {
      const entry = catalog.entry(`${status.skill}.${method}`);
      return {
        method,
        // A root field of GraphQL is called by its method.
        path: entry === undefined ? null : `${status.skill}.${entry.definition.partOf ?? method}`,
        request: `${verb} ${path}`,
        summary,
        effect,
        reason,
        isLoosened,
      };
    }),
  };
}

function findApi(name: string, apis: readonly ApiStatus[]): ApiStatus {
  const found = apis.find((api) => api.name === name);
  if (found !== undefined) return found;
  throw invalidRequest(`the settings have no API ${JSON.stringify(name)}`);
}

/** Writes an API into the settings, with the server of its document unless one is given, and reads the document. */
async function addApi(body: JsonObject, view: RuntimeView, services: ConsoleServices): Promise<ApiSummary> {
  const { listApis } = view.admin("ManageServers");
  const { options } = requireConfig(services.config);
  const name = readText(body, "name");
  const written = toRecord(toRecord(readAdmin(view).sections)["sources"]);
  if (Object.hasOwn(written, name) || listApis().some((api) => api.name === name))
    throw invalidRequest(`settings.yaml has an API ${name} already; choose another name`);
  const pasted = typeof body["text"] === "string" && body["text"].trim() !== "" ? body["text"] : undefined;
  const file = pasted === undefined ? undefined : `apis/${name}.${getExtension(pasted)}`;
  const settings = {
    ...describeDocument(body, file, pasted),
    ...(typeof body["account"] === "string" && body["account"] !== "" && { account: body["account"] }),
    ...(body["private"] === true && { private: true }),
  };
  const [mistake] = findSourceMistakes(name, settings);
  if (mistake !== undefined) throw invalidRequest(mistake);
  if (file !== undefined && pasted !== undefined) await writeDocument(options.cwd, file, pasted);
  try {
    const status = await addSource(settings, {
      write: (each) => writeSource(name, each, view, services),
      read: async () => findAdded(name, listApis()),
    });
    if (status.error !== undefined && status.operations === 0)
      throw invalidRequest(`nothing was added. ${status.error}`);
    return summarize(status);
  } catch (error) {
    if (file !== undefined) await rm(join(options.cwd, file), { force: true });
    throw error;
  }
}

function getExtension(text: string): string {
  if (/^\s*[{[]/.test(text)) return "json";
  return isSchemaText(text) ? "graphql" : "yaml";
}

/** Returns the settings for the document of an API, and for its server. */
function describeDocument(body: JsonObject, file: string | undefined, text: string | undefined): SourceSettings {
  const settings = describeAddedDocument({
    location: file === undefined ? readText(body, "document") : `./${file}`,
    text,
    server: typeof body["server"] === "string" && body["server"] !== "" ? body["server"] : undefined,
    isGraphql: body["kind"] === "graphql",
  });
  if (settings !== undefined) return settings;
  throw invalidRequest(
    "a schema does not say where its API is; write its endpoint as the base address of its requests",
  );
}

function findAdded(name: string, apis: readonly ApiStatus[]): ApiStatus {
  const added = apis.find((api) => api.name === name);
  if (added !== undefined) return added;
  throw invalidRequest("settings.yaml cannot be used now; its problem is in the log of the server");
}

async function writeDocument(cwd: string, file: string, text: string): Promise<void> {
  await mkdir(join(cwd, "apis"), { recursive: true });
  await writeFile(join(cwd, file), text, { flag: "wx" }).catch((error: NodeJS.ErrnoException) => {
    throw error.code === "EEXIST"
      ? invalidRequest(`the project has a file ${file} already; choose another name`)
      : error;
  });
}

async function writeSource(
  name: string,
  settings: object | undefined,
  view: RuntimeView,
  services: ConsoleServices,
): Promise<void> {
  const { reloadSettings } = view.admin("ManageServers");
  await changeSettingsFile(services.config, view, { values: [{ path: ["sources", name], value: settings }] });
  await reloadSettings();
}
