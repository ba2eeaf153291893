import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { quote } from "../../shared/format-text.ts";

/** Checks the Host and Origin headers of requests. */
export interface OriginCheck {
  /** Returns why a request is rejected; `undefined` if it is allowed. */
  refusal(request: Pick<IncomingMessage, "headers" | "rawHeaders">): string | undefined;
  /** Returns the CORS headers that let a page of an allowed origin read the answer. */
  corsHeaders(headers: IncomingHttpHeaders): Readonly<Record<string, string>>;
}

export interface OriginCheckOptions {
  /** True if callers must send a token. */
  readonly hasToken: boolean;
  readonly host: string;
  /** The origin at which browsers reach the server, if it is another one; its host and itself are allowed. */
  readonly publicUrl?: string;
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
}

/** Rejects unknown host names, which protects against DNS rebinding. */
export function createOriginCheck({
  hasToken,
  host,
  publicUrl = "",
  allowedHosts,
  allowedOrigins,
}: OriginCheckOptions): OriginCheck {
  const publicHost = parseHostname(publicUrl);
  const hosts = new Set([
    ...LOOPBACK,
    ...allowedHosts.map((name) => name.toLowerCase()),
    ...(publicHost === undefined ? [] : [publicHost]),
    ...(isWildcard(host) ? [] : [bracketed(host)]),
  ]);
  const origins = new Set(
    [...allowedOrigins, ...(publicUrl === "" ? [] : [publicUrl])].map((origin) =>
      origin.toLowerCase().replace(/\/$/, ""),
    ),
  );
  // Any program on this machine can serve pages on its own port. Without a token, only the server's own port is allowed.
  const isAllowed = (origin: string, server = ""): boolean =>
    origins.has(origin.toLowerCase()) ||
    (isLoopbackPage(origin) && (hasToken || parsePort(origin) === parsePort(`http://${server}`)));
  return {
    refusal({ headers, rawHeaders }) {
      if (rawHeaders.filter((text, at) => at % 2 === 0 && text.toLowerCase() === "host").length > 1)
        return "The request has more than one Host header";
      const name = parseHostname(`http://${headers.host ?? ""}`);
      if (name === undefined || !hosts.has(name))
        return `The host ${quote(headers.host ?? "")} is not in server.allowedHosts`;
      const { origin } = headers;
      if (origin === undefined || isAllowed(origin, headers.host)) return undefined;
      return `The origin ${quote(origin ?? "")} is not in server.allowedOrigins`;
    },
    corsHeaders({ origin, host: server }) {
      if (origin === undefined || !isAllowed(origin, server)) return {};
      return {
        "access-control-allow-origin": origin,
        "access-control-expose-headers": "mcp-session-id, retry-after, www-authenticate",
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

/** Returns the port of a URL; empty for the default port of its protocol. */
function parsePort(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).port : undefined;
}
