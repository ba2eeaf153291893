import { createHash } from "node:crypto";
import type { Method } from "../model/catalog.ts";
import { isRecord, type JsonSchema } from "../model/json.ts";
import { dereference } from "./schema.ts";

/** Providers accept tool names of the form `^[a-zA-Z0-9_-]{1,64}$`. */
const NAME_UNITS = 64;
const DIGEST_UNITS = 8;

/** The input of a tool: one object, with every parameter by name. */
export interface ToolInput {
  readonly type: "object";
  readonly properties: Readonly<Record<string, JsonSchema>>;
  readonly required: readonly string[];
  readonly [keyword: string]: unknown;
}

/** A tool in the format of OpenAI-compatible servers; Ollama's `api.Tool` has the same form. */
export interface OpenaiTool {
  readonly type: "function";
  readonly function: { readonly name: string; readonly description: string; readonly parameters: ToolInput };
}

export interface AnthropicTool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: ToolInput;
}

export function openaiTool(method: Method, name = toolName(method)): OpenaiTool {
  return { type: "function", function: { name, description: method.description, parameters: copyInput(method) } };
}

export function ollamaTool(method: Method, name?: string): OpenaiTool {
  return openaiTool(method, name);
}

export function anthropicTool(method: Method, name = toolName(method)): AnthropicTool {
  return { name, description: method.description, input_schema: copyInput(method) };
}

/** Libraries for models change the schemas that they get, such as the AI SDK. The method's own decides about its calls. */
function copyInput(method: Method): ToolInput {
  return structuredClone(toolInput(method));
}

/**
 * Returns the tool name `Skill__method`. A name with other characters, or a too long one, is cut and ends in a digest of the
 * path, so that no two methods share a name.
 */
export function toolName(method: Pick<Method, "skill" | "name" | "path">): string {
  const name = `${method.skill}__${method.name}`;
  if (/^[a-zA-Z0-9_-]{1,64}$/.test(name)) return name;
  const digest = createHash("sha256").update(method.path).digest("hex").slice(0, DIGEST_UNITS);
  const plain = name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, NAME_UNITS - DIGEST_UNITS - 1);
  return `${plain}_${digest}`;
}

/**
 * Returns the input schema of a method with `properties` and `required` at the top level. Top-level branches are left out,
 * because providers reject them; all parameters that they describe are included.
 */
export function toolInput(method: Pick<Method, "input" | "parameters">): ToolInput {
  const { input, parameters } = method;
  const declared = isRecord(input["properties"]) ? Object.keys(input["properties"]) : [];
  const byName = new Map(parameters.map((parameter) => [parameter.name, parameter]));
  const names = [...new Set([...declared, ...byName.keys()])];
  const required = new Set(Array.isArray(input["required"]) ? input["required"] : []);
  const rest = Object.entries(input).filter(([keyword]) => !OWN_KEYWORDS.has(keyword));
  return {
    type: "object",
    properties: Object.fromEntries(names.map((name) => [name, toolProperty(byName.get(name)?.schema ?? {}, input)])),
    required: names.filter((name) => required.has(name) || byName.get(name)?.required === true),
    ...Object.fromEntries(rest),
  };
}

/** Keywords that are rewritten or dropped. */
const OWN_KEYWORDS: ReadonlySet<string> = new Set(
  "$schema $id $ref type properties required title description anyOf oneOf allOf not if then else".split(" "),
);

/** Converts a property for providers: adds `type` and `description`, and drops an empty `enum`. */
function toolProperty(schema: JsonSchema, root: JsonSchema): JsonSchema {
  const { type, description, enum: values, ...rest } = schema;
  const target = dereference(schema, root);
  const targetType = type ?? (isRecord(target) ? target["type"] : undefined);
  return {
    ...(targetType !== undefined && { type: targetType }),
    description: typeof description === "string" ? description : "",
    ...(Array.isArray(values) && values.length > 0 && { enum: values }),
    ...rest,
  };
}
