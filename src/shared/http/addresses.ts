import { BlockList, isIP } from "node:net";

/** Addresses that are not public (IANA's special-purpose registries). */
const NOT_PUBLIC = blockList([
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
  ["::", 96],
  ["64:ff9b::", 96],
  ["64:ff9b:1::", 48],
  ["100::", 64],
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["fc00::", 7],
  ["fe80::", 10],
  ["ff00::", 8],
]);

/** Addresses at which cloud machines serve their own credentials; a server must never name one. */
const LINK_LOCAL = blockList([
  ["169.254.0.0", 16],
  ["fe80::", 10],
  ["fd00:ec2::254", 128],
]);

/** True for a public address; false for anything that is not an address. */
export function isPublicAddress(address: string): boolean {
  return isIP(address) !== 0 && !isIn(NOT_PUBLIC, address);
}

export function isLinkLocalAddress(address: string): boolean {
  return isIn(LINK_LOCAL, address);
}

/** Returns the IP address in a URL; `undefined` if the URL has a host name. */
export function addressIn({ hostname }: URL): string | undefined {
  const bare = hostname.replace(/^\[(.*)\]$/, "$1");
  return isIP(bare) === 0 ? undefined : bare;
}

/** True for localhost, and for an IP address that is not public. */
export function isNear(url: URL): boolean {
  const address = addressIn(url);
  return url.hostname === "localhost" || (address !== undefined && !isPublicAddress(address));
}

function isIn(list: BlockList, address: string): boolean {
  const family = isIP(address);
  return family !== 0 && list.check(address, family === 4 ? "ipv4" : "ipv6");
}

function blockList(subnets: readonly (readonly [network: string, bits: number])[]): BlockList {
  const list = new BlockList();
  for (const [network, bits] of subnets) list.addSubnet(network, bits, isIP(network) === 4 ? "ipv4" : "ipv6");
  return list;
}
