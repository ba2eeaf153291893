import { type JSONRPCMessage, ProtocolErrorCode } from "@modelcontextprotocol/server";

import { type EventStream, openEventStream } from "../sessions/event-stream.ts";
import { messageText } from "../rpc-error.ts";
import type { SentEvent } from "../sessions/sent-events.ts";
import type { Exchange } from "../sessions/session.ts";

/** The answer to one HTTP request: plain JSON if no notification precedes it, else a stream with all messages. */
export interface HttpReply {
  readonly response: Promise<Response>;
  /** Sends a notification; ignored after the answer. */
  readonly say: (message: JSONRPCMessage) => void;
  readonly answer: (message: JSONRPCMessage) => void;
  /** Whether the client has received an event id with which it can resume the stream. */
  readonly isResumable: boolean;
  /** Continues on another connection, starting with the events that the client missed. */
  readonly resume: (missed: readonly SentEvent[], onGone: () => void) => Response;
}

/** Assigns ids to the events of one stream. */
export interface StreamLog {
  readonly keep: (json: string) => string;
  /** Returns an id for the current position; absent for clients that do not understand an event with only an id. */
  readonly here: (() => string) | undefined;
}

export interface ReplyOptions {
  readonly respond: Exchange["respond"];
  readonly headers?: Readonly<Record<string, string>>;
  /** Opens the stream after this many milliseconds without a message, so that keep-alive comments can be sent. */
  readonly silenceMs?: number;
  readonly log?: StreamLog;
  /** Called when the client disconnects before the answer. */
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

/** Opens a stream that starts with events of another one. */
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

/** Checks for the only error of calls that has its own HTTP status, 400. */
function isLacking(message: JSONRPCMessage): boolean {
  return "error" in message && message.error.code === LACKING;
}
