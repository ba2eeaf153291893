import { Cancellation, parseTagged } from "../../../sandbox/index.ts";
import { createError, getMessage, SkillgateError } from "../../errors.ts";
import type { ExecutorSettings, FrontAnswer, FrontCall, Fronts, SentValue } from "../../executors/index.ts";
import type { Caller } from "../../model/caller.ts";
import type { Limits } from "../../model/limits.ts";
import { answerTo, type CallElsewhere, type Route } from "../../router/index.ts";
import { decodeFromGuest, encodeForGuest } from "../../shared/values/value-encoding.ts";
import type { Database } from "../../store/index.ts";
import { createCall, createUnknownMethodError } from "../call-method.ts";
import type { RuntimeParts } from "../api/parts.ts";
import type { RunRequest } from "../execution/run-services.ts";
import { findRecordedCall } from "./find-recorded-call.ts";

/** The function that lets a front make the calls of an executor that need credentials. */
export function createCallElsewhere(fronts: Fronts, { answerBytes }: Limits): CallElsewhere {
  return async (call, input) => {
    const { runId, id, within, caller, method, cancellable } = call;
    const answer = await fronts.call(
      {
        runId,
        id,
        ...(within && { within }),
        caller,
        path: method.path,
        input: encode(input, answerBytes),
        accounts: call.accounts().map((used) => used.id),
      },
      cancellable.signal,
    );
    if ("error" in answer) throw (await import("../../executors/index.ts")).restoreError(answer.error);
    for (const note of answer.notes) call.addNote(note);
    return decode(answer.value);
  };
}

/** Makes a call that an executor has decided on, with the credentials of this process. Never rejects. */
async function makeFrontCall(sent: FrontCall, signal: AbortSignal, services: FrontServices): Promise<FrontAnswer> {
  try {
    const input = decode(sent.input);
    const request = services.createRequest({ caller: await requireCaller(sent, input, services), signal });
    const call = createCall(sent.path, request, {
      id: sent.id,
      runId: sent.runId,
      cancellable: request.cancellable ?? new Cancellation(),
      readArguments: () => [input],
    });
    if (call === undefined) throw createUnknownMethodError(sent.path, request);
    // An executor makes all other calls itself.
    if (call.method.definition.accounts === undefined) throw createNoAccountError(sent.path);
    const decided = { ...call, decidedFor: sent.accounts, addNote: () => {}, onEnded: () => {} };
    const { value, notes } = await answerTo(decided, services.makeDecided);
    return { value: encode(value, request.limits.answerBytes), notes };
  } catch (error) {
    const { code, facts } = error instanceof SkillgateError ? error : {};
    return { error: { message: getMessage(error), ...(code !== undefined && { code, facts }) } };
  }
}

/** Returns the caller of the run that makes a call, with its recorded rights. Notes a call that the record of the run does not have. */
async function requireCaller(
  sent: FrontCall,
  input: unknown,
  { openDatabase, isSaved, onRefusal }: FrontServices,
): Promise<Caller> {
  try {
    const { caller } = await findRecordedCall(await openDatabase(), { sent, input, isSaved });
    const { token } = sent.caller; // the run may have got a newer one
    return token === undefined ? caller : { ...caller, token };
  } catch (error) {
    onRefusal(sent, error);
    throw error;
  }
}

/** Notes in the log and in the audit log that a machine has asked for a call that no run has made. */
export function noteRefusedCall(
  { log, audit }: Pick<RuntimeParts, "log" | "audit">,
  { runId, id, caller, path }: FrontCall,
  error: unknown,
): void {
  log("warn", getMessage(error));
  audit?.writer.add({
    time: new Date().toISOString(),
    event: "decision",
    runId,
    callId: id,
    caller: caller.id,
    method: path,
    decision: "refused",
    outcome: "refused",
    ...(error instanceof SkillgateError && { code: error.code }),
  });
}

function createNoAccountError(path: string): SkillgateError {
  const says = `${path} uses no account here, so that no server makes the call for an executor`;
  return createError("ACCOUNT_UNAVAILABLE", says);
}

/** The parts of the runtime of a front that make the calls of executors. */
export interface FrontServices {
  readonly createRequest: (options: Pick<RunRequest, "caller"> & { readonly signal: AbortSignal }) => RunRequest;
  readonly makeDecided: Route;
  readonly openDatabase: () => Promise<Pick<Database, "runs">>;
  /** True for the path of a saved program. */
  readonly isSaved: (path: string) => boolean;
  /** Gets each call that is refused because no run has made it. */
  readonly onRefusal: (call: FrontCall, error: unknown) => void;
}

function encode(value: unknown, maxBytes: number): SentValue {
  const encoded = encodeForGuest(value, maxBytes);
  if (encoded !== undefined) return encoded;
  throw createError("ANSWER_LIMIT", `it has more than ${maxBytes} bytes`);
}

function decode({ json, tagged }: SentValue): unknown {
  return decodeFromGuest(json, tagged ? parseTagged : JSON.parse);
}

/** Serves the calls of executors in the background. Without the network, executors say that no server can be reached. */
export function serveExecutors(
  settings: ExecutorSettings,
  services: FrontServices,
  warn: (text: string) => void,
): Closing {
  // Loaded only now: it takes the library of NATS along.
  const opened = import("../../executors/index.ts").then(({ serveFrontCalls }) =>
    serveFrontCalls({ settings, warn }, (call, signal) => makeFrontCall(call, signal, services)),
  );
  opened.catch((error: unknown) => warn(`Cannot make calls for executors: ${getMessage(error)}`));
  return { close: async () => (await opened.catch(() => undefined))?.close() };
}

interface Closing {
  close(): Promise<void>;
}
