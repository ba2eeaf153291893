import { addAbortSignal } from "node:stream";

import { getMessage } from "../../../errors.ts";
import { isRecord } from "../../../model/json.ts";
import type { RunOptions, Runtime } from "../../../runtime.ts";
import { toolName } from "../../../registry/index.ts";
import { describeUnknownName } from "../../../shared/suggest.ts";
import { streamLines } from "../input/read-text.ts";
import type { CliSession } from "../session.ts";
import { jsonText, problemText } from "../text/output.ts";

/** Far above the limits of programs and arguments; stops a line without an end. */
const MAX_LINE_UNITS = 4 << 20;

const SHUTDOWN = "shutdown";

/** A command of a program that drives the runtime. */
interface CommandRequest {
  readonly command: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

interface CommandContext {
  readonly session: CliSession;
  readonly runtime: Runtime;
  readonly options: RunOptions;
}

interface CommandDefinition {
  /** The `type` of the answer. */
  readonly type: string;
  readonly answer: (context: CommandContext, fields: CommandRequest["fields"]) => unknown;
}

/**
 * Answers each line of standard input with one line, in order, until the input ends or `shutdown`. Invalid input is answered
 * with an error, and never ends the command.
 */
export async function answerCommands(session: CliSession, { timeout }: { readonly timeout?: number }): Promise<void> {
  let runtime = await session.openRuntime({ until: "known" });
  const options = { signal: session.signal, ...(timeout !== undefined && { limits: { wallMs: timeout } }) };
  for await (const line of streamLines(addAbortSignal(session.signal, process.stdin), MAX_LINE_UNITS)) {
    if (line?.trim() === "") continue;
    const answer = await answerLine(line, { session, runtime, options });
    runtime = await session.openRuntime({ until: "known" });
    session.write("out", `${jsonText(runtime.secrets.maskValue(answer), 0)}\n`);
    if (answer.status === "ok" && answer.type === SHUTDOWN) return;
  }
}

type LineAnswer =
  | { readonly status: "ok"; readonly type: string; readonly data: unknown }
  | { readonly status: "error"; readonly message: string };

async function answerLine(line: string | undefined, context: CommandContext): Promise<LineAnswer> {
  try {
    const { command, fields } = parseRequest(line);
    const { type, answer } = findCommand(command);
    return { status: "ok", type, data: (await answer(context, fields)) ?? null };
  } catch (thrown) {
    return { status: "error", message: getMessage(thrown) };
  }
}

function parseRequest(line: string | undefined): CommandRequest {
  if (line === undefined) throw new TypeError(`Cannot read the line: it has more than ${MAX_LINE_UNITS} characters`);
  const fields = parseJson(line, "the line");
  if (!isRecord(fields)) throw new TypeError('Cannot read the line: write an object, as in {"command": "get_skills"}');
  const { command } = fields;
  if (typeof command !== "string")
    throw new TypeError(`The field command must be one of ${[...COMMANDS.keys()].join(", ")}`);
  return { command, fields };
}

function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch (thrown) {
    throw new TypeError(`Cannot read ${what} as JSON: ${getMessage(thrown)}`, { cause: thrown });
  }
}

function findCommand(name: string): CommandDefinition {
  const command = COMMANDS.get(name);
  if (command === undefined) throw createUnknownError("command", name, [...COMMANDS.keys()]);
  return command;
}

function createUnknownError(kind: "command" | "tool", name: string, names: readonly string[]): TypeError {
  return new TypeError(
    describeUnknownName(kind, name.slice(0, MAX_NAME_UNITS), names, { otherwise: ADVICE[kind] }).message,
  );
}

/** Only the beginning of a longer name is compared and shown. */
const MAX_NAME_UNITS = 200;

const COMMANDS: ReadonlyMap<string, CommandDefinition> = new Map([
  ["tool_call", { type: "tool_result", answer: callTool }],
  ["get_system_prompt", { type: "system_prompt", answer: getPrompt }],
  ["get_tool_schemas", { type: "tool_schemas", answer: getToolSchemas }],
  ["get_skills", { type: "skills", answer: getSkills }],
  ["reload", { type: "reload", answer: reload }],
  [SHUTDOWN, { type: SHUTDOWN, answer: () => null }],
]);

const ADVICE = {
  command: `use one of ${[...COMMANDS.keys()].join(", ")}`,
  tool: "get_tool_schemas lists the tools, and get_skills the methods",
} as const;

/**
 * Calls a built-in tool, or a method by its path or as a tool, as in `Skill__method`. Throws what a model reads about a
 * failure.
 */
async function callTool({ runtime, options }: CommandContext, fields: CommandRequest["fields"]): Promise<unknown> {
  const { name, arguments: written = {} } = fields;
  if (typeof name !== "string") throw new TypeError("The field name must be the name of a tool or a method");
  const args = typeof written === "string" ? parseJson(written, "the field arguments") : written;
  if (!isRecord(args)) throw new TypeError("The field arguments must be an object");
  const tools = runtime.tools();
  const tool = tools.find((each) => each.name === name);
  if (tool !== undefined) {
    const { isError, text, value } = await tool.execute(args, options);
    if (isError) throw new Error(text);
    return { text, value };
  }
  const method = runtime.catalog.method(name) ?? runtime.catalog.methods.find((each) => toolName(each) === name);
  if (method === undefined) {
    const names = [...tools.map((each) => each.name), ...runtime.catalog.methods.map(({ path }) => path)];
    throw createUnknownError("tool", name, names);
  }
  const { signal } = options;
  return { value: await runtime.call(method.path, args, signal === undefined ? {} : { signal }) };
}

const PROMPT_MODES = ["tools", "code", "native"] as const;

function getPrompt({ runtime }: CommandContext, fields: CommandRequest["fields"]): string {
  const { mode: name = "tools" } = fields;
  const mode = PROMPT_MODES.find((each) => each === name);
  if (mode === undefined) throw new TypeError(`The field mode must be one of ${PROMPT_MODES.join(", ")}`);
  return runtime.systemPrompt({ mode });
}

function getToolSchemas({ runtime }: CommandContext): unknown {
  return runtime
    .tools()
    .map(({ name, title, description, inputSchema }) => ({ name, title, description, inputSchema }));
}

function getSkills({ runtime }: CommandContext): unknown {
  return runtime.catalog.skills.map(({ name, description, source, kind, methods }) => ({
    name,
    description,
    source,
    kind,
    methods: methods.map(({ path, signature, description }) => ({ path, signature, description })),
  }));
}

/** Opens the skills, the servers and the settings again. If that fails, the old ones stay. */
async function reload({ session }: CommandContext): Promise<unknown> {
  const { catalog, problems } = await session.openRuntime({ until: "known", which: "new" });
  return { skills: catalog.skills.length, methods: catalog.methods.length, problems: problems.map(problemText) };
}
