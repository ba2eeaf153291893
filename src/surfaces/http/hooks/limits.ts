import { setBounded } from "../../../shared/lru.ts";

/** Requests that are allowed at once, and those that are allowed in addition each second. */
interface BucketSize {
  readonly most: number;
  readonly perSecond: number;
}

/** A service may send thousands at once, such as after an outage. */
const PER_ADDRESS: BucketSize = { most: 4_000, perSecond: 40 };
const PER_HOOK: BucketSize = { most: 8_000, perSecond: 80 };

/** A request that is refused counts as 20: 200 at once, and two a second. */
export const FAILURE_COST = 19;

/** The addresses and the ids that are counted. Those that were not used for the longest time are forgotten. */
const MAX_BUCKETS = 20_000;

/** Limits requests before anything is computed for them. */
export interface HookLimits {
  /** Counts a request; returns the seconds to wait if there were too many. Unknown ids count as others do. */
  take(address: string, id: string): number | undefined;
  /** Counts more for an address. */
  charge(address: string, cost: number): void;
}

/** `now` gives milliseconds. */
export function createHookLimits(now: () => number = () => performance.now()): HookLimits {
  const addresses = createBuckets(PER_ADDRESS, now);
  const hooks = createBuckets(PER_HOOK, now);
  return {
    take: (address, id) => addresses.take(address, 1) ?? hooks.take(id.slice(0, MAX_ID_UNITS), 1),
    charge: (address, cost) => addresses.charge(address, cost),
  };
}

const MAX_ID_UNITS = 65;

interface Buckets {
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
  return {
    take(key, cost) {
      const at = now();
      const left = getLeft(key, at);
      if (left < cost) return Math.ceil((cost - left) / perSecond);
      set(key, left - cost, at);
      return undefined;
    },
    charge(key, cost) {
      const at = now();
      set(key, getLeft(key, at) - cost, at);
    },
  };
}
