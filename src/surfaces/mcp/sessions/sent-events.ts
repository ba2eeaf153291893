import type { EventStore } from "@modelcontextprotocol/server";

/** How long an event is kept for a client that may come back for it. */
const KEPT_MS = 60_000;

/** Bytes of the events that one session keeps. */
const KEPT_BYTES = 2 << 20;

/** One message that went out on a stream, or was to. */
export interface SentEvent {
  readonly id: string;
  readonly json: string;
}

interface KeptEvent extends SentEvent {
  readonly stream: string;
  readonly number: number;
  readonly bytes: number;
  readonly until: number;
}

/** What a session has sent of late, for a client that has lost its connection and comes back to where it was. */
export class SentEvents {
  readonly #kept: KeptEvent[] = [];
  #bytes = 0;
  #last = 0;
  /** Number of the newest event that is not kept any more. */
  #dropped = 0;
  #timer: NodeJS.Timeout | undefined;

  /** Takes note of an event; its id. */
  keep(stream: string, json: string): string {
    const number = ++this.#last;
    const id = `${stream}/${number}`;
    const bytes = Buffer.byteLength(json);
    this.#kept.push({ id, json, stream, number, bytes, until: performance.now() + KEPT_MS });
    this.#bytes += bytes;
    this.#drop();
    return id;
  }

  /** An id for where a stream is now, whether or not there was an event. */
  here(stream: string): string {
    return `${stream}/${this.#last}`;
  }

  /** The stream of an id, and what was sent on it since; `undefined` if that is not known any more. */
  since(id: string): { readonly stream: string; readonly events: readonly SentEvent[] } | undefined {
    const [, stream, digits] = /^(.{1,100})\/(\d{1,15})$/.exec(id) ?? [];
    const number = Number(digits);
    if (stream === undefined || number > this.#last || number < this.#dropped) return undefined;
    return { stream, events: this.#kept.filter((event) => event.stream === stream && event.number > number) };
  }

  /** The same as the SDK wants it, for the streams that it keeps itself. */
  asEventStore(): EventStore {
    return {
      storeEvent: async (stream, message) =>
        Object.keys(message).length === 0 ? this.here(stream) : this.keep(stream, JSON.stringify(message)),
      replayEventsAfter: async (lastEventId, { send }) => {
        const { stream = "", events = [] } = this.since(lastEventId) ?? {};
        for (const { id, json } of events) await send(id, JSON.parse(json));
        return stream;
      },
    };
  }

  /** The session is over. */
  close(): void {
    clearTimeout(this.#timer);
    this.#kept.length = 0;
  }

  /** Of what is too old or too much, the oldest goes first. */
  #drop(): void {
    const now = performance.now();
    for (let [oldest] = this.#kept; oldest !== undefined; [oldest] = this.#kept) {
      if (this.#bytes <= KEPT_BYTES && oldest.until > now) break;
      this.#kept.shift();
      this.#bytes -= oldest.bytes;
      this.#dropped = oldest.number;
    }
    if (this.#kept.length > 0) this.#timer ??= setTimeout(() => this.#tick(), KEPT_MS).unref();
  }

  #tick(): void {
    this.#timer = undefined;
    this.#drop();
  }
}
