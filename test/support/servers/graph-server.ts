import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

import { onTestFinished } from "vitest";

import { createSchema, createYoga, type YogaPlugin } from "./yoga.mjs";

/** A request that a GraphQL server has received. */
export interface ReceivedGraphRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export interface GraphServer {
  /** `http://127.0.0.1:…/graphql` */
  readonly url: string;
  readonly received: ReceivedGraphRequest[];
}

interface GraphServerOptions {
  readonly typeDefs: string;
  readonly resolvers?: object;
  readonly plugins?: readonly YogaPlugin[];
}

/** Starts GraphQL Yoga on a free port; it is closed when the test is over. Resolvers get the headers of a request as `headers`. */
export async function startGraphServer({
  typeDefs,
  resolvers = {},
  plugins = [],
}: GraphServerOptions): Promise<GraphServer> {
  const received: ReceivedGraphRequest[] = [];
  const yoga = createYoga({
    schema: createSchema({ typeDefs, resolvers }),
    plugins,
    logging: false,
    graphiql: false,
    maskedErrors: false,
  });
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      received.push({ method, url, headers, body: String(Buffer.concat(chunks)) });
    });
    void yoga(request, response, { headers: request.headers });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`, received };
}
