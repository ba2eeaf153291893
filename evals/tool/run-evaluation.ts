import { Command, InvalidArgumentError } from "commander";

import type { TokenPrice } from "../../src/agent/index.ts";
import {
  type AgentFlags,
  getBudgets,
  loadAgentModule,
  parseMode,
  takesModel,
} from "../../src/surfaces/cli/agent/open-agent.ts";
import type { CommandResult } from "../../src/surfaces/cli/command.ts";
import { createErrorResult } from "../../src/surfaces/cli/error-answer.ts";
import type { Exit } from "../../src/surfaces/cli/exit-codes.ts";
import { wholeNumber } from "../../src/surfaces/cli/input/option-values.ts";
import { openConfig } from "../../src/surfaces/cli/mcp/files.ts";
import { type CliSession, type CommonFlags, openSession } from "../../src/surfaces/cli/session.ts";
import type { Interruption } from "../../src/surfaces/cli/terminal/interruption.ts";
import type { Terminal } from "../../src/surfaces/cli/terminal/terminal.ts";
import { UsageError } from "../../src/surfaces/cli/usage-error.ts";
import { findTasks } from "./find-tasks.ts";
import { formatResult, formatTotals, sumRuns, type TaskResult } from "./report.ts";
import { runTask, type TaskModel, type TaskRun } from "./run-task.ts";
import { type EvalTask, type Variant, VARIANTS } from "./task.ts";

interface EvalFlags extends AgentFlags {
  readonly plain?: boolean;
  readonly runs: number;
  readonly price?: TokenPrice;
}

/** Lets a model solve tasks with fixtures, and counts passes, turns, tokens and cost: `npm run eval -- TASKS…`. */
export async function runEvaluation(
  args: readonly string[],
  terminal: Terminal,
  interruption: Interruption,
): Promise<Exit> {
  let result: CommandResult = { json: null, text: "" };
  const program = createProgram(async (paths, flags) => {
    await using session = openSession(flags, terminal, interruption);
    result = await evaluate(session, paths, flags);
  });
  try {
    await program.parseAsync(args, { from: "user" });
  } catch (thrown) {
    result = createErrorResult(thrown, terminal);
  }
  terminal.show(result);
  return interruption.exit ?? result.exit ?? "ok";
}

function createProgram(action: (paths: readonly string[], flags: EvalFlags & CommonFlags) => Promise<void>): Command {
  return takesModel(new Command("npm run eval --").argument("<tasks...>"))
    .description("let a model solve tasks with fixtures, and count passes, turns, tokens and cost")
    .option("--plain", "only with plain tool calls, each method a tool")
    .option("--no-plain", "only with programs")
    .option("--runs <n>", "how often each task is run", wholeNumber, 1)
    .option("--price <in,out>", "price of a million tokens, such as 3,15 (default: agent.price)", parsePrice)
    .option("--settings <file>", "the settings file (default: ./settings.yaml)")
    .option("--json", "print one JSON object on stdout, for errors too")
    .option("--debug", "show stack traces")
    .addHelpText("after", HELP)
    .action(action);
}

const HELP = `
Each task runs twice: with programs, and with plain tool calls. Its skills and servers are started.
With --model scripted, the scripts of the tasks stand for a model.

Examples:
  npm run eval -- evals --model anthropic:claude-sonnet-4-5
  npm run eval -- evals/join.yaml --model ollama:qwen3 --runs 5
  npm run eval -- evals --model scripted --json`;

function parsePrice(text: string): TokenPrice {
  const [input = Number.NaN, output = Number.NaN, ...others] = text.split(",").map((part) => Number(part || "x"));
  if (others.length === 0 && input >= 0 && output >= 0) return { input, output };
  throw new InvalidArgumentError("It must be two numbers, as in 3,15.");
}

/** The name of a model that stands for the scripts of the tasks. */
const SCRIPTED = "scripted";

async function evaluate(session: CliSession, paths: readonly string[], flags: EvalFlags): Promise<CommandResult> {
  const { signal, paint, write } = session;
  const isJson = session.flags.json === true;
  const tasks = await findTasks(paths);
  const { createModel, label, price } = await openModels(session, flags);
  const variants = VARIANTS.filter((variant) => flags.plain === undefined || flags.plain === (variant === "plain"));
  if (!isJson) write("out", `${paint.out.dim(`Model: ${label}`)}\n`);
  const results: TaskResult[] = [];
  for (const task of tasks) {
    if (!isJson) write("out", `${paint.out.bold(task.name)}\n`);
    for (const variant of variants) {
      const model = createModel(task, variant);
      const runs: TaskRun[] = [];
      for (let run = 0; run < flags.runs; run += 1) runs.push(await runTask(task, model, signal));
      const result = { task: task.name, file: task.file, variant, runs };
      results.push(result);
      if (!isJson) write("out", `${formatResult(result, price, paint.out)}\n`);
    }
  }
  const isPassed = results.every(({ runs }) => runs.every(({ passed }) => passed));
  return {
    exit: isPassed ? "ok" : "failed",
    json: createJson(label, results, price),
    text: tasks.length > 1 ? formatTotals(results, price, paint.out) : "",
  };
}

interface EvalModels {
  readonly createModel: (task: EvalTask, variant: Variant) => TaskModel;
  /** `provider:name` */
  readonly label: string;
  readonly price: TokenPrice | undefined;
}

/** Reads the settings and the environment. Throws `MODEL_MISSING` and `CONFIG_INVALID`. */
async function openModels(session: CliSession, flags: EvalFlags): Promise<EvalModels> {
  const mode = parseMode(flags.mode);
  const [{ chooseModel, parseAgentSettings }, config] = await Promise.all([loadAgentModule(), openConfig(session)]);
  const settings = parseAgentSettings(config.settings["agent"]);
  const isScripted = flags.model === SCRIPTED;
  const choice = isScripted ? undefined : chooseModel(flags.model, settings, config.variables);
  const shared = { settings, readVariable: config.variables, budgets: getBudgets(flags) };
  return {
    label: choice === undefined ? SCRIPTED : `${choice.provider}:${choice.name}`,
    price: flags.price ?? settings.price,
    createModel: (task, variant) => ({
      ...shared,
      ...(choice === undefined ? { model: findScript(task, variant) } : flags.model && { model: flags.model }),
      ...(variant === "plain" ? { mode: "native" as const } : mode && { mode }),
    }),
  };
}

function findScript({ file, scripts }: EvalTask, variant: Variant): string {
  const script = scripts[variant];
  if (script !== undefined) return `${SCRIPTED}:${script}`;
  throw new UsageError(`${file} has no script for ${variant}; write scripts: { ${variant}: FILE }, or another --model`);
}

function createJson(model: string, results: readonly TaskResult[], price: TokenPrice | undefined): unknown {
  const total = VARIANTS.flatMap((variant) => {
    const runs = results.filter((result) => result.variant === variant).flatMap((result) => result.runs);
    return runs.length === 0 ? [] : [[variant, sumRuns(runs, price)] as const];
  });
  return { model, results, total: Object.fromEntries(total) };
}
