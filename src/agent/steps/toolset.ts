import type { LanguageModelV3FunctionTool } from "@ai-sdk/provider";

import type { Method } from "../../model/catalog.ts";
import { openaiTool, toolName } from "../../registry/index.ts";
import type { ActiveMode } from "../events.ts";
import type { StepContext } from "./step-context.ts";

/** Maximum tools of a request in native mode. */
export const MAX_NATIVE_TOOLS = 15;

/** OpenAI rejects a longer description of a function. */
const MAX_DESCRIPTION_UNITS = 1_024;

/** Returns the tools that a model is offered. `recent` has the paths that were found or used, the newest last. */
export function createToolset(
  mode: ActiveMode,
  { view }: Pick<StepContext, "view">,
  recent: ReadonlySet<string>,
): LanguageModelV3FunctionTool[] {
  if (mode === "code") return [];
  const builtin = view
    .tools({ descriptionUnits: MAX_DESCRIPTION_UNITS })
    .map(({ name, description, inputSchema }) => createTool(name, description, inputSchema));
  if (mode === "tools") return builtin;
  const { methods } = view.catalog;
  if (methods.length <= MAX_NATIVE_TOOLS) return methods.map(createMethodTool);
  const search = builtin.filter(({ name }) => name === "search_skills");
  const newest = [...recent].reverse().flatMap((path) => methods.find((method) => method.path === path) ?? []);
  return [...search, ...newest.slice(0, MAX_NATIVE_TOOLS - search.length).map(createMethodTool)];
}

function createMethodTool(method: Method): LanguageModelV3FunctionTool {
  const { description, parameters } = openaiTool(method).function;
  return createTool(toolName(method), description.slice(0, MAX_DESCRIPTION_UNITS), parameters);
}

function createTool(name: string, description: string, inputSchema: unknown): LanguageModelV3FunctionTool {
  return {
    type: "function",
    name,
    description,
    inputSchema: inputSchema as LanguageModelV3FunctionTool["inputSchema"], // the registry has compiled it
  };
}
