/**
 * Which tools a client sees: the built-in tools, tools that search for methods and call one, every method as a tool, the
 * built-in tools and every method, or a choice by the budget.
 */
export type Expose = "code" | "calls" | "tools" | "both" | "auto";

export const EXPOSES: readonly Expose[] = ["code", "calls", "tools", "both", "auto"];
