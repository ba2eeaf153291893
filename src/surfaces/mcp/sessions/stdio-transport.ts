import type { Readable, Writable } from "node:stream";
import { type JSONRPCMessage, parseJSONRPCMessage, type RequestId, type Transport } from "@modelcontextprotocol/server";

import { getMessage } from "../../../errors.ts";
import { isRecord } from "../../../model/json.ts";
import type { FastPathCalls } from "../fast-path/calls.ts";
import { cancelledAnswer, cancelledBy, createOpenRequests, isRequest, createTakenAnswer } from "./open-requests.ts";
import { parseExactMessages } from "../exact-messages.ts";
import { errorAnswer, messageText } from "../rpc-error.ts";
import { encodeUtf8 } from "../../../shared/json/utf8.ts";
import { waitAtMost } from "../../../shared/run-with-timeout.ts";

const NEWLINE = 10;

/** Unread bytes at which reading from the client pauses. */
const MAX_UNREAD_BYTES = 64 << 20;

/** Milliseconds that a client has to read the last messages. */
const SHUTDOWN_GRACE_MS = 1_000;

/** A client that has waited for so long after its last message, and then ends its input, has given up its requests. */
const PATIENCE_MS = 1_000;

/** Milliseconds that requests still get which the client has given up. */
const ABANDONED_MS = 1_000;

/**
 * MCP over a pair of streams, one message per line. An invalid line gets an error response. When the input ends, open
 * requests are still answered, unless the client has given them up; then the connection closes.
 */
export class StdioServerTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** Answers the calls that bypass `onmessage`. */
  calls?: FastPathCalls;
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #maxBytes: number;
  readonly #pending = createOpenRequests();
  #line: Buffer[] = [];
  #lineBytes = 0;
  #idleAtMessage = 0;
  #isClosed = false;
  #drained: Promise<void> | undefined;

  constructor(input: Readable, output: Writable, maxBytes: number) {
    this.#input = input;
    this.#output = output;
    this.#maxBytes = maxBytes;
  }

  async start(): Promise<void> {
    this.#input.on("data", (chunk: Buffer) => this.#take(chunk));
    this.#input.once("end", () => this.#endLine()); // the last line may lack its newline
    for (const end of ["end", "close", "error"]) this.#input.once(end, () => void this.#endInput());
    this.#input.resume();
    this.#output.once("error", () => void this.close()); // the client no longer reads
  }

  /**
   * Stops accepting requests; settles when the answers of open ones are written. Cancels those still open after
   * `atMostMs`, and returns false if there were any.
   */
  async finish(atMostMs?: number): Promise<boolean> {
    this.#input.removeAllListeners("data");
    const answered = this.#pending.answered().then(() => this.#written());
    await (atMostMs === undefined ? answered : waitAtMost(atMostMs, answered));
    this.calls?.close("the server ends");
    const cancelled = this.#pending.giveUp();
    for (const id of cancelled) void this.#write(cancelledAnswer(id, "the server ends"));
    await waitAtMost(SHUTDOWN_GRACE_MS, this.#written());
    await this.close();
    return cancelled.length === 0;
  }

  send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed || !this.#pending.sent(message)) return Promise.resolve();
    return this.#write(message);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.calls?.close("the server ends");
    this.#pending.giveUp();
    this.#input.pause();
    this.onclose?.();
  }

  /** A script writes all messages at once, ends its input, and reads all answers. */
  async #endInput(): Promise<void> {
    const hasWaited = getIdleMs() - this.#idleAtMessage >= PATIENCE_MS;
    await this.finish(hasWaited ? ABANDONED_MS : undefined);
  }

  #take(chunk: Buffer): void {
    this.#idleAtMessage = getIdleMs();
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.#keep(chunk.subarray(start, end));
      start = end + 1;
      this.#endLine();
    }
    this.#keep(chunk.subarray(start));
  }

  /** Adds to the current line; of a line that is too long, only the length is counted. */
  #keep(part: Buffer): void {
    this.#lineBytes += part.length;
    if (this.#lineBytes > this.#maxBytes) this.#line = [];
    else if (part.length > 0) this.#line.push(part);
  }

  #endLine(): void {
    const [bytes, text] = [this.#lineBytes, encodeUtf8(Buffer.concat(this.#line))];
    this.#line = [];
    this.#lineBytes = 0;
    if (bytes > this.#maxBytes) {
      const reason = `The message of ${bytes} bytes exceeds the limit of ${this.#maxBytes} bytes`;
      return void this.#write(errorAnswer("InvalidRequest", reason));
    }
    if (text === undefined) void this.#write(errorAnswer("ParseError", "The line is not valid UTF-8"));
    else if (text.trim() !== "") this.#read(text);
  }

  #read(text: string): void {
    let value: unknown;
    try {
      value = parseExactMessages(text);
    } catch (error) {
      const why = [getMessage(error)];
      return void this.#write(errorAnswer("ParseError", "The line is not valid JSON", undefined, why));
    }
    // Some protocol versions have batches; the answers may come one by one.
    for (const each of Array.isArray(value) && value.length > 0 ? value : [value]) this.#deliver(each);
  }

  #deliver(value: unknown): void {
    if (isRequest(value) && this.#pending.has(value.id)) return void this.#write(createTakenAnswer(value.id));
    const call = this.calls?.read(value);
    if (call === undefined) return this.#pass(value);
    this.#pending.began(call.id);
    const send = (message: JSONRPCMessage): void => void this.send(message);
    this.calls?.start(call, { say: send, answer: send });
  }

  #pass(value: unknown): void {
    let message: JSONRPCMessage;
    try {
      message = parseJSONRPCMessage(value);
    } catch {
      return void this.#write(
        errorAnswer("InvalidRequest", "The message is not a valid JSON-RPC message", getId(value)),
      );
    }
    const answer = this.#pending.received(message);
    const cancelled = cancelledBy(message);
    if (cancelled !== undefined) this.calls?.cancel(cancelled);
    this.onmessage?.(message);
    if (answer !== undefined) void this.#write(answer);
  }

  #write(message: JSONRPCMessage): Promise<void> {
    if (this.#output.write(`${messageText(message)}\n`)) return Promise.resolve();
    if (this.#output.writableLength > MAX_UNREAD_BYTES) this.#input.pause();
    return (this.#drained ??= this.#written().then(() => {
      this.#drained = undefined;
      if (!this.#isClosed) this.#input.resume();
    }));
  }

  /** Settles when all output is written, or the stream has failed. */
  #written(): Promise<void> {
    return new Promise((resolve) => this.#output.write("", () => resolve()));
  }
}

/** Milliseconds for which this thread had nothing to do: while it is busy, the end of the input cannot be noticed. */
function getIdleMs(): number {
  return performance.eventLoopUtilization().idle;
}

function getId(value: unknown): RequestId | undefined {
  const id = isRecord(value) ? value["id"] : undefined;
  return typeof id === "string" || typeof id === "number" ? id : undefined;
}
