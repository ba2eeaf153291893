import { wellFormed } from "../primordials.ts";
import { ENCODED, percentEncode } from "./percent.ts";
import { type OwnedParams, createUrlParams, type URLSearchParams } from "./search-params.ts";
import {
  encodeFragment,
  encodeQuery,
  parseUrl,
  readFileHost,
  readHost,
  readPath,
  setPort,
  splitPort,
  withoutBreaks,
} from "./url-parser.ts";
import { defaultPort, isSpecial, type UrlRecord, writeHost, writePath, writeUrl } from "./url-record.ts";

/** `URL` of the URL standard (6.1). A setter ignores an invalid value. */
export class URL {
  #url: UrlRecord;
  #params: OwnedParams | undefined;

  constructor(input: unknown, base?: unknown) {
    const url = read(input, base);
    if (url === undefined) throw notUrl(input);
    this.#url = url;
  }

  static parse(input: unknown, base?: unknown): URL | null {
    return URL.canParse(input, base) ? new URL(input, base) : null;
  }

  static canParse(input: unknown, base?: unknown): boolean {
    return read(input, base) !== undefined;
  }

  get href(): string {
    return writeUrl(this.#url);
  }

  set href(value: unknown) {
    const url = read(value, undefined);
    if (url === undefined) throw notUrl(value);
    this.#url = url;
    this.#params?.read(url.query ?? "");
  }

  get origin(): string {
    const url = this.#url;
    if (url.scheme === "blob") return getBlobOrigin(url);
    return isSpecial(url.scheme) && url.scheme !== "file" ? `${url.scheme}://${writeHost(url)}` : "null";
  }

  get protocol(): string {
    return `${this.#url.scheme}:`;
  }

  set protocol(value: unknown) {
    const url = this.#url;
    const scheme = /^([a-z][a-z\d+.-]*)(?::|$)/i.exec(withoutBreaks(String(value)))?.[1]?.toLowerCase();
    if (scheme === undefined || isSpecial(scheme) !== isSpecial(url.scheme)) return;
    if (scheme === "file" && hasAuthority(url)) return;
    if (url.scheme === "file" && url.host === "") return;
    url.scheme = scheme;
    if (url.port === defaultPort(scheme)) url.port = null;
  }

  get username(): string {
    return this.#url.username;
  }

  set username(value: unknown) {
    if (mayHaveAuthority(this.#url)) this.#url.username = percentEncode(String(value), ENCODED.userinfo);
  }

  get password(): string {
    return this.#url.password;
  }

  set password(value: unknown) {
    if (mayHaveAuthority(this.#url)) this.#url.password = percentEncode(String(value), ENCODED.userinfo);
  }

  get host(): string {
    return writeHost(this.#url);
  }

  set host(value: unknown) {
    setHost(this.#url, String(value), true);
  }

  get hostname(): string {
    return this.#url.host ?? "";
  }

  set hostname(value: unknown) {
    setHost(this.#url, String(value), false);
  }

  get port(): string {
    return `${this.#url.port ?? ""}`;
  }

  set port(value: unknown) {
    if (mayHaveAuthority(this.#url)) changePort(this.#url, String(value));
  }

  get pathname(): string {
    return writePath(this.#url);
  }

  set pathname(value: unknown) {
    const url = this.#url;
    if (typeof url.path === "string") return;
    url.path = [];
    readPath(url, withoutBreaks(String(value)));
  }

  get search(): string {
    const { query } = this.#url;
    return query === null || query === "" ? "" : `?${query}`;
  }

  set search(value: unknown) {
    const url = this.#url;
    const text = String(value);
    const query = withoutBreaks(text).replace(/^\?/, "");
    url.query = text === "" ? null : encodeQuery(query, url.scheme);
    this.#params?.read(query);
  }

  get searchParams(): URLSearchParams {
    const changed = (query: string): void => {
      this.#url.query = query === "" ? null : query;
    };
    this.#params ??= createUrlParams(this.#url.query ?? "", changed);
    return this.#params.params;
  }

  get hash(): string {
    const { fragment } = this.#url;
    return fragment === null || fragment === "" ? "" : `#${fragment}`;
  }

  set hash(value: unknown) {
    const text = String(value);
    this.#url.fragment = text === "" ? null : encodeFragment(withoutBreaks(text).replace(/^#/, ""));
  }

  toString(): string {
    return this.href;
  }

  toJSON(): string {
    return this.href;
  }

  get [Symbol.toStringTag](): string {
    return "URL";
  }
}

function read(input: unknown, base: unknown): UrlRecord | undefined {
  if (base === undefined) return parseUrl(wellFormed(`${input as string}`));
  const parsedBase = parseUrl(wellFormed(`${base as string}`));
  return parsedBase === undefined ? undefined : parseUrl(wellFormed(`${input as string}`), parsedBase);
}

function notUrl(input: unknown): Error {
  return Object.assign(new TypeError(`Invalid URL: "${String(input)}"`), { code: "ERR_INVALID_URL" });
}

function getBlobOrigin(url: UrlRecord): string {
  const inner = parseUrl(writePath(url));
  return inner !== undefined && /^https?$/.test(inner.scheme) ? `${inner.scheme}://${writeHost(inner)}` : "null";
}

function hasAuthority({ username, password, port }: UrlRecord): boolean {
  return username !== "" || password !== "" || port !== null;
}

function mayHaveAuthority({ host, scheme }: UrlRecord): boolean {
  return host !== null && host !== "" && scheme !== "file";
}

function setHost(url: UrlRecord, value: string, withPort: boolean): void {
  if (typeof url.path === "string") return;
  const text = withoutBreaks(value).split(isSpecial(url.scheme) ? /[/\\?#]/ : /[/?#]/, 1)[0] as string;
  if (url.scheme === "file") {
    readFileHost(url, text);
    return;
  }
  const [host, port] = splitPort(text);
  if (port !== undefined && !withPort) return;
  if (host === "" && (port !== undefined || hasAuthority(url))) return;
  const before = url.port;
  if (!readHost(url, host)) return;
  url.port = before;
  if (port !== undefined && port !== "") changePort(url, port);
}

/** Sets the port from leading digits. Text without digits is ignored, except that an empty text means the default port. */
function changePort(url: UrlRecord, value: string): void {
  const digits = /^\d*/.exec(withoutBreaks(value))?.[0] as string;
  if ((value === "" || digits !== "") && Number(digits) <= 65_535) setPort(url, digits);
}
