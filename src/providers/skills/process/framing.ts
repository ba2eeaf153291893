import { randomBytes } from "node:crypto";
import { DefaultDeserializer, DefaultSerializer } from "node:v8";

import type { SizeExcess } from "../../../shared/values/value-size.ts";
import { readWhole } from "./child/write-sync.ts";

/** Size limit of a message: more than a model can read, too little to harm the receiver. */
const MAX_BYTES = 64 << 20;
const TOKEN_BYTES = 8;
const NO_LENGTH = Buffer.alloc(4);
const HEAD_BYTES = TOKEN_BYTES + NO_LENGTH.length;

/** Starts each message between two processes, so that foreign bytes are not read as a message. */
export type Token = Buffer;

export function newToken(): Token {
  return randomBytes(TOKEN_BYTES);
}

/** Reads the token that the other end of a channel writes before its first message. Throws if the channel ends first. */
export function readWord(fd: number): Token {
  const token = Buffer.alloc(TOKEN_BYTES);
  readWhole(fd, token);
  return token;
}

export class MessageTooLarge extends Error {
  override readonly name = "TooLarge";

  constructor(what: SizeExcess = "more than 64 MB") {
    super(what);
  }
}

/** Frames a message: token, length, content. Throws for a value that is not plain data, or `MessageTooLarge`. */
export function packMessage(message: unknown, token: Token): Buffer {
  const serializer = new DefaultSerializer();
  serializer.writeRawBytes(token);
  serializer.writeRawBytes(NO_LENGTH);
  serializer.writeHeader();
  serializer.writeValue(message);
  const frame = serializer.releaseBuffer();
  const length = frame.length - HEAD_BYTES;
  if (length > MAX_BYTES) throw new MessageTooLarge();
  frame.writeUInt32LE(length, TOKEN_BYTES);
  return frame;
}

/** Splits incoming bytes into messages. Throws as soon as bytes cannot be a message. */
export class Unpacker {
  readonly #word: Token;
  readonly #take: (message: unknown) => void;
  #pieces: Buffer[] = [];
  #heldBytes = 0;
  #wantedBytes = 1;

  constructor(token: Token, take: (message: unknown) => void) {
    this.#word = token;
    this.#take = take;
  }

  /** True if a part of a message has arrived. */
  get isWithin(): boolean {
    return this.#heldBytes > 0;
  }

  add(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#heldBytes += piece.length;
    if (this.#heldBytes < this.#wantedBytes) return;
    let rest = this.#pieces.length === 1 ? piece : Buffer.concat(this.#pieces);
    for (;;) {
      this.#wantedBytes = this.#countBytes(rest);
      if (rest.length < this.#wantedBytes) break;
      this.#take(unpackMessage(rest.subarray(HEAD_BYTES, this.#wantedBytes)));
      rest = rest.subarray(this.#wantedBytes);
    }
    this.#pieces = [rest];
    this.#heldBytes = rest.length;
  }

  /** Returns the bytes up to the end of the first message; one more byte while its length is unknown. */
  #countBytes(bytes: Buffer): number {
    const token = bytes.subarray(0, TOKEN_BYTES);
    if (!token.equals(this.#word.subarray(0, token.length)))
      throw new Error("Cannot read the message: it does not start with the token of the channel");
    if (bytes.length < HEAD_BYTES) return bytes.length + 1;
    const length = bytes.readUInt32LE(TOKEN_BYTES);
    if (length > MAX_BYTES) throw new MessageTooLarge();
    return HEAD_BYTES + length;
  }
}

function unpackMessage(bytes: Buffer): unknown {
  const deserializer = new DefaultDeserializer(bytes);
  deserializer.readHeader();
  return deserializer.readValue();
}
