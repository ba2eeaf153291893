// Runs a script of Node in a terminal, by `script` of util-linux.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";

/** Columns of the terminal, and of the pictures. */
export const COLUMNS = 108;

/** Returns what a command shows, with its colours. `command` is a file with arguments. */
export async function recordTerminal(command, { cwd, env }) {
  const line = `stty cols ${COLUMNS}; exec "${process.execPath}" ${command}`;
  const child = spawn("script", ["-qec", line, "/dev/null"], {
    cwd,
    env: { PATH: process.env.PATH, TERM: "xterm-256color", ...env },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = once(child, "close");
  const shown = await text(child.stdout);
  await ended;
  if (shown.trim() === "") throw new Error(`The command shows nothing: ${command}`);
  return shown.replaceAll("\r", "");
}
