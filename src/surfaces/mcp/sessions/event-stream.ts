/** A response that sends each message as a server-sent event. */
export interface EventStream {
  readonly response: Response;
  send(event: string, data: unknown): void;
  /** Sends JSON. With an id, a client can resume the stream after this event. */
  sendText(event: string, json: string, id?: string): void;
  /**
   * Sends an event with only an id and the delay before reconnecting, so that the client can resume before the first
   * message.
   */
  mark(id: string): void;
  end(): void;
}

/** Interval of comments that keep proxies from closing an idle stream. */
const KEEP_ALIVE_MS = 15_000;

/** Milliseconds that a client waits before it reconnects. */
const RETRY_MS = 1_000;

/** Opens a stream, which must be read at once; calls `onCancel` if the client disconnects before the end. */
export function openEventStream(onCancel: () => void, moreHeaders: Readonly<Record<string, string>> = {}): EventStream {
  const encoder = new TextEncoder();
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  let isOpen = true;
  const stop = (): void => {
    isOpen = false;
    clearInterval(timer);
  };
  const body = new ReadableStream<Uint8Array>({
    start: (opened) => void (controller = opened),
    cancel() {
      stop();
      onCancel();
    },
  });
  const write = (text: string): void => {
    if (isOpen) controller?.enqueue(encoder.encode(text));
  };
  const timer = setInterval(() => write(": still here\n\n"), KEEP_ALIVE_MS).unref();
  const headers = {
    "content-type": "text/event-stream",
    "cache-control": "no-store",
    "x-accel-buffering": "no",
    ...moreHeaders,
  };
  const sendText = (event: string, json: string, id?: string): void =>
    write(`event: ${event}\n${id === undefined ? "" : `id: ${id}\n`}data: ${json}\n\n`);
  return {
    response: new Response(body, { headers }),
    send: (event, data) => sendText(event, JSON.stringify(data)),
    sendText,
    mark: (id) => write(`id: ${id}\nretry: ${RETRY_MS}\ndata: \n\n`),
    end() {
      if (isOpen) controller?.close();
      stop();
    },
  };
}
