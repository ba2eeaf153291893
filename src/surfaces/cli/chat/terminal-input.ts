import { createInterface, type Interface } from "node:readline";

import type { Catalog } from "../../../model/catalog.ts";
import type { LineHistory } from "../terminal/line-history.ts";
import { completeLine } from "./complete.ts";
import { type LineInput, MessageLines } from "./line-input.ts";

const PROMPT = "> ";
const OPEN_PROMPT = "… ";

/** A terminal then marks the beginning and the end of pasted text. */
const PASTE_ON = "\u001B[?2004h";
const PASTE_OFF = "\u001B[?2004l";

interface TerminalInputOptions {
  readonly signal: AbortSignal;
  readonly history: LineHistory;
  readonly getCatalog: () => Catalog;
  /** Called at a second Ctrl-C, which ends the input. */
  readonly onInterrupt: () => void;
}

/**
 * Reads messages from a user at a terminal, with history, completion and pasted lines. The terminal is in raw mode only
 * while it reads, so that Ctrl-C is a signal at other times.
 */
export function createTerminalInput(options: TerminalInputOptions): LineInput {
  const early: string[] = [];
  return {
    async read() {
      if (early.length > 0) return early.shift();
      return options.signal.aborted ? undefined : readMessage(options, early);
    },
    close: () => options.history.flush(),
  };
}

/** Reads one message. Complete messages that arrive together with it are added to `early`. */
async function readMessage(options: TerminalInputOptions, early: string[]): Promise<string | undefined> {
  const { signal, history } = options;
  const message = new MessageLines();
  const paste = watchPaste();
  const reader = createInterface({
    input: process.stdin,
    output: process.stdout,
    terminal: true,
    prompt: PROMPT,
    history: [...history.lines],
    removeHistoryDuplicates: true,
    // Without a choice, the key is a tab of a pasted text.
    completer: (line: string) => (paste.isOpen ? [[`${line}\t`], line] : completeLine(line, options.getCatalog())),
  });
  const close = (): void => reader.close();
  signal.addEventListener("abort", close, { once: true });
  process.stdout.write(PASTE_ON);
  reader.prompt();
  try {
    const text = await new Promise<string | undefined>((resolve) => {
      let isResolved = false;
      reader.on("line", (line) => {
        history.add([line]);
        const whole = paste.isOpen ? message.addOpen(line) : message.add(line);
        if (whole === undefined) {
          reader.setPrompt(OPEN_PROMPT);
          reader.prompt();
        } else if (isResolved) early.push(whole);
        else {
          isResolved = true;
          resolve(whole);
        }
      });
      reader.once("close", () => resolve(undefined));
      stopAtInterrupt(reader, message, options.onInterrupt);
    });
    await new Promise(setImmediate); // lines that have arrived together are read together
    return text;
  } finally {
    signal.removeEventListener("abort", close);
    paste.stop();
    process.stdout.write(PASTE_OFF);
    close();
  }
}

/** Ctrl-C removes what was typed; on an empty line, the second one ends the chat. */
function stopAtInterrupt(reader: Interface, message: MessageLines, onInterrupt: () => void): void {
  let isAsked = false;
  reader.on("line", () => (isAsked = false));
  reader.on("SIGINT", () => {
    const isEmpty = reader.line === "" && message.isEmpty;
    if (isEmpty && isAsked) {
      onInterrupt();
      reader.close();
    } else if (isEmpty) {
      process.stdout.write("\nCtrl-C again ends the chat\n");
      reader.prompt();
    } else {
      message.clear();
      reader.setPrompt(PROMPT);
      reader.write(null, { ctrl: true, name: "e" });
      reader.write(null, { ctrl: true, name: "u" });
    }
    isAsked = isEmpty;
  });
}

/** Watches the marks around pasted text. */
function watchPaste(): { readonly isOpen: boolean; stop(): void } {
  let isOpen = false;
  const watch = (_text: string | undefined, key: { readonly name?: string }): void => {
    if (key.name === "paste-start") isOpen = true;
    if (key.name === "paste-end") isOpen = false;
  };
  process.stdin.on("keypress", watch);
  return {
    get isOpen() {
      return isOpen;
    },
    stop: () => void process.stdin.off("keypress", watch),
  };
}
