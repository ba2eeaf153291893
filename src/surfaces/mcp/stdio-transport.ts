import type { Readable, Writable } from "node:stream";
import { type JSONRPCMessage, parseJSONRPCMessage, type RequestId, type Transport } from "@modelcontextprotocol/server";

import { isRecord } from "../../model/json.ts";
import type { DirectCalls } from "./direct-calls.ts";
import { cancelledBy, createPending, isRequest, takenAnswer } from "./pending.ts";
import { errorAnswer, messageText } from "./rpc-error.ts";

const NEWLINE = 10;

/**
 * MCP over a pair of streams, one message a line. What is no message gets the error that says so. When the input ends,
 * what is under way is still answered; then the connection closes.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** Calls that are not for `onmessage`. */
  calls?: DirectCalls;
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #mostBytes: number;
  readonly #pending = createPending();
  #line: Buffer[] = [];
  #lineBytes = 0;
  #isClosed = false;

  constructor(input: Readable, output: Writable, mostBytes: number) {
    this.#input = input;
    this.#output = output;
    this.#mostBytes = mostBytes;
  }

  async start(): Promise<void> {
    this.#input.on("data", (chunk: Buffer) => this.#take(chunk));
    for (const end of ["end", "close", "error"]) this.#input.once(end, () => void this.finish());
    this.#output.once("error", () => void this.close()); // nobody reads any more
  }

  /** Takes no more requests; settles when those that it has are answered. */
  async finish(): Promise<void> {
    this.#input.removeAllListeners("data");
    await this.#pending.answered();
    await this.close();
  }

  send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed || !this.#pending.sent(message)) return Promise.resolve();
    return this.#write(message);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.calls?.close();
    this.#isClosed = true;
    this.#input.pause();
    this.onclose?.();
  }

  #take(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.#keep(chunk.subarray(start, end));
      start = end + 1;
      this.#endLine();
    }
    this.#keep(chunk.subarray(start));
  }

  /** Of a line that is too long, only its length is kept. */
  #keep(part: Buffer): void {
    this.#lineBytes += part.length;
    if (this.#lineBytes > this.#mostBytes) this.#line = [];
    else if (part.length > 0) this.#line.push(part);
  }

  #endLine(): void {
    const [bytes, text] = [this.#lineBytes, Buffer.concat(this.#line).toString("utf8")];
    this.#line = [];
    this.#lineBytes = 0;
    if (bytes > this.#mostBytes) {
      const reason = `Cannot read a message of ${bytes} bytes: at most ${this.#mostBytes} are taken`;
      return void this.#write(errorAnswer("InvalidRequest", reason));
    }
    if (text.trim() !== "") this.#read(text);
  }

  #read(text: string): void {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return void this.#write(errorAnswer("ParseError", "Cannot read a line that is no JSON"));
    }
    // Some protocol versions have batches; the answers may come one by one.
    for (const each of Array.isArray(value) && value.length > 0 ? value : [value]) this.#deliver(each);
  }

  #deliver(value: unknown): void {
    if (isRequest(value) && this.#pending.has(value.id)) return void this.#write(takenAnswer(value.id));
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
      return void this.#write(errorAnswer("InvalidRequest", "Cannot read what is no JSON-RPC message", idOf(value)));
    }
    const answer = this.#pending.received(message);
    const cancelled = cancelledBy(message);
    if (cancelled !== undefined) this.calls?.cancel(cancelled);
    this.onmessage?.(message);
    if (answer !== undefined) void this.#write(answer);
  }

  #write(message: JSONRPCMessage): Promise<void> {
    if (this.#output.write(`${messageText(message)}\n`)) return Promise.resolve();
    return new Promise((resolve) => {
      this.#output.once("drain", resolve);
      this.#output.once("close", resolve);
    });
  }
}

function idOf(value: unknown): RequestId | undefined {
  const id = isRecord(value) ? value["id"] : undefined;
  return typeof id === "string" || typeof id === "number" ? id : undefined;
}
