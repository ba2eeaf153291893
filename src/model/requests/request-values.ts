import { isRecord } from "../json.ts";

/** The headers with the values of a caller's session begin with this: `x-skillgate-session-project`. */
const SESSION_HEADER_PREFIX = "x-skillgate-session-";

/**
 * The headers of the request that a call belongs to, for MCP servers whose entries name them, and its `_meta`. All of them count
 * as secret, so no log, JSON text or message to another thread contains them.
 */
export interface RequestValues {
  getHeader(name: string): string | undefined;
  /** Returns a value of the session as the caller has sent it. */
  getSessionValue(name: string): string | undefined;
  /** Returns what the caller has sent in `_meta`, for MCP servers. */
  getMeta(): Meta;
  /** Returns the same values with those members of `_meta` whose names the function accepts. */
  selectMeta(isPassed: (name: string) => boolean): RequestValues;
}

type Meta = Readonly<Record<string, unknown>>;

/** Adds the `_meta` of a request, without the members of the protocol and of Skillgate itself. */
export function withMeta(values: RequestValues | undefined, meta: unknown): RequestValues | undefined {
  if (!isRecord(meta)) return values;
  const passed = withoutOwnMeta(meta);
  return Object.keys(passed).length === 0 ? values : new MetaValues(values, passed);
}

/** Returns `_meta` without the members of the protocol and of Skillgate itself. */
export function withoutOwnMeta(meta: Meta): Meta {
  return Object.fromEntries(Object.entries(meta).filter(([name]) => name !== "progressToken" && !OWN_META.test(name)));
}

const OWN_META = /^(?:io\.modelcontextprotocol|skillgate)\//;

export function createRequestValues(headers: Headers): RequestValues {
  return new HeaderValues(headers);
}

/** Creates the values of a session without HTTP. */
export function createSessionValues(values: Readonly<Record<string, string>>): RequestValues {
  const headers = Object.entries(values).map(([name, value]): [string, string] => [
    `${SESSION_HEADER_PREFIX}${name}`,
    value,
  ]);
  return new HeaderValues(new Map(headers));
}

/** Headers, or a map by their names in lower case: `Headers` loads the HTTP client of Node, which a client over stdio does not need. */
interface HeaderReader {
  get(name: string): string | null | undefined;
}

/** Has no public fields. */
class MetaValues implements RequestValues {
  readonly #values: RequestValues | undefined;
  readonly #meta: Meta;

  constructor(values: RequestValues | undefined, meta: Meta) {
    this.#values = values;
    this.#meta = meta;
  }

  getHeader(name: string): string | undefined {
    return this.#values?.getHeader(name);
  }

  getSessionValue(name: string): string | undefined {
    return this.#values?.getSessionValue(name);
  }

  getMeta(): Meta {
    return this.#meta;
  }

  selectMeta(isPassed: (name: string) => boolean): RequestValues {
    const selected = Object.entries(this.#meta).filter(([name]) => isPassed(name));
    return new MetaValues(this.#values, Object.fromEntries(selected));
  }
}

/** Has no public fields. */
class HeaderValues implements RequestValues {
  readonly #headers: HeaderReader;

  constructor(headers: HeaderReader) {
    this.#headers = headers;
  }

  getHeader(name: string): string | undefined {
    return this.#headers.get(name.toLowerCase()) ?? undefined;
  }

  getSessionValue(name: string): string | undefined {
    return this.getHeader(`${SESSION_HEADER_PREFIX}${name}`);
  }

  getMeta(): Meta {
    return {};
  }

  selectMeta(): RequestValues {
    return this;
  }
}

/** A value of a session: it cannot end a part of a path, a header, a word of a command line or the name of a folder. */
export function isSessionValue(value: string): boolean {
  return SESSION_VALUE.test(value) && !value.includes("..");
}

const SESSION_VALUE = /^[A-Za-z0-9_][A-Za-z0-9._~@+=-]{0,127}$/;

/** The rule of `isSessionValue`, for messages. */
export const SESSION_VALUE_RULE =
  "1 to 128 letters, digits and . _ ~ @ + = -, which begin with a letter, a digit or _ and have no two dots in a row";
