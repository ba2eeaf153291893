import { Readable } from "node:stream";

import { followSameServer, RedirectRefused } from "../../../shared/http/fetch-same-server.ts";
import { VERSION } from "../../../shared/version.ts";
import { exchange, type ExchangeOptions } from "../../../shared/http/exchange.ts";
import { getHeader } from "../../../shared/http/headers.ts";
import type { Validators } from "../compile/protocol.ts";

const HEADERS_MS = 30_000;
const BODY_MS = 60_000;

/** A file of a server. */
export interface RemoteFile {
  readonly text: string;
  readonly validators: Validators;
}

interface RemoteLimits {
  /** The owner has allowed an address of a private network. */
  readonly isPrivate: boolean;
  readonly maxBytes: number;
  /** The validators of the file that is known. */
  readonly validators?: Validators;
}

/**
 * Reads a text by HTTP; `undefined` if it is the one that is known. Follows redirects on the same server only, and sends no
 * credentials.
 */
export async function readRemoteFile(
  url: URL,
  { isPrivate, maxBytes, validators = {} }: RemoteLimits,
): Promise<RemoteFile | undefined> {
  const signal = AbortSignal.timeout(HEADERS_MS + BODY_MS);
  const options = { reach: isPrivate ? "private" : "public", agent: false, headersMs: HEADERS_MS, signal } as const;
  const response = await followSameServer(url, (target) => request(target, validators, options)).catch(
    (error: unknown) => {
      throw error instanceof TypeError && error.cause instanceof RedirectRefused ? error.cause : error;
    },
  );
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    if (response.status === 304 && Object.keys(validators).length > 0) return undefined;
    if (response.status !== 200) throw new Error(`${url.host} answers with HTTP ${response.status}`);
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw new Error(`it has more than ${maxBytes >> 20} MB`);
      chunks.push(chunk);
    }
    const [etag, modified] = VALIDATORS.map((name) => response.headers.get(name) ?? undefined);
    return {
      text: new TextDecoder().decode(Buffer.concat(chunks)),
      validators: { ...(etag !== undefined && { etag }), ...(modified !== undefined && { modified }) },
    };
  } finally {
    await response.body?.cancel().catch(() => {}); // it is read, or not wanted
  }
}

const VALIDATORS = ["etag", "last-modified"] as const;

async function request(
  target: URL,
  { etag, modified }: Validators,
  options: Omit<ExchangeOptions, "server">,
): Promise<Response> {
  const headers = {
    host: target.host,
    accept: "application/json, application/yaml, */*",
    "user-agent": `skillgate/${VERSION}`,
    ...(etag !== undefined && { "if-none-match": etag }),
    ...(modified !== undefined && { "if-modified-since": modified }),
  };
  const wire = { method: "GET", target: target.pathname + target.search, headers };
  const { status, headers: received, body } = await exchange(wire, { ...options, server: target });
  const answerHeaders = ["location", ...VALIDATORS].flatMap((name): readonly (readonly [string, string])[] => {
    const value = getHeader(received, name);
    return value === undefined ? [] : [[name, value]];
  });
  const hasBody = status >= 200 && status <= 599 && ![204, 205, 304].includes(status);
  if (!hasBody) body.destroy();
  return new Response(hasBody ? (Readable.toWeb(body) as ReadableStream<Uint8Array>) : null, {
    status: status >= 200 && status <= 599 ? status : 502,
    headers: Object.fromEntries(answerHeaders),
  });
}
