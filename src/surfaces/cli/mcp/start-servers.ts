import { SkillgateError } from "../../../errors.ts";
import type { Problem } from "../../../model/provider.ts";
import type { ServerStatus } from "../../../providers/mcp/index.ts";
import type { Runtime } from "../../../runtime.ts";
import { otherProblems } from "../unknown-path.ts";
import type { CliSession, RuntimeNeeds } from "../session.ts";
import { type CommandConfig, openConfig } from "./files.ts";

/** The status of a server and the place of its declaration, with secrets masked. */
export type StartedServer = ServerStatus & {
  /** `.mcp.json:3:5` */
  readonly source: string;
};

export interface StartedServers {
  readonly runtime: Runtime;
  readonly servers: readonly StartedServer[];
  readonly problems: readonly Problem[];
  /** The problems that no server's status reports. */
  readonly otherProblems: readonly Problem[];
}

/** Starts all servers, or one, and returns their status once each is connected or has failed. */
export async function startServers(
  session: CliSession,
  name?: string,
  use: RuntimeNeeds = {},
): Promise<StartedServers> {
  const files = await openConfig(session);
  if (name !== undefined) requireUsable(name, files);
  const runtime = await session.connectedRuntime({ ...use, ...(name !== undefined && { onlyServers: [name] }) });
  return createStartedServers(runtime, runtime.servers, files);
}

/** Starts one server and returns its status. */
export async function startServer(session: CliSession, name: string, use?: RuntimeNeeds): Promise<StartedServer> {
  const { servers } = await startServers(session, name, use);
  const [server] = servers;
  if (server !== undefined) return server;
  const { configModule } = await openConfig(session);
  throw configModule.createUnknownServerError(name, []);
}

/** Adds the facts of the configuration files to the status of servers. */
export function createStartedServers(
  runtime: Runtime,
  servers: readonly ServerStatus[],
  files: CommandConfig,
): StartedServers {
  return {
    runtime,
    servers: servers.map((server) => addSource(server, files)),
    problems: runtime.problems,
    otherProblems: otherProblems(runtime),
  };
}

export function addSource(status: ServerStatus, { servers }: CommandConfig): StartedServer {
  return { ...status, source: servers.find(({ name }) => name === status.name)?.source ?? "" };
}

/** Throws if no file declares the name, or if its entry is invalid. */
function requireUsable(name: string, files: CommandConfig): void {
  const { config, problem } = files.configModule.findDeclaredServer(name, files);
  if (config !== undefined) return;
  const { source = "", error = "it is Skillgate itself", fix } = problem ?? {};
  throw new SkillgateError("CONFIG_INVALID", `${source}: ${error}`, {
    server: name,
    ...(fix !== undefined && { fix }),
  });
}
