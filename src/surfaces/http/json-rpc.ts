import { fault, type Fault, newTraceId, ownFault } from "../../fault.ts";
import { isRecord } from "../../model/json.ts";

/** Messages of one batch. */
const MOST_MESSAGES = 100;

export type Id = string | number | null;

/** A request or, without an id, a notification. */
export interface Call {
  readonly id: Id | undefined;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** As it came, with whatever stands beside the parameters. */
  readonly message: Readonly<Record<string, unknown>>;
  readonly traceId: string;
}

/** Carries out one call; throws a `Fault` where it cannot. */
export type Perform = (call: Call) => Promise<unknown>;

export type Response = { readonly jsonrpc: "2.0"; readonly id: Id } & (
  | { readonly result: unknown }
  | { readonly error: Fault }
);

/** What is thrown to answer a call with an error. */
export class RpcFault extends Error {
  readonly fault: Fault;

  constructor(fault: Fault) {
    super(fault.message);
    this.fault = fault;
  }
}

/**
 * Answers what came as JSON-RPC 2.0: one message or a batch. `undefined` where nothing is to be answered, which is so for
 * notifications alone. Ids are echoed as they were sent.
 */
export async function answerRpc(
  value: unknown,
  perform: Perform,
  traceId?: string,
): Promise<Response | readonly Response[] | undefined> {
  if (!Array.isArray(value)) return answerMessage(value, perform, traceId);
  const flaw = batchFlaw(value);
  if (flaw !== undefined) return refusal(null, "InvalidRequest", flaw, traceId);
  const answers = await Promise.all(value.map((message: unknown) => answerMessage(message, perform, traceId)));
  const responses = answers.filter((answer) => answer !== undefined);
  return responses.length === 0 ? undefined : responses;
}

/** Why a batch is not taken, whatever is in it. */
export function batchFlaw({ length }: readonly unknown[]): string | undefined {
  if (length === 0) return "A batch must have at least one message";
  return length > MOST_MESSAGES ? `A batch may have ${MOST_MESSAGES} messages, not ${length}` : undefined;
}

export function parseFault(): Response {
  return refusal(null, "ParseError", "Cannot read a message that is no JSON");
}

/** What is answered when an answer could not be made or sent; the id of its request is not known any more. */
export function ownFaultAnswer(traceId?: string): Response {
  return { jsonrpc: "2.0", id: null, error: ownFault(traceId) };
}

async function answerMessage(value: unknown, perform: Perform, traceId = newTraceId()): Promise<Response | undefined> {
  const wrong = whyInvalid(value);
  if (!isRecord(value) || wrong !== undefined)
    return refusal(isRecord(value) ? idOf(value) : null, "InvalidRequest", wrong ?? "", traceId);
  const { method, params = {} } = value;
  const id = Object.hasOwn(value, "id") ? idOf(value) : undefined;
  const answer = await performed({ id, method: String(method), params: {}, message: value, traceId }, params, perform);
  return id === undefined ? undefined : { jsonrpc: "2.0", id, ...answer };
}

async function performed(
  call: Call,
  params: unknown,
  perform: Perform,
): Promise<{ readonly result: unknown } | { readonly error: Fault }> {
  const { traceId } = call;
  if (!isRecord(params))
    return { error: fault("InvalidParams", "params must be an object with named members", { trace_id: traceId }) };
  try {
    return { result: (await perform({ ...call, params })) ?? null };
  } catch (thrown) {
    if (thrown instanceof RpcFault) return { error: thrown.fault };
    return { error: ownFault(traceId) };
  }
}

/** What makes a value no JSON-RPC message. */
function whyInvalid(value: unknown): string | undefined {
  if (!isRecord(value)) return "A message must be an object";
  if (value["jsonrpc"] !== "2.0") return 'jsonrpc must be "2.0"';
  if (typeof value["method"] !== "string") return "method must be text";
  if (Object.hasOwn(value, "id") && !isId(value["id"])) return "id must be text, a number or null";
  const { params } = value;
  if (params === undefined || (typeof params === "object" && params !== null)) return undefined;
  return "params must be an object";
}

function idOf(value: Readonly<Record<string, unknown>>): Id {
  const { id } = value;
  return isId(id) ? id : null;
}

function isId(value: unknown): value is Id {
  return value === null || typeof value === "string" || typeof value === "number";
}

function refusal(id: Id, kind: "ParseError" | "InvalidRequest", reason: string, traceId = newTraceId()): Response {
  return { jsonrpc: "2.0", id, error: fault(kind, reason, { trace_id: traceId }) };
}
