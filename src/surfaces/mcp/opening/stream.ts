import { Readable, Writable } from "node:stream";

import { parseJsonObject } from "../../../model/json.ts";
import type { ToolDefinition } from "../../../model/tools/tool-definition.ts";
import { type GetOpeningTexts, EarlyAnswers } from "./answers.ts";
import { parseRequest } from "./request.ts";
import { Silence } from "./silence.ts";

/** The most input that is read before the program is loaded; the rest waits in the pipe. */
const MAX_BYTES = 1 << 20;

/** Maximum number of UTF-16 units of a request that is answered. */
const MAX_LINE = 64 << 10;

const NEWLINE = 10;

/** The answers that a client got before the program was loaded. */
interface OpeningSummary {
  readonly clientName: string;
  /** The list of tools that it was sent; `undefined` if it has not asked for one. */
  readonly tools: readonly ToolDefinition[] | undefined;
}

/**
 * Answers the first requests on a stream. The server that takes the stream over reads the rest, and the handshake once
 * more, so that it knows the client; its second answer to the handshake is left out.
 */
export class OpeningStream {
  readonly #input: Readable;
  readonly #write: (text: string) => unknown;
  readonly #answers: EarlyAnswers;
  readonly #silence = new Silence();
  /** The lines that the server is to read. */
  readonly #lines: Buffer[] = [];
  /** The ids of the requests that were answered and that the server reads as well, as JSON. */
  readonly #repeated = new Set<string>();
  #bytes = 0;
  #line: Buffer = Buffer.alloc(0);
  #hasEnded = false;
  #clientName: string | undefined;
  #tools: readonly ToolDefinition[] | undefined;

  constructor(input: Readable, write: (text: string) => unknown, getTexts: GetOpeningTexts) {
    this.#input = input;
    this.#write = write;
    this.#answers = new EarlyAnswers(getTexts);
    input.on("data", this.#take).once("end", this.#end).once("error", this.#end);
  }

  /** Settles when a message has to wait for the program, when the tools are listed, and when the client is silent. */
  get quiet(): Promise<void> {
    return this.#silence.begun;
  }

  /** The answers so far; `undefined` if there are none. */
  get summary(): OpeningSummary | undefined {
    return this.#clientName === undefined ? undefined : { clientName: this.#clientName, tools: this.#tools };
  }

  /** Stops answering, and returns the input that the server is to read. */
  takeInput(): Readable {
    this.#input.off("data", this.#take).off("end", this.#end).off("error", this.#end).pause();
    this.#silence.begin();
    const read = Buffer.concat([...this.#lines, this.#line]);
    if (this.#hasEnded) return Readable.from(read.length === 0 ? [] : [read]);
    if (read.length > 0) this.#input.unshift(read);
    return this.#input;
  }

  /** Returns a stream that leaves out the second answer to the handshake. */
  filterOutput(output: Writable): Writable {
    if (this.#repeated.size === 0) return output;
    return new Writable({
      decodeStrings: false,
      write: (text: string, _encoding, done) => {
        if (this.#repeated.size > 0 && this.#isRepeated(text)) done();
        else output.write(text, done);
      },
    });
  }

  readonly #take = (chunk: Buffer): void => {
    this.#bytes += chunk.length;
    this.#silence.delay();
    let rest = Buffer.concat([this.#line, chunk]);
    for (let end = rest.indexOf(NEWLINE); end >= 0; end = rest.indexOf(NEWLINE)) {
      const line = rest.subarray(0, end + 1);
      if (!this.#answer(line.toString("utf8"))) this.#lines.push(line);
      rest = rest.subarray(end + 1);
    }
    this.#line = rest;
    if (this.#bytes > MAX_BYTES) this.#input.off("data", this.#take).pause();
  };

  readonly #end = (): void => {
    this.#hasEnded = true;
    this.#silence.begin();
  };

  /** Answers a request if possible. Returns true if the server need not read it as well. */
  #answer(line: string): boolean {
    const request = line.length > MAX_LINE ? undefined : parseRequest(parseJsonObject(line));
    if (request === undefined) return false;
    const answer = this.#answers.answer(request.method, request.params);
    if (answer === undefined) {
      this.#silence.begin();
      return false;
    }
    this.#write(`${JSON.stringify({ jsonrpc: "2.0", id: request.id, result: answer.result })}\n`);
    this.#clientName = answer.clientName;
    if (answer.isHandshake) this.#repeated.add(JSON.stringify(request.id));
    if (answer.tools === undefined) return !answer.isHandshake;
    this.#tools = answer.tools;
    this.#silence.begin();
    return true;
  }

  #isRepeated(text: string): boolean {
    const message = parseJsonObject(text);
    return message !== undefined && !("method" in message) && this.#repeated.delete(JSON.stringify(message["id"]));
  }
}
