import { rpcError, type RpcError, newTraceId, ownFault } from "../rpc-errors.ts";
import { isRecord } from "../../model/json.ts";

/** Maximum number of messages in a batch. */
const MAX_MESSAGES = 100;

export type RpcId = string | number | null;

/** A request or, without an id, a notification. */
export interface RpcCall {
  readonly id: RpcId | undefined;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** The whole message as received, including members beside `params`. */
  readonly message: Readonly<Record<string, unknown>>;
  readonly traceId: string;
}

/** Runs one call; throws `RpcFailure` to answer it with an error. */
export type RpcHandler = (call: RpcCall) => Promise<unknown>;

export type RpcResponse = { readonly jsonrpc: "2.0"; readonly id: RpcId } & (
  | { readonly result: unknown }
  | { readonly error: RpcError }
);

/** Thrown to answer a call with an error. */
export class RpcFailure extends Error {
  readonly fault: RpcError;

  constructor(fault: RpcError) {
    super(fault.message);
    this.fault = fault;
  }
}

/**
 * Answers a JSON-RPC 2.0 message or batch. Returns `undefined` if it contains only notifications. Ids are echoed as they
 * were sent.
 */
export async function answerRpc(
  value: unknown,
  perform: RpcHandler,
  traceId?: string,
): Promise<RpcResponse | readonly RpcResponse[] | undefined> {
  if (!Array.isArray(value)) return answerMessage(value, perform, traceId);
  const flaw = findBatchFlaw(value);
  if (flaw !== undefined) return refusal(null, "InvalidRequest", flaw, traceId);
  const answers = await Promise.all(value.map((message: unknown) => answerMessage(message, perform, traceId)));
  const responses = answers.filter((answer) => answer !== undefined);
  return responses.length === 0 ? undefined : responses;
}

/** Returns why a batch is rejected because of its size; `undefined` if the size is valid. */
export function findBatchFlaw({ length }: readonly unknown[]): string | undefined {
  if (length === 0) return "A batch must have at least one message";
  return length > MAX_MESSAGES
    ? `A batch may have at most ${MAX_MESSAGES} messages, this one has ${length}`
    : undefined;
}

export function createParseError(reason = "The message is not valid JSON"): RpcResponse {
  return refusal(null, "ParseError", reason);
}

/** Answers when creating or sending an answer failed; the id of the request is no longer known. */
export function ownFaultAnswer(thrown: unknown, traceId?: string): RpcResponse {
  return { jsonrpc: "2.0", id: null, error: ownFault(thrown, traceId) };
}

async function answerMessage(
  value: unknown,
  perform: RpcHandler,
  traceId = newTraceId(),
): Promise<RpcResponse | undefined> {
  const wrong = findRequestFlaw(value);
  if (!isRecord(value) || wrong !== undefined)
    return refusal(isRecord(value) ? getId(value) : null, "InvalidRequest", wrong ?? "", traceId);
  const { method, params = {} } = value;
  const id = Object.hasOwn(value, "id") ? getId(value) : undefined;
  const answer = await performed({ id, method: String(method), params: {}, message: value, traceId }, params, perform);
  return id === undefined ? undefined : { jsonrpc: "2.0", id, ...answer };
}

async function performed(
  call: RpcCall,
  params: unknown,
  perform: RpcHandler,
): Promise<{ readonly result: unknown } | { readonly error: RpcError }> {
  const { traceId } = call;
  if (!isRecord(params))
    return { error: rpcError("InvalidParams", "params must be an object with named members", { trace_id: traceId }) };
  try {
    return { result: (await perform({ ...call, params })) ?? null };
  } catch (thrown) {
    if (thrown instanceof RpcFailure) return { error: thrown.fault };
    return { error: ownFault(thrown, traceId) };
  }
}

/** Returns why a value is not a JSON-RPC request; `undefined` if it is one. */
function findRequestFlaw(value: unknown): string | undefined {
  if (!isRecord(value)) return "A message must be an object";
  if (value["jsonrpc"] !== "2.0") return 'jsonrpc must be "2.0"';
  if (typeof value["method"] !== "string") return "method must be a string";
  if (Object.hasOwn(value, "id") && !isId(value["id"])) return "id must be a string, a number or null";
  const { params } = value;
  if (params === undefined || (typeof params === "object" && params !== null)) return undefined;
  return "params must be an object";
}

function getId(value: Readonly<Record<string, unknown>>): RpcId {
  const { id } = value;
  return isId(id) ? id : null;
}

function isId(value: unknown): value is RpcId {
  return value === null || typeof value === "string" || typeof value === "number";
}

function refusal(
  id: RpcId,
  kind: "ParseError" | "InvalidRequest",
  reason: string,
  traceId = newTraceId(),
): RpcResponse {
  return { jsonrpc: "2.0", id, error: rpcError(kind, reason, { trace_id: traceId }) };
}
