import { SkillgateError } from "../../../errors.ts";
import { isRecord } from "../../../model/json.ts";
import type { KnownSecrets } from "../../../shared/secrets.ts";
import type { TokenStore } from "../../../model/account.ts";

/** Wraps a store: tokens and client secrets are registered as secrets when they are read or written. */
export function knownTokens(store: TokenStore, secrets: KnownSecrets): TokenStore {
  return {
    ...store,
    async get(key) {
      const value = await store.get(key);
      secrets.add(secretsIn(value));
      return value;
    },
    set(key, value) {
      secrets.add(secretsIn(value));
      return store.set(key, value);
    },
  };
}

/** Wraps a store for a person who logs in: a value that cannot be decrypted is replaced, as if it were absent. */
export function withoutUnreadable(store: TokenStore): TokenStore {
  return {
    ...store,
    get: async (key) =>
      store.get(key).catch((error: unknown) => {
        if (error instanceof SkillgateError && error.code === "ACCOUNT_UNAVAILABLE") return undefined;
        throw error;
      }),
  };
}

/** The names in OAuth 2.1, OpenID Connect and RFC 7591, and the key to which tokens are bound. */
const SECRET_FIELDS: ReadonlySet<string> = new Set(
  "access_token refresh_token id_token client_secret registration_access_token private_key".split(" "),
);

function secretsIn(value: unknown): readonly string[] {
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([name, part]) =>
    typeof part === "string" ? (SECRET_FIELDS.has(name) ? [part] : []) : secretsIn(part),
  );
}
