import { readSync, writeSync } from "node:fs";

/** As it was before any skill came. */
const write = writeSync;
/** Nobody wakes it. */
const sleep = new Int32Array(new SharedArrayBuffer(4));
const SLEEP_MS = 0.2;

/**
 * Writes all of it before anything else happens: what a skill does next may take for ever, and until it is over nobody
 * would send the rest, nor could anybody know that its call has begun. Throws when nobody is there to read it.
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

/** Fills a buffer before anything else happens. Throws when the other end closes first. */
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
