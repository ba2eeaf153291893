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

/** Returns the facts of the challenge for requests without a valid token. */
export function getChallengeFacts(issuer: IssuerSettings, serverUrl: string): ChallengeFacts {
  const { origin, pathname } = new URL(getResource(issuer, serverUrl));
  return {
    metadata: `${origin}${METADATA_PATH}${pathname === "/" ? "" : pathname}`,
    scopes: issuer.requiredScopes.length > 0 ? issuer.requiredScopes : getScopeNames(issuer),
  };
}

/** The audience if it is the URL of a resource, else the MCP endpoint of this server. */
function getResource({ audience }: IssuerSettings, serverUrl: string): string {
  return audience.find((value) => /^https?:\/\//.test(value) && URL.canParse(value)) ?? `${serverUrl}/mcp`;
}

function getScopeNames({ requiredScopes, scopes }: IssuerSettings): readonly string[] {
  return [...new Set([...requiredScopes, ...(scopes?.keys() ?? [])])];
}
