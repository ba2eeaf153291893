import type { RunObserver } from "../../model/run-observer.ts";
import { isRecord } from "../../model/json.ts";
import type { RpcId, RpcResponse } from "../../shared/json/json-rpc.ts";

/** UTF-16 units of JSON above which a streaming transport sends a result in parts. */
const WHOLE_CHARACTERS = 256 << 10;

/** UTF-16 units of one part. */
const PART_CHARACTERS = 64 << 10;

/** A JSON-RPC notification about a call in progress. */
export interface Notice {
  readonly jsonrpc: "2.0";
  readonly method: "tools/progress" | "tools/log" | "tools/output" | "tools/part";
  readonly params: Readonly<Record<string, unknown>>;
}

export type Emit = (message: Notice | RpcResponse) => void;

/** Emits the progress, log lines and output of a call as notifications with the id of its request. */
export function createObserver(id: RpcId | undefined, emit: (notice: Notice) => void): RunObserver {
  const say = (method: Notice["method"], params: Readonly<Record<string, unknown>>): void =>
    emit({ jsonrpc: "2.0", method, params: { id: id ?? null, ...params } });
  return {
    onCallStart: (tool) => say("tools/progress", { tool, state: "began" }),
    onCallEnd: ({ skill, method, outcome }) => say("tools/progress", { tool: `${skill}.${method}`, state: outcome }),
    progress: (tool, progress, total, message) =>
      say("tools/progress", {
        tool,
        state: "running",
        progress,
        ...(total !== undefined && { total }),
        ...(message !== undefined && { message }),
      }),
    onOutput: (text) => say("tools/output", { text }),
    log: (tool, level, text) => say("tools/log", { tool, level, text }),
  };
}

/**
 * Sends an answer. A large one goes out as parts of its `data` as JSON, then as an answer with `data: null` and the
 * number of parts.
 */
export function emitAnswer(answer: RpcResponse | readonly RpcResponse[], emit: Emit): void {
  for (const each of Array.isArray(answer) ? answer : [answer]) emitOne(each, emit);
}

function emitOne(answer: RpcResponse, emit: Emit): void {
  const result = "result" in answer ? answer.result : undefined;
  const json = isRecord(result) && Object.hasOwn(result, "data") ? JSON.stringify(result["data"]) : "";
  if (!isRecord(result) || json.length <= WHOLE_CHARACTERS) return emit(answer);
  let parts = 0;
  for (const text of splitIntoChunks(json)) {
    emit({ jsonrpc: "2.0", method: "tools/part", params: { id: answer.id, part: parts, text } });
    parts++;
  }
  emit({ jsonrpc: "2.0", id: answer.id, result: { ...result, data: null, parts } });
}

function* splitIntoChunks(json: string): Generator<string> {
  for (let at = 0; at < json.length; at += PART_CHARACTERS) yield json.slice(at, at + PART_CHARACTERS);
}
