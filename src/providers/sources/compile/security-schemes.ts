import { isRecord, toRecord } from "../../../model/json.ts";
import { truncateText } from "../../../shared/format-text.ts";
import { toVisibleLine } from "../../../shared/visible-text.ts";
import type { DocumentFiles } from "./document-files.ts";

type DocumentPart = Readonly<Record<string, unknown>>;

/** A security scheme of a document, as far as an account can be made of it. Its texts are one line each. */
export type SecurityScheme =
  | { readonly type: "apiKey"; readonly in: "header" | "query" | "cookie"; readonly name: string }
  | { readonly type: "basic" | "bearer" }
  | {
      readonly type: "oauth";
      readonly issuer?: string;
      readonly authorizationUrl?: string;
      readonly tokenUrl?: string;
      readonly grant?: "client";
    }
  /** Requests of no account fit it. */
  | { readonly type: "other"; readonly says: string };

/** Returns the names of the schemes that a request of an operation needs together; none if it needs none. */
export type FindSecurity = (operation: DocumentPart) => readonly string[];

const MAX_SCHEMES = 50;
const MAX_TEXT = 300;

/** Reads the security schemes of a document by name. */
export function readSecuritySchemes(
  document: DocumentPart,
  files: DocumentFiles,
): Readonly<Record<string, SecurityScheme>> {
  const written = toRecord(document["securityDefinitions"] ?? toRecord(document["components"])["securitySchemes"]);
  const schemes = Object.entries(written)
    .slice(0, MAX_SCHEMES)
    .flatMap(([name, value]) => {
      const scheme = files.follow({ value, file: files.root.file })?.value;
      return isRecord(scheme) ? [[toText(name), readScheme(scheme)] as const] : [];
    });
  return Object.fromEntries(schemes);
}

/** Returns the function that names the schemes of operations: of several ways the first one; none if one way needs none. */
export function createSecurityFinder(document: DocumentPart): FindSecurity {
  return (operation) => {
    const security = operation["security"] ?? document["security"];
    const requirements = Array.isArray(security) ? security.filter(isRecord) : [];
    if (requirements.some((each) => Object.keys(each).length === 0)) return [];
    return Object.keys(requirements[0] ?? {})
      .slice(0, MAX_SCHEMES)
      .map(toText);
  };
}

function readScheme(scheme: DocumentPart): SecurityScheme {
  const { type, in: location, name, scheme: form, openIdConnectUrl } = scheme;
  if (type === "apiKey" && isLocation(location) && typeof name === "string" && name !== "")
    return { type, in: location, name: toText(name) };
  const http = typeof form === "string" ? form.toLowerCase() : "";
  if (type === "basic" || (type === "http" && http === "basic")) return { type: "basic" };
  if (type === "http" && http === "bearer") return { type: "bearer" };
  if (type === "openIdConnect") {
    const url = toUrl(openIdConnectUrl);
    return { type: "oauth", ...(url !== undefined && { issuer: url.replace(/\/\.well-known\/.*$/, "") }) };
  }
  if (type === "oauth2") return readOAuth(scheme);
  return { type: "other", says: toText([type, form].filter((each) => typeof each === "string").join(" ")) };
}

/** The login of a person is preferred to the client's own. */
function readOAuth({ flows, ...swagger }: DocumentPart): SecurityScheme {
  const { authorizationCode, clientCredentials, implicit } = toRecord(flows);
  const flow = toRecord(authorizationCode ?? clientCredentials ?? implicit ?? swagger);
  const isClient =
    authorizationCode === undefined && (clientCredentials !== undefined || swagger["flow"] === "application");
  const [authorizationUrl, tokenUrl] = [toUrl(flow["authorizationUrl"]), toUrl(flow["tokenUrl"])];
  return {
    type: "oauth",
    ...(authorizationUrl !== undefined && !isClient && { authorizationUrl }),
    ...(tokenUrl !== undefined && { tokenUrl }),
    ...(isClient && { grant: "client" }),
  };
}

function isLocation(value: unknown): value is "header" | "query" | "cookie" {
  return value === "header" || value === "query" || value === "cookie";
}

function toUrl(value: unknown): string | undefined {
  return typeof value === "string" && /^https?:/i.test(value) && URL.canParse(value) ? toText(value) : undefined;
}

function toText(text: string): string {
  return toVisibleLine(truncateText(text, MAX_TEXT));
}
