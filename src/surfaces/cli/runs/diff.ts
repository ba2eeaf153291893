import type { Ledger, LedgerCall } from "../../../runs/index.ts";
import { truncateText } from "../../../shared/format-text.ts";
import type { CliSession } from "../session.ts";
import type { CommandResult } from "../terminal/terminal.ts";
import { count, lines } from "../text/layout.ts";
import { findRun, openRuns } from "./find-run.ts";

/** A difference between two runs: what each of them has. */
interface RunDifference {
  /** Counts calls from 1, in the order of the program; missing for a part of the run as a whole. */
  readonly call?: number;
  readonly path?: string;
  readonly part: "call" | "path" | "arguments" | "answer" | "source" | "state" | "text";
  readonly first: string;
  readonly second: string;
}

/** Names the first call that differs, and later differences in short. */
export async function diffRuns(session: CliSession, id: string, other: string): Promise<CommandResult> {
  const runtime = await openRuns(session);
  const [one, two] = [await findRun(runtime, id), await findRun(runtime, other)];
  const [first, second] = [await runtime.runs.ledger(one.id), await runtime.runs.ledger(two.id)];
  const calls = compareCalls(listCalls(first), listCalls(second));
  const whole = compareParts([
    ["source", first.header.source, second.header.source],
    ["state", one.state, two.state],
    ["text", first.outcome?.text ?? "", second.outcome?.text ?? ""],
  ]);
  const differences = runtime.secrets.maskTexts([...calls, ...whole]);
  const [part] = differences;
  return {
    exit: "ok",
    json: { isSame: part === undefined, first: one.id, second: two.id, differences },
    text:
      part === undefined ? `The runs are the same: ${count(first.calls.size, "call")}` : differencesText(differences),
  };
}

function listCalls({ calls }: Ledger): readonly LedgerCall[] {
  return [...calls.values()].toSorted((a, b) => a.id - b.id);
}

function compareCalls(first: readonly LedgerCall[], second: readonly LedgerCall[]): readonly RunDifference[] {
  return Array.from({ length: Math.max(first.length, second.length) }).flatMap((_, at) => {
    const [one, two] = [first[at], second[at]];
    const call = { call: at + 1, path: (one ?? two)?.path ?? "" };
    if (one === undefined || two === undefined)
      return [{ ...call, part: "call" as const, first: callText(one), second: callText(two) }];
    const parts: readonly ComparedPart[] = [
      ["path", one.path, two.path],
      ["arguments", one.args, two.args],
      ["answer", answerText(one), answerText(two)],
    ];
    return compareParts(parts)
      .slice(0, 1)
      .map((difference) => ({ ...call, ...difference }));
  });
}

type ComparedPart = readonly [part: RunDifference["part"], first: string, second: string];

function compareParts(parts: readonly ComparedPart[]): readonly RunDifference[] {
  return parts.flatMap(([part, first, second]) => (first === second ? [] : [{ part, first, second }]));
}

function callText(call: LedgerCall | undefined): string {
  return call === undefined ? "no call" : `${call.path} ${call.args}`;
}

function answerText({ answer }: LedgerCall): string {
  if (answer === undefined) return "no answer";
  return answer.ok ? answer.json : JSON.stringify(answer.error);
}

const MAX_SHOWN_UNITS = 300;
const MAX_LATER = 10;

function differencesText([first, ...later]: readonly RunDifference[]): string {
  if (first === undefined) return "";
  const more = later.length > MAX_LATER ? [`  … and ${later.length - MAX_LATER} more`] : [];
  return lines([
    first.call === undefined ? "All calls are the same. The runs differ in:" : "The first call that differs:",
    `  ${differenceTitle(first)}`,
    `    - ${truncateText(first.first, MAX_SHOWN_UNITS)}`,
    `    + ${truncateText(first.second, MAX_SHOWN_UNITS)}`,
    later.length === 0 ? "" : "Later differences:",
    ...later.slice(0, MAX_LATER).map((difference) => `  ${differenceTitle(difference)}`),
    ...more,
  ]);
}

function differenceTitle({ call, path, part }: RunDifference): string {
  return call === undefined ? part : `call ${call}, ${path}: ${part}`;
}
