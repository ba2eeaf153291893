import { parseHost } from "./host.ts";
import { ENCODED, percentEncode } from "./percent.ts";
import { defaultPort, isSpecial, type UrlRecord } from "./url-record.ts";

/**
 * Parses a URL as the URL standard (4.4) defines. The standard's state machine reads one character at a time; this parser
 * splits the text where that machine would change its state, with the same result.
 */
export function parseUrl(input: string, base?: UrlRecord): UrlRecord | undefined {
  // oxlint-disable-next-line no-control-regex -- they are what is cut off
  const text = withoutBreaks(input.replace(/^[\0- ]+|[\0- ]+$/g, ""));
  const scheme = /^([a-z][a-z\d+.-]*):/i.exec(text)?.[1];
  const [beforeFragment, fragment] = cut(text.slice(scheme === undefined ? 0 : scheme.length + 1), "#");
  const [rest, query] = cut(beforeFragment, "?");
  const onlyFragment = rest === "" && query === undefined && fragment !== undefined;
  const url =
    scheme === undefined ? withoutScheme(rest, onlyFragment, base) : withScheme(scheme.toLowerCase(), rest, base);
  if (url === undefined) return undefined;
  if (query !== undefined) url.query = encodeQuery(query, url.scheme);
  if (fragment !== undefined) url.fragment = encodeFragment(fragment);
  return url;
}

/** Removes tabs and line breaks, which have no meaning in a URL. */
export function withoutBreaks(text: string): string {
  return text.replace(/[\t\n\r]+/g, "");
}

export function encodeQuery(text: string, scheme: string): string {
  return percentEncode(text, isSpecial(scheme) ? ENCODED.specialQuery : ENCODED.query);
}

export function encodeFragment(text: string): string {
  return percentEncode(text, ENCODED.fragment);
}

/** Parses `host` or `host:port`. Returns false, and changes nothing, if the host or the port is invalid. */
export function readHost(url: UrlRecord, text: string): boolean {
  const [name, port] = splitPort(text);
  const special = isSpecial(url.scheme);
  if (name === "" && (special || port !== undefined)) return false;
  const host = parseHost(name, special);
  if (host === undefined || !/^\d*$/.test(port ?? "") || Number(port ?? 0) > 65_535) return false;
  url.host = host;
  setPort(url, port ?? "");
  return true;
}

/** Splits at the first colon outside of the brackets of an IPv6 address. */
export function splitPort(text: string): readonly [host: string, port: string | undefined] {
  const [host] = /^(?:\[[^\]]*(?:\]|$)|[^:[])*/.exec(text) as RegExpExecArray;
  return [host, host === text ? undefined : text.slice(host.length + 1)];
}

/** Sets the port; empty `digits` mean the scheme's default port. */
export function setPort(url: UrlRecord, digits: string): void {
  const port = Number(digits);
  url.port = digits === "" || port === defaultPort(url.scheme) ? null : port;
}

export function readFileHost(url: UrlRecord, text: string): boolean {
  const host = text === "" ? "" : parseHost(text, true);
  if (host === undefined) return false;
  url.host = host === "localhost" ? "" : host;
  return true;
}

/** Adds the segments of a path to those that are there. */
export function readPath(url: UrlRecord, text: string): void {
  const path = url.path as string[];
  const special = isSpecial(url.scheme);
  if (text === "" && !special) return;
  const segments = text.replace(special ? /^[/\\]/ : /^\//, "").split(special ? /[/\\]/ : "/");
  segments.forEach((segment, index) => {
    const last = index === segments.length - 1;
    if (/^(?:\.|%2e){2}$/i.test(segment)) {
      shorten(url);
      if (last) path.push("");
    } else if (/^(?:\.|%2e)$/i.test(segment)) {
      if (last) path.push("");
    } else if (url.scheme === "file" && path.length === 0 && DRIVE.test(segment)) path.push(`${segment.charAt(0)}:`);
    else path.push(percentEncode(segment, ENCODED.path));
  });
}

/** A drive's letter as Windows has it, alone or at the beginning of a path. */
const DRIVE = /^[a-z][:|]$/i;
const DRIVE_FIRST = /^[a-z][:|](?:[/\\]|$)/i;

function cut(text: string, at: string): readonly [before: string, after: string | undefined] {
  const index = text.indexOf(at);
  return index < 0 ? [text, undefined] : [text.slice(0, index), text.slice(index + 1)];
}

function emptyUrl(scheme: string): UrlRecord {
  return { scheme, username: "", password: "", host: null, port: null, path: [], query: null, fragment: null };
}

function withScheme(scheme: string, rest: string, base: UrlRecord | undefined): UrlRecord | undefined {
  const url = emptyUrl(scheme);
  if (scheme === "file") return readFile(url, rest, base?.scheme === "file" ? base : undefined);
  if (isSpecial(scheme)) {
    const relative = base?.scheme === scheme && !rest.startsWith("//");
    return relative ? readRelative(url, rest, base) : readAuthority(url, rest.replace(/^[/\\]+/, ""));
  }
  if (rest.startsWith("//")) return readAuthority(url, rest.slice(2));
  if (rest.startsWith("/")) readPath(url, rest);
  else url.path = percentEncode(rest, ENCODED.control);
  return url;
}

function withoutScheme(rest: string, onlyFragment: boolean, base: UrlRecord | undefined): UrlRecord | undefined {
  if (base === undefined) return undefined;
  if (typeof base.path === "string") return onlyFragment ? { ...base } : undefined;
  const url = emptyUrl(base.scheme);
  return base.scheme === "file" ? readFile(url, rest, base) : readRelative(url, rest, base);
}

function readRelative(url: UrlRecord, rest: string, base: UrlRecord): UrlRecord | undefined {
  const slashes = (isSpecial(url.scheme) ? /^[/\\]*/ : /^\/{0,2}/).exec(rest)?.[0] as string;
  if (slashes.length > 1) return readAuthority(url, rest.slice(slashes.length));
  const { username, password, host, port } = base;
  Object.assign(url, { username, password, host, port });
  if (slashes === "") inheritPath(url, rest, base);
  if (slashes !== "" || rest !== "") readPath(url, rest);
  return url;
}

/** Sets the path that a relative URL without a leading slash continues. */
function inheritPath(url: UrlRecord, rest: string, base: UrlRecord): void {
  url.path = Array.from(base.path);
  if (rest === "") url.query = base.query;
  else shorten(url);
}

function readAuthority(url: UrlRecord, text: string): UrlRecord | undefined {
  const [authority, path] = cutBeforeSlash(text, isSpecial(url.scheme));
  const at = authority.lastIndexOf("@");
  if (at >= 0) {
    if (at === authority.length - 1) return undefined;
    const [username, password = ""] = cut(authority.slice(0, at), ":");
    url.username = percentEncode(username, ENCODED.userinfo);
    url.password = percentEncode(password, ENCODED.userinfo);
  }
  if (!readHost(url, authority.slice(at + 1))) return undefined;
  readPath(url, path);
  return url;
}

function readFile(url: UrlRecord, rest: string, base: UrlRecord | undefined): UrlRecord | undefined {
  url.host = "";
  if (/^[/\\]{2}/.test(rest)) {
    const [host, path] = cutBeforeSlash(rest.slice(2), true);
    if (DRIVE.test(host)) readPath(url, rest.slice(2));
    else if (readFileHost(url, host)) readPath(url, path);
    else return undefined;
    return url;
  }
  if (base !== undefined) {
    url.host = base.host;
    const drive = base.path[0] ?? "";
    if (!/^[/\\]/.test(rest)) {
      inheritPath(url, rest, base);
      if (DRIVE_FIRST.test(rest)) url.path = [];
    } else if (DRIVE.test(drive) && !DRIVE_FIRST.test(rest.slice(1))) (url.path as string[]).push(drive);
    if (rest === "") return url;
  }
  readPath(url, rest);
  return url;
}

function cutBeforeSlash(text: string, special: boolean): readonly [before: string, from: string] {
  const index = text.search(special ? /[/\\]/ : /\//);
  return index < 0 ? [text, ""] : [text.slice(0, index), text.slice(index)];
}

/** Removes the last segment; `..` does not remove a drive letter. */
function shorten(url: UrlRecord): void {
  const path = url.path as string[];
  if (url.scheme === "file" && path.length === 1 && /^[a-z]:$/i.test(path[0] as string)) return;
  path.pop();
}
