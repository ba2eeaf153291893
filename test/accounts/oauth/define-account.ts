import type { OAuthDefinition } from "../../../src/accounts/index.ts";
import { CLIENT_SECRET, type TestProvider } from "../../support/servers/oauth-provider.ts";

/** Defines the account `shop` at a provider, found by discovery. */
export function defineAccount(provider: TestProvider, more: Partial<OAuthDefinition> = {}): OAuthDefinition {
  return {
    name: "shop",
    isPerCaller: true,
    servers: [],
    reveal: [],
    isPrivate: false,
    type: "oauth",
    grant: "code",
    issuer: provider.issuer,
    clientId: "web",
    clientSecret: CLIENT_SECRET,
    clientAuth: "basic",
    scopes: ["openid", "read"],
    parameters: {},
    ...more,
  };
}
