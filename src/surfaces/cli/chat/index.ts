import type { AgentEvent } from "../../../agent/index.ts";
import type { EventPrinter } from "../agent/event-printer.ts";
import { type AgentFlags, getExit, openRecord, takesModel } from "../agent/open-agent.ts";
import type { CliCommand, CommandResult } from "../command.ts";
import { createErrorResult } from "../error-answer.ts";
import type { Exit } from "../exit-codes.ts";
import type { CliSession } from "../session.ts";
import { createTerminalApprove } from "../terminal/ask.ts";
import { type LineEditor, openLineEditor } from "../terminal/line-editor.ts";
import { openLineHistory } from "../terminal/line-history.ts";
import { count } from "../text/layout.ts";
import { jsonText } from "../text/output.ts";
import { type CommandLine, completeLine, parseCommand } from "./commands.ts";
import { ChatConversation } from "./conversation.ts";
import { createEditorInput, createPipeInput, type LineInput, OPEN_PROMPT } from "./line-input.ts";
import { createChatPrinter } from "./printer.ts";

interface ChatFlags extends AgentFlags {
  readonly record?: string;
}

export function addChat(program: CliCommand): void {
  takesModel(program.command("chat"))
    .description("talk to a model that uses your skills and servers; /help lists the commands")
    .option("--record <file>", "write all events to a file, as a transcript")
    .addHelpText("after", EXAMPLES)
    .run(chat);
}

const EXAMPLES = `
Examples:
  skillgate chat
  skillgate chat --model ollama:qwen3
  echo "How many files are in docs?" | skillgate chat --json`;

async function chat(session: CliSession, flags: ChatFlags): Promise<CommandResult> {
  const record = await openRecord(flags.record);
  const printer = createPrinter(session);
  const onEvent = (event: AgentEvent): void => {
    record(event);
    printer.print(event);
  };
  let editor: LineEditor | undefined;
  const ask = async (question: string, closed: AbortSignal): Promise<string> => editor?.ask(question, closed) ?? "";
  const asks = isAtPrompt(session) ? { approve: createTerminalApprove(ask, session.signal) } : {};
  const conversation = await ChatConversation.open({ session, flags, onEvent, asks });
  showApprovals(conversation);
  let isInterrupted = false;
  const input = await openInput(conversation, {
    onInterrupt: () => (isInterrupted = true),
    onEditor: (opened) => (editor = opened),
  });
  try {
    await converse(conversation, input);
  } finally {
    await input.close();
  }
  const messages = conversation.agent.messages.length;
  return {
    exit: isInterrupted ? "interrupted" : getChatExit(conversation),
    json: { type: "end", messages },
    text: "",
  };
}

/** The exit of a program's chat is that of its last message. */
function getChatExit({ session, events }: ChatConversation): Exit {
  return isAtPrompt(session) || events.length === 0 ? "ok" : getExit(events);
}

/** With `--json`, each event is a line. */
function createPrinter(session: CliSession): EventPrinter {
  if (session.flags.json !== true) return createChatPrinter(session);
  return { print: (event) => writeJson(session, event) };
}

function writeJson(session: CliSession, value: unknown): void {
  session.write("out", `${jsonText(value, 0)}\n`);
}

/** Shows the calls that need an approval, and that no person is asked about; `/approve` answers them. */
function showApprovals({ runtime, session }: ChatConversation): void {
  runtime.on("approval", ({ id, path, card, scopes, isWaiting }) => {
    if (session.flags.json === true)
      writeJson(session, runtime.secrets.maskValue({ type: "approval", id, path, card, scopes, isWaiting }));
    else if (!isWaiting || !isAtPrompt(session)) {
      const says = `${path} waits for an approval. Write /approve to see the call, and /approve ${id} to approve it`;
      session.write("err", `${session.paint.err.yellow(says)}\n`);
    }
  });
}

/** True if the user types at a terminal, and reads there. */
function isAtPrompt({ flags }: CliSession): boolean {
  return flags.json !== true && process.stdin.isTTY && process.stdout.isTTY;
}

interface InputEvents {
  readonly onInterrupt: () => void;
  /** Receives the editor, if the user types at a terminal. */
  readonly onEditor: (editor: LineEditor) => void;
}

async function openInput(
  { session, runtime, model }: ChatConversation,
  { onInterrupt, onEditor }: InputEvents,
): Promise<LineInput> {
  const { signal } = session;
  if (!isAtPrompt(session)) return createPipeInput(signal);
  const { skills, methods } = runtime.catalog;
  const about = `${model} with ${count(skills.length, "skill")} and ${count(methods.length, "method")}`;
  session.write("err", `${session.paint.err.dim(`${about}. /help lists the commands`)}\n`);
  const history = await openLineHistory(session, "chat-history", (text) => runtime.secrets.maskText(text));
  const editor = openLineEditor({
    complete: (line) => completeLine(line, runtime.catalog),
    history: history.lines,
    continuation: OPEN_PROMPT,
    output: process.stdout,
    signal,
  });
  onEditor(editor);
  return createEditorInput({ editor, history, write: (text) => session.write("out", text), onInterrupt });
}

/** Answers messages and commands until the end of the input, or until the chat is ended. */
async function converse(conversation: ChatConversation, input: LineInput): Promise<void> {
  const { session } = conversation;
  for (;;) {
    const text = await input.read();
    if (text === undefined || session.signal.aborted) return;
    if (text.trim() === "") continue;
    try {
      const line = parseCommand(text);
      if (line?.command.name === "exit") return;
      if (line === undefined) await conversation.send(text.trim());
      else await runCommand(conversation, line);
    } catch (thrown) {
      if (session.signal.aborted) return;
      showError(session, thrown);
    }
  }
}

async function runCommand(conversation: ChatConversation, { command, words }: CommandLine): Promise<void> {
  const { session, runtime } = conversation;
  const answer = runtime.secrets.maskValue(await command.run(conversation, words));
  if (session.flags.json === true) writeJson(session, { type: "command", name: command.name, ...answer.json });
  else session.write("out", `${answer.text}\n`);
  if (command.answers === true && conversation.agent.waiting?.approvals.some((id) => words.startsWith(id)))
    await conversation.resume();
}

/** Shows why a message or a command failed; the chat continues. */
function showError(session: CliSession, thrown: unknown): void {
  const { json, remarks = "" } = createErrorResult(thrown, { paint: session.paint, debug: false });
  if (session.flags.json === true) writeJson(session, { type: "command_error", ...(json as object) });
  else session.write("err", `${remarks}\n`);
}
