import { LAYOUT } from "./quickjs.ts";
import { WASM_PAGE } from "./memory.ts";

/** Bytes compared at once to find changes of a run; a page with a change is compared in steps of `BLOCK`. */
const PAGE = 4_096;
const BLOCK = 512;

/** Longest gap that a function may leave on the C stack before it calls another: large only if the source is long. */
export const STACK_GAP = { small: 64 << 10, large: 640 << 10 } as const;

/** Boundaries between the parts of a memory. */
export interface Geometry {
  /** End of the data, start of the C stack. */
  readonly dataEnd: number;
  /** End of the C stack, start of the heap. */
  readonly heapStart: number;
}

/** Contents of a prepared memory: data and used heap, without the C stack. */
export interface Snapshot extends Geometry {
  readonly data: Uint8Array;
  readonly heap: Uint8Array;
  /** End of the heap as `sbrk` has it; `heap` may be shorter, the rest is zero. */
  readonly heapEnd: number;
}

/** Range of a run's heap: it continues at `extra` (0: directly behind the snapshot's heap) and ends at `end`. */
export interface HeapRange {
  readonly extra: number;
  readonly end: number;
}

/** The pages of a waiting run that differ from the snapshot. Shared, so that they outlive the worker that wrote them. */
export interface SuspendedRun {
  readonly bytes: SharedArrayBuffer;
  readonly range: HeapRange;
}

/** Copies the used parts of a memory. The C stack must be empty. */
export function takeSnapshot(memory: WebAssembly.Memory, geometry: Geometry): Snapshot {
  const bytes = new Uint8Array(memory.buffer);
  const heapEnd = getHeapEnd(new DataView(memory.buffer));
  let used = heapEnd;
  while (used > geometry.heapStart && bytes[used - 1] === 0) used--;
  return {
    ...geometry,
    data: bytes.slice(0, geometry.dataEnd),
    heap: bytes.slice(geometry.heapStart, Math.min(heapEnd, (used + 15) & ~15)),
    heapEnd,
  };
}

/**
 * Restores a memory to its state when the snapshot was taken, and clears every byte of the last run. Texts that the host
 * passed in lie in the low part of the C stack, up to `textEnd`.
 */
export function restoreSnapshot(
  bytes: Buffer,
  snapshot: Snapshot,
  last: HeapRange & { readonly heapEnd: number },
  { textEnd, gap }: { readonly textEnd: number; readonly gap: number },
): void {
  bytes.set(snapshot.heap, snapshot.heapStart);
  clear(bytes, snapshot.heapStart + snapshot.heap.length, last.extra === 0 ? last.heapEnd : snapshot.heapEnd);
  if (last.extra !== 0) clear(bytes, last.extra, last.heapEnd);
  clear(bytes, snapshot.dataEnd, textEnd);
  clearStack(bytes, textEnd, snapshot.heapStart, gap);
  bytes.set(snapshot.data, 0);
}

/** Clears the C stack, which grows down, until it reaches a gap that the last run has not used. */
function clearStack(bytes: Buffer, bottom: number, top: number, gap: number): void {
  let end = top;
  let next = Math.max(bottom, end - PAGE);
  do {
    clear(bytes, next, end);
    end = next;
    next = Math.max(bottom, end - gap);
  } while (end > next && !isClear(bytes, next, end));
}

function clear(bytes: Buffer, from: number, to: number): void {
  if (from < to) bytes.fill(0, from, to);
}

/** Tests whether all bytes are zero: the first one is, and each equals the next. Reads the bytes only once. */
function isClear(bytes: Buffer, from: number, to: number): boolean {
  return bytes[from] === 0 && bytes.compare(bytes, from, to - 1, from + 1, to) === 0;
}

/**
 * Limits the heap to `heapBytes`. If the memory is already larger than that, the heap continues near the end of the
 * memory, so that no more than the limit is left.
 */
export function limitHeap(memory: WebAssembly.Memory, snapshot: Snapshot, heapBytes: number): HeapRange {
  const end = snapshot.heapStart + heapBytes;
  const surplus = memory.buffer.byteLength - end;
  if (surplus <= 0) return { extra: 0, end };
  const extra = Math.min((snapshot.heapEnd + surplus + 15) & ~15, memory.buffer.byteLength);
  new DataView(memory.buffer).setUint32(LAYOUT.heapEndWord, extra, true);
  return { extra, end: memory.buffer.byteLength };
}

/** Reads the end of the heap from the guest's memory, where a taken-over guest may have written any value. */
export function getHeapEnd(memory: DataView): number {
  return Math.min(memory.getUint32(LAYOUT.heapEndWord, true), memory.byteLength);
}

/**
 * Writes the pages that differ from the snapshot into one shared buffer: number of ranges, then start and length of each,
 * then their bytes.
 */
export function suspend(memory: WebAssembly.Memory, snapshot: Snapshot, range: HeapRange): SuspendedRun {
  const bytes = Buffer.from(memory.buffer);
  const ranges = dirtyRanges(bytes, snapshot, getHeapEnd(new DataView(memory.buffer)), range.extra);
  let total = 0;
  for (let i = 1; i < ranges.length; i += 2) total += ranges[i] as number;
  const head = 4 + ranges.length * 4;
  const shared = new SharedArrayBuffer(head + total);
  const words = new Uint32Array(shared, 0, ranges.length + 1);
  words[0] = ranges.length / 2;
  words.set(ranges, 1);
  const out = new Uint8Array(shared);
  let at = head;
  for (let i = 0; i < ranges.length; i += 2) {
    const start = ranges[i] as number;
    const length = ranges[i + 1] as number;
    out.set(bytes.subarray(start, start + length), at);
    at += length;
  }
  return { bytes: shared, range };
}

/** Writes a suspended run's pages over a restored snapshot. The memory may have to grow for it. */
export function resume(memory: WebAssembly.Memory, parked: SuspendedRun): void {
  const count = new Uint32Array(parked.bytes, 0, 1)[0] as number;
  const ranges = new Uint32Array(parked.bytes, 4, count * 2);
  const needed = (ranges.at(-2) ?? 0) + (ranges.at(-1) ?? 0) - memory.buffer.byteLength;
  if (needed > 0) memory.grow(Math.ceil(needed / WASM_PAGE));
  const bytes = new Uint8Array(memory.buffer);
  let at = 4 + count * 8;
  for (let i = 0; i < ranges.length; i += 2) {
    const length = ranges[i + 1] as number;
    bytes.set(new Uint8Array(parked.bytes, at, length), ranges[i]);
    at += length;
  }
}

/** Lists the changed ranges as start, length, start, length, …; adjacent changed blocks become one range. */
function dirtyRanges(bytes: Buffer, snapshot: Snapshot, heapEnd: number, extra: number): number[] {
  const ranges: number[] = [];
  const add = (start: number, end: number): void => {
    const last = ranges.length - 2;
    if (last >= 0 && (ranges[last] as number) + (ranges[last + 1] as number) === start) {
      ranges[last + 1] = (ranges[last + 1] as number) + end - start;
    } else ranges.push(start, end - start);
  };
  compare(bytes, Buffer.from(snapshot.data.buffer, snapshot.data.byteOffset, snapshot.data.length), 0, add);
  compare(
    bytes,
    Buffer.from(snapshot.heap.buffer, snapshot.heap.byteOffset, snapshot.heap.length),
    snapshot.heapStart,
    add,
  );
  const beyond = snapshot.heapStart + snapshot.heap.length;
  if (extra === 0) add(beyond, heapEnd);
  else {
    add(beyond, snapshot.heapEnd);
    add(extra, heapEnd);
  }
  return ranges.filter((_, i) => (ranges[i | 1] as number) > 0);
}

function compare(bytes: Buffer, original: Buffer, offset: number, add: (start: number, end: number) => void): void {
  const differs = (from: number, to: number): boolean =>
    bytes.compare(original, from, to, offset + from, offset + to) !== 0;
  for (let page = 0; page < original.length; page += PAGE) {
    const pageEnd = Math.min(page + PAGE, original.length);
    if (!differs(page, pageEnd)) continue;
    for (let block = page; block < pageEnd; block += BLOCK) {
      const end = Math.min(block + BLOCK, pageEnd);
      if (differs(block, end)) add(offset + block, offset + end);
    }
  }
}
