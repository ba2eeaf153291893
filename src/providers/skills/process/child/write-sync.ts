import { readSync, writeSync } from "node:fs";

/** Captured before skill code can replace it. */
const write = writeSync;
/** Never notified; used only to sleep. */
const sleep = new Int32Array(new SharedArrayBuffer(4));
const SLEEP_MS = 0.2;

/**
 * Writes all bytes synchronously: the skill code that runs next may never end, and the runtime must know that its call
 * has started. Throws if the other end is closed.
 */
export function writeAllSync(fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) {
    try {
      at += write(fd, bytes, at);
    } catch (error) {
      if (!isNotReady(error)) throw error;
      Atomics.wait(sleep, 0, 0, SLEEP_MS);
    }
  }
}

/** Fills a buffer synchronously. Throws if the other end closes first. */
export function readWhole(fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) {
    try {
      const read = readSync(fd, bytes, at, bytes.length - at, null);
      if (read === 0) throw new Error("The channel has ended");
      at += read;
    } catch (error) {
      if (!isNotReady(error)) throw error;
      Atomics.wait(sleep, 0, 0, SLEEP_MS);
    }
  }
}

function isNotReady(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EAGAIN";
}
