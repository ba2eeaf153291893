import { RPC_ERRORS, ownFault } from "../../shared/rpc-errors.ts";
import { isRecord } from "../../model/json.ts";
import { writeJson } from "../../shared/json/raw-json.ts";
import { openEventStream } from "../mcp/index.ts";
import { type ChallengeFacts, findScopeChallenge } from "./auth/challenge.ts";
import { createObserver, type Notice } from "./chunking.ts";
import { refuseAsProblem, type RespondJson } from "./responses.ts";
import { type ToolCallEnd, callByName, type ToolApi, validateInput, resultObject } from "./tool-api.ts";

interface ToolRouteOptions {
  readonly signal: AbortSignal;
  readonly traceId: string;
  /** Answers with events. */
  readonly streams: boolean;
  readonly challenge: () => ChallengeFacts | undefined;
  readonly respond: RespondJson;
}

/** Answers `POST /tools/{tool_name}`; the body contains the arguments. */
export async function answerTool(
  programs: ToolApi,
  name: string,
  input: unknown,
  { signal, traceId, streams, challenge, respond }: ToolRouteOptions,
): Promise<Response> {
  if (!streams) {
    const end = await callByName(programs, name, input, { signal, traceId });
    return end.ok ? respond(writeJson(resultObject(end))) : toolErrorResponse(end, programs, input, challenge);
  }
  const controller = new AbortController();
  const stream = openEventStream(() => controller.abort());
  const emit = (notice: Notice): void => stream.send(notice.method.replace("tools/", ""), notice.params);
  const circumstances = {
    signal: AbortSignal.any([signal, controller.signal]),
    traceId,
    observer: createObserver(null, emit),
  };
  void callByName(programs, name, input, circumstances)
    .then((end) => sendEnd(end, (event, data) => stream.send(event, data)))
    .catch((thrown: unknown) => stream.send("error", { success: false, data: null, fault: ownFault(thrown, traceId) }))
    .finally(() => stream.end());
  return stream.response;
}

/** UTF-16 units of one part of a large result. */
const PART_CHARACTERS = 64 << 10;

/** Sends a large result as parts of its JSON, then the result with `data: null`. */
function sendEnd(end: ToolCallEnd, send: (event: string, data: unknown) => void): void {
  const result = resultObject(end);
  if (!end.ok) return send("error", { ...result, fault: end.fault });
  const json = JSON.stringify(result["data"]);
  if (json.length <= PART_CHARACTERS) return send("result", result);
  let parts = 0;
  for (let at = 0; at < json.length; at += PART_CHARACTERS)
    send("part", { part: parts++, text: json.slice(at, at + PART_CHARACTERS) });
  send("result", { ...result, data: null, parts });
}

function toolErrorResponse(
  end: ToolCallEnd & { readonly ok: false },
  programs: ToolApi,
  input: unknown,
  challenge: ToolRouteOptions["challenge"],
): Response {
  const { fault, tool } = end;
  const { error_type, retry_after } = fault.data;
  const headers =
    retry_after === undefined
      ? { ...findScopeChallenge(fault, challenge()) }
      : { "retry-after": String(Math.ceil(retry_after)) };
  if (error_type === "ToolNotFound") return refuseAsProblem(404, fault, { members: { error: fault.data.reason } });
  if (error_type === "ValidationError")
    return refuseAsProblem(400, fault, { members: { errors: formatErrors(end, programs, tool, input) } });
  const status = retry_after === undefined ? RPC_ERRORS[error_type].status : 429;
  return refuseAsProblem(status, fault, { headers, members: resultObject(end) });
}

function formatErrors(
  end: ToolCallEnd & { readonly ok: false },
  programs: ToolApi,
  tool: string,
  input: unknown,
): unknown {
  const problems = validateInput(programs, tool, input);
  if (problems.length > 0 || !isRecord(input)) return problems;
  // The arguments match the schema, but their content is invalid: the program was refused.
  const { field = "_root", reason, suggestions } = end.fault.data;
  return [{ field, type: "pattern_mismatch", reason, suggestions }];
}
