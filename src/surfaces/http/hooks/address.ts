import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";

/** Longer values are not of a proxy. */
const MAX_HEADER_UNITS = 1_000;

/**
 * Returns the address of a sender as the limits count it; a network of 64 bits for IPv6, of which one sender has all addresses.
 * A proxy in front of the server appends the address to `X-Forwarded-For`; what a client has written is before it.
 */
export function getSenderAddress({ socket, headersDistinct }: IncomingMessage, hasProxy: boolean): string {
  const address = socket.remoteAddress ?? "unknown";
  const forwarded = hasProxy ? headersDistinct["x-forwarded-for"]?.at(-1)?.slice(-MAX_HEADER_UNITS) : undefined;
  const last = forwarded?.split(",").at(-1)?.trim() ?? "";
  return toNetwork(isIP(last) === 0 ? address : last);
}

/** `2001:db8:0:1::/64`, as a URL writes it; `192.0.2.1` for an address of version 4, also in the form of version 6. */
function toNetwork(address: string): string {
  const [, version4] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address) ?? [];
  if (version4 !== undefined) return version4;
  if (isIP(address) !== 6) return address;
  const bare = address.split("%")[0] ?? address;
  const [head = "", tail] = bare.split("::");
  const groups = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? [] : Array.from({ length: 8 - groups.length - after.length }, () => "0");
  const network = [...groups, ...zeros, ...after].slice(0, 4).map((group) => parseInt(group, 16).toString(16));
  return `${network.join(":")}::/64`;
}
