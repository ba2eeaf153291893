import { parseMetadata } from "../../../../authoring/metadata.ts";
import { isRecord } from "../../../../model/json.ts";
import { parseHints } from "../../../../model/tools/tool-definition.ts";
import { toMethodNames } from "../../../../shared/names/skill-names.ts";
import type { CallContext, MethodDefinition, MethodMetadata } from "../../../../model/skill.ts";
import { isStandardSchema, type ReadableSchema, readSchema } from "../../../../authoring/standard-schema.ts";
import { isFunction } from "./values.ts";

/** A tool of the AI SDK or of an MCP server, as a method. */
export interface SkillTool {
  /** The name is empty if the tool has no name. */
  readonly definition: MethodDefinition;
  readonly run: (input: Readonly<Record<string, unknown>>, context: CallContext, path: string) => Promise<unknown>;
}

/**
 * Takes an object as a tool by its shape: `{ description, inputSchema, execute }` of the AI SDK, `{ name, description,
 * inputSchema, handler }` or `[name, { description, inputSchema }, handler]` of MCP's registerTool. `undefined` for
 * anything else.
 */
export function asTool(value: unknown): SkillTool | undefined {
  const parts = Array.isArray(value) ? fromList(value) : isRecord(value) ? fromRecord(value) : undefined;
  return parts && createTool(parts);
}

interface ToolParts {
  readonly kind: "ai" | "mcp";
  readonly name: unknown;
  readonly config: Readonly<Record<string, unknown>>;
  readonly run: (...args: unknown[]) => unknown;
}

function fromList([name, config, run]: readonly unknown[]): ToolParts | undefined {
  if (typeof name !== "string" || !isRecord(config) || !isFunction(run)) return undefined;
  return { kind: "mcp", name, config, run };
}

function fromRecord(value: Readonly<Record<string, unknown>>): ToolParts | undefined {
  const { execute, handler, callback, name } = value;
  const config = isRecord(value["config"]) ? value["config"] : value;
  const described = ["description", "inputSchema", "parameters"].some((field) => config[field] !== undefined);
  if (!described) return undefined;
  if (isFunction(execute)) return { kind: "ai", name, config, run: execute };
  const run = handler ?? callback;
  return isFunction(run) ? { kind: "mcp", name, config, run } : undefined;
}

function createTool({ kind, name, config, run }: ToolParts): SkillTool {
  const { title, description, inputSchema, parameters, outputSchema, annotations, needsApproval } = config;
  const declared = inputSchema ?? parameters;
  const input = toolSchema(declared, "input");
  const metadata: Partial<MethodMetadata> = {
    ...parseHints(annotations),
    // A function decides by the input of each call; here every call needs the user's approval.
    ...((needsApproval === true || isFunction(needsApproval)) && { approval: "user" }),
    ...parseMetadata(config, String(name)),
  };
  const examples = parseExamples(config["inputExamples"]);
  const output = outputSchema === undefined ? undefined : toolSchema(outputSchema, "output").json;
  const definition: MethodDefinition = {
    name: typeof name === "string" ? (toMethodNames([name])[0] ?? "") : "",
    description: [description, title].find((text) => typeof text === "string") ?? "",
    input: input.json,
    ...(Object.keys(metadata).length > 0 && { metadata }),
    ...(output !== undefined && { output }),
    ...(examples.length > 0 && { examples }),
  };
  const invoke = kind === "ai" ? runAiTool : runMcpTool;
  return {
    definition,
    run: async (values, context, path) => {
      const parsed = await input.parse(values, path);
      return invoke(run, declared === undefined && kind === "mcp" ? [] : [parsed], context);
    },
  };
}

/** The AI SDK wraps JSON Schema as `{ jsonSchema, validate }`, and may give a function that makes the schema. */
function toolSchema(schema: unknown, side: "input" | "output"): ReadableSchema {
  if (isFunction(schema) && !isStandardSchema(schema)) return toolSchema(schema(), side);
  const wrapped = isRecord(schema) && !isStandardSchema(schema) ? schema["jsonSchema"] : undefined;
  return readSchema(isRecord(wrapped) ? wrapped : schema, side, `${side}Schema`);
}

/** Parses the AI SDK's `[{ input: { … } }]`. */
function parseExamples(examples: unknown): readonly Readonly<Record<string, unknown>>[] {
  const inputs = Array.isArray(examples)
    ? examples.map((each: unknown) => (isRecord(each) ? each["input"] : undefined))
    : [];
  return inputs.filter(isRecord);
}

type RunTool = (run: ToolParts["run"], args: readonly unknown[], context: CallContext) => Promise<unknown>;

/** Runs an AI SDK tool. A streaming tool yields states; the last one is the result. */
const runAiTool: RunTool = async (run, args, context) => {
  const options = { toolCallId: context.callId, messages: [], abortSignal: context.signal, context };
  const result = await run(...args, options);
  if (typeof result !== "object" || result === null || !(Symbol.asyncIterator in result)) return result;
  let last: unknown;
  for await (const state of result as AsyncIterable<unknown>) last = state;
  return last;
};

/** Runs an MCP tool. Returns its structured content, else its text; throws if the result is an error. */
const runMcpTool: RunTool = async (run, args, context) => {
  const { signal, callId } = context;
  // Both generations of the SDK: the first has the signal right here, the second in `mcpReq`.
  const request = { signal, requestId: callId, mcpReq: { signal, id: callId, method: "tools/call" }, context };
  const result = await run(...args, request);
  if (!isRecord(result) || !("content" in result || "structuredContent" in result)) return result;
  const content = Array.isArray(result["content"]) ? result["content"] : [];
  const parts = content.map((part: unknown) => (isRecord(part) && part["type"] === "text" ? part["text"] : part));
  if (result["isError"] === true)
    throw new Error(parts.filter((part) => typeof part === "string").join("\n") || "the tool failed");
  if (result["structuredContent"] !== undefined) return result["structuredContent"];
  return parts.length > 1 ? parts : (parts[0] ?? null);
};
