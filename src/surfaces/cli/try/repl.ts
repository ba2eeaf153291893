import { addAbortSignal } from "node:stream";

import { getMessage } from "../../../errors.ts";
import type { Outcome } from "../../../model/outcome.ts";
import type { Runtime } from "../../../runtime.ts";
import { type Exit, outcomeToExit } from "../exit-codes.ts";
import { streamLines } from "../input/stream-lines.ts";
import type { CliSession } from "../session.ts";
import { isAtTerminal } from "../terminal/ask-line.ts";
import { UsageError } from "../usage-error.ts";
import { warningsText } from "../text/output.ts";
import { answerDotCommand, COMMAND_NAMES, EXIT } from "./dot-commands.ts";
import { createInputReader, type TryInput } from "./input-reader.ts";
import type { TryFlags } from "./index.ts";
import { type ProgramOptions, runProgram } from "./run-program.ts";

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
  const runtime = await session.readyRuntime();
  const { write, paint } = session;
  const warnings = warningsText(runtime.problems, paint.err);
  if (warnings !== "") write("err", `${warnings}\n`);
  const runner = createInputRunner(session, runtime, flags);
  if (!isAtTerminal()) return runFromPipe(session, runner);
  const { runAtTerminal } = await import("./run-at-terminal.ts");
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
        runtime = await session.readyRuntime();
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
