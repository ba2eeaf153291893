import { setTimeout as pause } from "node:timers/promises";

import { createError, type SkillgateError } from "../errors.ts";
import type { Caller } from "../model/caller.ts";
import { isRecord, isTextList, parseJson } from "../model/json.ts";
import { type IncomingRequest, type Machine, openClient, openServer } from "../network/index.ts";
import type { RecordedPlace } from "../router/index.ts";
import { MAX_BYTES } from "./protocol.ts";
import type { ExecutorSettings } from "./settings.ts";

/** A value as text; `tagged` says that it holds bytes, dates or `undefined`. */
export interface SentValue {
  readonly json: string;
  readonly tagged: boolean;
}

/** A call that an executor has decided on, and that a front makes, because only fronts have the credentials of accounts. */
export interface FrontCall {
  readonly runId: string;
  /** The number of the call in its run. */
  readonly id: number;
  /** The call in the record of the run, if a saved program makes this one. */
  readonly within?: RecordedPlace;
  /** `Skill.method` */
  readonly path: string;
  readonly caller: Caller;
  /** The arguments by name. */
  readonly input: SentValue;
  /** The ids of the connections for which the call was decided on. */
  readonly accounts: readonly string[];
}

export type FrontAnswer =
  | { readonly value: SentValue; readonly notes: readonly string[] }
  | { readonly error: { readonly code?: string; readonly message: string; readonly facts?: unknown } };

/** The fronts of a network, for an executor. */
export interface Fronts {
  /** Lets a front make a call. Rejects with `ACCOUNT_UNAVAILABLE` if none can, and with `EXECUTOR_GONE` if it went away meanwhile. */
  call(call: FrontCall, signal: AbortSignal): Promise<FrontAnswer>;
  close(): Promise<void>;
}

interface NetworkOptions {
  readonly settings: ExecutorSettings;
  readonly warn: (text: string) => void;
}

const GROUP = "fronts";

/** The time for which a front is looked for, and between two looks, in milliseconds. */
const PATIENCE_MS = 2_000;
const RETRY_MS = 50;

/** Finds the fronts of a network in the background. */
export async function connectFronts({ settings, warn }: NetworkOptions): Promise<Fronts> {
  const machines = new Set<Machine>();
  const client = await openClient({
    settings,
    group: GROUP,
    maxBytes: MAX_BYTES,
    describe: () => ({}),
    warn,
    onFacts: (machine) => void machines.add(machine),
    onGone: (machine) => void machines.delete(machine),
  });
  const offer = async (text: string, signal: AbortSignal): Promise<FrontAnswer | undefined> => {
    const order = [...machines].toSorted((a, b) => Number(a.isAbsent) - Number(b.isAbsent) || a.size - b.size);
    for (const machine of order) {
      const answer = await send(machine, text, signal);
      if (answer !== undefined) return answer;
    }
    return undefined;
  };
  return {
    async call(call, signal) {
      await client.known;
      const text = JSON.stringify(call);
      const end = performance.now() + PATIENCE_MS;
      for (;;) {
        const answer = await offer(text, signal);
        if (answer !== undefined) return answer;
        signal.throwIfAborted();
        if (performance.now() > end) throw createMissingError(call.path);
        await pause(RETRY_MS);
      }
    },
    async close() {
      for (const machine of machines) machine.cancelAll("the executor closes");
      await client.flush();
      await client.close();
    },
  };
}

/** Sends a call to one front; `undefined` if it has certainly not begun. */
async function send(machine: Machine, text: string, signal: AbortSignal): Promise<FrontAnswer | undefined> {
  const request = machine.request("call", text);
  const cancel = (): void => request.cancel();
  signal.addEventListener("abort", cancel, { once: true });
  const end = await request.ended;
  signal.removeEventListener("abort", cancel);
  if (end.kind === "result") return parseAnswer(parseJson(end.text));
  if (end.kind === "cancelled") throw signal.reason;
  if (end.kind === "refusal" || !end.isSent) return undefined;
  const says = `the server ${machine.device}, which made the call, has gone; whether the call had an effect is unknown`;
  throw createError("EXECUTOR_GONE", says);
}

function parseAnswer(value: unknown): FrontAnswer {
  const { value: result, notes, error } = isRecord(value) ? value : {};
  if (isRecord(error) && typeof error["message"] === "string") return value as FrontAnswer;
  if (isSentValue(result) && isTextList(notes)) return { value: result, notes };
  const says = "the answer of a server to a call has neither a value nor an error";
  throw createError("EXECUTOR_ANSWER_INVALID", says);
}

function createMissingError(path: string): SkillgateError {
  const says = `${path} is called by a server, which has the credentials, and no server of this network can be reached`;
  return createError("ACCOUNT_UNAVAILABLE", says);
}

/** Makes the calls of executors that need credentials, until `close`. */
export async function serveFrontCalls(
  { settings, warn }: NetworkOptions,
  make: (call: FrontCall, signal: AbortSignal) => Promise<FrontAnswer>,
): Promise<{ close(): Promise<void> }> {
  const open = new Set<AbortController>();
  const answerRequest = async (request: IncomingRequest): Promise<void> => {
    const call = request.method === "call" ? parseCall(parseJson(request.text)) : undefined;
    if (call === undefined) return request.send("refusal", "it cannot read the call");
    const controller = new AbortController();
    open.add(controller);
    request.onCancel = () => controller.abort();
    const answer = await make(call, controller.signal);
    open.delete(controller);
    await request.send("result", JSON.stringify(answer));
  };
  const server = await openServer({
    settings,
    group: GROUP,
    maxBytes: MAX_BYTES,
    describe: () => ({}),
    answer: answerRequest,
    warn,
  });
  return {
    async close() {
      for (const controller of open) controller.abort();
      await server.close();
    },
  };
}

/** Parses a call; `undefined` if it is not valid. Its sender is trusted as far as its key says. */
function parseCall(value: unknown): FrontCall | undefined {
  if (!isRecord(value)) return undefined;
  const { runId, id, within, path, caller, input, accounts } = value;
  const isValid =
    typeof runId === "string" &&
    Number.isInteger(id) &&
    (within === undefined || isPlace(within)) &&
    typeof path === "string" &&
    isRecord(caller) &&
    typeof caller["id"] === "string" &&
    isTextList(caller["permissions"]) &&
    isSentValue(input) &&
    isTextList(accounts);
  return isValid ? (value as unknown as FrontCall) : undefined;
}

function isPlace(value: unknown): value is RecordedPlace {
  return isRecord(value) && typeof value["runId"] === "string" && Number.isInteger(value["id"]);
}

function isSentValue(value: unknown): value is SentValue {
  return isRecord(value) && typeof value["json"] === "string" && typeof value["tagged"] === "boolean";
}
