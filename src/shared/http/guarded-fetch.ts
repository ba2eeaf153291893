import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";

import { createGrowingBuffer } from "./growing-buffer.ts";
import { AddressRefused, type AllowedAddresses, guardedLookup, isAllowedUrl } from "./guarded-lookup.ts";

/** Maximum size of a response: metadata and tokens are short. */
const MAX_BYTES = 1 << 20;

const TIMEOUT_MS = 30_000;

/** `fetch` with the two arguments that its callers have. */
type Fetch = (input: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * `fetch` for URLs that a server has named. It connects to the address that it has checked, so a host name cannot
 * resolve to another address in between. Redirects are returned to the caller.
 */
export function guardedFetch(reach: AllowedAddresses): Fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const url = new URL(request.url);
    if (!isAllowedUrl(url, reach)) throw refused(url);
    return send(url, request, reach, Buffer.from(await request.arrayBuffer()));
  };
}

function send(
  url: URL,
  { method, headers, signal }: Request,
  reach: AllowedAddresses,
  body: Buffer,
): Promise<Response> {
  const received = new Promise<ReceivedAnswer>((resolve, reject) => {
    const options = {
      method,
      headers: { ...Object.fromEntries(headers), ...(body.length > 0 && { "content-length": body.length }) },
      lookup: guardedLookup(reach, () => refused(url)),
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
      agent: false,
    };
    const sent = (url.protocol === "https:" ? requestHttps : requestHttp)(url, options, (answer) => {
      const content = createGrowingBuffer({ bytes: MAX_BYTES });
      let length = 0;
      answer.on("data", (chunk: Buffer) => {
        length += chunk.length;
        if (length <= MAX_BYTES) content.append(chunk);
        else answer.destroy(new Error(`${url.host} answers with more than ${MAX_BYTES} bytes`));
      });
      answer.once("error", reject);
      answer.once("end", () =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headersDistinct, bytes: content.get() }),
      );
    });
    sent.once("error", reject);
    // Node closes a connection that becomes one of another protocol (101) without an error.
    sent.once("close", () => reject(new Error(`${url.host} closed the connection without an answer`)));
    sent.end(body);
  });
  return received.then((answer) => createResponse(url, answer));
}

interface ReceivedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, readonly string[] | undefined>>;
  readonly bytes: Buffer<ArrayBuffer>;
}

function createResponse(url: URL, { status, headers, bytes }: ReceivedAnswer): Response {
  // A `Response` has no other status.
  if (status < 200 || status > 599) throw new Error(`${url.host} answers with the status ${status}`);
  const hasBody = status !== 204 && status !== 205 && status !== 304;
  const response = new Response(hasBody ? bytes : null, {
    status,
    headers: Object.entries(headers).flatMap(([name, values = []]) =>
      values.map((value): [string, string] => [name, value]),
    ),
  });
  return Object.defineProperty(response, "url", { value: url.href });
}

function refused(url: URL): AddressRefused {
  return new AddressRefused(`${url.host} is an address of a private network, which a server may not name`);
}
