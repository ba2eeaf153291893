import { isRecord } from "../../model/json.ts";
import { parseExactly, removeMarks, roundBigInts } from "../../shared/json/exact-json.ts";

/**
 * Parses JSON of a client. The arguments of tool calls have BigInts for the integers that a number cannot hold exactly. Throws
 * for a number beyond the range of numbers.
 */
export function parseExactMessages(text: string): unknown {
  const value = parseExactly(text);
  for (const message of [value].flat()) if (isRecord(message)) roundBigInts(message, findArguments(message));
  return value;
}

function findArguments({ method, params }: Readonly<Record<string, unknown>>): unknown {
  return method === "tools/call" && isRecord(params) ? params["arguments"] : undefined;
}

/** Returns a response of the SDK with the digits of the marks in it. Each message is one chunk of its body. */
export function withoutMarks(response: Response): Response {
  const { body, status, statusText, headers } = response;
  if (body === null) return response;
  const transform = (chunk: Uint8Array, controller: TransformStreamDefaultController<Uint8Array>): void => {
    const text = Buffer.from(chunk).toString();
    const digits = removeMarks(text);
    controller.enqueue(digits === text ? chunk : Buffer.from(digits));
  };
  const withDigits = body.pipeThrough(new TransformStream<Uint8Array, Uint8Array>({ transform }));
  return new Response(withDigits, { status, statusText, headers });
}
