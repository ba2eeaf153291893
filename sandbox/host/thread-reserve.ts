import type { SharedEngine } from "../shared/protocol.ts";
import type { ThreadListener, WorkerHandle } from "./worker-handle.ts";

/** A sandbox starts with one thread and a spare. */
const MAX_THREADS = 2;

/** Threads of closed pools, the newest last, each with its engine and the timer that ends it. */
const reserve = new Map<WorkerHandle, { readonly engine: SharedEngine; readonly timer: NodeJS.Timeout }>();

/**
 * Keeps a thread without work for `keepMs` milliseconds, for the next pool of the process with the same engine: to start a thread
 * takes about 50 times as long as a short program. It takes the place of the oldest of two, and does not keep the process alive.
 */
export function reserveThread(slot: WorkerHandle, engine: SharedEngine, keepMs: number): void {
  const end = (): void => endThread(slot);
  slot.listener = { message: () => {}, end };
  reserve.set(slot, { engine, timer: setTimeout(end, keepMs).unref() });
  for (const oldest of reserve.keys()) if (reserve.size > MAX_THREADS) endThread(oldest);
}

/** Returns a thread that is kept with this engine; its messages arrive at `listener` from now on. */
export function takeReservedThread(engine: SharedEngine, listener: ThreadListener): WorkerHandle | undefined {
  const slot = [...reserve.keys()].find((candidate) => isSameEngine(reserve.get(candidate)?.engine, engine));
  if (slot === undefined) return undefined;
  release(slot);
  slot.listener = listener;
  return slot;
}

function endThread(slot: WorkerHandle): void {
  release(slot);
  void slot.end();
}

function release(slot: WorkerHandle): void {
  clearTimeout(reserve.get(slot)?.timer);
  reserve.delete(slot);
}

function isSameEngine(one: SharedEngine | undefined, other: SharedEngine): boolean {
  const { module, prepared, heapBytes, describer } = other;
  return (
    one?.module === module && one.prepared === prepared && one.heapBytes === heapBytes && one.describer === describer
  );
}
