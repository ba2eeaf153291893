import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { onTestFinished } from "vitest";

/** A request that an API server has received. */
export interface ReceivedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
}

export interface ApiServer {
  readonly origin: string;
  readonly received: readonly ReceivedRequest[];
  /** The largest number of requests that were open together. */
  readonly mostOpen: () => number;
  readonly countConnections: () => number;
}

type AnswerRequest = (request: ReceivedRequest, response: ServerResponse) => unknown;

/** Starts an HTTP server on a free port that is closed when the test is over. */
export async function startApiServer(answer: AnswerRequest): Promise<ApiServer> {
  const received: ReceivedRequest[] = [];
  let open = 0;
  let most = 0;
  let connections = 0;
  const server = createServer((request: IncomingMessage, response) => {
    most = Math.max(most, ++open);
    response.once("close", () => (open -= 1));
    const chunks: Buffer[] = [];
    request.on("error", () => {});
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      const each = { method, url, headers, body: String(Buffer.concat(chunks)) };
      received.push(each);
      answer(each, response);
    });
  });
  server.on("connection", () => (connections += 1));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { origin, received, mostOpen: () => most, countConnections: () => connections };
}
