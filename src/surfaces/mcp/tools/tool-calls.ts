import { type CallToolResult, isCallToolResult, ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { toRpcError, newTraceId } from "../../../shared/rpc-errors.ts";
import { asPage, withAnswers } from "../../../model/caller.ts";
import type { Client } from "../../../model/client-requests.ts";
import type { Method } from "../../../model/catalog.ts";
import { outliveClient } from "../sessions/lost-client.ts";
import type { RunObserver } from "../../../model/run-observer.ts";
import { MAX_TOOL_NAME_UNITS } from "../../../shared/names/skill-names.ts";
import { cutText } from "../../../shared/format-text.ts";
import { describeUnknownName } from "../../../shared/suggest.ts";
import type { RuntimeView } from "../../../runtime/api/view.ts";
import { approveBy } from "../approve.ts";
import type { RequestResult, WorkContext } from "../sessions/multi-turn-request.ts";
import { createTasksRequiredError } from "../tasks/extension.ts";
import { findServerTool, followPages, getMethodPage, withPage, withRunPage } from "./page-calls.ts";
import { unavailableToolError, type Offered, getOfferedTools, type OfferedTool } from "./tool-exposure.ts";
import { observeCall, observeRun } from "../notifications.ts";
import type { ConnectedClient, GatewayContext } from "../sessions/client-session.ts";
import {
  describeFunction,
  isBuiltinTool,
  proposeAutomation,
  parseBuiltinInput,
  resumeRun,
  runCode,
  searchSkills,
} from "../../../runtime/builtin-tools/index.ts";
import { Rewriting } from "../addresses/rewrite.ts";
import type { Features } from "../features/caller-features.ts";
import type { SessionRuns } from "../features/session-runs.ts";
import { inActiveTrace } from "../trace-requests.ts";
import { errorResult, noteBlock, runResult, valueResult } from "./tool-results.ts";
import { waitAtMost } from "../../../shared/run-with-timeout.ts";
import { roundBigInts } from "../../../shared/json/exact-json.ts";
import { isRecord } from "../../../model/json.ts";
import { findProtocolError } from "../upstream-errors.ts";

/** Milliseconds to wait for connecting servers; a notification announces those that connect later. */
export const READY_MS = 5_000;

/** Dependencies of a tool call. */
interface ToolCallContext {
  /** The runtime for the caller. */
  readonly view: RuntimeView;
  /** The same with the requests that its client answers. */
  readonly answering: RuntimeView;
  readonly records: SessionRuns;
  readonly features: Features;
  readonly passMeta: GatewayContext["passMeta"];
  readonly conversation?: string;
}

/**
 * Calls a tool by its listed name, or by the name at its server, as pages do. Failures are results with `isError`; throws only protocol errors, such as for an
 * unknown name.
 */
export async function callOffered(
  { runtime, records, features, passMeta }: GatewayContext,
  { caller, exposure, conversation }: ConnectedClient,
  { name, args }: { readonly name: string; readonly args: unknown },
  workContext: WorkContext,
): Promise<CallToolResult> {
  const { requestValues } = workContext;
  const view = runtime.viewFor(caller);
  const listing = view.listServersWith(requestValues === undefined ? {} : { requestValues });
  if (listing !== undefined) await waitAtMost(READY_MS, listing);
  const answering = runtime.viewFor(withAnswers(caller, workContext.client));
  const page = runtime.viewFor(asPage(answering.caller));
  const offered = (): Offered => getOfferedTools(workContext.client.apps === undefined ? answering : page, exposure);
  const lastPage = features.getAddresses(view).getLastPage(conversation);
  const find = (): OfferedTool | undefined => offered().find(name) ?? findServerTool(page.catalog, name, lastPage);
  let found = find();
  if (found === undefined && name.length <= MAX_TOOL_NAME_UNITS) {
    await waitAtMost(READY_MS, whenListed(view, name, workContext.client));
    found = find();
  }
  if (found === undefined) {
    const disabled = unavailableToolError(name, view);
    if (disabled !== undefined) return errorResult(toRpcError(disabled, name, inActiveTrace()), {});
    throw unknownTool(name, offered());
  }
  const toolContext: ToolCallContext = {
    view,
    answering,
    records,
    features,
    passMeta,
    ...(conversation !== undefined && { conversation }),
  };
  const { tool, method } = found;
  if (tool.name !== "call_method") roundUnlessSent(args, method, toolContext);
  if (method !== undefined) {
    const pageContext = { ...toolContext, view: runtime.viewFor(asPage(caller)) };
    return callMethodTool(pageContext, { tool, path: method.path, method }, args, workContext);
  }
  return tool.name === "call_method"
    ? callMethodByPath(toolContext, tool, args, workContext)
    : callBuiltinTool(toolContext, tool, args, workContext);
}

/** Settles when the servers are known, one that was down has been tried again, and they have listed what only this client gets. */
async function whenListed(view: RuntimeView, name: string, client: Client): Promise<void> {
  await view.shared.known;
  await view.shared.reachServers(name);
  await view.listServersWith({ client });
}

/** Rounds the integers in arguments, except for a tool of an MCP server, which gets the digits that its client sent. */
function roundUnlessSent(args: unknown, method: Method | undefined, { view }: ToolCallContext): void {
  const skill = method && view.catalog.skill(method.skill);
  if (isRecord(args) && skill?.kind !== "mcp") roundBigInts(args);
}

/** Calls the method that the arguments of `call_method` name. */
async function callMethodByPath(
  toolContext: ToolCallContext,
  tool: OfferedTool["tool"],
  args: unknown,
  workContext: WorkContext,
): Promise<CallToolResult> {
  const { view, answering } = toolContext;
  let path: string;
  try {
    path = String(parseBuiltinInput("call_method", args)["path"]);
  } catch (thrown) {
    return errorResult(toRpcError(thrown, tool.name, inActiveTrace()), {});
  }
  const findMethod = (): Method | undefined => answering.catalog.method(path);
  if (findMethod() === undefined) await waitAtMost(READY_MS, whenListed(view, path, workContext.client));
  // The arguments stay as they were sent; the method validates them.
  const input = isRecord(args) ? (args["arguments"] ?? {}) : {};
  const method = findMethod();
  roundUnlessSent(input, method, toolContext);
  const result = await callMethodTool(toolContext, { tool: { ...tool, name: path }, path, method }, input, workContext);
  return result.isError === true ? result : withPage(result, getMethodPage(toolContext.features, answering, method));
}

async function callBuiltinTool(
  toolContext: ToolCallContext,
  { name }: OfferedTool["tool"],
  args: unknown,
  workContext: WorkContext,
): Promise<CallToolResult> {
  const { answering } = toolContext;
  if (!isBuiltinTool(name)) throw new TypeError(`${name} is not a built-in tool`);
  try {
    switch (name) {
      case "search_skills": {
        const { text, results } = await searchSkills(answering, args);
        return { content: [{ type: "text", text }], structuredContent: { paths: results.map(({ path }) => path) } };
      }
      case "describe_function": {
        const { text, kind, suggestions } = await describeFunction(answering, args);
        const structuredContent = { kind, suggestions: [...suggestions] };
        return { content: [{ type: "text", text }], structuredContent, ...(kind === "unknown" && { isError: true }) };
      }
      case "run_code":
        return await runCodeTool(toolContext, args, workContext);
      case "propose_automation": {
        const { text, name } = await proposeAutomation(answering, args);
        return { content: [{ type: "text", text }], structuredContent: { name } };
      }
      case "resume_run":
        return await resumeRunTool(toolContext, args, workContext);
    }
  } catch (thrown) {
    return errorResult(toRpcError(thrown, name, inActiveTrace()), {});
  }
}

async function runCodeTool(
  { view, answering, records, features, passMeta, conversation }: ToolCallContext,
  args: unknown,
  workContext: WorkContext,
): Promise<CallToolResult> {
  const { signal, onWait } = outliveClient(workContext.cancellable);
  let onStart: RunObserver["onStart"];
  const id = new Promise<string>((resolve) => (onStart = resolve));
  workContext.offerTask({ id, isUnfinished });
  const { observer, getPage } = followPages(features, answering, observeRun(workContext, passMeta));
  const options = {
    ...(conversation !== undefined && { conversation }),
    signal,
    observer: { ...observer, ...(onStart && { onStart }), onWait },
    ...approveBy(workContext),
  };
  const run = await runCode(view, args, options);
  records.add(view.caller, run.source, run.outcome);
  return withRunPage(runResult(run), getPage(), workContext.client);
}

/** True for the result of a run that continues after the request. */
function isUnfinished({ structuredContent }: RequestResult): boolean {
  return isRecord(structuredContent) && structuredContent["kind"] === "waiting";
}

/** Waits for a run of the caller. The end of the request ends the wait, not the run. */
async function resumeRunTool(
  { view, answering, features, passMeta }: ToolCallContext,
  args: unknown,
  workContext: WorkContext,
): Promise<CallToolResult> {
  const id = isRecord(args) ? args["run_id"] : undefined;
  const isOwn = async (): Promise<boolean> =>
    typeof id === "string" && (await view.runs.get(id)).caller === view.caller.id;
  if (workContext.takesTasks && typeof id === "string" && (await isOwn()))
    workContext.offerTask({ id: Promise.resolve(id), isUnfinished });
  const { observer, getPage } = followPages(features, answering, observeRun(workContext, passMeta));
  const run = await resumeRun(view, args, { signal: workContext.cancellable, observer, ...approveBy(workContext) });
  return withRunPage(runResult(run), getPage(), workContext.client);
}

interface CalledTool {
  readonly tool: OfferedTool["tool"];
  readonly path: string;
  /** Absent if no method that the caller may see has the path; the call is then an error. */
  readonly method: Method | undefined;
}

/** Calls a method as a tool. The result of an MCP server is returned unchanged, except for tokens in errors. */
async function callMethodTool(
  toolContext: ToolCallContext,
  { tool, path, method }: CalledTool,
  args: unknown,
  workContext: WorkContext,
): Promise<CallToolResult> {
  const { view } = toolContext;
  const rewriting = getRewriting(toolContext, method);
  const taskSupport = method?.metadata.taskSupport;
  const isRequired = taskSupport === "required";
  if (isRequired && workContext.era === "modern" && !workContext.takesTasks) throw createTasksRequiredError();
  if (taskSupport !== "forbidden") workContext.offerTask({ isRequired });
  let wire: unknown;
  let notes: readonly string[] = [];
  const observer: RunObserver = {
    ...observeCall(workContext),
    wire: (result) => (wire = result),
    answered: (facts) => void ({ notes } = facts),
  };
  try {
    const value = await view.call(path, (rewriting?.args(args) ?? args) as never, {
      signal: workContext.cancellable,
      observer,
      ...approveBy(workContext),
    });
    if (isToolResult(wire)) return rewriting?.result(wire) ?? wire;
    const result = valueResult(view.secrets.maskValue(rewriting?.value(value) ?? value), tool, (text) =>
      view.keepResult(newTraceId(), text),
    );
    return { ...result, content: [...result.content, ...notes.map(noteBlock)] };
  } catch (thrown) {
    if (isToolResult(wire) && wire.isError === true) return maskErrorResult(rewriting?.result(wire) ?? wire, view);
    const answered = findProtocolError(thrown, workContext.era, view.secrets);
    if (answered !== undefined) throw answered;
    return errorResult(toRpcError(thrown, tool.name, inActiveTrace()), tool);
  }
}

/** How the addresses in calls of a method become those of clients; `undefined` if it is not of an MCP server. */
function getRewriting({ view, features }: ToolCallContext, method: Method | undefined): Rewriting | undefined {
  const skill = method && view.catalog.skill(method.skill);
  return skill?.kind === "mcp" ? new Rewriting(features.getAddresses(view), skill) : undefined;
}

/** Tests whether a client can read the result of a server. Content of a type that the protocol does not have is passed on. */
function isToolResult(wire: unknown): wire is CallToolResult {
  if (!isRecord(wire) || !Array.isArray(wire["content"])) return false;
  const content = wire["content"].filter((block: unknown) => !isUnknownContent(block));
  return isCallToolResult({ ...wire, content });
}

function isUnknownContent(block: unknown): boolean {
  return isRecord(block) && typeof block["type"] === "string" && !CONTENT_TYPES.has(block["type"]);
}

const CONTENT_TYPES: ReadonlySet<unknown> = new Set(["text", "image", "audio", "resource", "resource_link"]);

/** Masks secrets and tokens in the texts of an error; images and other content stay as they are. */
function maskErrorResult(result: CallToolResult, { secrets }: RuntimeView): CallToolResult {
  const { content, structuredContent } = result;
  return {
    ...result,
    content: content.map((block) => (block.type === "text" ? { ...block, text: secrets.maskText(block.text) } : block)),
    ...(structuredContent !== undefined && { structuredContent: secrets.maskTexts(structuredContent) }),
  };
}

function unknownTool(name: string, { tools }: Offered): ProtocolError {
  const isTooLong = name.length > MAX_TOOL_NAME_UNITS;
  const names = isTooLong ? [] : tools.map((tool) => tool.name);
  const { message, suggestions } = describeUnknownName("tool", name, names);
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message, {
    error_type: "ToolNotFound",
    tool_name: cutText(name, 100),
    reason: isTooLong
      ? `The name of a tool has at most ${MAX_TOOL_NAME_UNITS} characters`
      : `No tool has this name; ${tools.length} are listed`,
    suggestions,
    ...inActiveTrace(),
    retryable: false,
  });
}
