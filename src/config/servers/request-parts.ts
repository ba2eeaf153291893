import type { ServerConfig } from "../../providers/mcp/index.ts";
import { entryError, type Fields } from "./entry-fields.ts";
import { URL_KEYS } from "./entry-keys.ts";
import type { SessionTemplates } from "./session-placeholders.ts";

/** An entry whose templates are replaced. */
interface RequestEntry {
  readonly name: string;
  readonly fields: Fields;
  readonly templates: SessionTemplates;
  /** True if the entry has all values that it needs. */
  readonly isComplete: boolean;
}

type RemoteConnection = Pick<Extract<ServerConfig, { transport: "http" | "sse" }>, "url" | "headers" | "oauth"> & {
  readonly transport: "http" | "sse";
};

/**
 * Reads the parts of a configuration that come from the requests of callers. Throws a `BadEntry` for a template in a part of the
 * URL that decides who receives the request, for headers that must not be forwarded, and for a login that callers would share.
 */
export function parseRequestParts(
  entry: RequestEntry,
  connection: { readonly transport: "stdio" } | RemoteConnection,
): Pick<ServerConfig, "fromRequest"> & { readonly oauth?: false } {
  const { templates } = entry;
  if (connection.transport === "stdio") refusePassHeaders(entry);
  const passHeaders = connection.transport === "stdio" ? [] : parsePassHeaders(entry, connection.headers);
  if (templates.size === 0 && passHeaders.length === 0) return {};
  const fromRequest = { templates: Object.fromEntries(templates), passHeaders };
  if (connection.transport === "stdio") return { fromRequest };
  if (entry.isComplete) requireFixedHost(entry, connection.url);
  const hasOwnLogin = passHeaders.includes("authorization") || hasTemplate(connection.url, templates);
  if (hasOwnLogin && typeof connection.oauth === "object")
    throw entryError(entry.name, "oauth needs a url and a login that are the same for all sessions", {
      key: "oauth",
      fix: "remove oauth, or the template in url and authorization in passHeaders",
    });
  return { fromRequest, ...(hasOwnLogin && { oauth: false }) };
}

function hasTemplate(text: string, templates: SessionTemplates): boolean {
  return [...templates.keys()].some((placeholder) => text.includes(placeholder));
}

function requireFixedHost({ name, fields, templates }: RequestEntry, address: string): void {
  const misplaced = findMisplacedTemplate(new URL(address), templates);
  if (misplaced === undefined) return;
  throw entryError(name, `url cannot have \${session.…} in ${misplaced}`, {
    key: URL_KEYS.find((key) => fields.raw(key) !== undefined) ?? "url",
    fix: "write it in the path or in the query: https://host/${session.project}/mcp",
  });
}

/** Returns the part of a URL in which a template must not be, in words. */
function findMisplacedTemplate(url: URL, templates: SessionTemplates): string | undefined {
  if (hasTemplate(url.host, templates)) return "the host";
  if (hasTemplate(`${url.username}:${url.password}`, templates)) return "the login";
  return hasTemplate(url.hash, templates) ? "the part after #" : undefined;
}

function refusePassHeaders({ name, fields }: RequestEntry): void {
  if (fields.raw("passHeaders") === undefined) return;
  throw entryError(name, "passHeaders is for servers over HTTP", {
    key: "passHeaders",
    fix: 'write "env": { "TENANT": "${session.tenant}" } for a process',
  });
}

function parsePassHeaders(
  { name: server, fields }: RequestEntry,
  headers: Readonly<Record<string, string>>,
): readonly string[] {
  const own = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  const names = fields.texts("passHeaders").map((name) => name.toLowerCase());
  for (const name of names) {
    const objection = findObjection(name, own);
    if (objection === undefined) continue;
    throw entryError(server, `passHeaders cannot have ${JSON.stringify(name)}, as ${objection}`, {
      key: "passHeaders",
      fix: 'write the names of other headers, in full, as in "passHeaders": ["x-tenant"]',
    });
  }
  return [...new Set(names)].toSorted();
}

function findObjection(name: string, own: ReadonlySet<string>): string | undefined {
  if (!/^[a-z0-9][a-z0-9_-]{0,99}$/.test(name)) return "it is not the full name of a header";
  if (OF_CONNECTION.has(name)) return "it belongs to the connection between the caller and Skillgate";
  if (OF_MESSAGE.has(name)) return "Skillgate sends its own";
  if (OF_PROTOCOL.test(name)) return "it belongs to the protocol between the caller and Skillgate";
  return own.has(name) ? "headers sets it already" : undefined;
}

/** The headers that a proxy must not forward, and those that name its own address. */
const OF_CONNECTION: ReadonlySet<string> = new Set(
  (
    "connection expect forwarded host http2-settings keep-alive origin proxy-authenticate proxy-authorization " +
    "proxy-connection te trailer transfer-encoding upgrade via"
  ).split(" "),
);

/** The headers that describe a message. */
const OF_MESSAGE: ReadonlySet<string> = new Set(
  "accept accept-encoding baggage content-encoding content-length content-type range traceparent tracestate".split(" "),
);

const OF_PROTOCOL = /^(?:mcp-.*|last-event-id|x-skillgate-.*|sec-.*|access-control-.*)$/;
