import { VERSION } from "../../../shared/version.ts";
import { type Answer, exchange } from "../http/exchange.ts";
import { getHeader } from "../http/headers.ts";

const HEADERS_MS = 30_000;
const BODY_MS = 60_000;

const MAX_REDIRECTS = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

interface RemoteLimits {
  /** The owner has allowed an address of a private network. */
  readonly isPrivate: boolean;
  readonly maxBytes: number;
}

/** Reads a text by HTTP. Follows redirects on the same server only, and sends no credentials. */
export async function readRemoteFile(url: URL, { isPrivate, maxBytes }: RemoteLimits): Promise<string> {
  const signal = AbortSignal.timeout(HEADERS_MS + BODY_MS);
  let at = url;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const headers = {
      host: at.host,
      accept: "application/json, application/yaml, */*",
      "user-agent": `skillgate/${VERSION}`,
    };
    const request = { method: "GET", target: at.pathname + at.search, headers };
    const reach = isPrivate ? "private" : "public";
    const answer = await exchange(request, { server: at, reach, agent: false, headersMs: HEADERS_MS, signal });
    if (!REDIRECTS.has(answer.status)) return readText(answer, url, maxBytes);
    answer.body.destroy();
    at = resolveRedirect(at, getHeader(answer.headers, "location"));
  }
  throw new Error(`${url.host} redirects more than ${MAX_REDIRECTS} times`);
}

function resolveRedirect(from: URL, location: string | undefined): URL {
  const target = URL.canParse(location ?? "", from.href) ? new URL(location ?? "", from) : undefined;
  if (target === undefined) throw new Error(`${from.host} redirects without a valid address`);
  if (target.origin !== from.origin)
    throw new Error(`${from.host} redirects to ${target.origin}; if that is intended, write this address in "openapi"`);
  return target;
}

async function readText({ status, body }: Answer, url: URL, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    if (status !== 200) throw new Error(`${url.host} answers with HTTP ${status}`);
    for await (const chunk of body as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw new Error(`it has more than ${maxBytes >> 20} MB`);
      chunks.push(chunk);
    }
    return new TextDecoder().decode(Buffer.concat(chunks));
  } finally {
    body.destroy();
  }
}
