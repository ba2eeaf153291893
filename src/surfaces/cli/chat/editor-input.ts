import type { LineEditor } from "../terminal/line-editor.ts";
import type { LineHistory } from "../terminal/line-history.ts";
import { type LineInput, MessageLines } from "./line-input.ts";

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
