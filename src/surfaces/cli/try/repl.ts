import { addAbortSignal } from "node:stream";

import { getMessage } from "../../../errors.ts";
import type { Approve } from "../../../model/approval.ts";
import type { Outcome } from "../../../model/outcome.ts";
import type { RunObserver } from "../../../model/run-observer.ts";
import { type CodeCompletion, completeCode } from "../../../registry/index.ts";
import type { Runtime } from "../../../runtime.ts";
import { type Exit, outcomeToExit } from "../exit-codes.ts";
import { streamLines } from "../input/read-text.ts";
import type { CliSession } from "../session.ts";
import { createTerminalApprove, isAtTerminal } from "../terminal/ask.ts";
import { type LineEditor, openLineEditor } from "../terminal/line-editor.ts";
import { openLineHistory } from "../terminal/line-history.ts";
import { count, escaped, milliseconds } from "../text/layout.ts";
import { logLine, warningsText } from "../text/output.ts";
import { UsageError } from "../usage-error.ts";
import { answerDotCommand, COMMAND_NAMES, EXIT } from "./dot-commands.ts";
import type { TryFlags } from "./index.ts";
import { createInputReader, type TryInput } from "./input-reader.ts";

/** Runs the inputs of one session, one after the other. */
export interface InputRunner {
  readonly runtime: Runtime;
  /** Runs a program or answers a command. Returns whether more input is read. */
  run(input: TryInput, options: ProgramOptions): Promise<boolean>;
  /** The exit of the first program that did not complete. */
  readonly exit: Exit;
}

/** Reads programs and commands from the terminal or a pipe, and runs them until the input ends. */
export async function runRepl(session: CliSession, flags: TryFlags): Promise<Exit> {
  const runtime = await session.openRuntime({ until: "known" });
  const { write, paint } = session;
  const warnings = warningsText(runtime.problems, paint.err);
  if (warnings !== "") write("err", `${warnings}\n`);
  const runner = createInputRunner(session, runtime, flags);
  if (!isAtTerminal()) return runFromPipe(session, runner);
  return runAtTerminal(session, runner);
}

function createInputRunner(session: CliSession, opened: Runtime, { timeout }: TryFlags): InputRunner {
  let runtime = opened;
  let last: Outcome | undefined;
  let exit: Exit = "ok";
  const fail = (thrown: unknown): void => {
    session.write("err", `${session.paint.err.red(getMessage(thrown))}\n`);
    if (exit === "ok") exit = "failed";
  };
  return {
    get runtime() {
      return runtime;
    },
    get exit() {
      return exit;
    },
    async run(input, options) {
      try {
        if (input.kind === "program") {
          const limits = timeout === undefined ? {} : { timeout };
          last = await runProgram(input.code, runtime, session, { ...options, ...limits });
          if (exit === "ok") exit = outcomeToExit(last);
          return true;
        }
        const limits = timeout === undefined ? runtime.limits : { ...runtime.limits, wallMs: timeout };
        const text = await answerDotCommand(input.name, input.rest, { session, runtime, limits, last });
        runtime = await session.openRuntime({ until: "known" });
        if (text !== "") session.write("out", `${text}\n`);
      } catch (thrown) {
        session.signal.throwIfAborted();
        fail(thrown);
      }
      return input.kind !== "command" || input.name !== EXIT;
    },
  };
}

/** Far above the limit of a program; stops a line without an end. */
const MAX_LINE_UNITS = 1 << 20;

async function runFromPipe(session: CliSession, runner: InputRunner): Promise<Exit> {
  const { signal } = session;
  const reader = createInputReader(COMMAND_NAMES);
  const options = { signal, showCalls: session.flags.verbose === true };
  const runAll = async (inputs: readonly TryInput[]): Promise<boolean> => {
    for (const input of inputs) {
      if (!(await runner.run(input, options))) return false;
      signal.throwIfAborted();
    }
    return true;
  };
  for await (const line of streamLines(addAbortSignal(signal, process.stdin), MAX_LINE_UNITS)) {
    if (line === undefined) throw new UsageError(`A line has more than ${MAX_LINE_UNITS} characters`);
    if (!(await runAll(reader.add(line)))) return runner.exit;
  }
  await runAll(reader.takeRest());
  return runner.exit;
}

export interface ProgramOptions {
  readonly signal: AbortSignal;
  readonly timeout?: number;
  readonly approve?: Approve;
  /** Shows calls as they run. */
  readonly showCalls: boolean;
}

/** Runs a program, and shows its output as it is printed and then the text that a model reads. */
export async function runProgram(
  code: string,
  runtime: Runtime,
  session: CliSession,
  { signal, timeout, approve, showCalls }: ProgramOptions,
): Promise<Outcome> {
  let printed = "";
  const outcome = await runtime.run(code, {
    signal,
    ...(timeout !== undefined && { limits: { wallMs: timeout } }),
    ...(approve !== undefined && { approve }),
    observer: {
      ...(showCalls && createCallPrinter(session)),
      onOutput(text) {
        printed += text;
        session.write("out", text);
      },
    },
  });
  const rest = removeStart(outcome.text, printed);
  const isOnNewLine = printed === "" || printed.endsWith("\n");
  if (rest !== "") session.write("out", `${isOnNewLine ? "" : "\n"}${rest}\n`);
  else if (!isOnNewLine) session.write("out", "\n");
  return outcome;
}

/** Removes what was printed already from the beginning of a text. */
function removeStart(text: string, printed: string): string {
  const start = printed.trimEnd();
  return start !== "" && text.startsWith(start) ? text.slice(start.length).replace(/^\s*\n/, "") : text;
}

function createCallPrinter({ write, paint: { err: paint } }: CliSession): RunObserver {
  const note = (text: string): void => write("err", `  ${text}\n`);
  return {
    onCallStart: (path) => note(`${paint.cyan(path)} …`),
    onCallEnd({ skill, method, outcome, durationMs }) {
      const mark = outcome === "ok" ? paint.green(outcome) : paint.red(outcome);
      note(`${paint.cyan(`${skill}.${method}`)} ${mark} ${paint.dim(milliseconds(durationMs))}`);
    },
    progress(path, done, total, text = "") {
      const whole = total === undefined ? "" : ` of ${total}`;
      note(paint.dim(`${path} ${done}${whole} ${escaped(text)}`.trimEnd()));
    },
    log: (path, level, text) => write("err", `  ${logLine({ level, text, path }, paint)}`),
  };
}

const PROMPT = "> ";
const CONTINUATION = "… ";

/** Reads programs and commands at the terminal until the user leaves. */
export async function runAtTerminal(session: CliSession, runner: InputRunner): Promise<Exit> {
  const { signal, write, paint } = session;
  const history = await openLineHistory(session, "try-history", (text) => runner.runtime.secrets.maskText(text));
  const reader = createInputReader(COMMAND_NAMES);
  const complete = (line: string): CodeCompletion => completeLine(line, reader.text, runner);
  using editor = openLineEditor({
    complete,
    history: history.lines,
    continuation: CONTINUATION,
    output: process.stderr, // stdout has only results
    signal,
  });
  const { skills, methods } = runner.runtime.catalog;
  write(
    "err",
    `${paint.err.dim(`${count(skills.length, "skill")}, ${count(methods.length, "method")}. Type .help for help`)}\n`,
  );
  let isLeaving = false;
  try {
    for (;;) {
      const event = await editor.next(reader.text === "" ? PROMPT : CONTINUATION);
      signal.throwIfAborted();
      if (event.kind === "end") return "ok";
      if (event.kind === "interrupt") {
        const isEmpty = event.text === "" && reader.text === "";
        if (isEmpty && isLeaving) return "interrupted";
        if (isEmpty) write("err", "Press Ctrl-C again to leave, or type .exit\n");
        isLeaving = isEmpty;
        reader.clear();
        continue;
      }
      isLeaving = false;
      const lines = event.lines.flatMap((line) => line.split("\n"));
      history.add(lines);
      const inputs = [...lines.flatMap((line) => reader.add(line)), ...reader.takeComplete()];
      for (const input of inputs) if (!(await runInput(input, editor, session, runner))) return "ok";
    }
  } finally {
    await history.flush();
  }
}

/** Runs an input. The first Ctrl-C stops it, the second ends the command. */
async function runInput(
  input: TryInput,
  editor: LineEditor,
  session: CliSession,
  runner: InputRunner,
): Promise<boolean> {
  const stop = new AbortController();
  const signal = AbortSignal.any([session.signal, stop.signal]);
  session.intercept(() => {
    const isFirst = !stop.signal.aborted;
    stop.abort("Ctrl-C");
    return isFirst;
  });
  const approve = createTerminalApprove((question, closed) => editor.ask(question, closed), signal);
  const isRunning = await runner.run(input, { signal, approve, showCalls: true });
  session.intercept(() => false);
  session.signal.throwIfAborted();
  return isRunning;
}

/** Completes a command, its argument, or the program that ends with the line. */
function completeLine(line: string, before: string, { runtime: { catalog } }: InputRunner): CodeCompletion {
  if (before !== "") return completeCode(`${before.replace(/^\s*\.plan\s/, "")}\n${line}`, catalog);
  const [, name, word] = /^\s*\.(\w*)(?:\s+(.*))?$/.exec(line) ?? [];
  if (name === undefined) return completeCode(line, catalog);
  if (word === undefined) {
    const start = `.${name}`;
    return [COMMAND_NAMES.map((each) => `.${each} `).filter((each) => each.startsWith(start)), start];
  }
  if (name === "plan") return completeCode(word, catalog);
  const paths = name === "describe" ? catalog.methods.map(({ path }) => path) : [];
  const names = name === "describe" || name === "types" ? [...catalog.skills.map((skill) => skill.name), ...paths] : [];
  return [names.filter((each) => each.startsWith(word)), word];
}
