import type { StoreEntry } from "./index.ts";

/** Values stored as JSON text, so that every reader receives a copy. */
export class Texts {
  readonly #texts = new Map<string, string>();

  /** Number of characters of all keys and values. */
  size = 0;

  get(key: string): unknown {
    const text = this.#texts.get(key);
    return text === undefined ? undefined : (JSON.parse(text) as unknown);
  }

  /** Throws if the value is not JSON. */
  put(key: string, value: unknown): void {
    const text: string | undefined = JSON.stringify(value);
    if (text === undefined) throw new TypeError(`The value of "${key}" is not JSON`);
    this.delete(key);
    this.#texts.set(key, text);
    this.size += key.length + text.length;
  }

  delete(key: string): boolean {
    const text = this.#texts.get(key);
    if (text === undefined) return false;
    this.size -= key.length + text.length;
    return this.#texts.delete(key);
  }

  entries(prefix = ""): readonly StoreEntry[] {
    const keys = [...this.#texts.keys()].filter((key) => key.startsWith(prefix));
    return keys.sort().map((key) => [key, this.get(key)]);
  }

  clear(): void {
    this.#texts.clear();
    this.size = 0;
  }
}
