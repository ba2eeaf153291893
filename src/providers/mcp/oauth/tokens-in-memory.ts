import type { TokenStore } from "../../../model/account.ts";
import { createQueues } from "../../../shared/threads/queue.ts";

/** Stores tokens until the process ends. */
export function tokensInMemory(): TokenStore {
  const entries = new Map<string, unknown>();
  return {
    get: async (key) => entries.get(key),
    set: async (key, value) => void entries.set(key, value),
    delete: async (key) => void entries.delete(key),
    exclusively: createQueues(),
  };
}
