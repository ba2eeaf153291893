import { type JSONRPCMessage, ProtocolErrorCode, type Transport } from "@modelcontextprotocol/server";

import { isRecord } from "../../model/json.ts";

/**
 * The SDK tells what is wrong with the parameters of a request in the JSON of its validator, of some requests as if it were
 * a fault of the server. Over this transport, it is told in words.
 */
export function withReadableErrors(transport: Transport): void {
  const send = transport.send.bind(transport);
  transport.send = (message, options) => send(formatFlaws(message), options);
}

/** More than these would not be read. */
const MAX_FLAWS = 5;

function formatFlaws(message: JSONRPCMessage): JSONRPCMessage {
  if (!("error" in message)) return message;
  const flaws = findFlaws(message.error.message);
  if (flaws.length === 0) return message;
  const text = `Invalid params: ${flaws.slice(0, MAX_FLAWS).map(formatFlaw).join("; ")}`;
  return { ...message, error: { ...message.error, code: ProtocolErrorCode.InvalidParams, message: text } };
}

/** What the validator has listed at the end of a text. */
function findFlaws(text: string): readonly Record<string, unknown>[] {
  const start = text.indexOf("[\n");
  if (start < 0 || !text.endsWith("]")) return [];
  try {
    const flaws: unknown = JSON.parse(text.slice(start));
    return Array.isArray(flaws) && flaws.every((flaw) => isRecord(flaw) && Array.isArray(flaw["path"])) ? flaws : [];
  } catch {
    return []; // these are words already
  }
}

/** `name: expected string, received undefined` */
function formatFlaw({ path, message }: Readonly<Record<string, unknown>>): string {
  const place = [path]
    .flat()
    .join(".")
    .replace(/^params\./, "");
  return `${place}: ${String(message).replace(/^Invalid (?:input|option): /, "")}`.slice(0, 300);
}
