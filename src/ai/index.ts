import { describeUnknownName } from "../shared/suggest.ts";
import { type JsonSchema, toRecord } from "../model/json.ts";
import type { RunOptions, Runtime } from "../runtime.ts";
import type { RuntimeTool, RuntimeToolOptions, RuntimeToolResult } from "../runtime/builtin-tools/index.ts";

export type { RuntimeTool, RuntimeToolOptions, RuntimeToolResult };

/** A tool of the AI SDK 6. Its schema is a Standard JSON Schema, so that nothing of the SDK is imported. */
export interface AiTool {
  readonly title: string;
  readonly description: string;
  readonly inputSchema: AiSchema;
  readonly execute: (input: unknown, options: { readonly abortSignal?: AbortSignal }) => Promise<RuntimeToolResult>;
  readonly toModelOutput: (call: { readonly output: RuntimeToolResult }) => AiOutput;
}

export interface AiSchema {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: "skillgate";
    readonly validate: (value: unknown) => { readonly value: unknown };
    readonly jsonSchema: {
      readonly input: () => Record<string, unknown>;
      readonly output: () => Record<string, unknown>;
    };
  };
}

export interface AiOutput {
  readonly type: "text" | "error-text";
  readonly value: string;
}

/** Returns the built-in tools for `generateText` and `streamText` of the AI SDK 6. */
export function aiTools(runtime: Runtime, options?: RuntimeToolOptions): Record<RuntimeTool["name"], AiTool> {
  const tools = runtime.tools(options).map((tool) => [tool.name, toAiTool(tool)] as const);
  return Object.fromEntries(tools) as Record<RuntimeTool["name"], AiTool>;
}

function toAiTool(tool: RuntimeTool): AiTool {
  const { title, description, inputSchema } = tool;
  const getSchema = (): Record<string, unknown> => createOpenSchema(inputSchema);
  return {
    title,
    description,
    inputSchema: {
      "~standard": {
        version: 1,
        vendor: "skillgate",
        validate: (value) => ({ value }), // execute validates, and says what to write instead
        jsonSchema: { input: getSchema, output: getSchema },
      },
    },
    execute: (input, { abortSignal }) => tool.execute(input, abortSignal && { signal: abortSignal }),
    toModelOutput: ({ output: { text, isError } }) => ({ type: isError ? "error-text" : "text", value: text }),
  };
}

/**
 * Copies the schema of a tool. The AI SDK changes what it gets: it forbids all members of an object unless `additionalProperties` is a
 * schema, and the object `input` may have any.
 */
function createOpenSchema(schema: JsonSchema): Record<string, unknown> {
  const { properties, ...rest } = structuredClone(schema);
  const { input } = toRecord(properties);
  if (input === undefined) return { ...rest, properties };
  return { ...rest, properties: { ...toRecord(properties), input: { ...toRecord(input), additionalProperties: {} } } };
}

/** Calls a tool by its name. Arguments are an object, or its JSON. An unknown name and invalid JSON are results, too. */
export type CallTool = (name: string, args: unknown, options?: RunOptions) => Promise<RuntimeToolResult>;

/** A tool in the function-calling format of OpenAI. */
export interface OpenaiFunctionTool {
  readonly type: "function";
  readonly function: { readonly name: string; readonly description: string; readonly parameters: JsonSchema };
}

/** OpenAI rejects a longer description of a function. */
const OPENAI_DESCRIPTION_UNITS = 1_024;

/** Returns the built-in tools in the format of OpenAI-compatible servers, and a function that calls them. */
export function openaiTools(
  runtime: Runtime,
  options?: RuntimeToolOptions,
): { readonly tools: OpenaiFunctionTool[]; readonly callTool: CallTool } {
  const tools = runtime.tools({ descriptionUnits: OPENAI_DESCRIPTION_UNITS, ...options });
  return {
    tools: tools.map(({ name, description, inputSchema }) => ({
      type: "function",
      function: { name, description, parameters: inputSchema },
    })),
    callTool: createCallTool(tools),
  };
}

/** A tool in the format of Anthropic's Messages API. */
export interface AnthropicMessagesTool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: RuntimeTool["inputSchema"];
}

/** Returns the built-in tools in the format of Anthropic's Messages API, and a function that calls them. */
export function anthropicTools(
  runtime: Runtime,
  options?: RuntimeToolOptions,
): { readonly tools: AnthropicMessagesTool[]; readonly callTool: CallTool } {
  const tools = runtime.tools(options);
  return {
    tools: tools.map(({ name, description, inputSchema }) => ({ name, description, input_schema: inputSchema })),
    callTool: createCallTool(tools),
  };
}

function createCallTool(tools: readonly RuntimeTool[]): CallTool {
  return async (name, args, options) => {
    const tool = tools.find((each) => each.name === name);
    if (tool !== undefined) return tool.execute(parseArguments(args), options);
    const names = tools.map((each) => each.name);
    const { message } = describeUnknownName("tool", name, names, { otherwise: `use ${names.join(", ")}` });
    return { text: message, value: undefined, isError: true };
  };
}

/** Parses arguments that are JSON; others are validated as they are. */
function parseArguments(args: unknown): unknown {
  if (typeof args !== "string") return args;
  if (args.trim() === "") return {};
  try {
    return JSON.parse(args);
  } catch {
    return args; // the validation reports that it is not an object
  }
}
