import type { Expose } from "./tools/tool-exposure.ts";

const OWN_TOOLS =
  "Every skill and MCP server of the user is behind three tools: search_skills finds methods, describe_function shows how to call one, run_code does a whole task in one short program. Search first unless you know the method; describe it unless its signature is clear; then write one program for the task.";

/** Instructions for the model of a client, by exposure: they mention only the tools that are listed. */
export const INSTRUCTIONS: Readonly<Record<Expose, string>> = {
  code: OWN_TOOLS,
  tools:
    "Every method of the user's skills and MCP servers is a tool of its own. Call the tool that does the next step of the task; never invent one.",
  both: `${OWN_TOOLS} Every method is also a tool of its own: call that for a single step, and run_code for a task of several.`,
  auto: `${OWN_TOOLS} If a method is also listed as a tool of its own, call that for a single step, and run_code for a task of several.`,
};
