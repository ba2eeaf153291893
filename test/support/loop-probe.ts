import { readFileSync } from "node:fs";
import { expect } from "vitest";

/**
 * Measures the processor time of this thread between two turns of the event loop, so that other programs on the machine do not
 * count. It looks once a millisecond: turns within one millisecond count as one turn, and a longer turn is never divided.
 * Linux only.
 */
export class LoopProbe {
  #last = readThreadMs();
  #longest = 0;
  readonly #timer = setInterval(() => this.#note(), 1);

  /** Returns the longest turn since the last call, in milliseconds. */
  async takeLongest(): Promise<number> {
    await new Promise((resolve) => setImmediate(resolve));
    this.#note();
    const longest = this.#longest;
    this.#longest = 0;
    return longest;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #note(): void {
    const now = readThreadMs();
    this.#longest = Math.max(this.#longest, now - this.#last);
    this.#last = now;
  }
}

export const canProbe = process.platform === "linux";

function readThreadMs(): number {
  if (!canProbe) return 0;
  return Number(readFileSync("/proc/thread-self/schedstat", "utf8").split(" ")[0]) / 1e6;
}

/** How long a turn may compute on a quiet machine. */
const MAX_TURN_MS = 50;

const MEMBERS = 60_000;

/** How long a quiet machine takes to parse an object with 60,000 members as JSON. */
const QUIET_PARSE_MS = 13;

/** The object stays, so that its names are known to the parser each time. */
let measured: { readonly members: object; readonly json: string } | undefined;

/** Does the work, and again where a turn took too long: the collector of garbage comes at any time. */
export async function requireShortTurns(probe: LoopProbe, work: () => Promise<unknown>): Promise<void> {
  let turnMs = Infinity;
  for (let attempt = 0; attempt < 3 && turnMs > MAX_TURN_MS; attempt++) {
    const slowness = Math.max(1, (await measureParseMs(probe)) / QUIET_PARSE_MS);
    await work();
    turnMs = Math.min(turnMs, (await probe.takeLongest()) / slowness);
  }
  expect(turnMs).toBeLessThanOrEqual(MAX_TURN_MS);
}

/** The time in which JSON parses an object with 60,000 members now: other programs on the machine slow it down, too. */
async function measureParseMs(probe: LoopProbe): Promise<number> {
  measured ??= createMeasured();
  await probe.takeLongest();
  JSON.parse(measured.json);
  return probe.takeLongest();
}

function createMeasured(): NonNullable<typeof measured> {
  const members = Object.fromEntries(Array.from({ length: MEMBERS }, (_, id) => [`name${id}`, id]));
  return { members, json: JSON.stringify(members) };
}
