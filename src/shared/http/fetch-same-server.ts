/** Maximum number of redirects of one request. */
const MAX_REDIRECTS = 5;

const REDIRECTIONS: ReadonlySet<number> = new Set([301, 302, 307, 308]);

/** A redirect that was not followed. */
export class RedirectRefused extends Error {}

/**
 * `fetch` that follows redirects only on the same server: another server would get the credentials in the headers, and
 * the body. Every request is sent with it.
 */
export async function fetchSameServer(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const url = new URL(input instanceof Request ? input.url : input);
  const send = (target: URL): Promise<Response> => sendOnce(target, init);
  return init?.redirect === "manual" ? send(url) : followSameServer(url, send);
}

/** Sends a request again with `send`, which follows no redirect, for each redirect on the same server. */
export async function followSameServer(start: URL, send: (url: URL) => Promise<Response>): Promise<Response> {
  let url = start;
  for (let count = 0; count <= MAX_REDIRECTS; count++) {
    const response = await send(url);
    if (!REDIRECTIONS.has(response.status)) return response;
    await response.body?.cancel();
    url = resolveTarget(url, response.headers.get("location") ?? "");
  }
  throw failed(new RedirectRefused(`the server redirects more than ${MAX_REDIRECTS} times`));
}

async function sendOnce(url: URL, init: RequestInit | undefined): Promise<Response> {
  // oxlint-disable-next-line eslint/no-restricted-globals -- the one place, which follows no redirect by itself
  const response = await fetch(url, { ...init, redirect: "manual" });
  if (response.status > 599) throw failed(new Error(`the server answered with an invalid status: ${response.status}`));
  return response;
}

function resolveTarget(url: URL, location: string): URL {
  if (location === "" || !URL.canParse(location, url.href))
    throw failed(new RedirectRefused("the server redirects without a valid Location header"));
  const target = new URL(location, url);
  if (isSameServer(url, target)) return target;
  const says = `the server redirects to ${target.origin}; if that is intended, configure this address as its url`;
  throw failed(new RedirectRefused(says));
}

/** True for the same origin, and for an upgrade of the same host to https. */
function isSameServer(url: URL, target: URL): boolean {
  const isUpgrade = url.protocol === "http:" && target.protocol === "https:";
  return url.origin === target.origin || (isUpgrade && url.hostname === target.hostname && target.port === "");
}

/** Rejects as `fetch` does. */
function failed(cause: Error): TypeError {
  return new TypeError("fetch failed", { cause });
}
