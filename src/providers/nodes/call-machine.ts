import { createError, sentence, SkillgateError } from "../../errors.ts";
import { isRecord, parseJson } from "../../model/json.ts";
import type { CallContext, LogLevel, MethodDefinition } from "../../model/skill.ts";
import { truncateText } from "../../shared/format-text.ts";
import { REMOTE_CODES } from "../../shared/remote-errors.ts";
import type { Machine, RequestEnd } from "../../network/index.ts";
import { MAX_MESSAGE_BYTES } from "./settings.ts";

/** A call of a method of another machine. */
export interface RemoteCall {
  /** The skill's name on that machine. */
  readonly skill: string;
  readonly method: MethodDefinition;
  readonly input: Readonly<Record<string, unknown>>;
  readonly context: CallContext;
}

/** The error of a call that a machine did not answer. `isSent` is true if the call may have had an effect. */
export class NodeGoneError extends SkillgateError {
  readonly isSent: boolean;

  constructor(device: string, why: string, isSent: boolean) {
    const effect = isSent ? "; the call was sent, and whether it had an effect is unknown" : "";
    super("NODE_GONE", sentence("NODE_GONE", `"${device}" ${why}${effect}`), { device });
    this.isSent = isSent;
  }
}

/** Calls a method of a machine. `isRepeatable`: the call does no harm when another machine makes it, too. */
export async function callMachine(machine: Machine, call: RemoteCall, isRepeatable = false): Promise<unknown> {
  const { skill, method, input, context } = call;
  const { signal, caller, callId, timeoutMs } = context;
  signal.throwIfAborted();
  const text = JSON.stringify({ path: `${skill}.${method.name}`, input, caller: caller.id, callId, timeoutMs });
  requireLength(text);
  const request = machine.request("call", text, {
    onEvent: (event) => passOn(parseJson(event), context),
    isRepeatable,
  });
  const cancel = (): void => {
    request.cancel();
    request.end({ kind: "cancelled" });
  };
  signal.addEventListener("abort", cancel, { once: true });
  try {
    const end = await request.ended;
    signal.throwIfAborted();
    return readAnswer(machine.device, end);
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

export function createOfflineError(): SkillgateError {
  return createError("NODES_OFFLINE", "there is no connection to the NATS server; it is tried again");
}

function requireLength(text: string): void {
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_MESSAGE_BYTES) return;
  const says = `they have ${bytes} bytes, and another machine takes ${MAX_MESSAGE_BYTES}`;
  throw createError("ARGUMENTS_INVALID", says);
}

const MAX_TEXT_UNITS = 8_000;
const LEVELS: ReadonlySet<unknown> = new Set(["debug", "info", "warn", "error"]);

/** Passes on what a method says while it runs. */
function passOn(event: unknown, context: CallContext): void {
  if (!isRecord(event)) return;
  const { kind, level, text, done, total, notes } = event;
  const says = typeof text === "string" ? truncateText(text, MAX_TEXT_UNITS) : undefined;
  if (kind === "log" && LEVELS.has(level) && says !== undefined) context.log(level as LogLevel, says);
  if (kind === "progress" && Number.isFinite(done))
    context.progress(done as number, Number.isFinite(total) ? (total as number) : undefined, says);
  if (kind === "note" && Array.isArray(notes))
    for (const note of notes.slice(0, 20)) if (typeof note === "string") context.addNote?.(truncateText(note, 1_000));
}

function readAnswer(device: string, end: RequestEnd): unknown {
  switch (end.kind) {
    case "result":
      return parseResult(end.text, device);
    case "refusal":
      throw new NodeGoneError(device, `does not make the call: ${truncateText(end.text, MAX_TEXT_UNITS)}`, false);
    case "gone":
      throw new NodeGoneError(device, end.why, end.isSent);
    case "offline":
    case "cancelled":
      throw new NodeGoneError(device, "cannot be reached: the connection to the network is lost", true);
  }
}

function parseResult(text: string, device: string): unknown {
  const answer = parseJson(text);
  if (isRecord(answer) && Object.hasOwn(answer, "value")) return answer["value"];
  const error = isRecord(answer) ? answer["error"] : undefined;
  const { code, message, retryAfterSeconds } = isRecord(error) ? error : {};
  if (typeof message !== "string") {
    const says = `the answer of "${device}" has neither a value nor an error`;
    throw createError("NODE_ANSWER_INVALID", says, { device });
  }
  const says = `${device}: ${truncateText(message, MAX_TEXT_UNITS)}`;
  const errorCode = [...REMOTE_CODES].find((remote) => remote === code);
  const retry = Number.isFinite(retryAfterSeconds) ? { retryAfterSeconds: Math.max(0, Number(retryAfterSeconds)) } : {};
  if (errorCode !== undefined) throw new SkillgateError(errorCode, says, { device, ...retry });
  throw new Error(says);
}
