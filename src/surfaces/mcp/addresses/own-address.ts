import { createHash } from "node:crypto";

/** The host in addresses that stand for an address of one server: `ui://vue.skillgate/clock.html` is `ui://clock.html` of `vue`. */
const HOST =
  /^(?:skillgate:\/\/([a-z0-9-]+)\.skillgate\/(.*)|([a-z][a-z0-9+.-]*):(\/\/)?([a-z0-9-]+)\.skillgate\/(.*))$/is;

/** Schemes of the addresses that this server has itself. */
const BUILTIN_SCHEMES: ReadonlySet<string> = new Set(["skillgate", "run", "result"]);

/** An address of one server, and the label of the server. */
export interface OwnAddress {
  readonly label: string;
  /** The address at the server. */
  readonly uri: string;
}

/** Returns the address that stands for an address or a template of one server, and for that of no other. */
export function toOwnAddress(label: string, uri: string): string {
  const scheme = getScheme(uri);
  // Without a scheme, the whole of it follows the host.
  if (scheme === "" || scheme === "skillgate") return `skillgate://${label}.skillgate/${uri}`;
  const start = uri.startsWith("//", scheme.length + 1) ? scheme.length + 3 : scheme.length + 1;
  return `${uri.slice(0, start)}${label}.skillgate/${uri.slice(start)}`;
}

/** Parses what `toOwnAddress` returns; `undefined` for any other address. */
export function parseOwnAddress(address: string): OwnAddress | undefined {
  const match = HOST.exec(address);
  if (match === null) return undefined;
  const [, wholeLabel, whole = "", scheme = "", slashes = "", label = "", rest = ""] = match;
  if (wholeLabel !== undefined) return { label: wholeLabel.toLowerCase(), uri: whole };
  return { label: label.toLowerCase(), uri: `${scheme}:${slashes}${rest}` };
}

/** True for an address of a server that another thing of this server has: it needs an address of its own. */
export function isReserved(uri: string): boolean {
  const scheme = getScheme(uri);
  return scheme === "" || BUILTIN_SCHEMES.has(scheme) || parseOwnAddress(uri) !== undefined;
}

/** Returns the scheme of an address in lower case; empty for one without. */
export function getScheme(uri: string): string {
  return /^([a-z][a-z0-9+.-]*):/i.exec(uri)?.[1]?.toLowerCase() ?? "";
}

/** Returns the label of a server in addresses: its name where that can be part of a host, else with a digest of it. */
export function toLabel({ server, name }: { readonly server?: string; readonly name: string }): string {
  if (server !== undefined && PLAIN_LABEL.test(server) && !server.includes("--")) return server;
  const words = (server ?? name)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-+|-+$/g, "")
    .slice(0, 30);
  const digest = createHash("sha256")
    .update(JSON.stringify([server, name]))
    .digest("hex")
    .slice(0, 12);
  return `${words}--${digest}`;
}

const PLAIN_LABEL = /^[a-z0-9][a-z0-9-]{0,40}$/;
