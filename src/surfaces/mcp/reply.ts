import { type JSONRPCMessage, ProtocolErrorCode } from "@modelcontextprotocol/server";

import { type EventStream, openEventStream } from "./event-stream.ts";
import { messageText } from "./rpc-error.ts";
import type { Exchange } from "./sessions.ts";

/** The answer to one request over HTTP: plain JSON if nothing is said before it, else a stream of all that is said. */
export interface Reply {
  readonly response: Promise<Response>;
  /** What is said on the way; after the answer, nobody listens. */
  readonly say: (message: JSONRPCMessage) => void;
  readonly answer: (message: JSONRPCMessage) => void;
}

export interface ReplyOptions {
  readonly respond: Exchange["respond"];
  readonly headers?: Readonly<Record<string, string>>;
  /** Who waits in silence for longer is given the stream, on which there are signs of life. */
  readonly silenceMs?: number;
  /** The client has gone before the answer. */
  readonly onGone: () => void;
}

export function openReply({ respond, headers = {}, silenceMs, onGone }: ReplyOptions): Reply {
  let resolve: (response: Response) => void = () => {};
  let stream: EventStream | undefined;
  let isAnswered = false;
  const response = new Promise<Response>((settle) => (resolve = settle));
  const open = (): EventStream => {
    stream ??= openEventStream(onGone, headers);
    resolve(stream.response);
    return stream;
  };
  const timer = silenceMs === undefined ? undefined : setTimeout(open, silenceMs);
  return {
    response,
    say(message) {
      if (!isAnswered) open().sendText("message", messageText(message));
    },
    answer(message) {
      if (isAnswered) return;
      isAnswered = true;
      clearTimeout(timer);
      const text = messageText(message);
      if (stream === undefined) return resolve(respond(text, isLacking(message) ? 400 : 200, headers));
      stream.sendText("message", text);
      stream.end();
    },
  };
}

const LACKING: number = ProtocolErrorCode.MissingRequiredClientCapability;

/** Of all errors of calls, the protocol has a status for this one only. */
function isLacking(message: JSONRPCMessage): boolean {
  return "error" in message && message.error.code === LACKING;
}
