import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";

import { folder } from "../serving.ts";

export const BIN = resolve("dist/src/bin.js");

const LOUD_SKILL = `
console.log("printed while it is loaded");
/** Prints where it must not. */
export class LoudSkill {
  /** Say a word, and print it. */
  say(word: string): string { console.log("printed:", word); process.stdout.write("raw\\n"); return word; }
  /** Waits for some milliseconds. */
  async wait(ms: number): Promise<string> { await new Promise((resolve) => setTimeout(resolve, ms)); return "waited"; }
}
`;

export const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
};

export function project(files: Readonly<Record<string, string>> = {}): string {
  const cwd = folder();
  for (const [name, content] of Object.entries({ "skills/loud.ts": LOUD_SKILL, ...files })) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true });
    writeFileSync(join(cwd, name), content);
  }
  return cwd;
}

export function environment(home: string): Record<string, string> {
  return { PATH: process.env["PATH"] ?? "", HOME: home };
}

/** Starts the server as a process and reads its output line by line. */
export function start(cwd: string, ...flags: readonly string[]) {
  const child = spawn(process.execPath, [BIN, "serve", "--stdio", ...flags], {
    cwd,
    env: environment(cwd),
    stdio: "pipe",
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let errors = "";
  child.stderr.on("data", (chunk) => (errors += chunk));
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  const reader = createInterface({ input: child.stdout });
  reader.on("line", (line) => {
    lines.push(line);
    for (const look of waiting) look();
  });
  const write = (...messages: readonly unknown[]): void => {
    for (const message of messages)
      child.stdin.write(`${typeof message === "string" ? message : JSON.stringify(message)}\n`);
  };
  return {
    child,
    write,
    lines,
    errors: () => errors,
    ended: once(reader, "close"),
    exit: once(child, "exit"),
    /** Waits for the first line that contains a text. */
    line: (text: string): Promise<string> =>
      new Promise((resolve) => {
        const look = (): void => {
          const found = lines.find((line) => line.includes(text));
          if (found === undefined) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
      }),
    /** Sends messages, ends the input, and returns all lines of the output. */
    async send(...messages: readonly unknown[]): Promise<readonly string[]> {
      write(...messages);
      child.stdin.end();
      await once(reader, "close");
      return lines;
    },
  };
}
