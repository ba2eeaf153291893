import { spawn } from "node:child_process";
import { once } from "node:events";
import { stripVTControlCharacters } from "node:util";
import { onTestFailed, onTestFinished } from "vitest";

import { BIN, environment } from "../command.ts";

/** A chat in a terminal of its own. */
export interface ChatTerminal {
  /** Waits until a text appears behind the last one that was waited for; returns what is shown up to its end. */
  until(text: string): Promise<string>;
  /** Types keys; `\r` is Enter. */
  type(keys: string): void;
  /** Waits for the end of the process. */
  ended(): Promise<{ readonly exit: number; readonly raw: string; readonly shown: string }>;
}

/** Starts a chat with the script `script.yaml` of a folder in a terminal of 60 columns. */
export function startChat(cwd: string, { env = {} }: { readonly env?: NodeJS.ProcessEnv } = {}): ChatTerminal {
  const command = `stty cols 60; exec "${process.execPath}" "${BIN}" chat --model scripted:script.yaml`;
  const child = spawn("script", ["-qefc", command, "/dev/null"], {
    cwd,
    env: environment(cwd, { TERM: "xterm", NO_COLOR: "1", ...env }),
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const closed = once(child, "close");
  let raw = "";
  let read = 0;
  let check = (): void => {};
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    raw += chunk;
    check();
  });
  const getShown = (): string => stripVTControlCharacters(raw).replaceAll("\r\n", "\n");
  onTestFailed(() => console.error(`The chat shows, from ${read} on:\n${getShown()}`));
  return {
    async until(text) {
      await new Promise<void>((resolve, reject) => {
        check = () => getShown().includes(text, read) && resolve();
        closed.then(
          () => reject(new Error(`The chat has ended without ${JSON.stringify(text)}: ${getShown()}`)),
          reject,
        );
        check();
      });
      const end = getShown().indexOf(text, read) + text.length;
      const shown = getShown().slice(read, end);
      read = end;
      return shown;
    },
    type: (keys) => void child.stdin.write(keys),
    async ended() {
      const [exit] = (await closed) as [number | null];
      return { exit: exit ?? -1, raw, shown: getShown() };
    },
  };
}
