import type { Problem } from "../../../model/provider.ts";
import type { Runtime } from "../../../runtime.ts";
import { otherProblems } from "../problems.ts";
import type { Session } from "../session.ts";
import { openFiles, unknownServer } from "./files.ts";

/** How a server is now, and where it is declared; nothing that it says gives away a secret. */
export type LiveServer = Runtime["servers"][number] & {
  /** `.mcp.json:3:5` */
  readonly source: string;
};

export interface Live {
  readonly runtime: Runtime;
  readonly servers: readonly LiveServer[];
  readonly problems: readonly Problem[];
  /** What no status of a server tells. */
  readonly otherProblems: readonly Problem[];
}

/** Starts all servers, and says how they are when each is connected or has failed. */
export async function startAll(session: Session): Promise<Live> {
  const { room, servers: configs } = await openFiles(session);
  const runtime = await session.readyRuntime();
  const hide = room.hideSecrets(configs);
  const shown = (problem: Problem): Problem => ({ ...problem, error: hide(problem.error) });
  return {
    runtime,
    servers: runtime.servers.map((status) => ({
      ...status,
      source: configs.find(({ name }) => name === status.name)?.source ?? "",
      ...(status.error !== undefined && { error: hide(status.error) }),
      stderrTail: hide(status.stderrTail),
    })),
    problems: runtime.problems.map(shown),
    otherProblems: otherProblems(runtime).map(shown),
  };
}

export function liveNamed(name: string, { servers }: Live): LiveServer {
  const server = servers.find((each) => each.name === name);
  if (server !== undefined) return server;
  throw unknownServer(
    name,
    servers.map((each) => each.name),
  );
}
