import type { FetchLike } from "@modelcontextprotocol/client";

/** Maximum number of redirects of one request. */
const MAX_REDIRECTS = 5;

const REDIRECTIONS: ReadonlySet<number> = new Set([301, 302, 307, 308]);

/**
 * `fetch` that follows redirects only on the same server: another server would get the credentials in the headers, and
 * the body.
 */
export const fetchWithRedirects: FetchLike = async (input, init) => {
  let url = new URL(input);
  if (init?.redirect === "manual") return sendOnce(url, init);
  for (let count = 0; count <= MAX_REDIRECTS; count++) {
    const response = await sendOnce(url, init);
    if (!REDIRECTIONS.has(response.status)) return response;
    await response.body?.cancel();
    url = resolveTarget(url, response.headers.get("location") ?? "");
  }
  throw failed(`the server redirects more than ${MAX_REDIRECTS} times`);
};

async function sendOnce(url: URL, init: RequestInit | undefined): Promise<Response> {
  const response = await fetch(url, { ...init, redirect: "manual" });
  if (response.status > 599) throw failed(`the server answered with an invalid status: ${response.status}`);
  return response;
}

function resolveTarget(url: URL, location: string): URL {
  if (location === "" || !URL.canParse(location, url.href))
    throw failed("the server redirects without a valid Location header");
  const target = new URL(location, url);
  if (isSameServer(url, target)) return target;
  throw failed(`the server redirects to ${target.origin}; if that is intended, configure this address as its url`);
}

/** True for the same origin, and for an upgrade of the same host to https. */
function isSameServer(url: URL, target: URL): boolean {
  const isUpgrade = url.protocol === "http:" && target.protocol === "https:";
  return url.origin === target.origin || (isUpgrade && url.hostname === target.hostname && target.port === "");
}

/** Rejects as `fetch` does. */
function failed(why: string): TypeError {
  return new TypeError("fetch failed", { cause: new Error(why) });
}
