import type { FetchLike } from "@modelcontextprotocol/client";

import { createError } from "../../../errors.ts";
import type { Credential } from "../../../model/account.ts";
import { addHeaders, addQuery } from "../../../shared/http/add-credential.ts";
import { followSameServer } from "../../../shared/http/fetch-same-server.ts";
import type { RequestAccount } from "../../../shared/http/request-account.ts";

/** The server that gets the credential of an account. */
export interface AccountServer {
  readonly origin: string;
  /** Reads the account for a request. */
  readonly open: () => Promise<RequestAccount>;
}

/**
 * `fetch` with the credential of an account, which no other origin gets. A request that is refused is repeated once, with a renewed
 * credential. Rejects with an error that says what to do if the credential cannot be read, or if the server does not accept it.
 */
export function accountFetch({ origin, open }: AccountServer, next: FetchLike): FetchLike {
  return async (input, init) => {
    const account = await open();
    const send = (credential: Credential): Promise<Response> =>
      followSameServer(new URL(input), (url) => {
        const manual = { ...init, redirect: "manual" as const };
        return url.origin === origin ? next(...addCredential(url, manual, credential)) : next(url, manual);
      });
    const response = await send(account.credential);
    const { status, headers } = response;
    if (status !== 401 && status !== 403) return response;
    const challenge = headers.get("www-authenticate");
    const renewed = await account.renew({ status, ...(challenge !== null && { challenge }) });
    if (renewed === undefined && status === 403) return response;
    await response.body?.cancel();
    const again = renewed && (await send(renewed));
    if (again !== undefined && again.status !== 401) return again;
    await again?.body?.cancel();
    throw createError("ACCOUNT_UNAVAILABLE", account.advice);
  };
}

function addCredential(
  url: URL,
  init: RequestInit,
  credential: Credential,
): [url: URL, init: RequestInit & { readonly headers: Readonly<Record<string, string>> }] {
  const target = new URL(url);
  target.search = addQuery(url.search, credential);
  return [target, { ...init, headers: addHeaders(Object.fromEntries(new Headers(init.headers)), credential) }];
}
