import { BlockList, isIP } from "node:net";

/** Addresses that are not public (IANA's special-purpose registries), and the one at which machines of Azure reach their host. */
const NOT_PUBLIC = blockList([
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["168.63.129.16", 32],
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
  ["::ffff:0:0:0", 96],
  ["64:ff9b::", 96],
  ["64:ff9b:1::", 48],
  ["100::", 64],
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
  ["5f00::", 16],
  ["fc00::", 7],
  ["fe80::", 10],
  ["fec0::", 10],
  ["ff00::", 8],
]);

/** Addresses at which clouds serve the credentials of their machines, also by way of version 6; a server must never name one. */
const OF_CLOUDS = blockList([
  ["100.100.100.200", 32],
  ["168.63.129.16", 32],
  ["169.254.0.0", 16],
  ["192.0.0.192", 32],
  ["64:ff9b::a9fe:0", 112],
  ["2002:a9fe::", 32],
  ["fd00:ec2::254", 128],
  ["fd20:ce::254", 128],
  ["fe80::", 10],
]);

/** True for a public address; false for anything that is not an address. */
export function isPublicAddress(address: string): boolean {
  return isIP(address) !== 0 && !isIn(NOT_PUBLIC, address);
}

/** True for an address at which a cloud may serve the credentials of this machine. */
export function isCloudAddress(address: string): boolean {
  return isIn(OF_CLOUDS, address);
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
