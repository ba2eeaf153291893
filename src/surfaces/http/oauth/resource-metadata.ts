import { findMissingScopes, type Roles } from "../../../model/caller.ts";
import type { ChallengeFacts } from "../auth/challenge.ts";
import type { IssuerSettings } from "./issuer-settings.ts";

/** The path at which RFC 9728 places the metadata of a resource; the path of the resource follows. */
export const METADATA_PATH = "/.well-known/oauth-protected-resource";

/** Returns the metadata of this server as a protected resource (RFC 9728). */
export function getResourceMetadata(issuer: IssuerSettings, serverUrl: string): Readonly<Record<string, unknown>> {
  const scopes = getScopeNames(issuer);
  return {
    resource: getResource(issuer, serverUrl),
    authorization_servers: [issuer.issuer],
    bearer_methods_supported: ["header"],
    ...(scopes.length > 0 && { scopes_supported: scopes }),
    resource_name: "Skillgate",
  };
}

/** Returns the facts of the challenges for requests without a valid token, and for calls that lack scopes. */
export function getChallengeFacts(issuer: IssuerSettings, serverUrl: string, roles: Roles): ChallengeFacts {
  const { origin, pathname } = new URL(getResource(issuer, serverUrl));
  return {
    metadata: `${origin}${METADATA_PATH}${pathname === "/" ? "" : pathname}`,
    scopes: issuer.requiredScopes.length > 0 ? issuer.requiredScopes : getScopeNames(issuer),
    toIssuerScopes: (scopes) => [
      ...new Set([...issuer.requiredScopes, ...scopes.map((scope) => findIssuerScope(scope, issuer, roles))]),
    ],
  };
}

/** Returns the scope of the issuer that gives a scope of the policy: the same one, or one whose rights have it. */
function findIssuerScope(scope: string, { scopes: table }: IssuerSettings, roles: Roles): string {
  if (table === undefined || table.has(scope)) return scope;
  const giving = [...table].find(([, rights]) => findMissingScopes(rights, [scope], roles).length === 0);
  return giving?.[0] ?? scope;
}

/** The audience if it is the URL of a resource, else the MCP endpoint of this server. */
function getResource({ audience }: IssuerSettings, serverUrl: string): string {
  return audience.find((value) => /^https?:\/\//.test(value) && URL.canParse(value)) ?? `${serverUrl}/mcp`;
}

function getScopeNames({ requiredScopes, scopes }: IssuerSettings): readonly string[] {
  return [...new Set([...requiredScopes, ...(scopes?.keys() ?? [])])];
}
