import type { ChildProcess } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";

import { onTestFinished } from "vitest";

import { type Ended, type Place, skillgate, start } from "../command.ts";

/** A skill that says where it runs. */
export const WHERE_SKILL = `
import { connect } from "node:net";

/** Says where it runs. */
export class WhereSkill {
  /**
   * The process that has started this one.
   * @returns {number}
   */
  parent() { return process.ppid; }

  /**
   * The value of a variable.
   * @returns {string}
   */
  word() { return process.env.WHERE_WORD ?? "no word"; }

  /**
   * Print, and report progress.
   * @param {CallContext} context
   * @returns {string}
   */
  async talk(context) { console.log("one"); context.progress(1, 2, "half"); console.error("two"); return "done"; }

  /**
   * Wait until the call is cancelled.
   * @param {string} path Socket at which to say that the waiting has begun
   * @param {CallContext} context
   */
  async wait(path, context) {
    const socket = connect(path);
    await new Promise((resolve) => context.signal.addEventListener("abort", resolve));
    socket.destroy();
  }
}
`;

/** The server of a project, and the place of its commands. */
export interface ServedProject {
  readonly server: ChildProcess;
  /** Runs a command to its end. */
  readonly skillgate: (args: readonly string[], env?: NodeJS.ProcessEnv) => Promise<Ended>;
}

/** Serves a project, and waits until commands can use its process. */
export async function serveProject(
  cwd: string,
  { args = ["--port", "0", "--no-auth"], env }: { readonly args?: readonly string[]; readonly env?: Place["env"] } = {},
): Promise<ServedProject> {
  const server = start(["serve", ...args, "--verbose"], { cwd, ...(env && { env }) });
  onTestFinished(() => void server.kill("SIGKILL"));
  await waitForText(server, "Commands of this project use the runtime of this process");
  return { server, skillgate: (words, other) => skillgate(words, { cwd, ...(other && { env: other }) }) };
}

/** Waits for a text on stderr. */
export function waitForText(child: ChildProcess, text: string): Promise<void> {
  let written = "";
  return new Promise((resolve, reject) => {
    child.stderr?.on("data", (chunk) => {
      written += String(chunk);
      if (written.includes(text)) resolve();
    });
    child.once("close", () => reject(new Error(written)));
  });
}

export function getSocketsFolder(cwd: string): string {
  return join(dirname(cwd), "home", ".local", "state", "skillgate", "sockets");
}

export function listSocketFiles(cwd: string): readonly string[] {
  return readdirSync(getSocketsFolder(cwd)).toSorted();
}

/** The beginning of the names of the sockets of a project. */
export function getSocketPrefix(cwd: string): string {
  return createHash("sha256").update(cwd).digest("hex").slice(0, 16);
}
