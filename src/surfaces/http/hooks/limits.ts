import { setBounded } from "../../../shared/lru.ts";

/** Requests that are allowed at once, and those that are allowed in addition each second. */
interface BucketSize {
  readonly most: number;
  readonly perSecond: number;
}

/** A service may send thousands at once, such as after an outage. */
const PER_ADDRESS: BucketSize = { most: 4_000, perSecond: 40 };

/** The refused requests of a wider network, which one sender may have: an IPv6 network of 48 bits has 65,536 of 64. */
const PER_NETWORK: BucketSize = { most: 16_000, perSecond: 160 };

/** A request that is refused counts as 20: 200 at once, and two a second. */
const FAILURE_COST = 19;

/** The addresses and the networks that are counted. Those that were not used for the longest time are forgotten. */
const MAX_BUCKETS = 20_000;

/**
 * Limits requests before anything is computed for them. There is no limit for a webhook: strangers who know its id could use it up, and
 * the deliveries that wait for their runs are limited.
 */
export interface HookLimits {
  /** Counts a request; returns the seconds to wait if there were too many, or too many refused ones of the wider network. */
  take(address: string): number | undefined;
  /** Counts a refused request for an address and its wider network. */
  refuse(address: string): void;
}

/** `now` gives milliseconds. */
export function createHookLimits(now: () => number = () => performance.now()): HookLimits {
  const addresses = createBuckets(PER_ADDRESS, now);
  const networks = createBuckets(PER_NETWORK, now);
  return {
    take: (address) => networks.find(toWiderNetwork(address), 1) ?? addresses.take(address, 1),
    refuse(address) {
      addresses.charge(address, FAILURE_COST);
      networks.charge(toWiderNetwork(address), FAILURE_COST + 1);
    },
  };
}

/** The first 24 bits of an address of version 4, and 48 bits of version 6; other texts stay. */
function toWiderNetwork(address: string): string {
  return /^(?:\d+\.){3}|^(?:[0-9a-f]+:){3}/.exec(address)?.[0] ?? address;
}

interface Buckets {
  /** Returns the seconds until a cost is left; `undefined` if it is. */
  find(key: string, cost: number): number | undefined;
  /** As `find`, and counts the cost if it is left. */
  take(key: string, cost: number): number | undefined;
  charge(key: string, cost: number): void;
}

function createBuckets({ most, perSecond }: BucketSize, now: () => number): Buckets {
  const buckets = new Map<string, { readonly left: number; readonly at: number }>();
  const getLeft = (key: string, at: number): number => {
    const bucket = buckets.get(key);
    return bucket === undefined ? most : Math.min(most, bucket.left + ((at - bucket.at) / 1_000) * perSecond);
  };
  const set = (key: string, left: number, at: number): void =>
    setBounded(buckets, [key, { left: Math.max(0, left), at }], MAX_BUCKETS);
  const find: Buckets["find"] = (key, cost) => {
    const left = getLeft(key, now());
    return left < cost ? Math.ceil((cost - left) / perSecond) : undefined;
  };
  return {
    find,
    take(key, cost) {
      const at = now();
      const seconds = find(key, cost);
      if (seconds === undefined) set(key, getLeft(key, at) - cost, at);
      return seconds;
    },
    charge(key, cost) {
      const at = now();
      set(key, getLeft(key, at) - cost, at);
    },
  };
}
