import { OWNER } from "../../../model/caller.ts";
import type { Client, ClientRequest } from "../../../model/client-requests.ts";
import { listTools } from "../catalog/list-tools.ts";
import type { ServerConfig } from "../server-config.ts";
import type { Connection } from "./connection.ts";
import { type ConnectionOptions, ManagedConnection, type PreviousState } from "./managed-connection.ts";

/** Lists the tools for a client that answers some requests, over a connection whose requests have capabilities of their own. */
export async function listToolsAs(
  connection: Connection,
  requests: readonly ClientRequest[],
  timeoutMs: number,
): Promise<readonly unknown[]> {
  const signal = AbortSignal.timeout(timeoutMs);
  const context = { caller: OWNER, signal, client: createLister(requests), log: () => {}, progress: () => {} };
  const { tools } = await connection.requestDuring(context, (server) => listTools(server, signal));
  return tools;
}

interface AloneOptions {
  readonly options: ConnectionOptions;
  readonly era: PreviousState["era"];
  /** Closes the connection early. */
  readonly closing: AbortSignal;
}

/** Lists the tools over a connection that announces some requests, and closes it. */
export async function listToolsAlone(
  config: ServerConfig,
  requests: readonly ClientRequest[],
  { options, era, closing }: AloneOptions,
): Promise<readonly unknown[]> {
  let tools: readonly unknown[] | undefined;
  const managed = new ManagedConnection(
    config,
    { era, wasConnected: false },
    { ...options, client: createLister(requests) },
    {
      prepare: async (connection) => {
        const timeout = AbortSignal.timeout(options.connectTimeoutMs);
        ({ tools } = await listTools(connection, AbortSignal.any([managed.closing, timeout])));
      },
      onListChanged: () => {},
      onChange: () => {},
      onLog: () => {},
    },
  );
  const close = (): void => void managed.close();
  closing.addEventListener("abort", close, { once: true });
  await managed.wake();
  await managed.close();
  closing.removeEventListener("abort", close);
  if (tools === undefined) throw new Error("the server did not list its tools");
  return tools;
}

/** Creates a client that announces requests and answers none: no call is in flight while tools are listed. */
function createLister(requests: readonly ClientRequest[]): Client {
  return {
    can: (request) => requests.includes(request),
    ask: () => Promise.reject(new Error("no client can answer the request")),
  };
}
