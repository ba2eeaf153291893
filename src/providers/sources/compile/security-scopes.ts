import { isRecord, toRecord } from "../../../model/json.ts";
import type { DocumentFiles } from "./document-files.ts";

type RawDocument = Readonly<Record<string, unknown>>;

/** The scopes of OAuth that an operation asks for. */
export type FindScopes = (operation: RawDocument) => readonly string[];

/** More scopes than a person can agree to. */
const MAX_SCOPES = 50;

/** Returns the function that reads the scopes of operations; those of the document count for operations that name none. */
export function createScopeFinder(document: RawDocument, files: DocumentFiles): FindScopes {
  const schemes = toRecord(document["securityDefinitions"] ?? toRecord(document["components"])["securitySchemes"]);
  const isOAuth = (name: string): boolean => {
    if (!Object.hasOwn(schemes, name)) return false;
    const scheme = files.follow({ value: schemes[name], file: files.root.file })?.value;
    return isRecord(scheme) && (scheme["type"] === "oauth2" || scheme["type"] === "openIdConnect");
  };
  return (operation) => {
    const security = operation["security"] ?? document["security"];
    const requirements = Array.isArray(security) ? security.filter(isRecord) : [];
    // One way is enough for a request: the first one with OAuth is that of the account.
    const requirement = requirements.find((each) => Object.keys(each).some(isOAuth)) ?? {};
    const scopes = Object.entries(requirement).flatMap(([name, list]) =>
      isOAuth(name) && Array.isArray(list) ? list : [],
    );
    return [...new Set(scopes.filter(isScope))].slice(0, MAX_SCOPES);
  };
}

/** As RFC 6749 defines it: a document must not add a parameter or a second scope. */
function isScope(value: unknown): value is string {
  return typeof value === "string" && /^[\x21\x23-\x5B\x5D-\x7E]{1,200}$/.test(value);
}
