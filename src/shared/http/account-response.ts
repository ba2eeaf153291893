import type { AccountResponse } from "../../model/skill.ts";

/** An answer as it is sent to the process of a skill. */
export interface AccountAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** Creates the answer that a skill reads. */
export function createAccountResponse({ status, headers, body }: AccountAnswer): AccountResponse {
  const decode = (): string => new TextDecoder().decode(body);
  return Object.freeze({
    status,
    ok: status >= 200 && status < 300,
    headers,
    text: async () => decode(),
    json: async () => JSON.parse(decode()) as unknown,
    bytes: async () => body,
  });
}

/** The accounts of a call that has none. */
export function refuseAccount(name: string): never {
  throw new Error(`There is no account ${name} in this call`);
}
