import { type Agent, type IncomingMessage, request as requestHttp, type RequestOptions } from "node:http";
import { request as requestHttps } from "node:https";
import { pipeline, type Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";

import { addressIn } from "./addresses.ts";
import { AddressRefused, type AllowedAddresses, guardedLookup, isAllowedUrl } from "./guarded-lookup.ts";
import { type AnswerHeaders, getHeader } from "./headers.ts";

/** A request as it is sent. */
export interface WireRequest {
  readonly method: string;
  /** Path with query, as it is sent. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

export interface ExchangeOptions {
  readonly server: URL;
  readonly reach: AllowedAddresses;
  /** Keeps connections; without it, each request has its own. */
  readonly agent: Agent | false;
  /** How long the server may take until its headers. */
  readonly headersMs: number;
  readonly signal: AbortSignal;
}

export interface Answer {
  readonly status: number;
  readonly headers: AnswerHeaders;
  /** The body, decompressed. */
  readonly body: Readable;
}

/** The server did not answer in time. */
export class AnswerTimeout extends Error {}

/** Sends a request, and resolves with the answer when its headers are there. */
export async function exchange(request: WireRequest, options: ExchangeOptions): Promise<Answer> {
  const { server, reach, agent, headersMs, signal } = options;
  const refuse = (): Error =>
    new AddressRefused(
      `${server.host} is an address of a private network; the owner allows it by private: true in its settings`,
    );
  if (!isAllowedUrl(server, reach)) throw refuse();
  const message = await new Promise<IncomingMessage>((resolve, reject) => {
    const sendOptions: RequestOptions = {
      method: request.method,
      hostname: addressIn(server) ?? server.hostname,
      ...(server.port !== "" && { port: server.port }),
      path: request.target,
      headers: { ...request.headers, ...describeLength(request) },
      lookup: guardedLookup(reach, refuse),
      agent,
      signal,
    };
    const sent = (server.protocol === "https:" ? requestHttps : requestHttp)(sendOptions, (answer) => {
      clearTimeout(timer);
      answer.on("error", () => {}); // the reader of the body gets it, also if it begins later
      resolve(answer);
    });
    const timer = setTimeout(
      () => sent.destroy(new AnswerTimeout(`${server.host} did not answer within ${headersMs} ms`)),
      headersMs,
    );
    sent.on("error", reject);
    // Node closes a connection that becomes one of another protocol (101) without an error.
    sent.once("close", () => {
      clearTimeout(timer);
      reject(new Error(`${server.host} closed the connection without an answer`));
    });
    sent.end(request.body);
  });
  return { status: message.statusCode ?? 0, headers: message.headers, body: decompress(message) };
}

/** A request that may have a body says its length also if it has none. */
function describeLength({ method, body }: WireRequest): Readonly<Record<string, string>> {
  if (body !== undefined) return { "content-length": String(body.length) };
  return method === "POST" || method === "PUT" || method === "PATCH" ? { "content-length": "0" } : {};
}

export const ACCEPT_ENCODING = "gzip, br";

function decompress(message: IncomingMessage): Readable {
  const encoding = (getHeader(message.headers, "content-encoding") ?? "").trim().toLowerCase();
  const decoder =
    encoding === "gzip" || encoding === "x-gzip"
      ? createGunzip()
      : encoding === "deflate"
        ? createInflate()
        : encoding === "br"
          ? createBrotliDecompress()
          : undefined;
  if (decoder === undefined) return message;
  decoder.on("error", () => {}); // as above
  // Some servers name an encoding of an empty body, too, which a decoder refuses.
  const flush = decoder._flush.bind(decoder);
  decoder._flush = (done) => (decoder.bytesWritten === 0 ? done() : flush(done));
  return pipeline(message, decoder, () => {});
}
