import { createInterface } from "node:readline";

import type { LineEditor } from "../terminal/line-editor.ts";
import type { LineHistory } from "../terminal/line-history.ts";

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

const PROMPT = "> ";
export const OPEN_PROMPT = "… ";

interface EditorInputOptions {
  readonly editor: LineEditor;
  readonly history: LineHistory;
  readonly write: (text: string) => void;
  /** Called at a second Ctrl-C, which ends the input. */
  readonly onInterrupt: () => void;
}

/** Reads messages from a user at a terminal. A pasted text is one message, and so are lines with a backslash at the end. */
export function createEditorInput({ editor, history, write, onInterrupt }: EditorInputOptions): LineInput {
  const message = new MessageLines();
  const messages: string[] = [];
  let isLeaving = false;

  /** Ctrl-C removes what was typed; on an empty line, the second one ends the chat. */
  function leaves(text: string): boolean {
    const isEmpty = text === "" && message.isEmpty;
    const isSecond = isEmpty && isLeaving;
    message.clear();
    if (isSecond) onInterrupt();
    else if (isEmpty) write("Ctrl-C again ends the chat\n");
    isLeaving = isEmpty;
    return isSecond;
  }

  return {
    async read() {
      while (messages.length === 0) {
        const event = await editor.next(message.isEmpty ? PROMPT : OPEN_PROMPT);
        if (event.kind === "end") return undefined;
        if (event.kind === "interrupt") {
          if (leaves(event.text)) return undefined;
          continue;
        }
        isLeaving = false;
        history.add(event.lines.flatMap((line) => line.split("\n")));
        messages.push(...event.lines.flatMap((line) => message.add(line) ?? []));
      }
      return messages.shift();
    },
    async close() {
      editor[Symbol.dispose]();
      await history.flush();
    },
  };
}
