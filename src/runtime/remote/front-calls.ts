import { Cancellation, parseTagged } from "../../../sandbox/index.ts";
import { getMessage, sentence, SkillgateError } from "../../errors.ts";
import type { ExecutorSettings, FrontAnswer, FrontCall, Fronts, SentValue } from "../../executors/index.ts";
import type { Limits } from "../../model/limits.ts";
import { answerTo, type CallElsewhere, type Route } from "../../router/index.ts";
import { decodeFromGuest, encodeForGuest } from "../../shared/value-encoding.ts";
import { createCall, createUnknownMethodError } from "../call-method.ts";
import type { RunRequest } from "../execution/run-services.ts";

/** The function that lets a front make the calls of an executor that need credentials. */
export function createCallElsewhere(fronts: Fronts, { answerBytes }: Limits): CallElsewhere {
  return async (call, input) => {
    const { runId, id, caller, method, cancellable } = call;
    const answer = await fronts.call(
      {
        runId,
        id,
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
async function makeFrontCall(
  sent: FrontCall,
  signal: AbortSignal,
  { createRequest, makeDecided }: FrontServices,
): Promise<FrontAnswer> {
  try {
    const request = createRequest({ caller: sent.caller, signal });
    const input = decode(sent.input);
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
    const { value, notes } = await answerTo(decided, makeDecided);
    return { value: encode(value, request.limits.answerBytes), notes };
  } catch (error) {
    const { code, facts } = error instanceof SkillgateError ? error : {};
    return { error: { message: getMessage(error), ...(code !== undefined && { code, facts }) } };
  }
}

function createNoAccountError(path: string): SkillgateError {
  const says = `${path} uses no account here, so that no server makes the call for an executor`;
  return new SkillgateError("ACCOUNT_UNAVAILABLE", sentence("ACCOUNT_UNAVAILABLE", says));
}

/** The parts of the runtime of a front that make the calls of executors. */
export interface FrontServices {
  readonly createRequest: (options: Pick<RunRequest, "caller"> & { readonly signal: AbortSignal }) => RunRequest;
  readonly makeDecided: Route;
}

function encode(value: unknown, maxBytes: number): SentValue {
  const encoded = encodeForGuest(value, maxBytes);
  if (encoded !== undefined) return encoded;
  throw new SkillgateError("ANSWER_LIMIT", sentence("ANSWER_LIMIT", `it has more than ${maxBytes} bytes`));
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
