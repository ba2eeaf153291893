import type { FetchLike } from "@modelcontextprotocol/client";

/** Status codes of a server that refuses a request for now. */
const BUSY: ReadonlySet<number> = new Set([429, 503]);

/** `fetch` that adds the pause that a busy server asks for to the text of its answer, which becomes the message of the error. */
export function retryAfterFetch(fetch: FetchLike): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, init);
    if (!BUSY.has(response.status)) return response;
    const seconds = parseSeconds(response.headers.get("retry-after"));
    if (seconds === undefined) return response;
    const text = await response.text();
    const { status, statusText, headers } = response;
    const answer = new Response([...(text === "" ? [] : [text]), `retry after ${seconds} s`].join("; "), {
      status,
      statusText,
      headers,
    });
    return Object.defineProperties(answer, {
      url: { value: response.url },
      redirected: { value: response.redirected },
    });
  };
}

/** Reads seconds or a date. */
function parseSeconds(value: string | null): number | undefined {
  if (value === null) return undefined;
  if (/^\d{1,6}$/.test(value)) return Number(value);
  const seconds = Math.ceil((Date.parse(value) - Date.now()) / 1_000);
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined;
}
