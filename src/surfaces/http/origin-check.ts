import type { IncomingHttpHeaders, IncomingMessage } from "node:http";

/** Who may call: by which names of this machine, and from which pages of a browser. */
export interface OriginCheck {
  /** Why a request is turned away; `undefined` if it may pass. */
  refusal(request: Pick<IncomingMessage, "headers" | "rawHeaders">): string | undefined;
  /** The headers that let a page of an allowed origin read the answer. */
  corsHeaders(headers: IncomingHttpHeaders): Readonly<Record<string, string>>;
}

export interface OriginCheckOptions {
  /** Whether callers show a token. */
  readonly hasToken: boolean;
  readonly host: string;
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
}

/** A page that has made a name of its own point at this machine is no caller (DNS rebinding). */
export function createOriginCheck({ hasToken, host, allowedHosts, allowedOrigins }: OriginCheckOptions): OriginCheck {
  const hosts = new Set([
    ...LOOPBACK,
    ...allowedHosts.map((name) => name.toLowerCase()),
    ...(isWildcard(host) ? [] : [bracketed(host)]),
  ]);
  const origins = new Set(allowedOrigins.map((origin) => origin.toLowerCase().replace(/\/$/, "")));
  // Any program of this machine may serve pages on a port of its own: without a token, those are not let in.
  const isAllowed = (origin: string, server = ""): boolean =>
    origins.has(origin.toLowerCase()) ||
    (isLoopbackPage(origin) && (hasToken || portOf(origin) === portOf(`http://${server}`)));
  return {
    refusal({ headers, rawHeaders }) {
      if (rawHeaders.filter((text, at) => at % 2 === 0 && text.toLowerCase() === "host").length > 1)
        return "Cannot answer a request to two hosts";
      const name = parseHostname(`http://${headers.host ?? ""}`);
      if (name === undefined || !hosts.has(name))
        return `Cannot answer a request to the host ${quoted(headers.host)}: it is not one of server.allowedHosts`;
      const { origin } = headers;
      if (origin === undefined || isAllowed(origin, headers.host)) return undefined;
      return `Cannot answer a request from the origin ${quoted(origin)}: it is not one of server.allowedOrigins`;
    },
    corsHeaders({ origin, host: server }) {
      if (origin === undefined || !isAllowed(origin, server)) return {};
      return {
        "access-control-allow-origin": origin,
        "access-control-expose-headers": "mcp-session-id, www-authenticate",
        vary: "origin",
      };
    },
  };
}

export function isLoopback(host: string): boolean {
  return LOOPBACK.has(bracketed(host)) || /^127(?:\.\d{1,3}){3}$/.test(host);
}

const LOOPBACK: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

function isWildcard(host: string): boolean {
  return host === "0.0.0.0" || host === "::";
}

function bracketed(host: string): string {
  return host.includes(":") && !host.startsWith("[") ? `[${host}]` : host.toLowerCase();
}

function isLoopbackPage(origin: string): boolean {
  return /^https?:/i.test(origin) && LOOPBACK.has(parseHostname(origin) ?? "");
}

function parseHostname(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).hostname : undefined;
}

/** Empty for the usual one of the protocol. */
function portOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).port : undefined;
}

function quoted(text = ""): string {
  return JSON.stringify(text.slice(0, 100));
}
