import type { StoreEntry } from "./index.ts";

/** Values as JSON text, so that what is handed out belongs to whoever gets it. */
export class Texts {
  readonly #texts = new Map<string, string>();

  /** Characters of all keys and values. */
  size = 0;

  get(key: string): unknown {
    const text = this.#texts.get(key);
    return text === undefined ? undefined : (JSON.parse(text) as unknown);
  }

  /** Throws for what is no JSON. */
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
