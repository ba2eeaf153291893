import { join } from "node:path";

import { DEFAULT_TIMEOUTS } from "../model/timeouts.ts";
import { fileSpace } from "./file-space.ts";
import { memorySpace } from "./memory-space.ts";

/** What outlives a call, and with a folder the runtime too. */
export interface Store {
  /** The part of the store that has this name; the same one for each who asks. */
  space(name: string): Space;
}

/** Values of JSON by key. What it gives is a copy. */
export interface Space {
  /** `undefined` for a key that is not there. */
  get(key: string): Promise<unknown>;
  set(key: string, value: unknown): Promise<void>;
  /** Says whether it was there. */
  delete(key: string): Promise<boolean>;
  /** Those whose keys begin with a prefix, in the order of their keys. */
  entries(prefix?: string): Promise<readonly StoreEntry[]>;
  /** Puts in place of a value what is made of it; nobody else changes it in between. */
  update(key: string, change: (value: unknown) => unknown): Promise<void>;
  /** Characters of all keys and values. */
  size(): Promise<number>;
}

export type StoreEntry = readonly [key: string, value: unknown];

/**
 * A store in a folder, where many processes may use it at once; without one it is in memory. The folder is made when
 * something is first written. Who writes waits up to `lockMs` for another process that does.
 */
export function createStore(folder?: string, lockMs: number = DEFAULT_TIMEOUTS.lockMs): Store {
  const spaces = new Map<string, Space>();
  return {
    space(name) {
      const space =
        spaces.get(name) ?? (folder === undefined ? memorySpace() : fileSpace(fileIn(folder, name), lockMs));
      spaces.set(name, space);
      return space;
    },
  };
}

/** No name leaves the folder, and none is the name of another file there. */
function fileIn(folder: string, name: string): string {
  return join(folder, `${encodeURIComponent(name).replaceAll(".", "%2E").replaceAll("*", "%2A")}.jsonl`);
}
