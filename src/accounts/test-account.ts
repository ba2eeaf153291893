import { createError, SkillgateError } from "../errors.ts";
import type { Account, Credential, OpenAccount } from "../model/account.ts";
import type { Caller } from "../model/caller.ts";
import { findEncryptionFlaw } from "../shared/http/find-encryption-flaw.ts";
import { guardedFetch } from "../shared/http/guarded-fetch.ts";
import type { AccountDefinition } from "./definition.ts";

/** Whether the credential of a connection works. */
export interface AccountTest {
  /** `readable`: the credential can be read, and the settings name no request for a test. */
  readonly result: "accepted" | "refused" | "readable" | "unclear" | "failed";
  /** The finding in words, without the credential. */
  readonly detail: string;
}

const TEST_MS = 20_000;

/** Makes the request of the setting `test` with the credential of a caller; without the setting, only reads the credential. */
export async function testAccount(
  definition: AccountDefinition,
  account: Account,
  caller: Caller,
): Promise<AccountTest> {
  try {
    const opened = await account.open(caller);
    const { test, isPrivate } = definition;
    if (test === undefined) return { result: "readable", detail: describeReadable(definition) };
    if (opened.credential.some((part) => part.in === "body"))
      return {
        result: "readable",
        detail: "the credential can be read; it is sent in the body, which a test does not have",
      };
    const flaw = findEncryptionFlaw(new URL(test), definition);
    if (flaw !== undefined) return { result: "failed", detail: flaw };
    const send = createRequest(test, isPrivate);
    const status = await sendRenewed(opened, send);
    return describeStatus(status, new URL(test));
  } catch (error) {
    if (error instanceof SkillgateError) return { result: "failed", detail: error.message };
    throw error;
  }
}

function describeReadable({ name }: AccountDefinition): string {
  return `the credential can be read; with a URL in accounts.${name}.test, a request shows whether it is accepted`;
}

type SendTest = (credential: Credential) => Promise<Response>;

/** Sends once more with another credential if the service refused the first one. */
async function sendRenewed(opened: OpenAccount, send: SendTest): Promise<number> {
  const first = await send(opened.credential);
  if (first.status !== 401) return first.status;
  const challenge = first.headers.get("www-authenticate") ?? undefined;
  const renewed = await opened.renew({ status: first.status, challenge });
  return renewed === undefined ? first.status : (await send(renewed.credential)).status;
}

/** Creates a request that follows no redirect, which might lead to another server. */
function createRequest(test: string, isPrivate: boolean): SendTest {
  const fetchGuarded = guardedFetch(isPrivate ? "private" : "public");
  return async (credential) => {
    const url = new URL(test);
    const headers = new Headers({ accept: "application/json", "user-agent": "skillgate" });
    const cookies = credential.filter((part) => part.in === "cookie").map(({ name, value }) => `${name}=${value}`);
    if (cookies.length > 0) headers.set("cookie", cookies.join("; "));
    for (const { in: location, name, value } of credential) {
      if (location === "header") headers.set(name, value);
      else if (location === "query") url.searchParams.set(name, value);
    }
    try {
      const response = await fetchGuarded(url, { headers, redirect: "manual", signal: AbortSignal.timeout(TEST_MS) });
      await response.body?.cancel();
      return response;
    } catch {
      throw unreachable(url);
    }
  };
}

/** Without the reason of `fetch`, which may have the URL with the credential. */
function unreachable({ host }: URL): SkillgateError {
  const values = `${host} cannot be reached, or is at an address that needs the setting private: true`;
  return createError("ACCOUNT_UNAVAILABLE", values);
}

function describeStatus(status: number, { host }: URL): AccountTest {
  if (status >= 200 && status < 300) return { result: "accepted", detail: `${host} accepts the credential` };
  const detail = `${host} answers with status ${status}`;
  if (status === 401 || status === 403) return { result: "refused", detail };
  return { result: "unclear", detail: `${detail}, which says nothing about the credential` };
}
