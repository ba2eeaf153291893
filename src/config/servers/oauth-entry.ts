import { isRecord } from "../../model/json.ts";
import type { OAuthConfig } from "../../providers/mcp/index.ts";
import { type Fields, entryError } from "./entry-fields.ts";

/** How a server is logged in to, as far as its entry says; `false` if it must never be. */
export function parseOAuth(
  written: unknown,
  fieldsFor: (name: string, entry: Readonly<Record<string, unknown>>) => Fields,
  server: string,
): OAuthConfig | false | undefined {
  if (written === undefined || written === false) return written;
  if (written === true) return {};
  if (!isRecord(written))
    throw entryError(server, "oauth must be an object or false", {
      key: "oauth",
      fix: 'write "oauth": { "clientId": "…" }',
    });
  const fields = fieldsFor(server, written);
  const clientId = fields.text("clientId", "client_id");
  const clientSecret = fields.text("clientSecret", "client_secret");
  const clientMetadataUrl = fields.text("clientMetadataUrl");
  const scope = fields.text("scope") ?? (fields.texts("scopes").join(" ") || undefined);
  const privateKey = fields.text("privateKey");
  const algorithm = fields.text("algorithm");
  const issuer = fields.text("issuer");
  const callbackPort = fields.positive("callbackPort");
  const allowPrivate = fields.flag("allowPrivate");
  return {
    ...(clientId !== undefined && { clientId }),
    ...(clientSecret !== undefined && { clientSecret }),
    ...(clientMetadataUrl !== undefined && { clientMetadataUrl }),
    ...(scope !== undefined && { scope }),
    ...parseGrant(fields, server),
    ...(privateKey !== undefined && { privateKey }),
    ...(algorithm !== undefined && { algorithm }),
    ...(issuer !== undefined && { issuer }),
    ...(callbackPort !== undefined && { callbackPort }),
    ...(allowPrivate !== undefined && { allowPrivate }),
  };
}

function parseGrant(fields: Fields, server: string): Pick<OAuthConfig, "grant"> {
  const grant = fields.text("grant");
  if (grant === undefined) return {};
  if (grant === "authorization_code" || grant === "client_credentials") return { grant };
  const what = `grant ${JSON.stringify(grant)} is not known, use authorization_code or client_credentials`;
  throw entryError(server, what, { key: "oauth" });
}
