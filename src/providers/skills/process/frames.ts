import { DefaultDeserializer, DefaultSerializer } from "node:v8";

import type { Excess } from "../../../model/extent.ts";

/** What one message may take: enough for whatever a model could read, too little to hurt who receives it. */
const MOST_BYTES = 64 << 20;
const LENGTH_BYTES = 4;
const NO_LENGTH = Buffer.alloc(LENGTH_BYTES);

export class TooLarge extends Error {
  override readonly name = "TooLarge";

  constructor(what: Excess = "more than 64 MB") {
    super(what);
  }
}

/** A message as it travels between processes: its length, then itself. Throws for what is no plain data, or `TooLarge`. */
export function packed(message: unknown): Buffer {
  const serializer = new DefaultSerializer();
  serializer.writeRawBytes(NO_LENGTH);
  serializer.writeHeader();
  serializer.writeValue(message);
  const frame = serializer.releaseBuffer();
  if (frame.length - LENGTH_BYTES > MOST_BYTES) throw new TooLarge();
  frame.writeUInt32LE(frame.length - LENGTH_BYTES);
  return frame;
}

/** Finds the messages in bytes as they come. Throws for bytes that are no message. */
export class Unpacker {
  readonly #take: (message: unknown) => void;
  #pieces: Buffer[] = [];
  #heldBytes = 0;
  #wantedBytes = LENGTH_BYTES;

  constructor(take: (message: unknown) => void) {
    this.#take = take;
  }

  add(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#heldBytes += piece.length;
    if (this.#heldBytes < this.#wantedBytes) return;
    let rest = this.#pieces.length === 1 ? piece : Buffer.concat(this.#pieces);
    for (;;) {
      this.#wantedBytes = wantedBytes(rest);
      if (rest.length < this.#wantedBytes) break;
      this.#take(unpacked(rest.subarray(LENGTH_BYTES, this.#wantedBytes)));
      rest = rest.subarray(this.#wantedBytes);
    }
    this.#pieces = [rest];
    this.#heldBytes = rest.length;
  }
}

/** Up to the end of the first message, or of its length as long as that is not known. */
function wantedBytes(bytes: Buffer): number {
  if (bytes.length < LENGTH_BYTES) return LENGTH_BYTES;
  const length = bytes.readUInt32LE();
  if (length > MOST_BYTES) throw new TooLarge();
  return LENGTH_BYTES + length;
}

function unpacked(bytes: Buffer): unknown {
  const deserializer = new DefaultDeserializer(bytes);
  deserializer.readHeader();
  return deserializer.readValue();
}
