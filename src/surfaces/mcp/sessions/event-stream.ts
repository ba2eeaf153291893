/** A response that sends messages as they come, each as one server-sent event. */
export interface EventStream {
  readonly response: Response;
  send(event: string, data: unknown): void;
  /** With an id, a client can come back to where this was sent. */
  sendText(event: string, json: string, id?: string): void;
  /** Tells the client where it is before anything was sent, and when to come back if the connection is lost. */
  mark(id: string): void;
  end(): void;
}

/** Comments keep proxies from closing a stream on which nothing happens. */
const KEEP_ALIVE_MS = 15_000;

/** Messages that a client has not read yet; one that lets more pile up is given up. */
const MAX_UNREAD = 1_024;

/** How soon a client shall come back that has lost its connection. */
const RETRY_MS = 1_000;

/** `onCancel` is told when the client goes away before the end. */
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
    if (!isOpen) return;
    controller?.enqueue(encoder.encode(text));
    if ((controller?.desiredSize ?? 0) >= -MAX_UNREAD) return;
    stop();
    controller?.error(new Error("the client reads too slowly"));
    onCancel();
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
