import { once } from "node:events";
import type { Writable } from "node:stream";

import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";

import { getMessage } from "../../../errors.ts";
import { KnownSecrets } from "../../../shared/secrets.ts";
import { OVERLONG_ANSWER } from "../connections/wire-errors.ts";
import { createLineReader, END_BYTES, readInTurns } from "./line-reader.ts";
import { findOverlongId, parseLine } from "./messages.ts";
import { type ProcessExit, type ServerCommand, type ServerProcess, startProcess } from "./process.ts";
import { createOutputTail, readable } from "./output-tail.ts";
import { removeMarks } from "../../../shared/json/exact-json.ts";
import { findShapeExcess } from "../../../shared/json/json-shape.ts";
import { waitAtMost } from "../../../shared/run-with-timeout.ts";

/** Maximum number of bytes of stderr that are kept. */
const STDERR_BYTES = 16 << 10;

/** Maximum number of noise lines that are kept, and of characters of each. */
const NOISE_LINES = 100;
const NOISE_CHARACTERS = 200;

/** Characters of a line of noise that are read: enough that a secret in those that are kept is recognized. */
const READABLE_CHARACTERS = 64 << 10;

/** How long to read after a process has exited: its children may keep stdout open forever. */
const DRAIN_MS = 200;

/** How long to wait for the exit after a broken pipe: the exit status is more informative. */
const EXIT_MS = 1_000;

/** The exit, the noise and the stderr output of a server's process. */
export interface ProcessReport {
  /** How it exited by itself; `undefined` while it runs, and if it was stopped. */
  readonly exit: ProcessExit | undefined;
  readonly stderrTail: string;
  /** The last lines on stdout that are not messages. */
  readonly stdoutNoise: string;
}

/**
 * Exchanges messages with a child process, one JSON message per line. Other lines are counted and ignored; a message of
 * more than `maxBytes` fails only the call that it answers.
 */
export class StdioClientTransport implements Transport {
  onmessage?: Transport["onmessage"];
  onclose?: Transport["onclose"];
  onerror?: Transport["onerror"];
  /** Called with the first line on stdout that is not a message. */
  onnoise?: (line: string) => void;
  readonly #command: ServerCommand;
  readonly #maxBytes: number;
  readonly #stderr = createOutputTail(STDERR_BYTES);
  readonly #noise: string[] = [];
  #hasNoise = false;
  #server: ServerProcess | undefined;
  #exit: ProcessExit | undefined;
  #starting: Promise<void> | undefined;
  #closed: Promise<void> | undefined;
  #isStopped = false;

  readonly #secrets: KnownSecrets;

  /** `secrets` are masked in what the process prints. */
  constructor(command: ServerCommand, maxBytes: number, secrets = new KnownSecrets()) {
    this.#secrets = secrets;
    this.#command = command;
    this.#maxBytes = maxBytes;
  }

  get pid(): number | undefined {
    return this.#server?.pid;
  }

  report(): ProcessReport {
    return {
      exit: this.#exit,
      stderrTail: this.#stderr.text(this.#secrets),
      stdoutNoise: this.#noise.join("\n"),
    };
  }

  start(): Promise<void> {
    this.#starting = this.#start();
    return this.#starting;
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#server === undefined) throw new Error("the server is not started");
    try {
      await write(this.#server.stdin, `${removeMarks(JSON.stringify(message))}\n`);
    } catch (thrown) {
      if (this.#closed !== undefined) await waitAtMost(EXIT_MS, this.#closed);
      throw thrown;
    }
  }

  async close(): Promise<void> {
    this.#isStopped = true;
    // A process that is being started must exist before it can be stopped.
    await this.#starting?.catch(() => {});
    await this.#server?.stop();
    await this.#closed;
  }

  async #start(): Promise<void> {
    const server = await startProcess(this.#command);
    this.#server = server;
    const lines = createLineReader(this.#maxBytes, {
      line: (text) => this.#read(() => this.#line(text)),
      overlong: (start, end) => this.#read(() => this.#overlong(start, end, `more than ${this.#maxBytes} bytes`)),
    });
    const allRead = readInTurns(server.stdout, (part) => lines.push(part));
    server.stderr.on("data", (chunk: Buffer) => this.#stderr.push(chunk));
    server.stdin.on("error", () => {}); // the failed write reports the error
    server.stdout.once("end", () => void server.stop()); // a server without output is of no use
    this.#closed = drained(server).then(async (exit) => {
      await allRead;
      lines.end();
      if (!this.#isStopped) this.#exit = exit;
      this.onclose?.();
    });
  }

  /** Reads a line. One that cannot be handled is lost alone: the lines after it are read. */
  #read(handle: () => void): void {
    try {
      handle();
    } catch (thrown) {
      this.onerror?.(new Error(`a line of output could not be handled: ${getMessage(thrown)}`, { cause: thrown }));
    }
  }

  #line(text: string): void {
    const excess = findShapeExcess(text);
    if (excess !== undefined) return this.#overlong(text.slice(0, END_BYTES), text.slice(-END_BYTES), excess);
    const message = parseLine(text);
    if (message !== undefined) this.#deliver(message);
    else if (text.trim() !== "") this.#noted(text);
  }

  #overlong(start: string, end: string, excess: string): void {
    const id = findOverlongId(start, end);
    if (id === undefined) return this.#noted(start);
    this.#deliver({ jsonrpc: "2.0", id, error: { code: OVERLONG_ANSWER, message: `the answer has ${excess}` } });
  }

  /** Passes any object on; the listener validates it. */
  #deliver(message: object): void {
    this.onmessage?.(message as JSONRPCMessage);
  }

  #noted(text: string): void {
    const line = this.#secrets.maskMessage(readable(text.slice(0, READABLE_CHARACTERS))).slice(0, NOISE_CHARACTERS);
    this.#noise.push(line);
    if (this.#noise.length > NOISE_LINES) this.#noise.shift();
    if (!this.#hasNoise) this.onnoise?.(line);
    this.#hasNoise = true;
  }
}

function write(stdin: Writable, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stdin.write(text, (error) => (error == null ? resolve() : reject(error)));
  });
}

/** Settles when the process has exited and its output is read; stops the rest of its group in the meantime. */
async function drained(server: ServerProcess): Promise<ProcessExit> {
  const streams = [server.stdin, server.stdout, server.stderr];
  const read = Promise.allSettled([once(server.stdout, "close"), once(server.stderr, "close")]);
  const exit = await server.exited;
  void server.stop();
  await waitAtMost(DRAIN_MS, read);
  for (const stream of streams) stream.destroy();
  return exit;
}
