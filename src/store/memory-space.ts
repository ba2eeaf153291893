import type { Space } from "./index.ts";
import { Texts } from "./texts.ts";

/** Creates a space in memory, which ends with the process. */
export function memorySpace(): Space {
  const texts = new Texts();
  return {
    get: async (key) => texts.get(key),
    async set(key, value) {
      texts.put(key, value);
    },
    delete: async (key) => texts.delete(key),
    entries: async (prefix) => texts.entries(prefix),
    async update(key, change) {
      texts.put(key, change(texts.get(key)));
    },
    size: async () => texts.size,
  };
}
