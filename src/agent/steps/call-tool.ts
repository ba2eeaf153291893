import { getMessage } from "../../errors.ts";
import type { Method } from "../../model/catalog.ts";
import { isRecord } from "../../model/json.ts";
import { toolName } from "../../registry/index.ts";
import type { RunOptions } from "../../runtime.ts";
import { isBuiltinTool } from "../../runtime/builtin-tools/index.ts";
import { cutText, quote } from "../../shared/format-text.ts";
import { describeUnknownName } from "../../shared/suggest.ts";
import type { ChatToolCall } from "../messages.ts";
import { runProgram } from "./run-program.ts";
import { getRunOptions, type StepContext, type StepResult } from "./step-context.ts";

/** A longer result of a tool is cut. */
const MAX_RESULT_UNITS = 32_000;

/** A tool call and the reply that it is part of. */
interface ToolRequest {
  readonly call: ChatToolCall;
  /** True if the reply was cut off at its maximum length. */
  readonly isCutOff: boolean;
  /** True if its text occurs in a result: calls with an effect then need an approval. */
  readonly isQuote: boolean;
  /** The names of the tools that the model was offered. */
  readonly toolNames: readonly string[];
}

/** Makes a tool call of a model. Whatever is wrong with it becomes a result that says what to send instead. */
export async function callTool(request: ToolRequest, context: StepContext): Promise<StepResult> {
  const { name, arguments: json } = request.call.function;
  const { isQuote } = request;
  const parsed = parseArguments(json);
  if (parsed.kind === "invalid") return refuse(name, describeInvalid(parsed.why, request), context);
  if (name === "run_code") return runProgram(parsed.args, context, isQuote);
  if (isBuiltinTool(name)) {
    const tool = context.view.tools().find((each) => each.name === name);
    return runStep({ name, path: name, isQuote }, context, async (options) => {
      const { text = "", isError = true, value } = (await tool?.execute(parsed.args, options)) ?? {};
      if (name === "search_skills") context.remember(getPaths(value).reverse());
      return { text, isError };
    });
  }
  const found = findMethod(name, request.toolNames, context);
  if (found.kind === "unknown") return refuse(name, found.message, context);
  return runStep({ name, path: found.path, isQuote }, context, async (options) => {
    context.meter.calls += 1;
    context.remember([found.path]);
    const value = await context.view.call(found.path, parsed.args, options);
    return { text: formatValue(context.view.secrets.maskValue(value)), isError: false };
  });
}

/** Returns the paths of search results. */
function getPaths(results: unknown): string[] {
  const list: unknown[] = Array.isArray(results) ? results : [];
  return list.flatMap((each) => (isRecord(each) && typeof each["path"] === "string" ? [each["path"]] : []));
}

type ParsedArguments =
  | { readonly kind: "valid"; readonly args: Readonly<Record<string, unknown>> }
  | { readonly kind: "invalid"; readonly why: string };

/** Parses the arguments as a model wrote them; no text stands for no arguments. */
function parseArguments(json: string): ParsedArguments {
  if (json.trim() === "") return { kind: "valid", args: {} };
  try {
    const value: unknown = JSON.parse(json);
    return isRecord(value) ? { kind: "valid", args: value } : { kind: "invalid", why: "they are not a JSON object" };
  } catch (thrown) {
    return { kind: "invalid", why: getMessage(thrown) };
  }
}

function describeInvalid(why: string, { call, isCutOff }: ToolRequest): string {
  const { name, arguments: json } = call.function;
  const fix = isCutOff
    ? "The reply was cut off at its maximum length; send a shorter call"
    : "Send the call again with one JSON object";
  return `Cannot read the arguments of ${quote(name)} as JSON: ${why}. They begin with ${quote(json, 200)}. ${fix}`;
}

/** The result of a call that was not made. */
function refuse(name: string, text: string, { emit, createStepId }: StepContext): StepResult {
  const result = { name, text, isError: true };
  emit({ type: "result", step: createStepId(), ...result });
  return result;
}

/** Runs one call, and reports its beginning and its end. */
async function runStep(
  { name, path, isQuote }: { readonly name: string; readonly path: string; readonly isQuote: boolean },
  context: StepContext,
  run: (options: RunOptions) => Promise<{ readonly text: string; readonly isError: boolean }>,
): Promise<StepResult> {
  const { emit } = context;
  const step = context.createStepId();
  const startedAt = performance.now();
  emit({ type: "call_started", step, call: 1, path });
  const { limits: _limits, ...options } = getRunOptions(context, isQuote);
  const answer = await run(options).catch((thrown: unknown) => ({ text: getMessage(thrown), isError: true }));
  const durationMs = performance.now() - startedAt;
  emit({ type: "call_ended", step, call: 1, path, outcome: answer.isError ? "error" : "ok", durationMs });
  emit({ type: "result", step, name, ...answer });
  return { name, ...answer };
}

function formatValue(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "null");
  if (text.length <= MAX_RESULT_UNITS) return text;
  return `${cutText(text, MAX_RESULT_UNITS)}… (${text.length - MAX_RESULT_UNITS} more characters)`;
}

/** The method that a tool name stands for, or what to say instead. */
export type MethodByName =
  | { readonly kind: "found"; readonly path: string }
  | { readonly kind: "unknown"; readonly message: string };

/** Most names that a message lists. */
const MAX_LISTED = 8;

/** Finds a method by its tool name, its path, or its own name if no other method has the same one. */
export function findMethod(
  name: string,
  toolNames: readonly string[],
  { view }: Pick<StepContext, "view">,
): MethodByName {
  const { methods } = view.catalog;
  const bare = name.replace(/^(?:devices?\.|functions?\.)/, "");
  const exact = methods.find((method) => method.path === bare || toolName(method) === bare);
  if (exact !== undefined) return { kind: "found", path: exact.path };
  const sameName = methods.filter((method) => method.name === bare || method.wireName === bare);
  const [only, ...others] = sameName;
  if (only !== undefined && others.length === 0) return { kind: "found", path: only.path };
  if (sameName.length > 1)
    return { kind: "unknown", message: `Several methods are called ${name}: ${listPaths(sameName)}` };
  const names = [...toolNames, ...methods.map(({ path }) => path)];
  const otherwise = `use ${toolNames.slice(0, MAX_LISTED).join(", ")}`;
  return { kind: "unknown", message: describeUnknownName("tool", name, names, { otherwise }).message };
}

function listPaths(methods: readonly Method[]): string {
  const paths = methods.slice(0, MAX_LISTED).map(({ path }) => path);
  const more = methods.length - paths.length;
  return `${paths.join(", ")}${more > 0 ? ` and ${more} more` : ""}. Call one of them by its whole name`;
}
