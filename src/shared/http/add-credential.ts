import type { Credential, CredentialPlace } from "../../model/account.ts";
import { MIN_SECRET_LENGTH } from "../masks/mask.ts";
import { KnownSecrets } from "../secrets.ts";

type Headers = Readonly<Record<string, string>>;

/** Adds the headers and cookies of a credential, in place of others with their names. */
export function addHeaders(headers: Headers, credential: Credential): Headers {
  const own = select(credential, "header").map(({ name, value }) => [name.toLowerCase(), value]);
  const cookies = select(credential, "cookie");
  if (cookies.length === 0) return { ...headers, ...Object.fromEntries(own) };
  const names = new Set(cookies.map(({ name }) => name));
  const others = (headers["cookie"] ?? "").split(/;\s*/).filter((pair) => pair !== "" && !names.has(getPairName(pair)));
  const cookie = [...others, ...cookies.map(({ name, value }) => `${name}=${value}`)].join("; ");
  return { ...headers, ...Object.fromEntries(own), cookie };
}

/** Adds the parameters of a credential to the query of a target, in place of others with their names. */
export function addQuery(target: string, credential: Credential): string {
  const parameters = select(credential, "query");
  if (parameters.length === 0) return target;
  const names = new Set(parameters.map(({ name }) => name));
  const [path = "", query = ""] = splitOnce(target, "?");
  const others = query.split("&").filter((pair) => pair !== "" && !names.has(decode(getPairName(pair))));
  const own = parameters.map(({ name, value }) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
  return `${path}?${[...others, ...own].join("&")}`;
}

/** Returns the parts of a credential that are fields of the body, by name. */
export function listBodyFields(credential: Credential): ReadonlyMap<string, string> {
  return new Map(select(credential, "body").map(({ name, value }) => [name, value]));
}

/** Returns the mask for an answer to a request with a credential. It masks short texts, too, where they stand alone. */
export function createCredentialMask(credential: Credential): KnownSecrets {
  return new KnownSecrets().with(listCredentialTexts(credential).filter((text) => text.length >= MIN_ALONE_UNITS));
}

/** A shorter text is a password such as `x` beside a key. */
const MIN_ALONE_UNITS = 4;

/** Returns the texts of a credential that no program may read: also those that a header encodes. */
export function listCredentialTexts(credential: Credential): readonly string[] {
  return credential.flatMap(({ value }) => {
    const [, scheme = "", rest = ""] = /^(\S+) (.+)$/.exec(value) ?? [];
    if (rest === "") return [value];
    if (scheme.toLowerCase() !== "basic") return [value, rest];
    const [name = "", password = ""] = splitOnce(Buffer.from(rest, "base64").toString(), ":");
    const isKey = password.length < MIN_SECRET_LENGTH; // the name is a key then, beside any password
    return [value, rest, `${name}:${password}`, password, ...(isKey ? [name] : [])];
  });
}

function select(credential: Credential, location: CredentialPlace["in"]): Credential {
  return credential.filter((part) => part.in === location);
}

function getPairName(pair: string): string {
  return (splitOnce(pair, "=")[0] ?? "").trim();
}

function splitOnce(text: string, separator: string): readonly string[] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + separator.length)];
}

/** A name that no server can decode is no name of a parameter. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}
