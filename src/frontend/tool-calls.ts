import { isRecord } from "../model/json.ts";
import type { ToolCall } from "../model/program.ts";

const NAMES = ["tool", "name", "function", "tool_name", "method", "action"] as const;
const ARGUMENTS = ["arguments", "args", "parameters", "params", "input", "action_input", "tool_input"] as const;

/** Limits of the calls that are read from one text. */
const MAX_CALLS = 10;
const MAX_CHARACTERS = 20_000;
const MAX_DEPTH = 50;

/**
 * Parses JSON tool calls, in the forms that models are trained on, from a text that should be code. Returns `undefined` for
 * any other text.
 */
export function parseToolCalls(text: string): readonly ToolCall[] | undefined {
  const bare = text
    .trim()
    .replace(/^<(tool_calls?|function_calls?)>([^]*)<\/\1>$/, "$2")
    .trim();
  if (!/^[[{]/.test(bare) || !/[\]}]$/.test(bare) || isTooLarge(bare)) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(bare);
  } catch {
    return undefined; // not JSON: it may be code
  }
  const calls = findCalls(value);
  return calls === undefined || calls.length === 0 ? undefined : calls.slice(0, MAX_CALLS);
}

function isTooLarge(json: string): boolean {
  if (json.length > MAX_CHARACTERS) return true;
  let depth = 0;
  for (const { 0: bracket } of json.matchAll(/[[\]{}]/g)) {
    depth += bracket === "[" || bracket === "{" ? 1 : -1;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}

function findCalls(value: unknown): readonly ToolCall[] | undefined {
  if (Array.isArray(value)) {
    const calls = value.map((entry: unknown) => findCall(entry));
    return calls.every((call) => call !== undefined) ? calls : undefined;
  }
  if (isRecord(value) && Array.isArray(value["tool_calls"])) return findCalls(value["tool_calls"]);
  const call = findCall(value);
  return call === undefined ? undefined : [call];
}

function findCall(value: unknown): ToolCall | undefined {
  if (!isRecord(value)) return undefined;
  if (isRecord(value["function"])) return findCall(value["function"]);
  const name = NAMES.map((key) => value[key]).find((found) => typeof found === "string");
  const args = ARGUMENTS.map((key) => value[key]).find((found) => found !== undefined);
  if (name === undefined || args === undefined) return undefined;
  const parsed = typeof args === "string" ? parsedOrUndefined(args) : args;
  return isRecord(parsed) ? { name, arguments: parsed } : undefined;
}

/** Parses arguments that are JSON inside a JSON string. */
function parsedOrUndefined(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined; // another string: not a tool call
  }
}
