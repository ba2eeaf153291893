import { addAbortSignal } from "node:stream";

import type { CliCommand, CommandResult } from "../command.ts";
import { readInput } from "../input/call-input.ts";
import { pickFields } from "../input/field-tests.ts";
import { wholeNumber } from "../input/option-values.ts";
import { parseRunInput, readRunInput } from "../input/run-input.ts";
import { readText, readTextFile } from "../input/read-text.ts";
import { configOptions, loadConfigModule } from "../mcp/files.ts";
import { type CommandOperation, type OperationContext, RUN_FLAGS, type RunOperation } from "../operations/operation.ts";
import { perform } from "../operations/perform.ts";
import type { CliSession, CommonFlags } from "../session.ts";
import { NO_SOCKET, type OperationFlags, performAtSocket } from "../socket/client.ts";
import { showLiveOutput } from "../terminal/live-output.ts";
import { warningsText } from "../text/output.ts";
import { noteLines, planText, violationsText } from "../text/run-texts.ts";
import { lacksSkill, selectProblems } from "../unknown-path.ts";
import { UsageError } from "../usage-error.ts";

interface RunFlags extends InputFlags, OperationFlags, Omit<RunOperation, "kind" | "source"> {
  readonly watch?: true;
}

export function addRun(program: CliCommand): void {
  takesInput(takesProgram(program.command("run")))
    .description("run a program")
    .option(
      "--timeout <ms>",
      "the time limit in milliseconds (default: the one in the settings, else 60000)",
      wholeNumber,
    )
    .option("--continue <run>", "correct a failed run: what it has done is not done again")
    .option("--again <numbers...>", "calls of that run that may be made again", collectNumbers)
    .option("--reuse <numbers...>", "calls of that run that count as made", collectNumbers)
    .option("--yes", "approve each call that needs an approval, for scripts")
    .option("--trace", "show each call, and the time and memory of the run")
    .option("--watch", "run it again after each change of the file or of the skills")
    .option(...NO_SOCKET)
    .addHelpText("after", EXAMPLES)
    .run(async (session, file: string | undefined, flags: RunFlags) => {
      if (flags.watch) return watchRun(session, file, flags);
      const source = await readSource(file, flags, session.signal);
      const input = await readInputFlag(flags, session.signal);
      const fields = pickFields({ ...flags, input }, RUN_FLAGS);
      return performOperation({ kind: "run", source, ...fields }, flags, session);
    });
}

async function watchRun(session: CliSession, file: string | undefined, flags: RunFlags): Promise<CommandResult> {
  const { repeatOnChange } = await import("../terminal/repeat-on-change.ts");
  if (flags.eval !== undefined) return repeatOnChange(session);
  if (file !== undefined && file !== "-") return repeatOnChange(session, file);
  throw new UsageError("Standard input can be read only once: with --watch, give a file, or -e with the code");
}

const EXAMPLES = `
Examples:
  skillgate run -e 'device.TimeSkill.get_time("Asia/Tokyo")'
  skillgate run program.ts --input '{"city": "Rome"}' --trace
  cat program.ts | skillgate run - --json`;

function collectNumbers(text: string, numbers: readonly number[] = []): readonly number[] {
  return [...numbers, ...text.split(",").map((part) => wholeNumber(part.trim()))];
}

export function addCheck(program: CliCommand): void {
  takesInput(takesProgram(program.command("check")))
    .description("check a program without running it: list its errors, or the calls that it makes")
    .run(async (session, file: string | undefined, flags: InputFlags) => {
      const { openRuntime, paint } = session;
      const { verbose } = session.flags;
      const source = await readSource(file, flags, session.signal);
      const json = await readInputFlag(flags, session.signal);
      const options = json === undefined ? {} : { input: parseRunInput(json) };
      const typecheck = await hasTypeCheck(session.flags);
      const opened = await openRuntime({ typecheck, ...(verbose && { until: "known" }) });
      if (lacksSkill(opened.check(source, options).violations)) await openRuntime({ until: "known" });
      const { violations, plan, notes } = await opened.checkTypes(source, options);
      const isRefused = violations.length > 0;
      return {
        exit: isRefused ? "refused" : "ok",
        json: { violations, plan, notes },
        text: isRefused ? "" : planText(plan),
        remarks: isRefused ? violationsText(violations, paint.err) : noteLines(notes, paint.err),
        asides: warningsText(selectProblems(opened, verbose || lacksSkill(violations)), paint.err),
      };
    });
}

/** Reads the setting `typecheck`, which a command that ends soon otherwise ignores. */
async function hasTypeCheck(flags: CommonFlags): Promise<boolean> {
  const { loadConfig } = await loadConfigModule();
  const { settings } = await loadConfig(configOptions(flags));
  return settings["typecheck"] !== false;
}

export function addCall(program: CliCommand): void {
  program
    .command("call")
    .description("call one method")
    .argument("<path>", "Skill.method")
    .argument(
      "[arguments...]",
      "key=value, key=@file, or one JSON object; a value is parsed as JSON, else taken as text",
    )
    .option("--yes", "approve the call if it needs an approval, for scripts")
    .option(...NO_SOCKET)
    .addHelpText("after", CALL_EXAMPLES)
    .run(async (session, path: string, words: readonly string[], flags: OperationFlags) => {
      const input = await readInput(words, session.signal);
      return performOperation({ kind: "call", path, input }, flags, session);
    });
}

const CALL_EXAMPLES = `
Examples:
  skillgate call CalculatorSkill.calculate "expression=2 + 3"
  skillgate call MemorySkill.remember text=@note.txt
  skillgate call DiceSkill.roll_dice '{"notation": "2d6"}' --json`;

/** The flags that give a program. */
export interface ProgramFlags {
  readonly eval?: string;
}

/** Adds the argument and the option that give a program. */
export function takesProgram(command: CliCommand): CliCommand {
  return command
    .argument("[file]", "the program's file; - for standard input, which is the default unless it is a terminal")
    .option("-e, --eval <code>", "the program itself", takeOnce);
}

function takeOnce(code: string, earlier: string | undefined): string {
  if (earlier !== undefined) throw new UsageError("Cannot take two programs: give -e once, with the whole program");
  return code;
}

/** The flags that give a program and its input. */
interface InputFlags extends ProgramFlags {
  readonly input?: string;
}

function takesInput(command: CliCommand): CliCommand {
  return command.option("--input <json>", "the value that the program gets from device.input(); @FILE for a file");
}

async function readInputFlag({ input }: InputFlags, signal: AbortSignal): Promise<string | undefined> {
  return input === undefined ? undefined : readRunInput(input, signal);
}

/** Reads the text of the program. */
export async function readSource(
  file: string | undefined,
  { eval: code }: ProgramFlags,
  signal: AbortSignal,
): Promise<string> {
  if (code !== undefined && file !== undefined)
    throw new UsageError("Cannot take two programs: give either a file or -e, not both");
  if (code !== undefined) return code;
  if (file !== undefined && file !== "-") return readFromFile(file, signal);
  if (file === undefined && process.stdin.isTTY)
    throw new UsageError("A program is missing: give a file, - for standard input, or -e with the code");
  return readText(addAbortSignal(signal, process.stdin), "standard input");
}

async function readFromFile(file: string, signal: AbortSignal): Promise<string> {
  try {
    return await readTextFile(file, signal);
  } catch (thrown) {
    const isCode = thrown instanceof UsageError && /[\s(;]/.test(file);
    throw isCode ? new UsageError(`${thrown.message}; to run code itself, put -e before it`) : thrown;
  }
}

/** Performs an operation in the process that serves the project, if there is one, else in this process. */
export async function performOperation(
  operation: CommandOperation,
  flags: OperationFlags,
  session: CliSession,
): Promise<CommandResult> {
  return (await performAtSocket(operation, flags, session)) ?? performHere(operation, flags, session);
}

async function performHere(
  operation: CommandOperation,
  { yes }: OperationFlags,
  session: CliSession,
): Promise<CommandResult> {
  const { openRuntime, signal, flags, paint } = session;
  const runtime = await session.openRuntime(yes && { approve: () => true });
  const context: OperationContext = {
    runtime,
    whenKnown: () => openRuntime({ until: "known" }),
    signal,
    paint: paint.err,
    isVerbose: flags.verbose === true,
    isTerminal: process.stderr.isTTY,
    options: {},
  };
  const endLiveOutput = showLiveOutput(runtime, session);
  return perform(operation, context).finally(endLiveOutput);
}
