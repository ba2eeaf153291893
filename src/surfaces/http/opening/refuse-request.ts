import type { IncomingMessage, ServerResponse } from "node:http";

import { rpcError } from "../../../shared/rpc-errors.ts";

interface RequestRefusal {
  readonly reason: string;
  readonly suggestions: readonly string[];
}

/** Answers 503 and closes the connection. Settles when the answer is sent. */
export async function refuseRequest(
  { url = "" }: IncomingMessage,
  outgoing: ServerResponse,
  { reason, suggestions }: RequestRefusal,
): Promise<void> {
  const { refuseAt } = await import("../responses.ts");
  const path = url.split("?")[0] ?? "";
  const response = refuseAt(path, 503, rpcError("InternalError", reason, { suggestions }), { "retry-after": "1" });
  const text = await response.text();
  await new Promise((resolve) => {
    outgoing.once("close", resolve);
    outgoing.writeHead(503, { ...Object.fromEntries(response.headers), connection: "close" }).end(text);
  });
}
