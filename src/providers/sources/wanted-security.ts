import type { OperationRow } from "./catalog-file.ts";
import type { SecurityScheme } from "./compile/security-schemes.ts";
import { findAccountName } from "./source-accounts.ts";
import type { SourceConfig } from "./source-config.ts";

/** A security scheme that operations want, and for which the settings have neither an account nor a header. */
export interface WantedSecurity {
  /** Its name in the document. */
  readonly scheme: string;
  /** The number of operations that want it. */
  readonly operations: number;
  /** The part of a request, in words: `a key in the header X-Api-Key`. */
  readonly says: string;
  /** The settings of an account for it, as YAML in one line; `null` if no account fits. */
  readonly account: string | null;
}

/** Lists the schemes that the selected operations want, the one of most operations first. */
export function listWantedSecurity(
  config: Pick<SourceConfig, "name" | "accounts" | "headers">,
  schemes: Readonly<Record<string, SecurityScheme>> = {},
  rows: Iterable<OperationRow>,
): readonly WantedSecurity[] {
  const headers = new Set(Object.keys(config.headers).map((name) => name.toLowerCase()));
  const counts = new Map<string, number>();
  for (const row of rows) {
    if (findAccountName(config, row) !== undefined) continue;
    for (const name of row.security ?? []) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts]
    .toSorted(([, one], [, other]) => other - one)
    .flatMap(([scheme, operations]) => {
      const found = Object.hasOwn(schemes, scheme) ? schemes[scheme] : undefined;
      if (found === undefined || headers.has(getHeader(found))) return [];
      return { scheme, operations, ...describeScheme(found, config.name) };
    });
}

/** Returns the header of a scheme, in lower case; empty for one in another place. */
function getHeader(scheme: SecurityScheme): string {
  if (scheme.type === "apiKey") return scheme.in === "header" ? scheme.name.toLowerCase() : "";
  return scheme.type === "other" ? "" : "authorization";
}

function describeScheme(scheme: SecurityScheme, source: string): Pick<WantedSecurity, "says" | "account"> {
  switch (scheme.type) {
    case "apiKey": {
      const location = { header: "the header", query: "the parameter", cookie: "the cookie" }[scheme.in];
      const settings = { type: "apiKey", in: scheme.in, name: scheme.name };
      return { says: `a key in ${location} ${scheme.name}`, account: formatSettings(settings) };
    }
    case "basic":
      return { says: "a user name and a password in the header Authorization", account: formatSettings(scheme) };
    case "bearer":
      return { says: "a token in the header Authorization (Bearer)", account: formatSettings(scheme) };
    case "oauth": {
      const variable = source.toUpperCase().replaceAll(/\W/g, "_");
      const { type, grant, ...urls } = scheme;
      const client = { clientId: `\${${variable}_CLIENT}` };
      const own = grant === undefined ? {} : { grant, clientSecret: `\${${variable}_SECRET}` };
      const missing = (urls.issuer ?? urls.tokenUrl) ? {} : { issuer: "https://…" };
      const settings = { type, ...urls, ...missing, ...client, ...own };
      return { says: "a token of OAuth in the header Authorization (Bearer)", account: formatSettings(settings) };
    }
    case "other":
      return { says: `${scheme.says || "a scheme without a type"}, which no account has`, account: null };
  }
}

/** JSON in quotes is YAML, too. */
function formatSettings(settings: Readonly<Record<string, string>>): string {
  const members = Object.entries(settings).map(
    ([name, value]) => `${name}: ${/^[A-Za-z][\w-]*$/.test(value) ? value : JSON.stringify(value)}`,
  );
  return `{ ${members.join(", ")} }`;
}
