import { type JSONRPCMessage, ProtocolErrorCode, type Transport } from "@modelcontextprotocol/server";

import { toWireCode } from "./upstream-errors.ts";
import { isRecord, parseJson } from "../../model/json.ts";
import { numbersToMarks } from "../../shared/json/exact-json.ts";
import { truncateText } from "../../shared/format-text.ts";

/**
 * Rewrites validation errors of the SDK, which contain the JSON of its validator and for some requests the code of an
 * internal error, as readable Invalid params errors. Numbers become marks, because the SDK may write the message.
 */
export function withReadableErrors(transport: Transport): void {
  const send = transport.send.bind(transport);
  transport.send = (message, options) => send(numbersToMarks(formatFlaws(message)), options);
}

/** Maximum number of flaws in one message. */
const MAX_FLAWS = 5;

function formatFlaws(message: JSONRPCMessage): JSONRPCMessage {
  if (!("error" in message)) return message;
  const flaws = findFlaws(message.error.message);
  if (flaws.length === 0) return { ...message, error: { ...message.error, code: toWireCode(message.error.code) } };
  const text = `Invalid params: ${flaws.slice(0, MAX_FLAWS).map(formatFlaw).join("; ")}`;
  return { ...message, error: { ...message.error, code: ProtocolErrorCode.InvalidParams, message: text } };
}

/** Parses the validator's list at the end of a message; empty if it has none. */
function findFlaws(text: string): readonly Record<string, unknown>[] {
  const start = text.indexOf("[\n");
  if (start < 0 || !text.endsWith("]")) return [];
  const flaws = parseJson(text.slice(start));
  return Array.isArray(flaws) && flaws.every((flaw) => isRecord(flaw) && Array.isArray(flaw["path"])) ? flaws : [];
}

/** `name: expected string, received undefined` */
function formatFlaw({ path, message }: Readonly<Record<string, unknown>>): string {
  const where = [path]
    .flat()
    .join(".")
    .replace(/^params\./, "");
  return truncateText(`${where}: ${String(message).replace(/^Invalid (?:input|option): /, "")}`, 300);
}
