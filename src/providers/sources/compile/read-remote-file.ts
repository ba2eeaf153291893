import { Readable } from "node:stream";

import { followSameServer, RedirectRefused } from "../../../shared/http/fetch-same-server.ts";
import { VERSION } from "../../../shared/version.ts";
import { exchange, type ExchangeOptions } from "../http/exchange.ts";
import { getHeader } from "../http/headers.ts";

const HEADERS_MS = 30_000;
const BODY_MS = 60_000;

interface RemoteLimits {
  /** The owner has allowed an address of a private network. */
  readonly isPrivate: boolean;
  readonly maxBytes: number;
}

/** Reads a text by HTTP. Follows redirects on the same server only, and sends no credentials. */
export async function readRemoteFile(url: URL, { isPrivate, maxBytes }: RemoteLimits): Promise<string> {
  const signal = AbortSignal.timeout(HEADERS_MS + BODY_MS);
  const options = { reach: isPrivate ? "private" : "public", agent: false, headersMs: HEADERS_MS, signal } as const;
  const response = await followSameServer(url, (target) => request(target, options)).catch((error: unknown) => {
    throw error instanceof TypeError && error.cause instanceof RedirectRefused ? error.cause : error;
  });
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    if (response.status !== 200) throw new Error(`${url.host} answers with HTTP ${response.status}`);
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw new Error(`it has more than ${maxBytes >> 20} MB`);
      chunks.push(chunk);
    }
    return new TextDecoder().decode(Buffer.concat(chunks));
  } finally {
    await response.body?.cancel().catch(() => {}); // it is read, or not wanted
  }
}

async function request(target: URL, options: Omit<ExchangeOptions, "server">): Promise<Response> {
  const headers = {
    host: target.host,
    accept: "application/json, application/yaml, */*",
    "user-agent": `skillgate/${VERSION}`,
  };
  const wire = { method: "GET", target: target.pathname + target.search, headers };
  const { status, headers: received, body } = await exchange(wire, { ...options, server: target });
  const location = getHeader(received, "location");
  const hasBody = status >= 200 && status <= 599 && ![204, 205, 304].includes(status);
  if (!hasBody) body.destroy();
  return new Response(hasBody ? (Readable.toWeb(body) as ReadableStream<Uint8Array>) : null, {
    status: status >= 200 && status <= 599 ? status : 502,
    ...(location !== undefined && { headers: { location } }),
  });
}
