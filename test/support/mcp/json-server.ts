import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { onTestFinished } from "vitest";

export interface JsonServerOptions {
  readonly tools: readonly string[];
  /** How it answers a request: with one JSON text, or with an event; `errors` refuses each call with HTTP 422 and the JSON of the call. */
  readonly as: "json" | "events" | "errors";
}

/**
 * Starts an MCP server over HTTP whose tool `wire` answers with the JSON that it is called with; returns its URL. It closes
 * when the test has finished, or when `onEnd` says.
 */
export async function createJsonServer(
  { tools, as }: JsonServerOptions,
  onEnd: (close: () => void) => void = onTestFinished,
): Promise<string> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const result = request.method === "POST" ? getResult(String(Buffer.concat(chunks)), tools) : undefined;
      if (result === undefined) response.writeHead(request.method === "POST" ? 202 : 405).end();
      else if (as === "errors" && result.includes('"content"'))
        response.writeHead(422, { "content-type": "application/json" }).end(result);
      else if (as !== "events") response.writeHead(200, { "content-type": "application/json" }).end(result);
      else {
        response.writeHead(200, { "content-type": "text/event-stream" });
        // The integer is cut in two, as a network may do.
        const middle = Math.floor(result.length / 2);
        response.write(`id: 12345678901234567890\nevent: message\ndata: ${result.slice(0, middle)}`);
        response.end(`${result.slice(middle)}\n\n`);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

/** The answer to a request as text; `undefined` for a notification. */
function getResult(body: string, tools: readonly string[]): string | undefined {
  const { id, method, params } = JSON.parse(body) as {
    readonly id?: number;
    readonly method: string;
    readonly params?: { readonly protocolVersion?: string; readonly arguments?: { readonly json?: string } };
  };
  if (id === undefined) return undefined;
  const answer = (result: string): string => `{"jsonrpc":"2.0","id":${id},"result":${result}}`;
  switch (method) {
    case "initialize":
      return answer(
        JSON.stringify({
          protocolVersion: params?.protocolVersion,
          capabilities: { tools: {} },
          serverInfo: { name: "json", version: "1" },
        }),
      );
    case "tools/list":
      return answer(
        JSON.stringify({ tools: tools.map((name) => ({ name, description: name, inputSchema: { type: "object" } })) }),
      );
    case "tools/call":
      return answer(params?.arguments?.json ?? JSON.stringify({ content: [{ type: "text", text: body }] }));
    default:
      return `{"jsonrpc":"2.0","id":${id},"error":{"code":-32601,"message":"Method not found"}}`;
  }
}
