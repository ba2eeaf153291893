import { setBounded } from "../../../shared/lru.ts";

/** The amount that is allowed at once, and in addition each second. */
interface BucketSize {
  readonly most: number;
  readonly perSecond: number;
}

/** The deliveries of an address. A service may send thousands at once, such as after an outage. */
const DELIVERIES: BucketSize = { most: 4_000, perSecond: 40 };

/** The requests of an address that are not verified. */
const FAILURES: BucketSize = { most: 200, perSecond: 2 };

/** Those of a wider network, which one sender may have: an IPv6 network of 48 bits has 65,536 of 64. */
const NETWORK_FAILURES: BucketSize = { most: 800, perSecond: 8 };

/**
 * Bytes that are hashed for all senders that have failed more often: their deliveries arrive, and strangers cost at most 50 ms of a
 * processor a second (24 µs for 100 bytes, 49 µs for 8 KiB and 820 µs for 1 MiB, measured on Node 20).
 */
const DOUBTFUL_BYTES: BucketSize = { most: 8 << 20, perSecond: 8 << 20 };

/** A request counts as this number of bytes at least: the signature of few bytes takes as long. */
const MIN_BYTES = 8_192;

/** The addresses and the networks that are counted. Those that were not used for the longest time are forgotten. */
const MAX_BUCKETS = 20_000;

/**
 * Limits requests. Failures and deliveries are counted apart, so that strangers do not use up what the sender of deliveries needs. There
 * is no limit for a webhook: strangers who know its id could use it up, and the deliveries that wait for their runs are limited.
 */
export interface HookLimits {
  /** Returns the seconds until a request of an address can be verified; `undefined` if it can be now. */
  find(address: string): number | undefined;
  /** As `find`, for a body of this number of bytes; and counts these if the sender has failed too often. */
  take(address: string, bytes: number): number | undefined;
  /** Counts a request that was verified, or was not. */
  count(address: string, isVerified: boolean): void;
}

/** `now` gives milliseconds. */
export function createHookLimits(now: () => number = () => performance.now()): HookLimits {
  const deliveries = createBuckets(DELIVERIES, now);
  const failures = createBuckets(FAILURES, now);
  const networkFailures = createBuckets(NETWORK_FAILURES, now);
  const doubtful = createBuckets(DOUBTFUL_BYTES, now);

  /** An address that has sent a delivery does not answer for its network. */
  function isDoubtful(address: string): boolean {
    if (failures.find(address, 1) !== undefined) return true;
    return !deliveries.has(address) && networkFailures.find(toWiderNetwork(address), 1) !== undefined;
  }

  return {
    find: (address) => deliveries.find(address, 1) ?? (isDoubtful(address) ? doubtful.find(ALL, MIN_BYTES) : undefined),
    take: (address, bytes) =>
      deliveries.find(address, 1) ?? (isDoubtful(address) ? doubtful.take(ALL, Math.max(MIN_BYTES, bytes)) : undefined),
    count(address, isVerified) {
      if (isVerified) return deliveries.charge(address, 1);
      failures.charge(address, 1);
      networkFailures.charge(toWiderNetwork(address), 1);
    },
  };
}

/** The key of a bucket of all senders. */
const ALL = "";

/** The first 24 bits of an address of version 4, and 48 bits of version 6; other texts stay. */
function toWiderNetwork(address: string): string {
  return /^(?:\d+\.){3}|^(?:[0-9a-f]+:){3}/.exec(address)?.[0] ?? address;
}

interface Buckets {
  /** True for a key that was charged, and is not forgotten. */
  has(key: string): boolean;
  /** Returns the seconds until a cost is left; `undefined` if it is. */
  find(key: string, cost: number): number | undefined;
  /** As `find`, and counts the cost if it is left. */
  take(key: string, cost: number): number | undefined;
  charge(key: string, cost: number): void;
}

function createBuckets({ most, perSecond }: BucketSize, now: () => number): Buckets {
  const buckets = new Map<string, { readonly left: number; readonly at: number }>();
  const getLeft = (key: string): number => {
    const bucket = buckets.get(key);
    return bucket === undefined ? most : Math.min(most, bucket.left + ((now() - bucket.at) / 1_000) * perSecond);
  };
  const find: Buckets["find"] = (key, cost) => {
    const left = getLeft(key);
    return left < cost ? Math.ceil((cost - left) / perSecond) : undefined;
  };
  const charge: Buckets["charge"] = (key, cost) =>
    setBounded(buckets, [key, { left: Math.max(0, getLeft(key) - cost), at: now() }], MAX_BUCKETS);
  return {
    has: (key) => buckets.has(key),
    find,
    take(key, cost) {
      const seconds = find(key, cost);
      if (seconds === undefined) charge(key, cost);
      return seconds;
    },
    charge,
  };
}
