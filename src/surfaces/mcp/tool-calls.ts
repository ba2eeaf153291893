import { type CallToolResult, isCallToolResult, ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";

import { faultOf, newTraceId } from "../../fault.ts";
import type { Caller } from "../../model/caller.ts";
import type { Follower } from "../../model/follower.ts";
import { MAX_TOOL_NAME_UNITS } from "../../model/names.ts";
import { nearest } from "../../model/nearest.ts";
import type { Runtime } from "../../runtime.ts";
import { approveBy } from "./approve.ts";
import type { Side } from "./conversations.ts";
import { disabledToolError, type Offered, offeredTo, type OfferedTool } from "./expose.ts";
import { followCall, followRun } from "./news.ts";
import type { Peer, Shared } from "./peer.ts";
import { describeFunction, runCode, searchSkills } from "./own-calls.ts";
import { isOwnTool } from "./own-tools.ts";
import { protocolErrorBehind } from "./protocol-errors.ts";
import type { RunRecords } from "./run-records.ts";
import { faultResult, noteBlock, runResult, valueResult } from "./tool-results.ts";
import { knownWithin } from "./within.ts";

/** Servers that connect for longer are not waited for; a notification says when they are there. */
export const READY_MS = 5_000;

/** What a call of a tool needs to know. */
interface Desk {
  readonly runtime: Runtime;
  readonly records: RunRecords;
  readonly caller: Caller;
  readonly conversation?: string;
}

/** Calls a tool by the name in the caller's list. What fails in it is a result; only an unknown name is thrown. */
export async function callOffered(
  { runtime, records }: Shared,
  { caller, exposure, conversation }: Peer,
  { name, args }: { readonly name: string; readonly args: unknown },
  side: Side,
): Promise<CallToolResult> {
  const offered = (): Offered => offeredTo(runtime.catalogFor(caller), exposure);
  let found = offered().find(name);
  if (found === undefined && name.length <= MAX_TOOL_NAME_UNITS) {
    await knownWithin(READY_MS, runtime);
    found = offered().find(name);
  }
  if (found === undefined) {
    const disabled = disabledToolError(name, runtime, caller);
    if (disabled !== undefined) return faultResult(faultOf(disabled, name), {});
    throw unknownTool(name, offered());
  }
  const desk: Desk = { runtime, records, caller, ...(conversation !== undefined && { conversation }) };
  const { tool, method } = found;
  return method === undefined
    ? callOwnTool(desk, tool, args, side)
    : callMethodTool(desk, { tool, method }, args, side);
}

async function callOwnTool(
  desk: Desk,
  { name }: OfferedTool["tool"],
  args: unknown,
  side: Side,
): Promise<CallToolResult> {
  const { runtime, caller } = desk;
  if (!isOwnTool(name)) throw new TypeError(`${name} is none of the three tools`);
  try {
    switch (name) {
      case "search_skills": {
        const { text, results } = await searchSkills(runtime, args, caller);
        return { content: [{ type: "text", text }], structuredContent: { paths: results.map(({ path }) => path) } };
      }
      case "describe_function": {
        const { text, kind, suggestions } = await describeFunction(runtime, args, caller);
        const structuredContent = { kind, suggestions: [...suggestions] };
        return { content: [{ type: "text", text }], structuredContent, ...(kind === "unknown" && { isError: true }) };
      }
      case "run_code":
        return await runCodeTool(desk, args, side);
    }
  } catch (thrown) {
    return faultResult(faultOf(thrown, name), {});
  }
}

async function runCodeTool({ runtime, records, ...asker }: Desk, args: unknown, side: Side): Promise<CallToolResult> {
  const options = { ...asker, signal: side.cancellable, follower: followRun(side), ...approveBy(side.client) };
  return runResult(await runCode(runtime, args, options, records));
}

/** A result of an MCP server is passed on as it is. */
async function callMethodTool(
  { runtime, caller }: Desk,
  { tool, method }: Required<OfferedTool>,
  args: unknown,
  side: Side,
): Promise<CallToolResult> {
  let wire: unknown;
  let notes: readonly string[] = [];
  const follower: Follower = {
    ...followCall(side),
    wire: (result) => (wire = result),
    answered: (facts) => void ({ notes } = facts),
  };
  try {
    const value = await runtime.call(method.path, args as never, {
      caller,
      signal: side.cancellable,
      follower,
      ...approveBy(side.client),
    });
    if (isCallToolResult(wire)) return wire;
    const result = valueResult(runtime.secrets.maskValue(value), tool, (text) =>
      runtime.results.keep(newTraceId(), text, caller),
    );
    return { ...result, content: [...result.content, ...notes.map(noteBlock)] };
  } catch (thrown) {
    if (isCallToolResult(wire) && wire.isError === true) return wire;
    const answered = protocolErrorBehind(thrown, side.era);
    if (answered !== undefined) throw maskedError(answered, runtime);
    return faultResult(faultOf(thrown, tool.name), tool);
  }
}

/** What a server behind this one has answered, in its own words. */
function maskedError({ code, message, data }: ProtocolError, { secrets }: Runtime): ProtocolError {
  return new ProtocolError(code, secrets.maskText(message), secrets.maskTexts(data));
}

function unknownTool(name: string, { tools }: Offered): ProtocolError {
  const isTooLong = name.length > MAX_TOOL_NAME_UNITS;
  const suggestions = nearest(
    isTooLong ? "" : name,
    tools.map((tool) => tool.name),
  );
  const shown = name.slice(0, 100);
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${shown}`, {
    error_type: "ToolNotFound",
    tool_name: shown,
    reason: isTooLong
      ? `The name of a tool has at most ${MAX_TOOL_NAME_UNITS} characters`
      : `There is no tool of this name; ${tools.length} are listed`,
    suggestions,
    trace_id: newTraceId(),
    retryable: false,
  });
}
