import { rpcError, toRpcError } from "../../shared/rpc-errors.ts";
import type { Caller } from "../../model/caller.ts";
import type { Authentication } from "./auth/authenticate.ts";
import { type ChallengeFacts, refuseSender } from "./auth/challenge.ts";
import { followCredential } from "./auth/follow-credential.ts";
import type { RunObserver } from "../../model/run-observer.ts";
import { isRecord } from "../../model/json.ts";
import type { SharedRuntime } from "../../runtime/api/view.ts";
import { describeUnknownName } from "../../shared/suggest.ts";
import { toPlainValue } from "../../shared/values/value-encoding.ts";
import { type Library, listResources, readResource } from "../mcp/index.ts";
import { type RpcCall, type RpcHandler, RpcFailure } from "../../shared/json/json-rpc.ts";
import { callByName, type ToolApi, validateInput, resultObject, toolList, toolSchema } from "./tool-api.ts";

/** Dependencies of the JSON-RPC methods. */
export interface RpcContext {
  readonly programs: Omit<ToolApi, "view"> & { readonly runtime: SharedRuntime };
  /** Identifies the sender of a call. */
  authenticate(call: RpcCall): Promise<Authentication> | Authentication;
  readonly challenge: () => ChallengeFacts | undefined;
  readonly signal: AbortSignal;
  health(caller: Caller): unknown;
  /** Creates the observer of a call; absent if the transport cannot send notifications. */
  createObserver?(call: RpcCall): RunObserver;
}

/** Dispatches calls to the methods of the JSON-RPC endpoint. */
export function createRpcHandler(context: RpcContext): RpcHandler {
  return async (call) => {
    const { traceId: trace_id } = call;
    const method = Object.hasOwn(METHODS, call.method) ? METHODS[call.method] : undefined;
    if (method === undefined) {
      const { message, suggestions } = describeUnknownName("method", call.method, Object.keys(METHODS));
      throw new RpcFailure(rpcError("MethodNotFound", message, { trace_id, suggestions }));
    }
    const sender = await context.authenticate(call);
    if (sender.kind !== "caller") throw new RpcFailure(refuseSender(sender, context.challenge(), trace_id).error);
    const { runtime, ...shared } = context.programs;
    const view = runtime.viewFor(sender.caller);
    await view.listServersWith({ requestValues: shared.requestValues });
    const { signal, stop } = followCredential(context.signal, sender.life);
    try {
      return await method(call, { ...context, signal, programs: { ...shared, view } });
    } finally {
      stop();
    }
  };
}

interface CallerRpcContext extends Omit<RpcContext, "programs"> {
  readonly programs: ToolApi;
}

type RpcMethod = (call: RpcCall, context: CallerRpcContext) => unknown;

const METHODS: Readonly<Record<string, RpcMethod>> = {
  "tools/list": (_call, { programs }) => toolList(programs),
  "tools/call": callTool,
  "tools/validate": (call, { programs }) =>
    orRpcError(call, () => {
      const errors = validateInput(programs, textParam(call, "name"), getArguments(call));
      return { valid: errors.length === 0, errors };
    }),
  "tools/schema": (call, { programs }) => orRpcError(call, () => toolSchema(programs, textParam(call, "name"))),
  "resources/list": async (_call, { programs }) =>
    toPlainValue({ resources: await listResources(await openLibrary(programs)) }),
  "resources/read": readTheResource,
  health: (_call, { health, programs }) => health(programs.view.caller),
};

async function callTool(call: RpcCall, { programs, signal, createObserver }: CallerRpcContext): Promise<unknown> {
  const observer = createObserver?.(call);
  const circumstances = { signal, traceId: call.traceId, ...(observer && { observer }) };
  const end = await callByName(programs, textParam(call, "name"), getArguments(call), circumstances);
  if (!end.ok) throw new RpcFailure(end.fault);
  return resultObject(end);
}

async function readTheResource(call: RpcCall, { programs, signal }: CallerRpcContext): Promise<unknown> {
  const uri = textParam(call, "uri");
  const { view, requestValues } = programs;
  const library = await openLibrary(programs);
  const context = { caller: view.caller, requestValues, signal, log: () => {}, progress: () => {} };
  try {
    return toPlainValue(await readResource(uri, library, context));
  } catch {
    const uris = (await listResources(library)).map((resource) => resource.uri);
    const { message, suggestions } = describeUnknownName("resource", uri, uris);
    throw new RpcFailure(rpcError("InvalidParams", message, { trace_id: call.traceId, field: "uri", suggestions }));
  }
}

async function openLibrary({ view, records, features, requestValues }: ToolApi): Promise<Library> {
  const offers = await features.open(view, requestValues, "qualified");
  return { view, records, offers, hasOwnTools: true };
}

function orRpcError(call: RpcCall, work: () => unknown): unknown {
  try {
    return work();
  } catch (thrown) {
    if (thrown instanceof RpcFailure) throw thrown;
    throw new RpcFailure(toRpcError(thrown, call.method, { trace_id: call.traceId }));
  }
}

function textParam({ params, traceId }: RpcCall, name: string): string {
  const value = params[name];
  if (typeof value === "string" && value !== "") return value;
  const reason = value === undefined ? `${name} is required` : `${name} must be a non-empty string`;
  throw new RpcFailure(rpcError("InvalidParams", reason, { trace_id: traceId, field: name }));
}

function getArguments({ params, traceId }: RpcCall): Readonly<Record<string, unknown>> {
  const { arguments: args = {} } = params;
  if (isRecord(args)) return args;
  throw new RpcFailure(
    rpcError("InvalidParams", "arguments must be an object", { trace_id: traceId, field: "arguments" }),
  );
}
