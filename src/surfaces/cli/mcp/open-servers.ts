import type { ServerStatus } from "../../../providers/mcp/index.ts";
import type { Runtime } from "../../../runtime.ts";
import { waitAtMost } from "../../../shared/run-with-timeout.ts";
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

/** A command that shows all servers does not wait longer for one that does not answer. */
const MAX_WAIT_MS = 5_000;

function hasSettled({ status }: ServerStatus): boolean {
  return status !== "connecting" && status !== "disconnected";
}

function describeWait(server: ServerStatus): ServerStatus {
  if (server.status !== "connecting") return server;
  const error = `no answer within ${MAX_WAIT_MS / 1_000} s; wait for it with: skillgate mcp test ${server.name}`;
  return { ...server, error };
}
