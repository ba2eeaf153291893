import { once } from "node:events";
import { createServer, type Server } from "node:http";

import { getMessage, sentence, SkillgateError } from "../../../errors.ts";
import { isRecord } from "../../../model/json.ts";
import { isLoopback } from "../origin-check.ts";
import { RequestOfWholeParts } from "./whole-parts.ts";
import type { HttpServerSettings } from "../settings.ts";

const MAX_CONNECTIONS = 4_096;

/** A server that listens. It has no listeners for requests yet. */
export interface ListeningServer {
  readonly server: Server;
  /** `http://127.0.0.1:3333` */
  readonly url: string;
}

/**
 * Listens at the address of the settings. Node answers 408 if a request or its headers arrive too late. Throws
 * `OPTION_INVALID` if the address cannot be used, or is not a loopback one while no token is required.
 */
export async function listen(settings: HttpServerSettings, hasToken: boolean): Promise<ListeningServer> {
  refuseOpenServer(settings, hasToken);
  const { host, port, headerBytes, requestSeconds } = settings;
  const server = createServer({
    IncomingMessage: RequestOfWholeParts,
    maxHeaderSize: headerBytes,
    headersTimeout: Math.min(10, requestSeconds) * 1_000,
    requestTimeout: requestSeconds * 1_000,
    connectionsCheckingInterval: Math.min(requestSeconds * 500, 5_000),
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.listen(port, host);
  try {
    await once(server, "listening");
  } catch (thrown) {
    throw new SkillgateError("OPTION_INVALID", sentence("OPTION_INVALID", describeListenError(thrown, host, port)));
  }
  const address = server.address();
  const boundPort = typeof address === "object" && address !== null ? address.port : port;
  return { server, url: `http://${host.includes(":") ? `[${host}]` : host}:${boundPort}` };
}

/** Refuses to listen on other addresses than loopback without a token. */
function refuseOpenServer({ host }: HttpServerSettings, hasToken: boolean): void {
  if (hasToken || isLoopback(host)) return;
  const values = `without a token, the server listens only on this machine, not on ${host}`;
  throw new SkillgateError("OPTION_INVALID", sentence("OPTION_INVALID", values));
}

function describeListenError(thrown: unknown, host: string, port: number): string {
  switch (isRecord(thrown) ? thrown["code"] : undefined) {
    case "EADDRINUSE":
      return `port ${port} of ${host} is in use; --port 0 picks a free one`;
    case "EACCES":
      return `port ${port} is reserved for the system; use one above 1023`;
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return `this machine does not have the address ${host}`;
    default:
      return `cannot listen on ${host}:${port}: ${getMessage(thrown)}`;
  }
}
