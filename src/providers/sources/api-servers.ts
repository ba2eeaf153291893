import { createError, type SkillgateError } from "../../errors.ts";
import type { OperationRow } from "./catalog-file.ts";
import type { ApiClient } from "./http/api-client.ts";
import type { SourceConfig } from "./source-config.ts";

type ServerSettings = Pick<SourceConfig, "name" | "document" | "server" | "servers" | "headers" | "accounts">;

/** A server, and the connections to it. */
export interface ApiServer {
  readonly url: URL;
  readonly client: ApiClient;
}

/** The servers that the requests of a source may go to, each with its connections. */
export class ApiServers {
  /** The server of the settings or of the document; `undefined` if neither names one that may be used. */
  readonly main: URL | undefined;
  /** The first server of the document. */
  readonly ofDocument: URL | undefined;
  readonly #settings: ServerSettings;
  readonly #create: (server: URL) => ApiClient;
  readonly #open = new Map<string, ApiServer>();

  constructor(settings: ServerSettings, ofDocument: string | undefined, create: (server: URL) => ApiClient) {
    this.#settings = settings;
    this.#create = create;
    this.ofDocument = toHttpUrl(ofDocument, settings.document);
    this.main = this.#findMain();
    if (this.main !== undefined) this.#connect(this.main);
  }

  /** Returns the server for the requests of an operation. Throws a `SkillgateError` if it may not be used. */
  find(row: Pick<OperationRow, "verb" | "path" | "servers">): ApiServer {
    const server = this.#findUrl(row);
    if (server === undefined) throw this.#refuse(row);
    return this.#open.get(server.href) ?? this.#connect(server);
  }

  /** Says for each server that the settings do not name how many operations are there. */
  describeMissing(rows: Iterable<OperationRow>): readonly string[] {
    const counts = new Map<string, number>();
    for (const row of rows) {
      if (this.main === undefined || this.#findUrl(row) !== undefined) continue;
      const server = row.servers[0] ?? "";
      counts.set(server, (counts.get(server) ?? 0) + 1);
    }
    return [...counts].map(
      ([server, operations]) =>
        `${operations} of its operations cannot be called, because they are at ${server}, which ${this.#describeFlaw(server)}`,
    );
  }

  close(): void {
    for (const { client } of this.#open.values()) client.close();
  }

  get #hasCredentials(): boolean {
    return Object.keys(this.#settings.headers).length > 0 || this.#settings.accounts.length > 0;
  }

  #connect(url: URL): ApiServer {
    const server = { url, client: this.#create(url) };
    this.#open.set(url.href, server);
    return server;
  }

  /**
   * Headers, which hold credentials, and those of accounts go to a server that only the document names if that is the document's own. A file that was
   * downloaded has no server of its own.
   */
  #findMain(): URL | undefined {
    const { server, document } = this.#settings;
    if (server !== undefined) return toHttpUrl(server, document);
    const isSafe = !this.#hasCredentials || this.ofDocument?.origin === new URL(document).origin;
    return isSafe ? this.ofDocument : undefined;
  }

  /** The server of an operation: its own, if the document names one that may be used. */
  #findUrl({ servers }: Pick<OperationRow, "servers">): URL | undefined {
    if (this.main === undefined || servers.length === 0) return this.main;
    for (const server of servers) {
      const found = this.#allow(server, this.main);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #allow(server: string, main: URL): URL | undefined {
    const url = toHttpUrl(server, main.href);
    if (url === undefined || url.origin === main.origin) return url;
    if (this.#settings.servers.some((each) => toHttpUrl(each, main.href)?.origin === url.origin)) return url;
    // The settings send what is for the server of the document to another one, such as one for tests.
    if (url.origin !== this.ofDocument?.origin) return undefined;
    return url.href === this.ofDocument.href ? main : withPath(main, url.pathname);
  }

  #refuse({ verb, path, servers }: Pick<OperationRow, "verb" | "path" | "servers">): SkillgateError {
    const { name } = this.#settings;
    const [own] = servers;
    const why =
      this.main !== undefined && own !== undefined
        ? `${verb.toUpperCase()} ${path} is at ${own}, which ${this.#describeFlaw(own)}`
        : !this.#hasCredentials
          ? `The document of ${name} names no server; the owner writes it: ${this.#adviseServer()}`
          : `The credentials of ${name} are sent only to a server that the settings name; the owner writes it: ${this.#adviseServer()}`;
    return createError("CALL_FAILED", why);
  }

  #adviseServer(): string {
    return `sources: { ${this.#settings.name}: { server: https://… } }`;
  }

  #describeFlaw(server: string): string {
    const url = toHttpUrl(server, this.#settings.document);
    if (url === undefined) return "is no URL with https://";
    const added = `sources: { ${this.#settings.name}: { servers: [${url.origin}] } }`;
    return `the settings do not name; the owner adds it: ${added}`;
  }
}

/** A path of a document can begin with "//", which would be another host in a reference. */
function withPath(server: URL, pathname: string): URL {
  return Object.assign(new URL(server.origin), { pathname });
}

/**
 * A document may name its server relative to itself; a file has no scheme of the network for `//api.example.com`. Requests have no more
 * of a server than its path, so nothing else is shown: in `https://evil.example/#.api.example.com`, only the first host counts.
 */
function toHttpUrl(server: string | undefined, base: string): URL | undefined {
  const isWithoutScheme = server?.startsWith("//") === true && base.startsWith("file:");
  const text = isWithoutScheme ? `https:${server}` : server;
  if (text === undefined || !URL.canParse(text, base)) return undefined;
  const url = Object.assign(new URL(text, base), { search: "", hash: "" });
  return url.protocol === "https:" || url.protocol === "http:" ? url : undefined;
}
