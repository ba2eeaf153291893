import { cancellableBy } from "../../../sandbox/index.ts";
import { type RpcError, toRpcError, type RpcErrorDetails } from "../../shared/rpc-errors.ts";
import type { ArgumentProblem } from "../../model/arguments.ts";
import type { Catalog, Method, Skill } from "../../model/catalog.ts";
import { isRecord } from "../../model/json.ts";
import { getValueJson } from "../../shared/json/outcome-value.ts";
import type { RequestValues } from "../../model/requests/request-values.ts";
import { type AnswerFacts, type RunObserver, shownFacts } from "../../model/run-observer.ts";
import { sentence, SkillgateError } from "../../errors.ts";
import { MAX_TOOL_NAME_UNITS } from "../../shared/names/skill-names.ts";
import { createUnknownNameError, suggestNames } from "../../shared/suggest.ts";
import { catalogExport, methodExport, toolName } from "../../registry/index.ts";
import type { RuntimeView } from "../../runtime/api/view.ts";
import {
  describeFunction,
  type EndedRun,
  isBuiltinTool,
  listBuiltinTools,
  proposeAutomation,
  resumeRun,
  runCode,
  searchSkills,
  validateBuiltin,
} from "../../runtime/builtin-tools/index.ts";
import { unavailableToolError, outliveClient, runError, type Features, type SessionRuns } from "../mcp/index.ts";
import { RawJson } from "../../shared/json/raw-json.ts";
import { truncateText } from "../../shared/format-text.ts";
import { toPlainValue } from "../../shared/values/value-encoding.ts";

/** Dependencies of calls without MCP, for one caller. */
export interface ToolApi {
  readonly view: RuntimeView;
  readonly records: SessionRuns;
  readonly features: Features;
  /** The headers of the request, for MCP servers that need them. */
  readonly requestValues: RequestValues;
}

/** Result of a call: its value as plain JSON, in which there may be a `RawJson`, or its error, and its duration in seconds. */
export type ToolCallEnd =
  | {
      readonly ok: true;
      readonly data: unknown;
      readonly facts: AnswerFacts;
      readonly seconds: number;
      readonly tool: string;
    }
  | { readonly ok: false; readonly fault: RpcError; readonly seconds: number; readonly tool: string };

export interface CallOptions {
  readonly signal: AbortSignal;
  readonly traceId: string;
  readonly observer?: RunObserver;
}

/** Calls a method or a built-in tool by name; never rejects. */
export async function callByName(
  programs: ToolApi,
  name: string,
  input: unknown,
  circumstances: CallOptions,
): Promise<ToolCallEnd> {
  const started = performance.now();
  const seconds = (): number => (performance.now() - started) / 1_000;
  let facts: AnswerFacts = { cached: false, notes: [] };
  const observer = { ...circumstances.observer, answered: (answer: AnswerFacts) => void (facts = answer) };
  try {
    const data = isBuiltinTool(name)
      ? await callOwn(programs, name, input, circumstances)
      : toPlainValue(await callMethod(programs, name, input, { ...circumstances, observer }));
    return { ok: true, data, facts, seconds: seconds(), tool: name };
  } catch (thrown) {
    const details: RpcErrorDetails = { trace_id: circumstances.traceId };
    const fault = thrown instanceof FailedRun ? thrown.fault : toRpcError(thrown, name, details);
    return { ok: false, fault, seconds: seconds(), tool: name };
  }
}

/** Wraps a result in the object that clients receive. */
export function resultObject(end: ToolCallEnd): Readonly<Record<string, unknown>> {
  const facts = { execution_time: end.seconds, tool_name: end.tool };
  if (!end.ok) return { success: false, data: null, error: end.fault.data.reason, ...facts };
  return { success: true, data: end.data, ...facts, ...shownFacts(end.facts) };
}

/** Returns all problems of the arguments of a call; throws `METHOD_UNKNOWN`. */
export function validateInput({ view }: ToolApi, name: string, input: unknown): readonly ArgumentProblem[] {
  if (!isBuiltinTool(name)) return view.validate(methodNamed(name, view).path, input);
  const checked = validateBuiltin(name, input);
  return checked.kind === "valid" ? [] : checked.problems;
}

/** Lists every tool that a caller may call: the built-in tools, then all methods by name. */
export function toolList({ view }: ToolApi) {
  const { tools, ...rest } = catalogExport(view.catalog);
  const own = listBuiltinTools(view.runs.canWait(), view.automations.acceptsProposals).map(
    ({ name, description, inputSchema }) => ({
      name,
      description,
      inputSchema,
      tags: [],
    }),
  );
  return { tools: [...own, ...tools.toSorted((a, b) => (a.name < b.name ? -1 : 1))], ...rest };
}

export function toolSchema({ view }: ToolApi, name: string): unknown {
  const own = listBuiltinTools(true, view.automations.acceptsProposals).find((tool) => tool.name === name);
  if (own === undefined) return methodExport(methodNamed(name, view));
  const { description, inputSchema } = own;
  const metadata = { category: "general", version: "1.0.0", deprecated: false, author: "" };
  return { schema: { name, description, inputSchema }, examples: [], metadata };
}

/** Finds a method by `Skill.method`, by `Skill__method`, or by a wire name that only one method has. */
function methodNamed(name: string, view: RuntimeView): Method {
  if (name.length > MAX_TOOL_NAME_UNITS) {
    const says = `${truncateText(name, 100)} is too long: the name of a tool has at most ${MAX_TOOL_NAME_UNITS} characters`;
    throw new SkillgateError("METHOD_UNKNOWN", sentence("METHOD_UNKNOWN", says), { suggestions: EVERY_NAME });
  }
  const { catalog } = view;
  const exact = catalog.method(name) ?? catalog.methods.find((method) => toolName(method) === name);
  if (exact !== undefined) return exact;
  const matches = catalog.methods.filter(({ wireName }) => wireName === name);
  if (matches.length === 1 && matches[0] !== undefined) return matches[0];
  const disabled = unavailableToolError(name, view);
  if (disabled !== undefined) throw disabled;
  const suggestions = matches.length > 1 ? matches.map(({ path }) => path) : namesLike(name, catalog);
  const advice = suggestions.length > 0 ? suggestions : EVERY_NAME;
  throw createUnknownNameError("METHOD_UNKNOWN", name, suggestions, { suggestions: advice });
}

const EVERY_NAME = ["tools/list and /openapi.json name every tool"];

/**
 * Suggests similar methods of the named skill, else of the skill with the nearest name, else similar names of all
 * tools.
 */
function namesLike(name: string, catalog: Catalog): readonly string[] {
  const [skillName = "", method = ""] = name.split(/\.|__/, 2);
  const skill = catalog.skill(skillName);
  if (skill !== undefined) return methodsLike(method, skill);
  const skills = suggestNames(
    skillName,
    catalog.skills.map((each) => each.name),
    1,
  );
  const near = skills.flatMap((each) => methodsLike(method, catalog.skill(each)));
  if (near.length > 0) return near;
  return suggestNames(name, [
    ...listBuiltinTools(false).map((tool) => tool.name),
    ...catalog.methods.map(({ path }) => path),
  ]);
}

function methodsLike(name: string, skill: Skill | undefined): readonly string[] {
  const names = skill?.methods.map((method) => method.name) ?? [];
  return suggestNames(name, names).map((each) => `${skill?.name}.${each}`);
}

async function callMethod(
  { view, requestValues }: ToolApi,
  name: string,
  input: unknown,
  { signal, observer }: CallOptions,
): Promise<unknown> {
  const { path } = methodNamed(name, view);
  if (!isRecord(input)) throw noObject(path, view.validate(path, input));
  const value = await view.call(path, input, { signal, observer: { ...observer, requestValues } });
  return view.secrets.maskValue(value);
}

function noObject(path: string, problems: readonly ArgumentProblem[]): SkillgateError {
  const [problem] = problems;
  const message = sentence("ARGUMENTS_INVALID", `the input of ${path} ${problem?.reason ?? "must be an object"}`);
  return new SkillgateError("ARGUMENTS_INVALID", message, { problems });
}

async function callOwn(
  api: ToolApi,
  name: ReturnType<typeof listBuiltinTools>[number]["name"],
  input: unknown,
  options: CallOptions,
): Promise<unknown> {
  switch (name) {
    case "search_skills":
      return searchSkills(api.view, input);
    case "describe_function":
      return describeFunction(api.view, input);
    case "run_code":
      return runProgram(api, input, options);
    case "propose_automation":
      return proposeAutomation(api.view, input);
    case "resume_run": {
      const { signal, observer, traceId } = options;
      return toData(await resumeRun(api.view, input, { signal, ...(observer && { observer }) }), traceId);
    }
  }
}

async function runProgram(
  { view, records, requestValues }: ToolApi,
  input: unknown,
  { signal, observer, traceId }: CallOptions,
): Promise<unknown> {
  const { signal: lasting, onWait } = outliveClient(
    cancellableBy(signal),
    (reason) => !(reason instanceof SkillgateError),
  );
  const { source, outcome, limits } = await runCode(view, input, {
    signal: lasting,
    observer: { ...observer, requestValues, onWait },
  });
  records.add(view.caller, source, outcome);
  return toData({ outcome, limits }, traceId);
}

function toData({ outcome, limits }: Omit<EndedRun, "source">, traceId: string): unknown {
  if (outcome.kind === "completed") {
    // Without the text, which contains the same facts.
    const { kind, runId, output, notes, calls, usage } = outcome;
    const json = getValueJson(outcome);
    const value = json === undefined ? toPlainValue(outcome.value) : new RawJson(json);
    return { kind, runId, value, output, notes, calls, usage };
  }
  if (outcome.kind === "waiting") return outcome;
  throw new FailedRun(runError(outcome, limits, traceId));
}

/** Carries the error of a failed run to `callByName`. */
class FailedRun extends Error {
  readonly fault: RpcError;

  constructor(fault: RpcError) {
    super(fault.message);
    this.fault = fault;
  }
}
