/** The clock of a zone: the time that it shows at a moment, and the moments at which it shows a time. */
export interface ZoneClock {
  /** Returns what the clock shows more than UTC at a moment, in milliseconds. */
  getOffset(at: number): number;
  /** Returns the first moment after `after`, and at `until` at the latest, with another offset than `after` has. */
  findChange(after: number, until: number): number | undefined;
}

/** Two changes of a zone are further apart: at least 21 days in the data of all zones from 2008 to 2040 (tzdata 2025c). */
const BLOCK_MS = 7 * 86_400_000;

/** About ten years. */
const MAX_BLOCKS = 520;

/** There are some 600 names of zones. */
const clocks = new Map<string, ZoneClock>();

/** Returns the clock of a zone. Throws a RangeError for a name that is not a zone. */
export function getZoneClock(zone: string): ZoneClock {
  const clock = clocks.get(zone) ?? createZoneClock(zone);
  clocks.set(zone, clock);
  return clock;
}

function createZoneClock(zone: string): ZoneClock {
  const readOffset = createOffsetReader(zone);
  const blocks = new Map<number, OffsetBlock>();

  function findBlock(index: number): OffsetBlock {
    const stored = blocks.get(index);
    if (stored !== undefined) return stored;
    const block = readBlock(index * BLOCK_MS, readOffset);
    if (blocks.size >= MAX_BLOCKS) blocks.clear();
    blocks.set(index, block);
    return block;
  }

  const getOffset = (at: number): number => {
    const { before, after, change } = findBlock(Math.floor(at / BLOCK_MS));
    return at < change ? before : after;
  };
  return {
    getOffset,
    findChange(after, until) {
      const offset = getOffset(after);
      for (let index = Math.floor(after / BLOCK_MS); index * BLOCK_MS <= until; index++) {
        const block = findBlock(index);
        const change = block.before === offset ? block.change : index * BLOCK_MS;
        if (change > after && change <= until && getOffset(change) !== offset) return change;
      }
      return undefined;
    },
  };
}

/** The offsets of a part of the time, with at most one change in it. */
interface OffsetBlock {
  readonly before: number;
  readonly after: number;
  /** The moment of the change; infinite without one. */
  readonly change: number;
}

function readBlock(start: number, readOffset: (at: number) => number): OffsetBlock {
  const end = start + BLOCK_MS;
  const [before, after] = [readOffset(start), readOffset(end - 1)];
  if (before === after) return { before, after, change: Number.POSITIVE_INFINITY };
  let [low, high] = [start, end - 1];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (readOffset(middle) === before) low = middle;
    else high = middle;
  }
  return { before, after, change: high };
}

/** Returns a function that reads the offset of a zone from the time zone data of Node, in milliseconds. */
function createOffsetReader(zone: string): (at: number) => number {
  const format = new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: "longOffset" });
  return (at) => {
    const [, sign, hours, minutes, seconds = "0"] = OFFSET.exec(format.format(at)) ?? [];
    const ms = (Number(hours ?? 0) * 3_600 + Number(minutes ?? 0) * 60 + Number(seconds)) * 1_000;
    return sign === "-" ? -ms : ms;
  };
}

/** `1/1/1970, GMT`, `1/1/1970, GMT+01:00` or, before 1972, `1/1/1970, GMT-00:44:30`. */
const OFFSET = /GMT([+-])(\d{2}):(\d{2})(?::(\d{2}))?$/;
