import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";

import type { AgentEvent } from "../../src/agent/index.ts";
import { createPathMatcher } from "../../src/model/permissions.ts";
import type { Runtime } from "../../src/runtime.ts";
import { quote } from "../../src/shared/format-text.ts";
import { jsonText } from "../../src/surfaces/cli/text/output.ts";
import type { TaskCheck, TextCondition } from "./task-check.ts";

/** The work of a model on a task, when it has ended. */
export interface TaskEnd {
  readonly runtime: Runtime;
  readonly events: readonly AgentEvent[];
  readonly answer: string;
  /** Number of questions whether a call may be made. */
  readonly approvals: number;
  /** The folder of the run's files. */
  readonly workFolder: string;
}

/** Longest part of a text that a message shows. */
const MAX_QUOTED = 200;

/** Checks how a task ended, and returns a sentence about each condition that does not hold. */
export async function checkRun(check: TaskCheck, end: TaskEnd): Promise<readonly string[]> {
  return [
    ...(check.answer === undefined ? [] : checkText("the answer", end.answer, check.answer)),
    ...("json" in check ? checkJson(end.answer, check.json) : []),
    ...checkCalls(check, end),
    ...checkCount("approvals", "question", check.approvals, end.approvals),
    ...checkCount("effects", "effect", check.effects, countEffects(end)),
    ...(await checkFiles(check.files ?? {}, end.workFolder)),
    ...(await checkAfterwards(check.afterwards, end.runtime)),
  ];
}

/** Counts the successful calls of methods that are not read-only. */
export function countEffects({ events, runtime }: Pick<TaskEnd, "events" | "runtime">): number {
  const { catalog } = runtime;
  return events.filter(
    (event) =>
      event.type === "call_ended" && event.outcome === "ok" && catalog.method(event.path)?.metadata.readOnly === false,
  ).length;
}

function checkText(what: string, text: string, condition: TextCondition): readonly string[] {
  const { contains = [], lacks = [], equals, matches } = condition;
  const lower = text.toLowerCase();
  const has = (part: string): boolean => lower.includes(part.toLowerCase());
  const is = `it is ${quote(text, MAX_QUOTED)}`;
  return [
    ...[contains].flat().flatMap((part) => (has(part) ? [] : [`${what} must contain ${quote(part)}; ${is}`])),
    ...[lacks].flat().flatMap((part) => (has(part) ? [`${what} must not contain ${quote(part)}; ${is}`] : [])),
    ...(equals === undefined || text.trim() === equals.trim() ? [] : [`${what} must be ${quote(equals)}; ${is}`]),
    ...(matches === undefined || new RegExp(matches, "iu").test(text) ? [] : [`${what} must match ${matches}; ${is}`]),
  ];
}

function checkJson(answer: string, expected: unknown): readonly string[] {
  const candidates = [answer, /```\w*\n([^]*?)```/.exec(answer)?.[1], /[[{][^]*[\]}]/.exec(answer)?.[0]];
  const values = candidates.flatMap((text) => parseJson(text ?? ""));
  if (values.some((value) => isDeepStrictEqual(value, expected))) return [];
  const [first] = values;
  const is = first === undefined ? `it is ${quote(answer, MAX_QUOTED)}` : `its JSON is ${jsonText(first, 0)}`;
  return [`the answer must have the JSON ${jsonText(expected, 0)}; ${is}`];
}

function parseJson(text: string): readonly unknown[] {
  try {
    return [JSON.parse(text)];
  } catch {
    return []; // a text around the JSON, or no JSON
  }
}

function checkCalls({ called = [], notCalled = [] }: TaskCheck, { events }: TaskEnd): readonly string[] {
  const attempts = events.flatMap((event) => (event.type === "call_ended" ? [event] : []));
  const count = (pattern: string, isCounted: (attempt: (typeof attempts)[number]) => boolean): number => {
    const matches = createPathMatcher(pattern);
    return attempts.filter((attempt) => matches(attempt.path) && isCounted(attempt)).length;
  };
  const countCalls = (pattern: string): number => count(pattern, ({ outcome }) => outcome === "ok");
  const missing = isList(called)
    ? called.flatMap((path) => (countCalls(path) > 0 ? [] : [`${path} must be called`]))
    : Object.entries(called).flatMap(([path, times]) => checkCount(path, "successful call", times, countCalls(path)));
  const excess = notCalled.flatMap((path) => {
    const times = count(path, () => true);
    return times === 0 ? [] : [`${path} must not be called; there were ${times} calls`];
  });
  return [...missing, ...excess];
}

const isList = (value: NonNullable<TaskCheck["called"]>): value is readonly string[] => Array.isArray(value);

function checkCount(what: string, unit: string, expected: number | undefined, actual: number): readonly string[] {
  if (expected === undefined || expected === actual) return [];
  return [`${what}: there must be ${expected} ${unit}${expected === 1 ? "" : "s"}; there were ${actual}`];
}

async function checkFiles(files: NonNullable<TaskCheck["files"]>, folder: string): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const [name, condition] of Object.entries(files)) {
    const text = await readFile(join(folder, name), "utf8").catch(() => undefined); // a missing file is a problem below
    if (condition === "absent") problems.push(...(text === undefined ? [] : [`the file ${name} must not exist`]));
    else if (text === undefined) problems.push(`the file ${name} does not exist`);
    else problems.push(...checkText(`the file ${name}`, text, condition));
  }
  return problems;
}

async function checkAfterwards(check: TaskCheck["afterwards"], runtime: Runtime): Promise<readonly string[]> {
  if (check === undefined) return [];
  const outcome = await runtime.run(check.code, { approve: () => true });
  if (outcome.kind !== "completed") return [`the program of afterwards did not complete: ${outcome.text}`];
  const value: unknown = JSON.parse(jsonText(outcome.value, 0));
  if (isDeepStrictEqual(value, check.equals)) return [];
  return [`the value of afterwards must be ${jsonText(check.equals, 0)}; it is ${jsonText(value, 0)}`];
}
