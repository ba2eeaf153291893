import { extractWWWAuthenticateParams, type FetchLike, withDpop } from "@modelcontextprotocol/client";

import { followSameServer } from "../../../shared/http/fetch-same-server.ts";
import type { ServerToken, Challenge, OAuthSession } from "./session.ts";

/** `fetch` with the token of a session. A request refused for a missing token or scope is repeated once. */
export function authorizedFetch(session: OAuthSession, next: FetchLike): FetchLike {
  return async (input, init) => {
    const token = await session.accessToken();
    const response = await fetchWith(token, next)(input, init);
    const challenge = challengeIn(response);
    if (challenge === undefined || !(await session.answer({ token: token?.text, challenge }))) return response;
    await response.body?.cancel();
    return fetchWith(await session.accessToken(), next)(input, init);
  };
}

/**
 * A token that is bound to a key is sent with a proof of the key, one for each address of a redirect; withDpop repeats a request
 * for which the server asks a nonce.
 */
function fetchWith(token: ServerToken | undefined, next: FetchLike): FetchLike {
  if (token === undefined) return next;
  const { text, proofs } = token;
  if (proofs !== undefined) {
    const send = withDpop(proofs, () => text)(next);
    return (input, init) => followSameServer(new URL(input), (url) => send(url, { ...init, redirect: "manual" }));
  }
  return (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set("authorization", `Bearer ${text}`);
    return next(input, { ...init, headers });
  };
}

function challengeIn(response: Response): Challenge | undefined {
  const { status } = response;
  if (status !== 401 && status !== 403) return undefined;
  const { scope, resourceMetadataUrl, error } = extractWWWAuthenticateParams(response);
  if (status === 403 && error !== "insufficient_scope") return undefined;
  return {
    ...(scope !== undefined && { scope }),
    ...(resourceMetadataUrl !== undefined && { resourceMetadataUrl }),
    isProofAsked: DPOP_SCHEME.test(response.headers.get("www-authenticate") ?? ""),
  };
}

/** The scheme DPoP at the beginning of a challenge. */
const DPOP_SCHEME = /(?:^|,)\s*dpop(?:[\s,]|$)/i;
