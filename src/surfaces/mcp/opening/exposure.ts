/** Which tools a client sees: the built-in tools, every method as a tool, both, or a choice by the budget. */
export type Expose = "code" | "tools" | "both" | "auto";

export const EXPOSES: readonly Expose[] = ["code", "tools", "both", "auto"];
