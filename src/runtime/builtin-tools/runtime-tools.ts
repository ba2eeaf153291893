import { OWNER } from "../../model/caller.ts";
import type { Outcome } from "../../model/outcome.ts";
import type { ToolDefinition } from "../../model/tools/tool-definition.ts";
import type { RunOptions } from "../../runtime.ts";
import { formatRpcError, toRpcError } from "../../shared/rpc-errors.ts";
import { type OptionNames, requireNames } from "../../shared/settings/option-names.ts";
import type { RuntimeView, SharedRuntime } from "../api/view.ts";
import { RUN_OPTIONS } from "../settings/run-options.ts";
import { describeFunction, proposeAutomation, resumeRun, runCode, searchSkills } from "./calls.ts";
import { type BuiltinTool, listBuiltinTools } from "./definitions.ts";
import { formatRunCode, getCatalogUnits } from "./description.ts";

/** Default maximum length of a description, as some clients cut it there. */
const DESCRIPTION_UNITS = 2_048;

/** Options of all calls of the tools, which a call may replace. */
export interface RuntimeToolOptions extends Omit<RunOptions, "signal"> {
  /** Maximum length of the description of `run_code`, which shows as many methods as fit; 2,048 UTF-16 units by default. */
  readonly descriptionUnits?: number;
}

export interface RuntimeToolResult {
  /** The text for the model. */
  readonly text: string;
  /** The value of the program, the methods that were found, or the description; `undefined` after an error. */
  readonly value: unknown;
  /** True if the model made a mistake or the program failed; `text` says what to do. */
  readonly isError: boolean;
}

/** A tool that a model can call. */
export interface RuntimeTool extends Pick<ToolDefinition, "description" | "inputSchema"> {
  readonly name: BuiltinTool;
  readonly title: string;
  /** Calls the tool. Invalid arguments are a result, too. */
  execute(args: unknown, options?: RunOptions): Promise<RuntimeToolResult>;
}

const { signal: _ofEachCall, ...ALL_CALLS } = RUN_OPTIONS;
const TOOL_OPTIONS: OptionNames<RuntimeToolOptions> = { ...ALL_CALLS, descriptionUnits: true };

/** Creates the built-in tools as functions, with the methods that the caller may read in the description of `run_code`. */
export function createRuntimeTools(runtime: SharedRuntime, options: RuntimeToolOptions = {}): readonly RuntimeTool[] {
  requireNames("tools", options, TOOL_OPTIONS);
  const { descriptionUnits = DESCRIPTION_UNITS, caller = OWNER, ...defaults } = options;
  const view = runtime.viewFor(caller);
  const [methods = ""] = view.briefCatalog({ parts: [getCatalogUnits(runtime, descriptionUnits)] });
  const tools = listBuiltinTools(view.runs.canWait(), view.automations.acceptsProposals);
  return tools.map(({ name, title = name, description, inputSchema }) => ({
    name,
    title,
    description: name === "run_code" ? formatRunCode(methods) : description,
    inputSchema: structuredClone(inputSchema), // the AI SDK changes the schemas that it gets
    execute: (args, { caller: other = caller, ...options } = {}) =>
      callTool(runtime.viewFor(other), name, args, { ...defaults, ...options }),
  }));
}

async function callTool(
  view: RuntimeView,
  name: BuiltinTool,
  args: unknown,
  options: Omit<RunOptions, "caller">,
): Promise<RuntimeToolResult> {
  try {
    switch (name) {
      case "search_skills": {
        const { text, results } = await searchSkills(view, args);
        return { text, value: results, isError: false };
      }
      case "describe_function": {
        const { text, ...description } = await describeFunction(view, args);
        const isError = description.kind === "unknown";
        return { text, value: isError ? undefined : description, isError };
      }
      case "run_code": {
        return toResult((await runCode(view, args, options)).outcome);
      }
      case "propose_automation": {
        const { text, ...value } = await proposeAutomation(view, args);
        return { text, value, isError: false };
      }
      case "resume_run": {
        return toResult((await resumeRun(view, args, options)).outcome);
      }
    }
  } catch (thrown) {
    return { text: formatRpcError(toRpcError(thrown, name)), value: undefined, isError: true };
  }
}

function toResult(outcome: Outcome): RuntimeToolResult {
  const isError = outcome.kind === "refused" || outcome.kind === "failed";
  return { text: outcome.text, value: outcome.kind === "completed" ? outcome.value : undefined, isError };
}
