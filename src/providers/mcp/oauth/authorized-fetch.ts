import { extractWWWAuthenticateParams, type FetchLike } from "@modelcontextprotocol/client";

import type { Challenge, OAuthSession } from "./session.ts";

/** `fetch` with the token of a session. A request refused for a missing token or scope is repeated once. */
export function authorizedFetch(session: OAuthSession, next: FetchLike): FetchLike {
  return async (input, init) => {
    const token = await session.accessToken();
    const response = await next(input, withToken(init, token));
    const challenge = challengeIn(response);
    if (challenge === undefined || !(await session.answer({ token, challenge }))) return response;
    await response.body?.cancel();
    return next(input, withToken(init, await session.accessToken()));
  };
}

function withToken(init: RequestInit | undefined, token: string | undefined): RequestInit | undefined {
  if (token === undefined) return init;
  const headers = new Headers(init?.headers);
  headers.set("authorization", `Bearer ${token}`);
  return { ...init, headers };
}

function challengeIn(response: Response): Challenge | undefined {
  const { status } = response;
  if (status !== 401 && status !== 403) return undefined;
  const { scope, resourceMetadataUrl, error } = extractWWWAuthenticateParams(response);
  if (status === 403 && error !== "insufficient_scope") return undefined;
  return {
    ...(scope !== undefined && { scope }),
    ...(resourceMetadataUrl !== undefined && { resourceMetadataUrl }),
  };
}
