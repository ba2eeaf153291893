import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";

import type { ConfigInput, Prompter, TrustRequest } from "../../../config/index.ts";
import { SkillgateError } from "../../../errors.ts";
import type { ApprovalAnswer, Approve } from "../../../model/approval.ts";
import { countSpaces } from "../../../shared/visible-text.ts";
import { approvalQuestion, parseApprovalAnswer } from "../text/approval-texts.ts";
import { escaped, lines } from "../text/layout.ts";

/** True if there is a user at a terminal who can answer questions. */
export function isAtTerminal(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** Reads one line from the user at the terminal; empty at the end of the input or after an interruption. */
export async function askLine(question: string, signal: AbortSignal): Promise<string> {
  // Without `terminal: false`, readline would consume Ctrl-C.
  const terminal = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
  return readAnswer(terminal, question, signal);
}

/** Reads one line without echoing it. */
export async function askSecret(question: string, signal: AbortSignal): Promise<string> {
  const silence = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: silence, terminal: true });
  process.stderr.write(question); // written here, once the terminal no longer echoes
  terminal.once("SIGINT", () => process.kill(process.pid, "SIGINT")); // in this mode, readline consumes Ctrl-C
  const answer = await readAnswer(terminal, "", signal);
  process.stderr.write("\n");
  return answer;
}

async function readAnswer(
  terminal: ReturnType<typeof createInterface>,
  question: string,
  signal: AbortSignal,
): Promise<string> {
  const ended = new Promise<string>((resolve) => terminal.once("close", () => resolve("")));
  const interrupted = (): void => terminal.close();
  signal.addEventListener("abort", interrupted, { once: true });
  try {
    if (signal.aborted) return "";
    return await Promise.race([terminal.question(question), ended]);
  } finally {
    signal.removeEventListener("abort", interrupted);
    terminal.close();
  }
}

/** How a command says that it did nothing without a yes. */
interface Unconfirmed {
  readonly refusal: (why: string) => string;
  readonly facts: Readonly<Record<string, unknown>>;
}

/** Asks the user to confirm what a command does. Throws `APPROVAL_MISSING` without a yes. */
export async function requireYes(
  question: string,
  signal: AbortSignal,
  { refusal, facts }: Unconfirmed,
): Promise<void> {
  if (isAtTerminal() && (await askYesNo(`${question} [y/N] `, signal))) return;
  signal.throwIfAborted();
  const why = isAtTerminal() ? "it was not confirmed" : "there is no terminal to confirm it at";
  throw new SkillgateError("APPROVAL_MISSING", refusal(why), facts);
}

/** Asks a question; any answer but `y` or `yes` means no. */
export async function askYesNo(question: string, signal: AbortSignal): Promise<boolean> {
  return /^\s*y(es)?\s*$/i.test(await askLine(question, signal));
}

/**
 * Asks the user to approve calls, one at a time. `ask` reads the answer to a question, and returns an empty text if its signal
 * aborts. `signal` fires when the command is interrupted.
 */
export function createTerminalApprove(
  ask: (question: string, closed: AbortSignal) => Promise<string>,
  signal: AbortSignal,
): Approve {
  let last: Promise<unknown> = Promise.resolve();
  return (request, closed) => {
    const answer = last.then(async (): Promise<ApprovalAnswer | undefined> => {
      if (closed.aborted) return undefined; // while another question was at the terminal
      const line = await ask(approvalQuestion(request), AbortSignal.any([signal, closed]));
      if (!closed.aborted || signal.aborted) return parseApprovalAnswer(line);
      process.stderr.write(`\n${escaped(String(closed.reason))}\n`);
      return undefined;
    });
    last = answer;
    return answer;
  };
}

/** Creates a prompter that asks the user at the terminal; `undefined` without a terminal. */
export function createTerminalPrompter(signal: AbortSignal): Prompter | undefined {
  if (!isAtTerminal()) return undefined;
  return {
    input: (input) => askInput(input, signal),
    mayTrust: (request) => askYesNo(trustQuestion(request), signal),
  };
}

/** The request of a project for trust, as a question. */
function trustQuestion(request: TrustRequest): string {
  return lines([requestText(request), "Trust it until others change it? [y/N] "]);
}

/** Lists what a project would use or start, with invisible characters escaped so that nothing can be disguised. */
export function requestText({ folder, isChanged, parts }: TrustRequest): string {
  const rows = parts.map(({ name, detail, isChanged: isPartChanged }) => {
    const mark = isPartChanged ? " (changed)" : "";
    return `  ${countSpaces(escaped(name))}${mark}${detail === "" ? "" : `: ${countSpaces(escaped(detail))}`}`;
  });
  const since = isChanged ? " has changed since you trusted it" : " is not trusted yet";
  return lines([`${escaped(folder)}${since}. With your permissions, it would use or start:`, ...rows]);
}

/** Asks for a value; `undefined` without an answer and without a default. */
export async function askInput(input: ConfigInput, signal: AbortSignal): Promise<string | undefined> {
  const { description, isSecret, choices, orElse } = input;
  const offered = choices.length === 0 ? "" : ` (${choices.map(escaped).join(", ")})`;
  const usual = orElse === undefined || isSecret ? "" : ` [${escaped(orElse)}]`;
  const question = `${escaped(description)}${offered}${usual}: `;
  const answer = (await (isSecret ? askSecret : askLine)(question, signal)).trim();
  if (answer === "") return orElse;
  if (choices.length === 0 || choices.includes(answer) || signal.aborted) return answer;
  process.stderr.write(`${escaped(answer)} is not one of the choices\n`);
  return askInput(input, signal);
}
