import { fault, faultOf } from "../../fault.ts";
import type { Caller } from "../../model/caller.ts";
import type { Follower } from "../../model/follower.ts";
import { isRecord } from "../../model/json.ts";
import { nearest } from "../../model/nearest.ts";
import { jsonOf, type Library, listResources, offersTo, readResource } from "../mcp/index.ts";
import { type Call, type Perform, RpcFault } from "./json-rpc.ts";
import { callByName, type Programs, problemsOf, resultObject, toolList, toolSchema } from "./programs.ts";

/** What the methods of the endpoint (V2) work with. */
export interface RpcDesk {
  readonly programs: Omit<Programs, "caller">;
  /** Who makes a call; `undefined` for nobody who is known. */
  callerOf(call: Call): Caller | undefined;
  readonly signal: AbortSignal;
  health(): unknown;
  /** Is told what happens while a call is under way, where the transport can pass it on. */
  followerOf?(call: Call): Follower;
}

/** The methods of the JSON-RPC endpoint. */
export function performAt(desk: RpcDesk): Perform {
  return async (call) => {
    const { traceId: trace_id } = call;
    const method = Object.hasOwn(METHODS, call.method) ? METHODS[call.method] : undefined;
    if (method === undefined) {
      const suggestions = nearest(call.method, Object.keys(METHODS)).map((name) => `Did you mean ${name}?`);
      throw new RpcFault(
        fault("MethodNotFound", `There is no method ${JSON.stringify(call.method.slice(0, 100))}`, {
          trace_id,
          suggestions,
        }),
      );
    }
    const caller = desk.callerOf(call);
    if (caller === undefined) throw new RpcFault(unauthenticated(trace_id));
    return method(call, { ...desk, programs: { ...desk.programs, caller } });
  };
}

export function unauthenticated(trace_id?: string) {
  return fault("AuthenticationError", "A valid bearer token is missing", {
    ...(trace_id !== undefined && { trace_id }),
    suggestions: [
      "Send the header Authorization: Bearer with the token that the server printed at its first start",
      "If it is lost, skillgate serve --http --new-token makes another",
    ],
  });
}

interface Desk extends Omit<RpcDesk, "programs"> {
  readonly programs: Programs;
}

type Method = (call: Call, desk: Desk) => unknown;

const METHODS: Readonly<Record<string, Method>> = {
  "tools/list": (_call, { programs }) => toolList(programs),
  "tools/call": callTool,
  "tools/validate": (call, { programs }) =>
    orFault(call, () => {
      const errors = problemsOf(programs, textParam(call, "name"), argumentsOf(call));
      return { valid: errors.length === 0, errors };
    }),
  "tools/schema": (call, { programs }) => orFault(call, () => toolSchema(programs, textParam(call, "name"))),
  "resources/list": async (_call, { programs }) => plain({ resources: listResources(await libraryOf(programs)) }),
  "resources/read": readTheResource,
  health: (_call, desk) => desk.health(),
};

async function callTool(call: Call, { programs, signal, followerOf }: Desk): Promise<unknown> {
  const follower = followerOf?.(call);
  const circumstances = { signal, traceId: call.traceId, ...(follower && { follower }) };
  const end = await callByName(programs, textParam(call, "name"), argumentsOf(call), circumstances);
  if (!end.ok) throw new RpcFault(end.fault);
  return resultObject(end);
}

async function readTheResource(call: Call, { programs, signal }: Desk): Promise<unknown> {
  const uri = textParam(call, "uri");
  const { caller } = programs;
  const library = await libraryOf(programs);
  try {
    return plain(await readResource(uri, library, { caller, signal, log: () => {}, progress: () => {} }));
  } catch {
    const suggestions = nearest(
      uri,
      listResources(library).map((resource) => resource.uri),
    );
    const details = { trace_id: call.traceId, field: "uri", suggestions };
    throw new RpcFault(fault("InvalidParams", `There is no resource ${JSON.stringify(uri.slice(0, 200))}`, details));
  }
}

/** What skills offer may hold what JSON has no word for. */
function plain(value: unknown): unknown {
  return JSON.parse(jsonOf(value));
}

async function libraryOf({ runtime, caller, records, upstream }: Programs): Promise<Library> {
  const offers = await offersTo(caller, runtime.catalogFor(caller), "qualified", upstream);
  return { runtime, caller, records, offers, hasOwnTools: true };
}

function orFault(call: Call, work: () => unknown): unknown {
  try {
    return work();
  } catch (thrown) {
    if (thrown instanceof RpcFault) throw thrown;
    throw new RpcFault(faultOf(thrown, call.method, { trace_id: call.traceId }));
  }
}

function textParam({ params, traceId }: Call, name: string): string {
  const value = params[name];
  if (typeof value === "string" && value !== "") return value;
  const reason = value === undefined ? `${name} is required` : `${name} must be text that is not empty`;
  throw new RpcFault(fault("InvalidParams", reason, { trace_id: traceId, field: name }));
}

function argumentsOf({ params, traceId }: Call): Readonly<Record<string, unknown>> {
  const { arguments: given = {} } = params;
  if (isRecord(given)) return given;
  throw new RpcFault(fault("InvalidParams", "arguments must be an object", { trace_id: traceId, field: "arguments" }));
}
