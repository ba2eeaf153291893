import type { NatsConnection } from "@nats-io/transport-node";

import { isRecord, parseJsonObject } from "../model/json.ts";
import { countDroppedMessage } from "../telemetry/index.ts";
import { deleteOldest } from "../shared/lru.ts";
import type { Session } from "./session.ts";

/**
 * The kinds of messages in a session. A client sends `ping`, `request`, `input` to a request and `cancel`; a server sends `pong`,
 * `event` of a request, its end as `result` or `refusal` (it has not begun), and `gone`.
 */
export type MessageKind = "ping" | "pong" | "gone" | "request" | "input" | "cancel" | "event" | "result" | "refusal";

export interface ChannelMessage {
  readonly kind: MessageKind;
  /** The id of the request; empty for messages of the session itself. */
  readonly id: string;
  readonly text: string;
  /** The name of what is requested. */
  readonly method?: string;
  /** The trace context of a request. */
  readonly trace?: Readonly<Record<string, string>>;
}

/** The first byte of a message to a start of a process: it is a greeting, the answer to it, or a frame of a session. */
export const FRAME = { hello: 1, welcome: 2, sealed: 3 } as const;

const SEALED = Buffer.of(FRAME.sealed);

export interface ChannelOptions {
  readonly session: Session;
  readonly getConnection: () => NatsConnection | undefined;
  /** The subject to which messages are sent. */
  readonly subject: string;
  /** The subject to which the NATS server reports that a message has no receiver. */
  readonly reply?: string;
  /** The longest message in bytes. */
  readonly maxBytes: number;
}

/** Space in a message of the network for the head and the seal. */
const HEAD_BYTES = 16 * 1024;

const DEFAULT_PAYLOAD_BYTES = 1024 * 1024;

/** Parts that are sent before the network must have taken them. */
const PARTS_PER_FLUSH = 4;

/** The most messages of which only some parts have arrived, and their bytes. */
const MAX_OPEN_MESSAGES = 64;
const MAX_OPEN_BYTES = 256 * 1024 * 1024;

interface Head extends Omit<ChannelMessage, "text"> {
  /** The number of the part, from 1. */
  readonly part: number;
  readonly count: number;
}

interface OpenMessage {
  readonly parts: Buffer[];
  bytes: number;
}

/** Sends and receives the messages of one session, in as many parts as the network needs. */
export class Channel {
  readonly #options: ChannelOptions;
  readonly #open = new Map<string, OpenMessage>();
  #openBytes = 0;

  constructor(options: ChannelOptions) {
    this.#options = options;
  }

  /**
   * Sends a message. One that fits into one part is sent before this returns. Without a connection it is lost. `prefix` is what
   * comes before the frame.
   */
  async send({ text, ...fields }: ChannelMessage, prefix: Uint8Array = SEALED): Promise<void> {
    const connection = this.#options.getConnection();
    if (connection === undefined || connection.isClosed()) return;
    const { subject, reply } = this.#options;
    const options = reply === undefined ? {} : { reply };
    const bytes = Buffer.from(text);
    const partBytes = Math.max(1_024, (connection.info?.max_payload ?? DEFAULT_PAYLOAD_BYTES) - HEAD_BYTES);
    const count = Math.max(1, Math.ceil(bytes.length / partBytes));
    for (let part = 1; part <= count; part++) {
      const body = bytes.subarray((part - 1) * partBytes, part * partBytes);
      connection.publish(subject, Buffer.concat([prefix, this.#seal({ ...fields, part, count }, body)]), options);
      if (part % PARTS_PER_FLUSH === 0) await connection.flush();
    }
  }

  /**
   * Opens a frame. Returns the message if it is complete, `"part"` for a part of one, and `undefined` for a frame that is
   * dropped and counted.
   */
  receive(frame: Uint8Array): ChannelMessage | "part" | undefined {
    const opened = this.#options.session.open(frame);
    if (typeof opened === "string") {
      countDroppedMessage(opened);
      return undefined;
    }
    const end = opened.length < 2 ? 0 : 2 + opened.readUInt16BE();
    const head = parseHead(opened.toString("utf8", 2, end));
    return head === undefined ? undefined : this.#join(head, opened.subarray(end));
  }

  #seal(head: Head, body: Uint8Array): Buffer {
    const headText = Buffer.from(JSON.stringify(head));
    const length = Buffer.alloc(2);
    length.writeUInt16BE(headText.length);
    return this.#options.session.seal(length, headText, body);
  }

  /** Joins the parts of a message, which arrive in their order. A message with a part too many or too few is dropped. */
  #join({ part, count, ...fields }: Head, body: Buffer): ChannelMessage | "part" {
    if (count === 1) return { ...fields, text: body.toString("utf8") };
    const key = `${fields.kind} ${fields.id}`;
    const message = part === 1 ? { parts: [], bytes: 0 } : this.#open.get(key);
    this.#remove(key);
    if (message === undefined || message.parts.length !== part - 1) return "part";
    message.parts.push(body);
    message.bytes += body.length;
    if (message.bytes > this.#options.maxBytes) return "part";
    if (part === count) return { ...fields, text: Buffer.concat(message.parts).toString("utf8") };
    this.#open.set(key, message);
    this.#openBytes += message.bytes;
    const isTooFull = (): boolean => this.#open.size > MAX_OPEN_MESSAGES || this.#openBytes > MAX_OPEN_BYTES;
    deleteOldest(this.#open, isTooFull, (oldest) => this.#remove(oldest));
    return "part";
  }

  #remove(key: string): void {
    this.#openBytes -= this.#open.get(key)?.bytes ?? 0;
    this.#open.delete(key);
  }
}

/** Parses the head of a part. Without keys, anyone may have sealed it. */
function parseHead(text: string): Head | undefined {
  const head = parseJsonObject(text) ?? {};
  const { kind, id, part, count, method, trace } = head;
  const isValid =
    typeof kind === "string" &&
    typeof id === "string" &&
    Number.isInteger(part) &&
    Number.isInteger(count) &&
    (method === undefined || typeof method === "string") &&
    (trace === undefined || isRecord(trace));
  return isValid ? (head as unknown as Head) : undefined;
}
