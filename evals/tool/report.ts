import type { TokenPrice } from "../../src/agent/index.ts";
import type { Paint } from "../../src/surfaces/cli/terminal/terminal.ts";
import { count, escaped, lines } from "../../src/surfaces/cli/text/layout.ts";
import type { TaskRun } from "./run-task.ts";
import { type Variant, VARIANTS } from "./task.ts";

/** All runs of a task in one variant. */
export interface TaskResult {
  readonly task: string;
  readonly file: string;
  readonly variant: Variant;
  readonly runs: readonly TaskRun[];
}

/** The sums of several runs. */
export interface EvalSums {
  readonly runs: number;
  readonly passed: number;
  /** Replies of the model. */
  readonly turns: number;
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly seconds: number;
  /** In the currency of the price; absent if the price is unknown. */
  readonly cost?: number;
}

export function sumRuns(runs: readonly TaskRun[], price: TokenPrice | undefined): EvalSums {
  const sum = (get: (run: TaskRun) => number): number => runs.reduce((total, run) => total + get(run), 0);
  const inputTokens = sum((run) => run.inputTokens);
  const outputTokens = sum((run) => run.outputTokens);
  return {
    runs: runs.length,
    passed: runs.filter(({ passed }) => passed).length,
    turns: sum(({ turns }) => turns),
    calls: sum(({ calls }) => calls),
    inputTokens,
    outputTokens,
    seconds: sum(({ seconds }) => seconds),
    ...(price && { cost: (inputTokens * price.input + outputTokens * price.output) / 1_000_000 }),
  };
}

/** Formats the result of a task as a row, and below it the conditions that do not hold. */
export function formatResult({ variant, runs }: TaskResult, price: TokenPrice | undefined, paint: Paint): string {
  const problems = runs.flatMap(({ problems: sentences }) => sentences);
  return lines([
    formatRow(variant, sumRuns(runs, price), paint),
    ...[...new Set(problems)].map((sentence) => `    ${paint.red(escaped(sentence))}`),
  ]);
}

export function formatTotals(results: readonly TaskResult[], price: TokenPrice | undefined, paint: Paint): string {
  const rows = VARIANTS.flatMap((variant) => {
    const runs = results.filter((result) => result.variant === variant).flatMap((result) => result.runs);
    return runs.length === 0 ? [] : [formatRow(variant, sumRuns(runs, price), paint)];
  });
  return lines([paint.bold("total"), ...rows]);
}

const NUMBER = new Intl.NumberFormat("en-US");

function formatRow(variant: Variant, sums: EvalSums, paint: Paint): string {
  const { runs, passed, turns, inputTokens, outputTokens, seconds, cost } = sums;
  const verdict = runs === 1 ? (passed === 1 ? "passed" : "failed") : `${passed} of ${runs}`;
  const cells = [
    variant.padEnd(8),
    (passed === runs ? paint.green : paint.red)(verdict.padEnd(6)),
    count(turns, "turn").padStart(8),
    `${NUMBER.format(inputTokens)} in`.padStart(9),
    `${NUMBER.format(outputTokens)} out`.padStart(9),
    ...(cost === undefined ? [] : [cost.toFixed(4)]),
    `${seconds.toFixed(1)} s`.padStart(5),
  ];
  return `  ${cells.join(" ")}`;
}
