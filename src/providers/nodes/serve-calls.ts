import type { NatsConnection } from "@nats-io/transport-node";

import { getMessage, sentence, SkillgateError } from "../../errors.ts";
import { isRecord, parseJson } from "../../model/json.ts";
import type { Caller } from "../../model/caller.ts";
import type { RunObserver } from "../../model/run-observer.ts";
import { extractContext, runInContext } from "../../telemetry/index.ts";
import { truncateText } from "../../shared/format-text.ts";
import { setBounded } from "../../shared/lru.ts";
import {
  createFacts,
  type IncomingPart,
  KIND,
  MAX_MESSAGE_BYTES,
  MessageReader,
  readFields,
  sendMessage,
  SIGNATURE,
  type Signatures,
  type WholeMessage,
} from "../../network/index.ts";
import type { NodeSettings } from "./settings.ts";
import type { ReplyKind } from "./subjects.ts";

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

/** Serves the calls of other machines. */
export interface CallServer {
  receive(part: IncomingPart & { readonly reply?: string | undefined }): void;
  /** Cancels a call by its id. */
  cancel(id: string): void;
  cancelAll(): void;
}

export interface CallServerOptions {
  readonly connection: NatsConnection;
  readonly settings: Pick<NodeSettings, "device" | "scopes" | "peers">;
  readonly runtime: OfferedRuntime;
  readonly signatures: Signatures;
  /** Returns the paths of the methods that are offered now. */
  readonly getPaths: () => readonly string[];
}

/** The most calls of other machines that are in progress. */
const MAX_CALLS = 256;

/** Ids of calls without a signature that are remembered, so that none is made twice. */
const MAX_CALL_IDS = 100_000;

/** A call as another machine sends it. */
interface RemoteRequest {
  readonly path: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly caller: string;
  readonly callId: string;
  readonly timeoutMs: number;
}

export function createCallServer(options: CallServerOptions): CallServer {
  const reader = new MessageReader();
  const running = new Map<string, AbortController>();
  const unsignedIds = new Map<string, true>();

  async function serve(message: WholeMessage, reply: string): Promise<void> {
    const { id } = message;
    // The same message again is the network's doing, or an attack.
    if (running.has(id)) return;
    const controller = new AbortController();
    running.set(id, controller);
    try {
      const isFull = running.size > MAX_CALLS;
      const text = Buffer.from(message.bytes).toString("utf8");
      await answerCall({ ...options, id, reply, text, unsignedIds }, message, { controller, isFull });
    } finally {
      running.delete(id);
    }
  }

  return {
    receive(part) {
      const { reply } = part;
      const message = reader.add(part);
      if (message === undefined || reply === undefined || reply === "") return;
      runInContext(extractContext(readFields(message.headers)), () => {
        serve(message, reply).catch(() => {}); // the connection has closed, which ends the call at the other machine
      });
    },
    cancel: (id) => running.get(id)?.abort(createCancelError("the other machine cancels it")),
    cancelAll() {
      for (const controller of running.values()) controller.abort(createCancelError("this machine leaves the network"));
    },
  };
}

interface IncomingCall extends CallServerOptions {
  readonly id: string;
  readonly reply: string;
  readonly text: string;
  readonly unsignedIds: Map<string, true>;
}

/** Makes the call, and sends what comes of it: progress, log lines, then one result. */
async function answerCall(
  call: IncomingCall,
  { headers: head }: WholeMessage,
  { controller, isFull }: { readonly controller: AbortController; readonly isFull: boolean },
): Promise<void> {
  const { settings, signatures, text, id } = call;
  const request = parseRequest(text);
  const path = request?.path ?? "";
  let answer: string;
  try {
    if (isFull) throw new Error(`The device makes ${MAX_CALLS} calls at once and takes no more`);
    if (request === undefined) throw new Error("The device cannot read the call");
    const signer = await signatures.verify(createFacts(settings.device, path, id + text), head.get(SIGNATURE));
    if (signer === undefined) requireNewId(id, call.unsignedIds);
    answer = formatValue(await makeCall(call, { ...request, signer }, controller));
  } catch (thrown) {
    const message = truncateText(getMessage(thrown), MAX_TEXT_UNITS);
    const { code, facts } = thrown instanceof SkillgateError ? thrown : {};
    answer = JSON.stringify({ error: { code, message, retryAfterSeconds: facts?.["retryAfterSeconds"] } });
  }
  await send(call, "result", answer, signatures.sign(createFacts(settings.device, path, id + text, answer)));
}

/** A signature is accepted once; without one, the id of a call must be new. */
function requireNewId(id: string, ids: Map<string, true>): void {
  if (ids.has(id)) throw new SkillgateError("SIGNATURE_REPLAYED", `The device has received the call ${id} before`);
  setBounded(ids, [id, true], MAX_CALL_IDS);
}

const MAX_TEXT_UNITS = 8_000;

async function makeCall(
  call: IncomingCall,
  request: RemoteRequest & { readonly signer: string | undefined },
  controller: AbortController,
): Promise<unknown> {
  const { settings, runtime, getPaths, connection } = call;
  const tell = (kind: ReplyKind, value: unknown): void => {
    if (!connection.isClosed()) void send(call, kind, JSON.stringify(value));
  };
  // The other machine must know that the call begins before it can have an effect.
  await send(call, "begun", "{}");
  await connection.flush();
  controller.signal.throwIfAborted();
  const says = "its time is over";
  const timer = setTimeout(() => controller.abort(createCancelError(says)), request.timeoutMs);
  try {
    return await runtime.call(request.path, request.input, {
      caller: {
        id: `${request.signer ?? "device"}/${request.caller}`,
        grants: getPaths(),
        scopes: settings.scopes,
      },
      signal: controller.signal,
      runId: request.callId,
      observer: {
        log: (_, level, text) => tell("log", { level, text: truncateText(text, MAX_TEXT_UNITS) }),
        progress: (_, done, total, text) => tell("progress", { done, total, text }),
        answered: ({ notes }) => tell("note", { notes: notes.slice(0, 20) }),
      },
    });
  } finally {
    clearTimeout(timer);
  }
}

function send(
  { connection, reply, id }: IncomingCall,
  kind: ReplyKind,
  text: string,
  fields: Readonly<Record<string, string>> = {},
): Promise<void> {
  return sendMessage(connection, {
    subject: reply,
    id,
    bytes: Buffer.from(text),
    headers: { ...fields, [KIND]: kind },
  });
}

function formatValue(value: unknown): string {
  const text = JSON.stringify({ value: value ?? null });
  if (Buffer.byteLength(text) <= MAX_MESSAGE_BYTES) return text;
  throw new SkillgateError("ANSWER_LIMIT", sentence("ANSWER_LIMIT", `it has more than ${MAX_MESSAGE_BYTES} bytes`));
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
  return new SkillgateError("CALL_CANCELLED", sentence("CALL_CANCELLED", why));
}
