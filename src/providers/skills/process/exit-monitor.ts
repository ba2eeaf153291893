import type { ChildProcess } from "node:child_process";
import type { Socket } from "node:net";
import type { Readable } from "node:stream";

import type { LogLevel } from "../../../model/skill.ts";
import { describeMemoryExcess } from "./messages.ts";

const MAX_LINE_CHARACTERS = 16_384;
const KEPT_LINES = 40;
/** Time to wait for reports and output that were sent before the exit. */
const DRAIN_MS = 500;

/** Monitors a child process: forwards its output and reports its exit with the reason. */
export class ExitMonitor {
  readonly #child: ChildProcess;
  readonly #memoryBytes: number;
  readonly #lastErrors: string[] = [];
  #stopped: string | undefined;
  /** Resolves when the process has exited, and all of its reports and its output have arrived. */
  readonly over: Promise<void>;
  isOver = false;

  constructor(child: ChildProcess, channel: Socket, memoryBytes: number, log: (level: LogLevel, text: string) => void) {
    this.#child = child;
    this.#memoryBytes = memoryBytes;
    this.over = new Promise((resolve) => {
      child.once("error", (error) => {
        this.#stopped ??= `the skill process could not be started: ${error.message}`;
        resolve();
      });
      child.once("close", () => resolve());
      child.once("exit", () => setTimeout(() => setImmediate(resolve), DRAIN_MS).unref());
    });
    alive.add(child);
    void this.over.then(() => {
      this.isOver = true;
      channel.destroy();
      return alive.delete(child);
    });
    if (child.stdout !== null) readLines(child.stdout, (line) => log("info", line));
    if (child.stderr !== null) readLines(child.stderr, (line) => this.#onLine(line, log));
  }

  /** Kills the process at once. */
  stop(why: string): void {
    this.#stopped ??= why;
    this.#child.kill("SIGKILL");
  }

  /** The reason of the exit, as a clause. */
  get why(): string {
    if (this.#stopped !== undefined) return this.#stopped;
    const { exitCode, signalCode } = this.#child;
    if (this.#lastErrors.some((line) => /heap out of memory|Allocation failed/.test(line)))
      return "the skill process ran out of memory";
    const excess = describeMemoryExcess(this.#memoryBytes);
    if (this.#lastErrors.includes(excess)) return excess;
    return `the skill process ended ${signalCode === null ? `with exit code ${exitCode}` : `by ${signalCode}`}`;
  }

  #onLine(line: string, log: (level: LogLevel, text: string) => void): void {
    this.#lastErrors.push(line);
    if (this.#lastErrors.length > KEPT_LINES) this.#lastErrors.shift();
    log("warn", line);
  }
}

/** Reads a stream by line; splits a line without end, so that it does not fill the memory. */
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

/** Kills child processes on exit: a blocked one would outlive the runtime. */
process.on("exit", () => {
  for (const child of alive) child.kill("SIGKILL");
});
