import {
  CLIENTS,
  findServersOfClient,
  type FoundServer,
  type ImportResult,
  importServer,
  isSelfEntry,
  type LoadedConfig,
  parsePastedServers,
  type PastedServer,
  shownServer,
  toServerConfig,
} from "../../../../config/index.ts";
import { getMessage } from "../../../../errors.ts";
import type { RuntimeView } from "../../../../runtime/api/view.ts";
import { openConfigFiles } from "../../config-files.ts";
import { type Endpoints, readText } from "../../endpoints.ts";
import type { ClientServer, ReadServer } from "../../messages.ts";
import { invalidRequest } from "../../problem.ts";
import type { ConsoleServices } from "../../services.ts";

/** Servers that a page lists. */
const MAX_SERVERS = 200;

/** Reads servers out of a pasted text, and imports those of other clients on this machine. None is added before it was shown. */
export function createAddServerEndpoints({ config }: ConsoleServices): Endpoints {
  const open = (view: RuntimeView): Promise<LoadedConfig> => openConfigFiles(config, view, "ManageServers");
  return {
    "POST /pasted-servers": async ({ view, readBody }) => {
      const files = await open(view);
      const servers = parsePastedServers(readText(await readBody(), "text"));
      return { servers: servers.slice(0, MAX_SERVERS).map((server) => checkServer(server, files)) };
    },
    "GET /client-servers": async ({ view }) => {
      const files = await open(view);
      const { servers, problems } = await findAll(files);
      const results = servers.map((server) => importServer(server, { dryRun: true }, files));
      return { servers: (await Promise.all(results)).slice(0, MAX_SERVERS).map(summarize), problems };
    },
    "POST /client-servers": async ({ c, view, readBody }) => {
      const { reloadServers } = view.admin("ManageServers");
      const files = await open(view);
      const body = await readBody();
      const [client, from, name] = [readText(body, "client"), readText(body, "from"), readText(body, "name")];
      const { servers } = await findAll(files);
      const found = servers.find((each) => each.client?.id === client && each.from === from && each.name === name);
      if (found === undefined)
        throw invalidRequest("the file has no server of this name any more; load the page again");
      const result = await importServer(found, {}, files);
      if (result.kind === "skipped") throw invalidRequest(result.why);
      await reloadServers();
      return c.json(summarize(result), 201);
    },
  };
}

/** Finds the servers in the files of every client. */
async function findAll({ options }: LoadedConfig) {
  const found = await Promise.all(CLIENTS.map((client) => findServersOfClient(client, options)));
  return {
    servers: found.flatMap(({ servers }) => servers),
    problems: found.flatMap(({ problems }) => problems),
  };
}

/** Describes a server that a person has pasted, with the mistakes of its entry. */
function checkServer({ name, entry }: PastedServer, { declared, options }: LoadedConfig): ReadServer {
  return { name, entry, line: shownServer(entry), problem: findProblem({ name, entry }, { declared, options }) };
}

function findProblem({ name, entry }: PastedServer, { declared, options }: LoadedConfig): string | null {
  if (isSelfEntry(entry)) return "This is Skillgate itself; the page Connect adds it to other clients";
  const existing = declared.find((server) => server.name === name);
  if (existing !== undefined) return `${existing.file.label} already has a server of this name; choose another`;
  try {
    toServerConfig(name, entry, options);
    return null;
  } catch (thrown) {
    return getMessage(thrown);
  }
}

function summarize(result: ImportResult): ClientServer {
  const { name, from, entry }: FoundServer = result;
  return {
    client: result.client?.id ?? "",
    title: result.client?.title ?? from,
    name,
    from,
    line: shownServer(entry),
    file: result.kind === "added" ? result.written.file : null,
    isHeld: result.isForeign,
    obstacle: result.kind === "skipped" ? result.why : null,
  };
}
