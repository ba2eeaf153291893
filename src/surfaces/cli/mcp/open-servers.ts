import type { ServerStatus } from "../../../providers/mcp/index.ts";
import type { Runtime } from "../../../runtime.ts";
import { waitAtMost } from "../../../shared/run-with-timeout.ts";
import { describeSilence, MAX_WAIT_MS } from "../commands/wait-for-servers.ts";
import type { CliSession } from "../session.ts";
import { unlessInterrupted } from "../terminal/interruption.ts";
import { openConfig } from "./files.ts";
import { addSource, createStartedServers, type StartedServer, type StartedServers } from "./start-servers.ts";

/** Servers that are connecting. */
export interface ConnectingServers {
  readonly runtime: Runtime;
  /** The errors of problems that do not prevent a server from starting. */
  readonly warnings: ReadonlySet<string>;
  /** Calls back with each server once it is connected or has failed; waits 5 s at most for those that do not answer. */
  readonly follow: (onSettled: (server: StartedServer) => void) => Promise<StartedServers>;
}

/** Starts all servers and returns at once, while they are connecting. */
export async function openServers(session: CliSession): Promise<ConnectingServers> {
  const files = await openConfig(session);
  const runtime = await session.openedRuntime();
  return {
    runtime,
    warnings: new Set(files.declared.flatMap(({ config, problem }) => (config && problem ? problem.error : []))),
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
