import {
  type Continuation,
  type ContinueDecision,
  createHistory,
  getPastEnd,
  type StoredCall,
  type PastCall,
  type RunRecorder,
} from "../../runs/index.ts";
import { formatList, truncateText } from "../../shared/format-text.ts";
import type { EffectKnowledge } from "../../model/tools/effects.ts";
import type { ContinuationHint } from "./describe-outcome.ts";

/** A call that was not made, because it may have been made already. */
export interface DoubtfulCall {
  readonly path: string;
  readonly args: string;
  readonly decision: Extract<ContinueDecision, { kind: "unsure" }>;
}

/** Paths that the sentence names. */
const MAX_PATHS = 10;

/** Characters of the arguments that it shows. */
const MAX_ARGUMENTS = 200;

/**
 * Says which calls of a run had an effect, and how a corrected program continues it. A run that continues another and had no
 * new effect names that one. `undefined` if nothing had an effect.
 */
export function describeContinuation(
  recorder: RunRecorder,
  continuation: Continuation | undefined,
  doubtful: DoubtfulCall | undefined,
  getEffect: (path: string) => EffectKnowledge,
): ContinuationHint | undefined {
  const calls = [...recorder.calls.values()].filter(
    ({ path, state, from }) => path.includes(".") && state !== "made" && from === undefined,
  );
  const mayChange = calls.filter(({ path, isEffect }) => isEffect && getEffect(path) !== "unlikely");
  const effects = mayChange.filter((call) => getPastEnd(call) === "ok");
  const unknown = mayChange.filter((call) => getPastEnd(call) === "unknown");
  const hasNew = effects.length + unknown.length > 0;
  if (!hasNew && continuation === undefined) return undefined;
  const run = hasNew || continuation === undefined ? recorder.id : continuation.history.run;
  const facts = formatFacts(calls, effects, unknown, getEffect);
  const answer =
    doubtful === undefined
      ? formatUnknown(unknown.map(({ id }) => id))
      : formatDoubt(doubtful, hasNew ? findNumbers(doubtful, recorder, continuation) : getNumbers(doubtful));
  return { run, facts, answer: `${answer}${formatAnswers(hasNew, continuation)}` };
}

/** `3 calls were made, 1 had an effect: MailMCP.send; 1 may have changed something: ShopMCP.order` */
function formatFacts(
  calls: readonly StoredCall[],
  effects: readonly StoredCall[],
  unknown: readonly StoredCall[],
  getEffect: (path: string) => EffectKnowledge,
): string {
  const stated = effects.filter(({ path }) => getEffect(path) === "stated");
  const possible = effects.filter(({ path }) => getEffect(path) !== "stated");
  const parts = [
    ...(stated.length > 0 ? [`${stated.length} had an effect: ${formatPaths(stated)}`] : []),
    ...(possible.length > 0 ? [`${possible.length} may have changed something: ${formatPaths(possible)}`] : []),
    ...(unknown.length > 0
      ? [`${unknown.length} did not finish and may have had an effect: ${formatPaths(unknown)}`]
      : []),
  ];
  const count = `${calls.length} ${calls.length === 1 ? "call was" : "calls were"} made`;
  return `${count}, ${parts.length === 0 ? "none had an effect" : parts.join("; ")}`;
}

function formatPaths(calls: readonly StoredCall[]): string {
  const counts = new Map<string, number>();
  for (const { path } of calls) counts.set(path, (counts.get(path) ?? 0) + 1);
  const paths = [...counts].map(([path, count]) => (count === 1 ? path : `${path} (${count} times)`));
  return formatList(paths, MAX_PATHS);
}

/** Says how to answer for calls of the run itself whose end is not known. */
function formatUnknown(numbers: readonly number[]): string {
  if (numbers.length === 0) return "";
  const list = formatNumbers(numbers);
  return `, and with again: ${list} to make what had no effect, or reuse: ${list} to count it as made`;
}

function formatDoubt({ decision }: DoubtfulCall, numbers: readonly number[]): string {
  const list = formatNumbers(numbers);
  const past = decision.past.map(({ path, args }, index) => `call ${numbers[index]}, ${formatCall(path, args)}`);
  const which = formatList(past, MAX_PATHS);
  switch (decision.doubt) {
    case "alike":
      return `. The same was done by ${which}: add again: ${list} to do it once more, or reuse: ${list} to take the results`;
    case "arguments":
      return `. Other arguments had ${which}: repeat these arguments to take its result, or add reuse: ${list} to make this call too`;
    case "unknown":
      return `. It is not known how this ended: ${which}. Add again: ${list} if it had no effect, or reuse: ${list} to count it as made`;
  }
}

/** Reminds of the answers that were given before, as they are not recorded for a run without new effects. */
function formatAnswers(hasNew: boolean, continuation: Continuation | undefined): string {
  if (hasNew || continuation === undefined) return "";
  const { again, reuse } = continuation.answers;
  const answers = Object.entries({ again, reuse }).filter(([, numbers]) => numbers.length > 0);
  if (answers.length === 0) return "";
  return `. Keep ${answers.map(([name, numbers]) => `${name}: ${formatNumbers(numbers)}`).join(" and ")}`;
}

function getNumbers({ decision }: DoubtfulCall): readonly number[] {
  return decision.past.map(({ number }) => number);
}

/** Returns the numbers that the calls have in the history of the run itself. */
function findNumbers(
  { decision }: DoubtfulCall,
  recorder: RunRecorder,
  continuation: Continuation | undefined,
): readonly number[] {
  const { inherited } = createHistory(recorder.id, recorder, continuation?.history);
  const find = ({ key, number }: PastCall): number => inherited.find((call) => call.key === key)?.number ?? number;
  return decision.past.map(find);
}

function formatNumbers(numbers: readonly number[]): string {
  return `[${numbers.join(", ")}]`;
}

/** `MailMCP.send({"to":"ada"})` */
export function formatCall(path: string, args: string): string {
  const inner = args.startsWith("[") && args.endsWith("]") ? args.slice(1, -1) : "…";
  return `${path}(${truncateText(inner, MAX_ARGUMENTS)})`;
}
