import { APPROVAL_SCOPES, type ApprovalScope } from "../../../model/approval.ts";
import type { Catalog } from "../../../model/catalog.ts";
import { suggestNames } from "../../../shared/suggest.ts";
import { readApprovals } from "../approvals.ts";
import { loadAgentModule } from "../agent/open-agent.ts";
import { writeLines } from "../input/write-files.ts";
import { answeredText } from "../text/approval-texts.ts";
import { jsonText } from "../text/output.ts";
import { createUnknownValueError, UsageError } from "../usage-error.ts";
import {
  helpText,
  listRuns,
  mcpText,
  pendingApprovalsText,
  runsText,
  skillListText,
  skillMethodsText,
} from "./command-texts.ts";
import type { ChatConversation } from "./conversation.ts";

/** The answer to a command, for people and for programs. */
export interface CommandAnswer {
  readonly text: string;
  readonly json: Readonly<Record<string, unknown>>;
}

interface ChatCommand {
  readonly name: string;
  /** The text after the name, as `/help` shows it. */
  readonly usage: string;
  readonly description: string;
  /** True for a command that answers a question: a program that waits for the answer continues. */
  readonly answers?: true;
  readonly run: (conversation: ChatConversation, words: string) => CommandAnswer | Promise<CommandAnswer>;
}

/** A line that begins with the name of a command, in any case. */
export interface CommandLine {
  readonly command: ChatCommand;
  /** The text behind the name. */
  readonly words: string;
}

export const COMMANDS: readonly ChatCommand[] = [
  { name: "mcp", usage: "", description: "MCP servers and their tools", run: showServers },
  { name: "tools", usage: "[skill]", description: "skills, or the methods of one", run: showTools },
  { name: "runs", usage: "[step]", description: "programs so far, or one of them", run: showRuns },
  { name: "approve", usage: "[id] [scope]", description: "calls that wait; approve one", answers: true, run: approve },
  { name: "deny", usage: "<id>", description: "deny a call that waits", answers: true, run: deny },
  { name: "model", usage: "[model]", description: "show or change the model", run: changeModel },
  { name: "system", usage: "[text|standard]", description: "show or change the prompt", run: changeSystemPrompt },
  { name: "save", usage: "<file>", description: "write Markdown, or a .jsonl record", run: save },
  { name: "new", usage: "", description: "begin a new conversation", run: beginAnew },
  { name: "help", usage: "", description: "this list", run: showHelp },
  { name: "exit", usage: "", description: "end the chat", run: () => ({ text: "", json: {} }) },
];

/** Finds the command of a line. `/path/to/file` is no command; a mistyped command is a `UsageError`. */
export function parseCommand(line: string): CommandLine | undefined {
  const match = /^\/([a-z]+)(?:\s+([^]*))?$/i.exec(line.trimEnd());
  if (match === null) return undefined;
  const [, written = "", words = ""] = match;
  const name = written.toLowerCase() === "quit" ? "exit" : written.toLowerCase();
  const command = COMMANDS.find((each) => each.name === name);
  if (command !== undefined) return { command, words: words.trim() };
  const [similar] = suggestNames(
    name,
    COMMANDS.map((each) => each.name),
    1,
  );
  if (similar === undefined) return undefined;
  throw new UsageError(
    `Unknown command: /${name}; did you mean /${similar}? A space before it makes it a text for the model`,
  );
}

function showServers({ runtime, session }: ChatConversation): CommandAnswer {
  const { servers } = runtime;
  const json = servers.map(({ name, transport, status, toolCount, tools }) => ({
    name,
    transport,
    status,
    toolCount,
    tools: tools.map((tool) => tool.name),
  }));
  return { text: mcpText(servers, session.paint.out), json: { servers: json } };
}

function showTools({ runtime: { catalog }, session: { paint } }: ChatConversation, name: string): CommandAnswer {
  if (name === "") {
    const skills = catalog.skills.map((skill) => ({ name: skill.name, methods: skill.methods.length }));
    return { text: skillListText(catalog.skills, paint.out), json: { skills } };
  }
  const lowerName = name.toLowerCase();
  const skill = catalog.skills.find((each) => each.name.toLowerCase() === lowerName);
  if (skill === undefined)
    throw createUnknownValueError(
      "skill",
      name,
      catalog.skills.map((each) => each.name),
    );
  const methods = skill.methods.map(({ path, description }) => ({ path, description }));
  return { text: skillMethodsText(skill, paint.out), json: { skill: skill.name, methods } };
}

function showRuns({ events, session: { paint } }: ChatConversation, step: string): CommandAnswer {
  const runs = listRuns(events);
  if (step === "") return { text: runsText(runs, paint.out), json: { runs } };
  const run = runs.find((each) => each.step === step.toLowerCase());
  if (run === undefined)
    throw createUnknownValueError(
      "program",
      step,
      runs.map((each) => each.step),
    );
  return { text: runsText([run], paint.out, "whole"), json: { runs: [run] } };
}

async function approve({ runtime, session }: ChatConversation, words: string): Promise<CommandAnswer> {
  const [id = "", scope = "once"] = words.split(/\s+/);
  if (id === "") {
    const pending = await runtime.approvals.list("pending");
    const approvals = await readApprovals(runtime.approvals, pending);
    return { text: pendingApprovalsText(approvals, session.paint.out), json: { approvals } };
  }
  if (!isScope(scope)) throw createUnknownValueError("scope", scope, APPROVAL_SCOPES);
  const approval = await runtime.approvals.answer(id, { approve: true, scope });
  return { text: answeredText(approval), json: { approval } };
}

function isScope(word: string): word is ApprovalScope {
  return APPROVAL_SCOPES.some((scope) => scope === word);
}

async function deny({ runtime }: ChatConversation, id: string): Promise<CommandAnswer> {
  if (id === "") throw new UsageError("The id is missing; /approve lists the calls that wait");
  const approval = await runtime.approvals.answer(id, { approve: false });
  return { text: answeredText(approval), json: { approval } };
}

async function changeModel(conversation: ChatConversation, model: string): Promise<CommandAnswer> {
  if (model !== "") await conversation.change({ model });
  return { text: `Model: ${conversation.model}`, json: { model: conversation.model } };
}

async function changeSystemPrompt(conversation: ChatConversation, text: string): Promise<CommandAnswer> {
  if (text !== "") await conversation.change({ systemPrompt: text === "standard" ? undefined : text });
  const { systemPrompt } = conversation;
  const changed = text === "standard" ? "The standard prompt is used" : "The prompt is used from the next message on";
  return { text: text === "" ? systemPrompt : changed, json: { systemPrompt } };
}

async function save({ events }: ChatConversation, file: string): Promise<CommandAnswer> {
  if (file === "") throw new UsageError("The file is missing; write /save chat.md, or /save chat.jsonl");
  const { formatTranscript, formatTranscriptHeader } = await loadAgentModule();
  const rows = /\.jsonl$/i.test(file)
    ? [formatTranscriptHeader().trimEnd(), ...events.map((event) => jsonText(event, 0))]
    : [formatTranscript(events).trimEnd()];
  await writeLines(toAsync(rows), file);
  return { text: `Saved ${file}`, json: { file } };
}

// oxlint-disable-next-line require-await -- the lines are all there
async function* toAsync(rows: readonly string[]): AsyncGenerator<string> {
  yield* rows;
}

async function beginAnew(conversation: ChatConversation): Promise<CommandAnswer> {
  await conversation.change({ isNew: true });
  return { text: "A new conversation begins", json: {} };
}

function showHelp(): CommandAnswer {
  return { text: helpText(COMMANDS), json: { commands: COMMANDS.map(({ name }) => name) } };
}

/** A completion: the texts that may follow, and the part of the line that they replace. */
type Completion = readonly [choices: readonly string[], part: string];

/** The end of a line that may be the path of a method. */
const PATH = /(?:\bdevices?\.)?([A-Za-z_][\w]*(?:\.\w*)?)$/;

/** Completes commands at the start of a line, and names of skills and paths of methods everywhere. */
export function completeLine(line: string, catalog: Catalog): Completion {
  const command = /^\/\w*$/.exec(line)?.[0];
  if (command !== undefined) {
    const names = COMMANDS.map(({ name }) => `/${name} `);
    return [names.filter((name) => name.startsWith(command.toLowerCase())), command];
  }
  const part = PATH.exec(line)?.[1];
  if (part === undefined) return [[], line];
  return [listPaths(part, catalog), part];
}

function listPaths(part: string, { skills, methods }: Catalog): readonly string[] {
  const start = part.toLowerCase();
  const names = part.includes(".") ? methods.map(({ path }) => path) : skills.map(({ name }) => `${name}.`);
  return names.filter((name) => name.toLowerCase().startsWith(start));
}
