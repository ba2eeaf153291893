/** The shortest common text that is found, in UTF-16 units. */
const FRAGMENT_UNITS = 8;

/** Fewer letters and digits, as in `https://`, are in many texts by chance. */
const MIN_LETTERS = 6;

/** Text that one run keeps, in UTF-16 units; the oldest is overwritten. */
const MAX_UNITS = 1 << 20;
const MIN_UNITS = 1 << 12;

/** Bounds of one value: parts that are looked at, and earlier places that are compared with one fragment. */
const MAX_PARTS = 100_000;
const MAX_COMPARED = 32;

/** Places in the arguments of one call that are reported. */
const MAX_ORIGINS = 20;
const MAX_PLACE_UNITS = 80;

/** The texts that methods returned in one run. Case does not count. */
export interface ResultTexts<Source extends object> {
  /** Records the texts in a result. */
  record(source: Source, value: unknown): void;
  /** Finds the texts in arguments that have at least 8 characters in common with a recorded text. */
  find(input: Readonly<Record<string, unknown>>): readonly { readonly argument: string; readonly source: Source }[];
}

/** Finds nothing in fragments that `program` contains: their author wrote them, and did not read them in this run. */
export function createResultTexts<Source extends object>(program: string, maxUnits = MAX_UNITS): ResultTexts<Source> {
  const texts = new TextWindow<Source>(program.toLowerCase(), maxUnits);
  return {
    record(source, value) {
      let left = maxUnits;
      for (const { text } of iterateTexts(value)) {
        if (text.length > left) break;
        left -= text.length;
        texts.add(source, text.toLowerCase());
      }
    },
    find(input) {
      const found: { readonly argument: string; readonly source: Source }[] = [];
      for (const { place: path, text } of iterateTexts(input)) {
        for (const source of texts.findSources(text.toLowerCase())) found.push({ argument: path, source });
        if (found.length >= MAX_ORIGINS) break;
      }
      return found.slice(0, MAX_ORIGINS);
    },
  };
}

/** A recorded text: its first position, counted from the first text of the run. */
interface Segment<Source> {
  readonly source: Source;
  readonly start: number;
  readonly end: number;
}

/**
 * The newest texts in a ring buffer, with an index of all their fragments of 8 units by a rolling hash. A chain leads from
 * the newest place of a hash to the earlier ones.
 */
class TextWindow<Source extends object> {
  readonly #program: string;
  readonly #maxUnits: number;
  #units = new Uint16Array(0);
  /** The newest place of each hash, plus 1; 0 for none. */
  #newest = new Int32Array(0);
  /** For each place, the one before it with the same hash, plus 1. */
  #earlier = new Int32Array(0);
  #segments: Segment<Source>[] = [];
  #end = 0;

  constructor(program: string, maxUnits: number) {
    this.#program = program;
    this.#maxUnits = maxUnits;
  }

  add(source: Source, text: string): void {
    if (text.length < FRAGMENT_UNITS) return;
    const ending = text.slice(-this.#maxUnits);
    this.#reserve(ending.length);
    const start = this.#end;
    const mask = this.#units.length - 1;
    for (let at = 0; at < ending.length; at++) this.#units[(start + at) & mask] = ending.charCodeAt(at);
    this.#end += ending.length;
    this.#segments.push({ source, start, end: this.#end });
    this.#index(start, this.#end);
    const oldest = this.#end - this.#units.length;
    if (this.#segments.length > 64 && (this.#segments[32]?.end ?? 0) <= oldest)
      this.#segments = this.#segments.filter(({ end }) => end > oldest);
  }

  /** Returns the sources with a fragment of the text. */
  findSources(text: string): ReadonlySet<Source> {
    const found = new Set<Source>();
    if (this.#end === 0 || text.length < FRAGMENT_UNITS) return found;
    let hash = hashFragment((at) => text.charCodeAt(at), 0);
    for (let at = 0; ;) {
      const length = this.#compare(text, at, hash, found);
      // The fragments inside of a common text are known with it.
      const next = at + Math.max(1, length - FRAGMENT_UNITS + 1);
      if (next + FRAGMENT_UNITS > text.length) return found;
      hash =
        next === at + 1
          ? roll(hash, text.charCodeAt(at), text.charCodeAt(at + FRAGMENT_UNITS))
          : hashFragment((offset) => text.charCodeAt(offset), next);
      at = next;
    }
  }

  /** Adds the sources that have the fragment at a place of the text. Returns the length of the longest common text. */
  #compare(text: string, at: number, hash: number, found: Set<Source>): number {
    let longest = 0;
    let position = (this.#newest[getSlot(hash, this.#newest.length)] ?? 0) - 1;
    for (let compared = 0; position >= this.#oldest && compared < MAX_COMPARED; compared++) {
      const segment = this.#findSegment(position);
      const length = segment === undefined ? 0 : this.#getCommonLength(text, at, position, segment.end);
      if (segment !== undefined && length >= FRAGMENT_UNITS) {
        longest = Math.max(longest, length);
        if (!found.has(segment.source) && this.#isTelling(text.slice(at, at + length))) found.add(segment.source);
      }
      const before = (this.#earlier[position & (this.#earlier.length - 1)] ?? 0) - 1;
      if (before >= position) break;
      position = before;
    }
    return longest;
  }

  get #oldest(): number {
    return Math.max(0, this.#end - this.#units.length);
  }

  #isTelling(fragment: string): boolean {
    return (fragment.match(/[\p{L}\p{N}]/gu)?.length ?? 0) >= MIN_LETTERS && !this.#program.includes(fragment);
  }

  #getCommonLength(text: string, at: number, position: number, end: number): number {
    const mask = this.#units.length - 1;
    const most = Math.min(text.length - at, end - position);
    let length = 0;
    while (length < most && text.charCodeAt(at + length) === this.#units[(position + length) & mask]) length++;
    return length;
  }

  #findSegment(position: number): Segment<Source> | undefined {
    let [low, high] = [0, this.#segments.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#segments[middle]?.start ?? 0) <= position) low = middle;
      else high = middle - 1;
    }
    return this.#segments[low];
  }

  /** Enlarges the buffers until a text fits in addition to the others, up to the maximum. */
  #reserve(length: number): void {
    const needed = Math.min(this.#maxUnits, this.#end - this.#oldest + length);
    if (this.#units.length >= needed) return;
    const before = this.#units;
    let size = Math.max(MIN_UNITS, before.length);
    while (size < needed) size *= 2;
    this.#units = new Uint16Array(size);
    this.#newest = new Int32Array(size);
    this.#earlier = new Int32Array(size);
    const oldest = Math.max(0, this.#end - before.length);
    for (let at = oldest; at < this.#end; at++) this.#units[at & (size - 1)] = before[at & (before.length - 1)] ?? 0;
    for (const { start, end } of this.#segments) this.#index(Math.max(start, oldest), end);
  }

  #index(start: number, end: number): void {
    const mask = this.#units.length - 1;
    const getUnit = (at: number): number => this.#units[at & mask] ?? 0;
    if (end - start < FRAGMENT_UNITS) return;
    let hash = hashFragment(getUnit, start);
    for (let at = start; ; at++) {
      const slot = getSlot(hash, this.#newest.length);
      this.#earlier[at & mask] = this.#newest[slot] ?? 0;
      this.#newest[slot] = at + 1;
      if (at + FRAGMENT_UNITS >= end) return;
      hash = roll(hash, getUnit(at), getUnit(at + FRAGMENT_UNITS));
    }
  }
}

const FACTOR = 0x01000193;

/** The factor of the unit that leaves a fragment. */
const LAST_FACTOR = Array.from({ length: FRAGMENT_UNITS - 1 }).reduce<number>((power) => Math.imul(power, FACTOR), 1);

function hashFragment(getUnit: (at: number) => number, start: number): number {
  let hash = 0;
  for (let at = start; at < start + FRAGMENT_UNITS; at++) hash = (Math.imul(hash, FACTOR) + getUnit(at)) | 0;
  return hash;
}

/** The hash of the fragment one unit further. */
function roll(hash: number, first: number, next: number): number {
  return (Math.imul(hash - Math.imul(first, LAST_FACTOR), FACTOR) + next) | 0;
}

function getSlot(hash: number, size: number): number {
  return (Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) >>> 12) & (size - 1);
}

interface PlacedText {
  readonly place: string;
  readonly text: string;
}

/** Yields the texts of a value, long numbers and names of members included, with their places. */
function* iterateTexts(value: unknown): Iterable<PlacedText> {
  const open: PlacedPart[] = [{ place: "", part: value }];
  const visited = new Set<object>();
  for (let parts = 0; open.length > 0 && parts < MAX_PARTS; parts++) {
    const { place: path, part } = open.pop() ?? { place: "", part: undefined };
    const text = toText(part);
    if (text !== undefined) {
      if (text.length >= FRAGMENT_UNITS) yield { place: path, text };
      continue;
    }
    if (typeof part !== "object" || part === null || visited.has(part)) continue;
    visited.add(part);
    const members = part instanceof Map || part instanceof Set ? [...part] : part;
    if (Array.isArray(members)) pushItems(members, path, open);
    else pushMembers(members, path, open);
  }
}

interface PlacedPart {
  readonly place: string;
  readonly part: unknown;
}

/** Pushes the last item first, because the last one pushed is looked at first. */
function pushItems(items: readonly unknown[], path: string, open: PlacedPart[]): void {
  for (let at = Math.min(items.length, MAX_PARTS) - 1; at >= 0; at--)
    open.push({ place: `${path}[${at}]`.slice(0, MAX_PLACE_UNITS), part: items[at] });
}

function pushMembers(members: object, path: string, open: PlacedPart[]): void {
  for (const [name, part] of Object.entries(members).toReversed()) {
    const inner = (path === "" ? name : `${path}.${name}`).slice(0, MAX_PLACE_UNITS);
    open.push({ place: inner, part });
    if (name.length >= FRAGMENT_UNITS) open.push({ place: inner, part: name });
  }
}

function toText(part: unknown): string | undefined {
  if (typeof part === "string") return part;
  if (typeof part === "number" || typeof part === "bigint") return String(part);
  if (part instanceof Uint8Array) return Buffer.from(part.buffer, part.byteOffset, part.byteLength).toString();
  return part instanceof Date && !Number.isNaN(part.getTime()) ? part.toISOString() : undefined;
}
