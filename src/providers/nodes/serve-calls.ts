import { createError, getMessage, SkillgateError } from "../../errors.ts";
import { isRecord, parseJson } from "../../model/json.ts";
import type { Caller } from "../../model/caller.ts";
import type { RunObserver } from "../../model/run-observer.ts";
import type { IncomingRequest } from "../../network/index.ts";
import { truncateText } from "../../shared/format-text.ts";
import { MAX_MESSAGE_BYTES, type NodeSettings } from "./settings.ts";

/** Calls methods by the rules of this machine: its policy, approvals, limits and audit. */
export interface OfferedRuntime {
  call(
    path: string,
    input: Readonly<Record<string, unknown>>,
    options: {
      readonly caller: Caller;
      readonly signal: AbortSignal;
      readonly observer: RunObserver;
      readonly runId: string;
    },
  ): Promise<unknown>;
}

export interface CallServerOptions {
  readonly settings: Pick<NodeSettings, "scopes">;
  readonly runtime: OfferedRuntime;
  /** Returns the permissions for the methods that are offered now. */
  readonly getPermissions: () => readonly string[];
}

/** The most calls of other machines that are in progress. */
const MAX_CALLS = 256;

/** A call as another machine sends it. */
interface RemoteRequest {
  readonly path: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly caller: string;
  readonly callId: string;
  readonly timeoutMs: number;
}

/** Makes the calls of other machines. */
export class CallServer {
  readonly #options: CallServerOptions;
  readonly #running = new Set<AbortController>();

  constructor(options: CallServerOptions) {
    this.#options = options;
  }

  /** Makes a call, and sends what comes of it: progress, log lines, then one result. */
  async answer(request: IncomingRequest): Promise<void> {
    const call = parseRequest(request.text);
    if (call === undefined) return request.send("refusal", "it cannot read the call");
    if (this.#running.size >= MAX_CALLS)
      return request.send("refusal", `it makes ${MAX_CALLS} calls at once and takes no more`);
    const controller = new AbortController();
    request.onCancel = () => controller.abort(createCancelError("the other machine cancels it"));
    const timeout = (): void => controller.abort(createCancelError("its time is over"));
    const timer = setTimeout(timeout, call.timeoutMs);
    this.#running.add(controller);
    let answer: string;
    try {
      answer = formatValue(await this.#call(request, call, controller.signal));
    } catch (thrown) {
      const message = truncateText(getMessage(thrown), MAX_TEXT_UNITS);
      const { code, facts } = thrown instanceof SkillgateError ? thrown : {};
      answer = JSON.stringify({ error: { code, message, retryAfterSeconds: facts?.["retryAfterSeconds"] } });
    } finally {
      clearTimeout(timer);
      this.#running.delete(controller);
    }
    await request.send("result", answer);
  }

  cancelAll(): void {
    for (const controller of this.#running) controller.abort(createCancelError("this machine leaves the network"));
  }

  #call(
    { from = "device", send }: IncomingRequest,
    { path, input, caller, callId }: RemoteRequest,
    signal: AbortSignal,
  ): Promise<unknown> {
    const { settings, runtime, getPermissions } = this.#options;
    const tell = (event: object): void => void send("event", JSON.stringify(event));
    return runtime.call(path, input, {
      caller: { id: `${from}/${caller}`, permissions: getPermissions(), scopes: settings.scopes },
      signal,
      runId: callId,
      observer: {
        log: (_, level, text) => tell({ kind: "log", level, text: truncateText(text, MAX_TEXT_UNITS) }),
        progress: (_, done, total, text) => tell({ kind: "progress", done, total, text }),
        answered: ({ notes }) => tell({ kind: "note", notes: notes.slice(0, 20) }),
      },
    });
  }
}

const MAX_TEXT_UNITS = 8_000;

function formatValue(value: unknown): string {
  const text = JSON.stringify({ value: value ?? null });
  if (Buffer.byteLength(text) <= MAX_MESSAGE_BYTES) return text;
  throw createError("ANSWER_LIMIT", `it has more than ${MAX_MESSAGE_BYTES} bytes`);
}

/** Parses a call; `undefined` if it is not valid. */
function parseRequest(text: string): RemoteRequest | undefined {
  const body = parseJson(text);
  const { path, input, caller, callId, timeoutMs } = isRecord(body) ? body : {};
  const isValid = isText(path) && isRecord(input) && isText(caller) && isText(callId) && typeof timeoutMs === "number";
  if (!isValid) return undefined;
  return { path, input, caller, callId, timeoutMs: Math.min(Math.max(timeoutMs, 1), MAX_TIMEOUT_MS) };
}

const MAX_TIMEOUT_MS = 3_600_000;
const MAX_NAME_UNITS = 512;

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= MAX_NAME_UNITS;
}

function createCancelError(why: string): SkillgateError {
  return createError("CALL_CANCELLED", why);
}
