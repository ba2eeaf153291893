import { type JSONRPCMessage, ProtocolErrorCode } from "@modelcontextprotocol/server";

import { type EventStream, openEventStream } from "../sessions/event-stream.ts";
import { messageText } from "../rpc-error.ts";
import type { SentEvent } from "../sessions/sent-events.ts";
import type { Exchange } from "../sessions/session.ts";

/** The answer to one request over HTTP: plain JSON if nothing is said before it, else a stream of all that is said. */
export interface HttpReply {
  readonly response: Promise<Response>;
  /** What is said on the way; after the answer, nobody listens. */
  readonly say: (message: JSONRPCMessage) => void;
  readonly answer: (message: JSONRPCMessage) => void;
  /** Whether the client has an id by which it can come back. */
  readonly isResumable: boolean;
  /** Goes on over another connection, with what the client has missed. */
  readonly resume: (missed: readonly SentEvent[], onGone: () => void) => Response;
}

/** Gives what is sent on one stream ids. */
export interface StreamLog {
  readonly keep: (json: string) => string;
  /** For clients that know what to do with an id alone; the newer ones do. */
  readonly here: (() => string) | undefined;
}

export interface ReplyOptions {
  readonly respond: Exchange["respond"];
  readonly headers?: Readonly<Record<string, string>>;
  /** Who waits in silence for longer is given the stream, on which there are signs of life. */
  readonly silenceMs?: number;
  readonly log?: StreamLog;
  /** The client has gone before the answer. */
  readonly onGone: () => void;
}

export function openHttpReply({ respond, headers = {}, silenceMs, log, onGone }: ReplyOptions): HttpReply {
  let resolve: (response: Response) => void = () => {};
  let stream: EventStream | undefined;
  let isAnswered = false;
  let isResumable = false;
  const response = new Promise<Response>((settle) => (resolve = settle));
  const open = (): EventStream => {
    stream ??= openEventStream(onGone, headers);
    resolve(stream.response);
    return stream;
  };
  const openInSilence = (): void => {
    const silent = open();
    if (log?.here === undefined) return;
    silent.mark(log.here());
    isResumable = true;
  };
  const send = (text: string): void => {
    const to = open();
    to.sendText("message", text, log?.keep(text));
    isResumable ||= log !== undefined;
  };
  const timer = silenceMs === undefined ? undefined : setTimeout(openInSilence, silenceMs);
  return {
    response,
    say(message) {
      clearTimeout(timer);
      if (!isAnswered) send(messageText(message));
    },
    answer(message) {
      if (isAnswered) return;
      isAnswered = true;
      clearTimeout(timer);
      const text = messageText(message);
      if (stream === undefined) return resolve(respond(text, isLacking(message) ? 400 : 200, headers));
      send(text);
      stream.end();
    },
    get isResumable() {
      return isResumable;
    },
    resume(missed, onGoneAgain) {
      stream?.end();
      stream = toEventStream(missed, headers, onGoneAgain);
      if (isAnswered) stream.end();
      return stream.response;
    },
  };
}

/** A stream that begins with what was sent on another. */
export function toEventStream(
  events: readonly SentEvent[],
  headers: Readonly<Record<string, string>>,
  onGone: () => void,
): EventStream {
  const stream = openEventStream(onGone, headers);
  for (const { id, json } of events) stream.sendText("message", json, id);
  return stream;
}

const LACKING: number = ProtocolErrorCode.MissingRequiredClientCapability;

/** Of all errors of calls, the protocol has a status for this one only. */
function isLacking(message: JSONRPCMessage): boolean {
  return "error" in message && message.error.code === LACKING;
}
