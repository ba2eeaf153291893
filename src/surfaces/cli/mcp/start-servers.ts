import { SkillgateError } from "../../../errors.ts";
import type { Problem } from "../../../model/provider.ts";
import type { ServerStatus } from "../../../providers/mcp/index.ts";
import type { Runtime } from "../../../runtime.ts";
import { waitAtMost } from "../../../shared/run-with-timeout.ts";
import type { CliSession, RuntimeUse } from "../session.ts";
import { unlessInterrupted } from "../terminal/interruption.ts";
import { describeSilence, MAX_WAIT_MS, otherProblems } from "../unknown-path.ts";
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
export async function startServers(session: CliSession, name?: string, use: RuntimeUse = {}): Promise<StartedServers> {
  const files = await openConfig(session);
  if (name !== undefined) requireUsable(name, files);
  const runtime = await session.openRuntime({
    until: "ready",
    ...use,
    ...(name !== undefined && { onlyServers: [name] }),
  });
  return createStartedServers(runtime, runtime.servers, files);
}

/** Starts one server and returns its status. */
export async function startServer(session: CliSession, name: string, use?: RuntimeUse): Promise<StartedServer> {
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

/** Servers that are connecting. */
export interface ConnectingServers {
  readonly runtime: Runtime;
  /** The errors of problems that do not prevent a server from starting. */
  readonly warnings: ReadonlySet<string>;
  /** True if a file of servers could not be used, so that some may be missing. */
  readonly hasUnreadFile: boolean;
  /** Calls back with each server once it is connected or has failed; waits 5 s at most for those that do not answer. */
  readonly follow: (onSettled: (server: StartedServer) => void) => Promise<StartedServers>;
}

/** Starts all servers and returns at once, while they are connecting. */
export async function openServers(session: CliSession): Promise<ConnectingServers> {
  const files = await openConfig(session);
  const runtime = await session.openRuntime({ until: "opened" });
  return {
    runtime,
    warnings: new Set(files.declared.flatMap(({ config, problem }) => (config && problem ? problem.error : []))),
    hasUnreadFile: files.warnings.some(({ source }) => source.endsWith("mcp.json")),
    async follow(onSettled) {
      const reported = new Set<string>();
      const report = (servers: Runtime["servers"]): void => {
        for (const server of servers.filter((each) => hasSettled(each) && !reported.has(each.name))) {
          reported.add(server.name);
          onSettled(addSource(server, files));
        }
      };
      const stop = runtime.on("servers", report);
      const { ready } = runtime;
      report(runtime.servers);
      await unlessInterrupted(waitAtMost(MAX_WAIT_MS, ready), session.signal).finally(stop);
      const servers = runtime.servers.map(describeWait);
      report(servers);
      for (const server of servers.filter(({ name }) => !reported.has(name))) onSettled(addSource(server, files));
      return createStartedServers(runtime, servers, files);
    },
  };
}

function hasSettled({ status }: ServerStatus): boolean {
  return status !== "connecting" && status !== "disconnected";
}

function describeWait(server: ServerStatus): ServerStatus {
  return server.status === "connecting" ? { ...server, error: describeSilence(server.name) } : server;
}
