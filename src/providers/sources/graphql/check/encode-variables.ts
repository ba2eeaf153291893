import { randomUUID } from "node:crypto";

import { UNKNOWN } from "../../../../model/plan.ts";
import type { EncodedVariables } from "./protocol.ts";

const MARK = `unknown ${randomUUID()}`;

/** Encodes the values of variables for the thread. What is not JSON, such as the bytes of a file, counts as unknown. */
export function encodeVariables(variables: unknown): EncodedVariables {
  const replace = (_name: string, value: unknown): unknown =>
    typeof value === "symbol" || typeof value === "bigint" || ArrayBuffer.isView(value) ? MARK : value;
  return { json: JSON.stringify(variables, replace) ?? "null", mark: MARK };
}

export function decodeVariables({ json, mark }: EncodedVariables): unknown {
  if (!json.includes(mark)) return JSON.parse(json);
  return JSON.parse(json, (_name, value: unknown) => (value === mark ? UNKNOWN : value));
}
