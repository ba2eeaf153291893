import { injectContext } from "../telemetry/index.ts";
import type { Channel, ChannelMessage } from "./channel.ts";
import type { StartAddress } from "./subjects.ts";

/** How a request ended. `isSent` is true if it may have had an effect. */
export type RequestEnd =
  | { readonly kind: "result"; readonly text: string }
  /** The machine says that it has not begun. */
  | { readonly kind: "refusal"; readonly text: string }
  /** The machine does not exist any more. */
  | { readonly kind: "gone"; readonly why: string; readonly isSent: boolean }
  /** The connection to the network is interrupted. */
  | { readonly kind: "offline"; readonly isSent: boolean }
  /** The sender has cancelled it, and does not wait any more. */
  | { readonly kind: "cancelled" };

export interface SentRequestOptions {
  readonly onEvent?: (text: string) => void;
  /**
   * True if the request may be made twice. Then the report of the NATS server that the machine is not connected ends it,
   * although anyone may have sent that report.
   */
  readonly isRepeatable?: boolean;
}

/** A request that a machine has. */
export interface SentRequest {
  readonly ended: Promise<RequestEnd>;
  /** Sends a further text for the request. */
  send(text: string): void;
  /** Asks the machine to end it; `why` is for its record. */
  cancel(why?: string): void;
  /** Ends it for the sender. */
  end(end: RequestEnd): void;
}

interface SentRequestState extends SentRequestOptions, Pick<SentRequest, "cancel" | "end"> {
  /** True while some of its parts are not sent yet. */
  isLeaving: boolean;
}

/** The requests that a client waits for, by their ids, which are numbers that rise. */
export interface AwaitedRequests {
  /** All requests up to this one have left the client. */
  readonly sent: number;
  /** Those of them that have not ended. */
  readonly open: readonly string[];
}

/** The report of a server about requests that a client waits for. */
export interface RequestReport {
  /** It has not received them, and will never begin them. */
  readonly missing: readonly string[];
  /** It has sent their ends, which have not arrived. */
  readonly lost: readonly string[];
}

/** Another machine, as one start of its process. */
export class Machine {
  readonly device: string;
  /** Its name for people. */
  readonly title: string;
  readonly start: string;
  /** The facts that it has reported about itself last. Not checked. */
  facts: unknown;
  /** The channel of the session with it; `undefined` until it has answered. */
  channel: Channel | undefined;
  /** The reason for which it does not exist any more. */
  departure: string | undefined;
  /** True if the NATS server has reported since its last message that it is not connected. Anyone may have sent the report. */
  isAbsent = false;
  /** Milliseconds since its last message in which this process could have received one. */
  silentMs = 0;
  readonly #requests = new Map<string, SentRequestState>();
  readonly #onBusy: () => void;
  #count = 0;

  /** `onBusy` is called when it gets a request and has no other one. */
  constructor({
    device,
    start,
    title,
    onBusy,
  }: StartAddress & { readonly title: string; readonly onBusy: () => void }) {
    this.#onBusy = onBusy;
    this.device = device;
    this.start = start;
    this.title = title;
  }

  /** The requests that it has. */
  get size(): number {
    return this.#requests.size;
  }

  /** Sends a request. After that, only an answer of the machine says what has become of it. */
  request(method: string, text: string, options: SentRequestOptions = {}): SentRequest {
    const id = String(++this.#count);
    const { channel, departure } = this;
    let settle: (end: RequestEnd) => void = () => {};
    const ended = new Promise<RequestEnd>((resolve) => (settle = resolve));
    const end = (how: RequestEnd): void => {
      this.#requests.delete(id);
      settle(how);
    };
    // A connection that closes ends all requests by itself.
    const send = async (message: Omit<ChannelMessage, "id">): Promise<void> =>
      channel?.send({ ...message, id }).catch(() => {});
    const cancel = (why = ""): void => void send({ kind: "cancel", text: why });
    if (departure !== undefined || channel === undefined)
      end({ kind: "gone", why: departure ?? "has not answered yet", isSent: false });
    else {
      const request = { ...options, cancel, end, isLeaving: true };
      this.#requests.set(id, request);
      if (this.size === 1) this.#onBusy();
      const trace = injectContext();
      const sending = send({ kind: "request", method, text, ...(Object.keys(trace).length > 0 && { trace }) });
      void sending.then(() => (request.isLeaving = false));
    }
    return {
      ended,
      end,
      send: (input) => void send({ kind: "input", text: input }),
      cancel,
    };
  }

  /** Takes an event or the end of a request. */
  receive({ kind, id, text }: ChannelMessage): void {
    const request = this.#requests.get(id);
    if (kind === "event") request?.onEvent?.(text);
    else if (kind === "result" || kind === "refusal") request?.end({ kind, text });
  }

  /** The requests that the machine must have by now. */
  get openRequests(): AwaitedRequests {
    const leaving = [...this.#requests].find(([, { isLeaving }]) => isLeaving);
    const sent = leaving === undefined ? this.#count : Number(leaving[0]) - 1;
    return { sent, open: [...this.#requests.keys()].filter((id) => Number(id) <= sent) };
  }

  /** Ends the requests that the machine says it does not have. */
  noteReport({ missing, lost }: RequestReport): void {
    for (const id of missing) this.#requests.get(id)?.end({ kind: "refusal", text: "it has not received it" });
    for (const id of lost)
      this.#requests.get(id)?.end({ kind: "gone", why: "has sent an answer that is lost", isSent: true });
  }

  /** The NATS server, or someone else, reports that it is not connected. */
  noteAbsence(): void {
    if (!this.isAbsent) this.silentMs = 0;
    this.isAbsent = true;
    for (const { isRepeatable, end } of this.#requests.values())
      if (isRepeatable === true) end({ kind: "gone", why: "is not connected any more", isSent: true });
  }

  /** Asks the machine to end all requests. */
  cancelAll(why: string): void {
    for (const request of this.#requests.values()) request.cancel(why);
  }

  /** Ends all requests for their senders. */
  endAll(end: RequestEnd): void {
    for (const request of this.#requests.values()) request.end(end);
  }
}
