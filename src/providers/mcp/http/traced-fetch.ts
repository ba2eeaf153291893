import type { FetchLike } from "@modelcontextprotocol/client";

import { injectContext } from "../../../telemetry/index.ts";

/** `fetch` that hands the trace of the active span to the server, in the headers of W3C Trace Context. */
export function tracedFetch(fetch: FetchLike): FetchLike {
  return (url, init) => {
    const fields = Object.entries(injectContext());
    if (fields.length === 0) return fetch(url, init);
    const headers = new Headers(init?.headers);
    for (const [name, value] of fields) if (!headers.has(name)) headers.set(name, value);
    return fetch(url, { ...init, headers });
  };
}
