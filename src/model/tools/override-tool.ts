import { isRecord } from "../json.ts";
import type { ToolOverride } from "./tool-definition.ts";

/** The parts of a tool that can be replaced. */
interface Replaceable {
  readonly description: string;
  /** Fields that are passed on to clients. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** The tools that have a new name, by that name. */
export function getNameOwners(overrides: Readonly<Record<string, ToolOverride>>): ReadonlyMap<string, string> {
  return new Map(Object.entries(overrides).flatMap(([tool, { name }]) => (name === undefined ? [] : [[name, tool]])));
}

/** Returns the override of a tool; empty if it has none. */
export function getToolOverride(overrides: Readonly<Record<string, ToolOverride>>, tool: string): ToolOverride {
  return (Object.hasOwn(overrides, tool) ? overrides[tool] : undefined) ?? {};
}

/** Replaces the description and the titles of a tool. A new description leaves out the titles of the server as well. */
export function overrideTool<Tool extends Replaceable>(tool: Tool, { title, description }: ToolOverride): Tool {
  if (title === undefined && description === undefined) return tool;
  const { title: _title, annotations, ...fields } = tool.fields;
  return {
    ...tool,
    description: description ?? tool.description,
    fields: {
      ...fields,
      ...(title !== undefined && { title }),
      ...(isRecord(annotations) && { annotations: withoutTitle(annotations) }),
    },
  };
}

function withoutTitle({
  title: _title,
  ...rest
}: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return rest;
}
