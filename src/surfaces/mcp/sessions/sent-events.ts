import type { EventStore } from "@modelcontextprotocol/server";

/** Milliseconds that an event is stored for a client that may resume. */
const KEPT_MS = 60_000;

/** Maximum bytes of stored events per session. */
const KEPT_BYTES = 2 << 20;

/** A message that was sent on a stream, or could not be sent because the connection was lost. */
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

/** Stores the recent events of a session for clients that resume after a lost connection. */
export class SentEvents {
  readonly #events: KeptEvent[] = [];
  #bytes = 0;
  #last = 0;
  /** Number of the newest dropped event. */
  #dropped = 0;
  #timer: NodeJS.Timeout | undefined;

  /** Stores an event and returns its id. */
  keep(stream: string, json: string): string {
    const number = ++this.#last;
    const id = `${stream}/${number}`;
    const bytes = Buffer.byteLength(json);
    this.#events.push({ id, json, stream, number, bytes, until: performance.now() + KEPT_MS });
    this.#bytes += bytes;
    this.#drop();
    return id;
  }

  /** Returns an id for the current position of a stream, even without an event. */
  here(stream: string): string {
    return `${stream}/${this.#last}`;
  }

  /** Returns the stream of an id and its later events; `undefined` if events were dropped or the id is invalid. */
  since(id: string): { readonly stream: string; readonly events: readonly SentEvent[] } | undefined {
    const [, stream, digits] = /^(.{1,100})\/(\d{1,15})$/.exec(id) ?? [];
    const number = Number(digits);
    if (stream === undefined || number > this.#last || number < this.#dropped) return undefined;
    return { stream, events: this.#events.filter((event) => event.stream === stream && event.number > number) };
  }

  /** Adapts the store to the SDK, for the streams that the SDK manages. */
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

  /** Drops all events when the session ends. */
  close(): void {
    clearTimeout(this.#timer);
    this.#events.length = 0;
  }

  /** Drops the oldest events while they are expired or over the size limit. */
  #drop(): void {
    const now = performance.now();
    for (let [oldest] = this.#events; oldest !== undefined; [oldest] = this.#events) {
      if (this.#bytes <= KEPT_BYTES && oldest.until > now) break;
      this.#events.shift();
      this.#bytes -= oldest.bytes;
      this.#dropped = oldest.number;
    }
    if (this.#events.length > 0) this.#timer ??= setTimeout(() => this.#tick(), KEPT_MS).unref();
  }

  #tick(): void {
    this.#timer = undefined;
    this.#drop();
  }
}
