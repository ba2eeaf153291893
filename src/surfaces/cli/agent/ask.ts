import { addAbortSignal } from "node:stream";

import type { AgentEvent } from "../../../agent/index.ts";
import type { Approval } from "../../../approvals/index.ts";
import type { CliCommand, CommandResult } from "../command.ts";
import { readText, readTextFile } from "../input/read-text.ts";
import type { CliSession } from "../session.ts";
import { describePending, waitingText } from "../text/approval-texts.ts";
import { jsonText } from "../text/output.ts";
import { createUnknownValueError, UsageError } from "../usage-error.ts";
import { createEventPrinter, type EventPrinter } from "./event-printer.ts";
import { type AgentFlags, getExit, loadAgentModule, openAgent, openRecord, takesModel } from "./open-agent.ts";

interface AskFlags extends AgentFlags {
  readonly record?: string;
  readonly replay?: string;
  readonly export?: string;
}

export function addAsk(program: CliCommand): void {
  takesModel(program.command("ask [question]"))
    .description("let a model answer a question with your skills and servers; - reads the question from standard input")
    .option("--record <file>", "write all events to a file, as a transcript")
    .option("--replay <file>", "show a transcript instead; nothing runs, and no model is asked")
    .option("--export <format>", "print the conversation at the end, in the format md")
    .addHelpText("after", EXAMPLES)
    .run(async (session, question: string | undefined, flags: AskFlags) => {
      if (flags.export !== undefined && flags.export !== "md")
        throw createUnknownValueError("format", flags.export, ["md"]);
      if (flags.replay !== undefined) return replay(session, flags.replay, { question, ...flags });
      return ask(session, await readQuestion(question, session.signal), flags);
    });
}

const EXAMPLES = `
Examples:
  skillgate ask "How many files are in docs, and which is the longest?"
  skillgate ask --model ollama:qwen3 --mode code "What is 2 to the power of 100?"
  skillgate ask --record run.jsonl "…", then skillgate ask --replay run.jsonl --export md`;

async function readQuestion(question: string | undefined, signal: AbortSignal): Promise<string> {
  if (question === undefined && process.stdin.isTTY)
    throw new UsageError('The question is missing; write skillgate ask "…"');
  const isPiped = question === undefined || question === "-";
  const text = isPiped ? await readText(addAbortSignal(signal, process.stdin), "standard input") : question;
  if (text.trim() === "") throw new UsageError('The question is empty; write it as skillgate ask "…"');
  return text;
}

async function ask(session: CliSession, question: string, flags: AskFlags): Promise<CommandResult> {
  const { agent, runtime } = await openAgent(session, flags);
  const pending: Approval[] = [];
  runtime.on("approval", (approval) => !approval.isWaiting && pending.push(approval));
  const record = await openRecord(flags.record);
  const events: AgentEvent[] = [];
  const printer = createPrinter(session, flags);
  for await (const event of agent.send(question, { signal: session.signal })) {
    const masked = runtime.secrets.maskValue(event);
    events.push(masked);
    record(masked);
    printer.print(masked);
  }
  const result = await createResult(events, flags, session);
  if (agent.waiting !== undefined) return { ...result, remarks: waitingText(agent.waiting, session.paint.err) };
  return pending.length === 0 || result.exit !== "ok"
    ? result
    : { ...result, exit: "approval", remarks: await describePending(runtime, pending, session.paint.err) };
}

async function replay(
  session: CliSession,
  file: string,
  flags: AskFlags & { readonly question: string | undefined },
): Promise<CommandResult> {
  if (flags.question !== undefined || flags.record !== undefined)
    throw new UsageError("--replay shows a transcript; leave out the question and --record");
  const { parseTranscript } = await loadAgentModule();
  const events = parseTranscript(await readTextFile(file, session.signal), file);
  const printer = createPrinter(session, flags);
  for (const event of events) printer.print(event);
  return createResult(events, flags, session);
}

/** With `--json`, each event is a line on stdout; the last one is the result of the command. */
function createPrinter(session: CliSession, flags: AskFlags): EventPrinter {
  if (session.flags.json !== true)
    return flags.export === undefined ? createEventPrinter(session) : { print: () => {} };
  return { print: (event) => event.type !== "done" && session.write("out", `${jsonText(event, 0)}\n`) };
}

async function createResult(
  events: readonly AgentEvent[],
  flags: AskFlags,
  { flags: { json } }: CliSession,
): Promise<CommandResult> {
  const last = events.at(-1);
  const { formatTranscript } = await loadAgentModule();
  return {
    exit: getExit(events),
    json: last?.type === "done" ? last : null,
    text: flags.export !== undefined && json !== true ? formatTranscript(events) : "",
  };
}
