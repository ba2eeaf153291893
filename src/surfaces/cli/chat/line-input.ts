import { createInterface } from "node:readline";

/** The messages and commands that the user writes. */
export interface LineInput {
  /** Returns the next message, which may have several lines; `undefined` at the end of the input. */
  read(): Promise<string | undefined>;
  /** Settles when everything is written that the user has typed. */
  close(): Promise<void>;
}

/** Reads messages from a pipe: a line each, and further lines behind a backslash. */
export function createPipeInput(signal: AbortSignal): LineInput {
  const reader = createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY, terminal: false });
  const iterator = reader[Symbol.asyncIterator]();
  const close = (): void => reader.close();
  signal.addEventListener("abort", close, { once: true });
  return {
    async read() {
      const message = new MessageLines();
      for (;;) {
        const { value, done } = await iterator.next();
        if (done === true || signal.aborted) return message.end();
        const text = message.add(value);
        if (text !== undefined) return text;
      }
    },
    async close() {
      signal.removeEventListener("abort", close);
      close();
    },
  };
}

/** Joins the lines of a message. */
export class MessageLines {
  #lines: string[] = [];

  /** Adds a line; returns the message if it was the last one. */
  add(line: string): string | undefined {
    if (line.endsWith("\\")) {
      this.#lines.push(line.slice(0, -1));
      return undefined;
    }
    return this.#take(line);
  }

  /** Returns the message at the end of the input, if it has lines. */
  end(): string | undefined {
    return this.#lines.length === 0 ? undefined : this.#take("");
  }

  clear(): void {
    this.#lines = [];
  }

  get isEmpty(): boolean {
    return this.#lines.length === 0;
  }

  #take(line: string): string {
    const text = [...this.#lines, line].join("\n");
    this.#lines = [];
    return text;
  }
}
