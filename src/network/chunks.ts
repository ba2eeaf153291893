import type { NatsConnection } from "@nats-io/transport-node";

import { loadNats } from "./library.ts";

import { parseJson } from "../model/json.ts";

/** The longest call or result of a method in bytes, over all its parts. */
export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/** Space for headers in a message of the network. */
const HEADER_BYTES = 16 * 1024;

/** The most messages of which only some parts have arrived. */
const MAX_OPEN_MESSAGES = 64;

/** Parts that are sent before the network must have taken them. */
const PARTS_PER_FLUSH = 4;

/** The header that says what a message is. */
export const KIND = "Sg-Kind";

const PART = "Sg-Part";
const ID = "Sg-Id";

export interface OutgoingMessage {
  readonly subject: string;
  readonly reply?: string;
  /** Identifies the message at the receiver. */
  readonly id: string;
  readonly bytes: Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a message in as many parts as the network needs. */
export async function sendMessage(connection: NatsConnection, message: OutgoingMessage): Promise<void> {
  const { subject, reply, id, bytes, headers: fields = {} } = message;
  const { headers: createHeaders } = await loadNats();
  const partBytes = Math.max(1_024, (connection.info?.max_payload ?? 1024 * 1024) - HEADER_BYTES);
  const count = Math.max(1, Math.ceil(bytes.length / partBytes));
  for (let part = 1; part <= count; part++) {
    const head = createHeaders();
    for (const [name, value] of Object.entries(fields)) head.set(name, value);
    head.set(ID, id);
    head.set(PART, `${part}/${count}`);
    const payload = bytes.subarray((part - 1) * partBytes, part * partBytes);
    connection.publish(subject, payload, { headers: head, ...(reply !== undefined && { reply }) });
    if (part % PARTS_PER_FLUSH === 0) await connection.flush();
  }
}

/** A message that the network delivered, as far as parts need it. */
export interface IncomingPart {
  readonly data: Uint8Array;
  readonly headers?: MessageFields | undefined;
}

/** The headers of a message. Two versions of the network's library are in use, whose types differ in other respects. */
export interface MessageFields {
  get(name: string): string;
  keys(): string[];
}

export interface WholeMessage {
  readonly id: string;
  readonly bytes: Uint8Array;
  readonly headers: MessageFields;
}

interface OpenMessage {
  readonly parts: Uint8Array[];
  readonly count: number;
  bytes: number;
}

/** Joins the parts of messages. Bounded: of too many open messages the oldest is dropped. */
export class MessageReader {
  readonly #open = new Map<string, OpenMessage>();
  readonly #maxBytes: number;

  constructor(maxBytes = MAX_MESSAGE_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** Returns the message if it is complete; `undefined` if parts are missing, or if the message is invalid and dropped. */
  add({ data, headers: head }: IncomingPart): WholeMessage | undefined {
    const id = head?.get(ID) ?? "";
    const [, part = 0, count = 0] = (/^(\d{1,6})\/(\d{1,6})$/.exec(head?.get(PART) ?? "") ?? []).map(Number);
    if (head === undefined || !/^[\w.-]{1,80}$/.test(id) || part < 1 || part > count) return undefined;
    const message = part === 1 ? { parts: [], count, bytes: 0 } : this.#open.get(id);
    this.#open.delete(id);
    if (message === undefined || message.count !== count || message.parts.length !== part - 1) return undefined;
    message.parts.push(data);
    message.bytes += data.length;
    if (message.bytes > this.#maxBytes) return undefined;
    if (part === count) return { id, bytes: Buffer.concat(message.parts), headers: head };
    this.#open.set(id, message);
    const [oldest] = this.#open.keys();
    if (this.#open.size > MAX_OPEN_MESSAGES && oldest !== undefined) this.#open.delete(oldest);
    return undefined;
  }
}

/** Parses the JSON of another machine, which may send anything; `undefined` for another text. */
export function parseMessage(bytes: Uint8Array): unknown {
  return parseJson(Buffer.from(bytes).toString("utf8"));
}

/** Returns the headers of a message by their names. */
export function readFields(headers: MessageFields): Readonly<Record<string, string>> {
  return Object.fromEntries(headers.keys().map((name) => [name, headers.get(name)]));
}
