import type { Expose } from "../../../model/tools/exposure.ts";

export const OWN_TOOLS =
  "Every skill and MCP server of the user is behind three tools: run_code does a whole task in one short program, search_skills finds methods, describe_function shows how to call one.";

export const CALL_TOOLS_INTRODUCTION =
  "Every skill and MCP server of the user is behind three tools: search_skills finds methods, describe_function shows how to call one, call_method calls one.";

const WITHOUT_CATALOG_OR_CODE =
  "Search first unless you know the method; describe it unless its signature is clear; then call it.";

const WITHOUT_CATALOG =
  "Search first unless you know the method; describe it unless its signature is clear; then write one program for the task.";

/** Explains when to call a tool and when to write a program, by exposure. */
export const BESIDE_TOOLS: Readonly<Record<Expose, string>> = {
  code: "",
  calls: "",
  tools: "",
  both: " Every method is also a tool of its own: call that for a single step, and run_code for a task of several.",
  auto: " If a method is also listed as a tool of its own, call that for a single step, and run_code for a task of several.",
};

const ONLY_TOOLS =
  "Every method of the user's skills and MCP servers is a tool of its own. Call the tool that does the next step of the task; never invent one.";

/** Formats the instructions for a client, without a catalog of methods. */
export function formatInstructions(expose: Expose, beside = BESIDE_TOOLS[expose]): string {
  if (expose === "tools") return ONLY_TOOLS;
  if (expose === "calls") return `${CALL_TOOLS_INTRODUCTION} ${WITHOUT_CATALOG_OR_CODE}`;
  return `${OWN_TOOLS} ${WITHOUT_CATALOG}${beside}`;
}
