import { IncomingMessage } from "node:http";

/** Parts of a chunked body that have less than `SMALL_BYTES` bytes: Node takes as long for each of them as for thousands of bytes. */
const MAX_SMALL_PARTS = 1_024;
const SMALL_BYTES = 256;

const REASON = `The body has more than ${MAX_SMALL_PARTS} parts of less than ${SMALL_BYTES} bytes: send larger parts, or a content-length`;

const ANSWER = [
  "HTTP/1.1 400 Bad Request",
  "connection: close",
  "content-type: text/plain",
  `content-length: ${REASON.length}`,
  "",
  REASON,
].join("\r\n");

/** A request whose connection ends if its body comes in too many small parts, also where no route reads it. */
export class RequestOfWholeParts extends IncomingMessage {
  #smallParts = 0;

  override push(chunk: Buffer | null, encoding?: BufferEncoding): boolean {
    if (chunk !== null && chunk.length < SMALL_BYTES) this.#smallParts++;
    if (this.#smallParts <= MAX_SMALL_PARTS) return super.push(chunk, encoding);
    if (this.#smallParts === MAX_SMALL_PARTS + 1 && !this.socket.destroyed) {
      this.#smallParts++;
      this.socket.write(ANSWER);
      this.socket.destroySoon();
    }
    return false;
  }

  /** Discards the rest of a body that no route has read. Node calls it; its own method discards parts before `push` counts them. */
  _dump(): void {
    this.resume();
  }
}
