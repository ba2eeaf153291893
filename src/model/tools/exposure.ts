/**
 * Which tools a client sees: the built-in tools, tools that search for methods and call one, every method as a tool, the
 * built-in tools and every method, or a choice by the budget.
 */
export type Expose = "code" | "calls" | "tools" | "both" | "auto";

export const EXPOSES: readonly Expose[] = ["code", "calls", "tools", "both", "auto"];

/** Names of methods as tools: `Skill__method`, or the name at their server if it is plain and unique. */
export type ToolNames = "qualified" | "raw";

export const TOOL_NAMES: readonly ToolNames[] = ["qualified", "raw"];
