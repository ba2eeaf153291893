import type { ChildProcess } from "node:child_process";
import type { Socket } from "node:net";
import type { Readable } from "node:stream";

import type { CallContext } from "../../../model/skill.ts";

const MAX_LINE_CHARACTERS = 16_384;
const KEPT_LINES = 40;
/** Reports that were sent before the end may still be on their way. */
const DRAIN_MS = 500;

/** Watches a child process: passes on what it prints, notices its end, and knows why it came. */
export class ExitMonitor {
  readonly #child: ChildProcess;
  readonly #memoryBytes: number;
  readonly #lastErrors: string[] = [];
  #stopped: string | undefined;
  /** Resolves when the process has ended and all of its reports have come. */
  readonly over: Promise<void>;
  isOver = false;

  constructor(child: ChildProcess, channel: Socket, memoryBytes: number, log: CallContext["log"]) {
    this.#child = child;
    this.#memoryBytes = memoryBytes;
    this.over = new Promise((resolve) => {
      child.once("error", (error) => {
        this.#stopped ??= `the process of the skills could not be started: ${error.message}`;
        resolve();
      });
      child.once("exit", () => {
        if (channel.closed) return resolve();
        channel.once("close", () => resolve());
        return void setTimeout(() => setImmediate(resolve), DRAIN_MS);
      });
    });
    alive.add(child);
    void this.over.then(() => {
      this.isOver = true;
      channel.destroy();
      return alive.delete(child);
    });
    if (child.stdout !== null) readLines(child.stdout, (line) => log("info", line));
    if (child.stderr !== null) readLines(child.stderr, (line) => this.#hear(line, log));
  }

  /** Ends the process at once; nothing in it can prevent that. */
  stop(why: string): void {
    this.#stopped ??= why;
    this.#child.kill("SIGKILL");
  }

  /** Why the process ended, as a clause. */
  get why(): string {
    if (this.#stopped !== undefined) return this.#stopped;
    const { exitCode, signalCode } = this.#child;
    if (this.#lastErrors.some((line) => /heap out of memory|Allocation failed/.test(line)))
      return "the process of the skills ran out of memory";
    if (signalCode === "SIGKILL") {
      return `the process of the skills used more than ${Math.round(this.#memoryBytes / (1 << 20))} MB of memory`;
    }
    return `the process of the skills ended ${signalCode === null ? `with exit code ${exitCode}` : `by ${signalCode}`}`;
  }

  #hear(line: string, log: CallContext["log"]): void {
    this.#lastErrors.push(line);
    if (this.#lastErrors.length > KEPT_LINES) this.#lastErrors.shift();
    log("warn", line);
  }
}

/** Line by line; one that never ends is handed on in pieces, so that it fills no memory here. */
function readLines(stream: Readable, take: (line: string) => void): void {
  let rest = "";
  const flush = (): void => {
    if (rest !== "") take(rest.slice(0, MAX_LINE_CHARACTERS));
    rest = "";
  };
  stream.setEncoding("utf8").on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    const last = lines.pop() ?? "";
    for (rest of lines) flush();
    rest = last;
    if (rest.length > MAX_LINE_CHARACTERS) flush();
  });
  stream.on("end", flush);
}

const alive = new Set<ChildProcess>();

/** A process that never gives back control would outlive the runtime. */
process.on("exit", () => {
  for (const child of alive) child.kill("SIGKILL");
});
