import { lookup } from "node:dns";
import type { LookupFunction } from "node:net";

import { addressIn, isCloudAddress, isPublicAddress } from "./addresses.ts";

/** Which addresses may be requested: only public ones, or private ones as well. */
export type AllowedAddresses = "public" | "private";

/** A request to an address that may not be requested. */
export class AddressRefused extends Error {}

/** True for a URL with a host name, and for one with an address that may be requested. */
export function isAllowedUrl(url: URL, reach: AllowedAddresses): boolean {
  const literal = addressIn(url);
  return literal === undefined || isAllowed(literal, reach);
}

/** Finds the addresses of a host name for a connection; fails with the error that `refuse` creates if one of them may not be requested. */
export function guardedLookup(reach: AllowedAddresses, refuse: () => Error): LookupFunction {
  return (host, options, callback) => {
    lookup(host, { ...options, all: true }, (error, found) => {
      if (error !== null) return callback(error, "");
      const [first] = found;
      if (first === undefined || !found.every(({ address }) => isAllowed(address, reach)))
        return callback(refuse(), "");
      if (options.all === true) callback(null, found);
      else callback(null, first.address, first.family);
    });
  };
}

function isAllowed(address: string, reach: AllowedAddresses): boolean {
  return reach === "public" ? isPublicAddress(address) : !isCloudAddress(address);
}
