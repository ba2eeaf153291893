import type { RunRecord, StoredCall } from "./run-record.ts";

/** A difference between two runs: what each of them has. */
export interface RunDifference {
  /** Counts calls from 1, in the order of the program; missing for a part of the run as a whole. */
  readonly call?: number;
  readonly path?: string;
  readonly part: "call" | "path" | "arguments" | "answer" | "source" | "input" | "state" | "text";
  readonly first: string;
  readonly second: string;
}

/** A run with its record. */
export interface ComparedRun {
  readonly state: string;
  readonly record: Pick<RunRecord, "header" | "calls" | "outcome">;
}

/** Compares the calls in the order of the program, then the programs, states and texts. */
export function compareRuns(first: ComparedRun, second: ComparedRun): readonly RunDifference[] {
  const [one, two] = [first.record, second.record];
  const whole = compareParts([
    ["source", one.header.source, two.header.source],
    ["input", formatInput(one.header), formatInput(two.header)],
    ["state", first.state, second.state],
    ["text", one.outcome?.text ?? "", two.outcome?.text ?? ""],
  ]);
  return [...compareCalls(listCalls(one), listCalls(two)), ...whole];
}

function formatInput({ input }: RunRecord["header"]): string {
  return input === undefined ? "no input" : JSON.stringify(input);
}

function listCalls({ calls }: Pick<RunRecord, "calls">): readonly StoredCall[] {
  return [...calls.values()].toSorted((a, b) => a.id - b.id);
}

function compareCalls(first: readonly StoredCall[], second: readonly StoredCall[]): readonly RunDifference[] {
  return Array.from({ length: Math.max(first.length, second.length) }).flatMap((_, at) => {
    const [one, two] = [first[at], second[at]];
    const call = { call: at + 1, path: (one ?? two)?.path ?? "" };
    if (one === undefined || two === undefined)
      return [{ ...call, part: "call" as const, first: formatCall(one), second: formatCall(two) }];
    const parts: readonly ComparedPart[] = [
      ["path", one.path, two.path],
      ["arguments", one.args, two.args],
      ["answer", formatAnswer(one), formatAnswer(two)],
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

function formatCall(call: StoredCall | undefined): string {
  return call === undefined ? "no call" : `${call.path} ${call.args}`;
}

function formatAnswer({ answer }: StoredCall): string {
  if (answer === undefined) return "no answer";
  return answer.ok ? answer.json : JSON.stringify(answer.error);
}
