import type { ToolDefinition } from "../../model/tools/tool-definition.ts";

/** Maximum queries or paths of one call. */
export const MAX_QUESTIONS = 8;

export type BuiltinTool = "search_skills" | "describe_function" | "run_code" | "resume_run" | "propose_automation";

type BuiltinDefinition = ToolDefinition & { readonly name: BuiltinTool };

/** The structured content of an outcome. */
const RUN_OUTPUT: BuiltinDefinition["outputSchema"] = {
  type: "object",
  properties: {
    kind: { enum: ["completed", "refused", "failed", "waiting"] },
    runId: { type: "string" },
    value: { description: "The result, if it is short" },
    calls: { type: "integer", description: "Number of calls made" },
  },
};

const OBJECT = { type: "object" } as const;
const NUMBERS = { type: "array", items: { type: "integer" } };

/** The three built-in tools that every caller has. They reach every method; their size does not depend on the catalog. */
export const BUILTIN_TOOLS: readonly BuiltinDefinition[] = [
  {
    name: "search_skills",
    title: "Search skills",
    description:
      'Find the methods that can do a task. Use the words that the author of a tool would use: "send email", not the user\'s whole sentence. Several intents go into a list of queries. Answers with paths (Skill.method), signatures and one sentence each, best first. An empty query lists everything, a page at a time.',
    inputSchema: {
      type: "object",
      properties: {
        query: { ...oneOrSeveral("What the method does, or its name"), default: "" },
        limit: { type: "integer", minimum: 1, maximum: 100, default: 8 },
        offset: {
          type: "integer",
          minimum: 0,
          default: 0,
          description: "Number of results to skip: those of the previous pages",
        },
      },
      additionalProperties: false,
    },
    outputSchema: {
      type: "object",
      properties: { paths: { type: "array", items: { type: "string" }, description: "Best first" } },
    },
    annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  },
  {
    name: "describe_function",
    title: "Describe a function",
    description:
      "Show how to call a method: its TypeScript signature, every parameter, examples of its author or the form of a call, and what its owner asks of callers. Takes Skill.method, a Skill, a pattern such as Skill.read_*, or a list of these. Describe a method before its first call unless the catalog or search_skills has shown a clear signature.",
    inputSchema: {
      type: "object",
      properties: { path: oneOrSeveral("Skill.method") },
      required: ["path"],
      additionalProperties: false,
    },
    outputSchema: {
      type: "object",
      properties: { kind: { type: "string" }, suggestions: { type: "array", items: { type: "string" } } },
    },
    annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  },
  {
    name: "run_code",
    title: "Run code",
    description: `Do a whole task in one short JavaScript program: call methods, loop, filter, calculate, and return only what is needed. It runs in a sandbox whose only way out is device.
- device.Skill.method({ name: value }), or with positional arguments. Nothing else exists: no import, require, fetch, process or files.
- Use await. Independent calls go into one Promise.all. The value of the last expression is the result; print(…) shows something on the way.
- A failed call throws; error.message says why. A result that is a text has .lines.
- Inside: await device.search_skills("words") reads as a text and is a list (found[0].path, .signature, .call({…})); await device.describe("Skill.method"); device.result("r1"), an earlier large result.
If it is refused, nothing has run: fix every line listed and send the whole program again. If it failed, the calls already made are not undone: continue as it says.`,
    inputSchema: {
      type: "object",
      properties: {
        code: { type: "string", description: "The program; TypeScript is fine" },
        input: { ...OBJECT, description: "The value of device.input()" },
        timeoutMs: { type: "integer", minimum: 1, description: "Time limit; can only lower the default" },
        continue: { type: "string", description: "The run that failed: its effects that succeeded are not repeated" },
        again: { ...NUMBERS, description: "Its calls to make once more" },
        reuse: { ...NUMBERS, description: "Its calls that count as made" },
      },
      required: ["code"],
      additionalProperties: false,
    },
    outputSchema: RUN_OUTPUT,
    annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
  },
];

/** The built-in tool that is listed only for callers whose runs can wait for a person: each listed tool costs a model tokens. */
export const RESUME_RUN: BuiltinDefinition = {
  name: "resume_run",
  title: "Resume a run",
  description:
    "Wait for a run that waits for a person's approval, and get its outcome. Takes the runId of run_code's answer. The run continues by itself after the approval: never send its program again.",
  inputSchema: {
    type: "object",
    properties: { run_id: { type: "string", description: "The runId of the run that waits" } },
    required: ["run_id"],
    additionalProperties: false,
  },
  outputSchema: RUN_OUTPUT,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
};

/** The built-in tool that is listed only with the setting `automations.proposals`. */
export const PROPOSE_AUTOMATION: BuiltinDefinition = {
  name: "propose_automation",
  title: "Propose an automation",
  description:
    "Propose a program that runs by itself from then on, by a schedule or a webhook, without a model. Try the program with run_code first. It is checked and stored; a person reads it and accepts it, and nothing runs before. device.input() gives the input of a run: that of the schedule, or { event, body, headers, delivery } of a webhook.",
  inputSchema: {
    type: "object",
    properties: {
      name: { type: "string", description: "a to z, 0 to 9 and -, such as daily-report" },
      description: { type: "string", description: "What it does" },
      program: { type: "string" },
      key: { type: "string", description: "The API key whose rights it needs; a person may choose another one" },
      schedule: {
        ...OBJECT,
        description: '{ cron: "0 9 * * MON-FRI", zone: "Europe/Berlin", input } or { every: "5m" }',
      },
      webhook: { ...OBJECT, description: '{ verify: "github", secrets: ["${HOOK_SECRET}"] }' },
      input: { ...OBJECT, description: "JSON Schema of the input" },
      limits: { ...OBJECT, description: "{ runsPerHour, parallel, calls, minutes }" },
    },
    required: ["name", "description", "program"],
    additionalProperties: false,
  },
  outputSchema: { type: "object", properties: { name: { type: "string" } } },
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
};

/** The tool that calls one method, for clients that must see each call and its arguments. It is listed in place of `run_code`. */
const CALL_METHOD: ToolDefinition & { readonly name: "call_method" } = {
  name: "call_method",
  title: "Call a method",
  description:
    "Call one method: path is Skill.method, arguments is an object with its parameters by name. Find methods with search_skills; describe one with describe_function before its first call unless its signature is clear. Answers with the result of the method.",
  inputSchema: {
    type: "object",
    properties: {
      path: { type: "string", description: "Skill.method" },
      arguments: { type: "object", description: "The parameters by name", default: {} },
    },
    required: ["path"],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
};

/** The tools of a client that searches for methods and calls them one by one, without programs. */
export const CALL_TOOLS: readonly ToolDefinition[] = [
  ...BUILTIN_TOOLS.filter(({ name }) => name !== "run_code"),
  CALL_METHOD,
];

/** The definitions of all tools whose arguments are validated. */
export const VALIDATED_TOOLS: readonly ToolDefinition[] = [
  ...BUILTIN_TOOLS.map(acceptAnyInput),
  RESUME_RUN,
  PROPOSE_AUTOMATION,
  CALL_METHOD,
];

/**
 * Lets the input of a program be any JSON value. It is listed as an object, because some clients of models leave out a tool whose
 * properties do not all have a type, as Gemini CLI does.
 */
function acceptAnyInput(tool: BuiltinDefinition): ToolDefinition {
  if (tool.name !== "run_code") return tool;
  const properties = { ...(tool.inputSchema["properties"] as object), input: {} };
  return { ...tool, inputSchema: { ...tool.inputSchema, properties } };
}

/** A tool whose arguments are validated. */
export type ValidatedTool = BuiltinTool | "call_method";

/** Returns the built-in tools of a caller whose runs can wait for a person, and that can propose automations. */
export function listBuiltinTools(canWait: boolean, canPropose = false): readonly BuiltinDefinition[] {
  const tools = canWait ? WITH_RESUME : BUILTIN_TOOLS;
  return canPropose ? [...tools, PROPOSE_AUTOMATION] : tools;
}

const WITH_RESUME: readonly BuiltinDefinition[] = [...BUILTIN_TOOLS, RESUME_RUN];

/** A text, or a list of up to `MAX_QUESTIONS` texts. */
function oneOrSeveral(description: string): Readonly<Record<string, unknown>> {
  const list = { type: "array", items: { type: "string" }, minItems: 1, maxItems: MAX_QUESTIONS };
  return { anyOf: [{ type: "string" }, list], description };
}

export function isBuiltinTool(name: string): name is BuiltinTool {
  return name === PROPOSE_AUTOMATION.name || WITH_RESUME.some((tool) => tool.name === name);
}
