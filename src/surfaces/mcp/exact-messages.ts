import { isRecord } from "../../model/json.ts";
import { parseExactly, roundBigInts } from "../../shared/json/exact-json.ts";

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
