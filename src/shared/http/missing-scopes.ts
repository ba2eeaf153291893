import { formatList, quote } from "../format-text.ts";

/** Says that a provider has not granted all that a login has asked for. */
export function describeMissingScopes(scopes: readonly string[]): string {
  const list = formatList(
    scopes.map((scope) => quote(scope)),
    MAX_SCOPES,
  );
  return `The provider does not name ${list} among the scopes that it has granted: requests that need ${scopes.length === 1 ? "it" : "them"} may be refused`;
}

const MAX_SCOPES = 20;
