import { isPlainObject } from "../../model/arguments.ts";
import type { Catalog } from "../../model/catalog.ts";
import type { Caller } from "../../model/caller.ts";
import { isRecord, toList } from "../../model/json.ts";
import type { CallRecord, Outcome } from "../../model/outcome.ts";
import { formatSchemaType } from "../../registry/index.ts";
import { cutText } from "../../shared/format-text.ts";
import { type CompletedOutcome, getValueJson } from "../../shared/json/outcome-value.ts";
import type { Discovery } from "../discovery.ts";
import { hasStrangeMember, readsMember } from "./read-members.ts";

/** Maximum results that are shown, and the maximum length of a type. */
const MAX_RESULTS = 3;
const TYPE_UNITS = 330;

/** The output of a program that prints only values that are not there. */
const EMPTY_OUTPUT = /^(?:undefined|null|NaN|0|\[\]|\{\}|\s)*$/;

/** Maximum values of a result that are read to see whether it is empty. */
const MAX_VALUES = 100;

/**
 * Returns a line for each method whose result this run was the first to see, if the program answers nothing: it has guessed
 * members that the result does not have, or has not read the result.
 */
export function describeUnusedResults(
  outcome: Outcome,
  source: string,
  { catalog, caller }: { readonly catalog: Catalog; readonly caller: Caller },
  discovery: Discovery,
): readonly string[] {
  if (outcome.kind !== "completed" || !isEmptyAnswer(outcome)) return [];
  const findObserved = discovery.observedFor(caller);
  const results = [...countAnswers(outcome.calls)].flatMap(([path, answers]) => {
    const method = catalog.method(path);
    if (method === undefined) return [];
    const observed = findObserved(method);
    const isNew = observed !== undefined && observed.times > 0 && observed.times <= answers;
    return [{ path, isNew, schema: method.output ?? observed?.schema ?? {} }];
  });
  const hasGuess = hasStrangeMember(
    source,
    results.map(({ schema }) => schema),
  );
  const unused = results.filter(({ isNew, schema }) => {
    const names = isNew ? listNames(schema) : [];
    return names.length > 0 && (hasGuess || !names.some((name) => readsMember(source, name)));
  });
  return unused
    .slice(-MAX_RESULTS)
    .map(({ path, schema }) => `${path} has returned ${cutText(formatSchemaType(schema), TYPE_UNITS)}`);
}

/** Counts the calls that succeeded, by method. */
function countAnswers(calls: readonly CallRecord[]): ReadonlyMap<string, number> {
  const answers = new Map<string, number>();
  for (const { skill, method, outcome } of calls) {
    const path = `${skill}.${method}`;
    if (outcome === "ok") answers.set(path, (answers.get(path) ?? 0) + 1);
  }
  return answers;
}

/** Returns the names of the outermost objects of a type: of an object, or of the items of a list. */
function listNames(schema: unknown): readonly string[] {
  if (!isRecord(schema)) return [];
  const { properties, items, anyOf } = schema;
  const names = isRecord(properties) ? Object.keys(properties) : [];
  return [...names, ...[items, ...toList(anyOf)].flatMap(listNames)];
}

/** True if the run printed nothing but empty values, and its result has nothing else. A large result is not read. */
function isEmptyAnswer(outcome: CompletedOutcome): boolean {
  if (!EMPTY_OUTPUT.test(outcome.output) || getValueJson(outcome) !== undefined) return false;
  const open: unknown[] = [outcome.value];
  for (let count = 0; open.length > 0; count++) {
    const value = open.pop();
    if (count === MAX_VALUES) return false;
    if (Array.isArray(value) || isPlainObject(value)) open.push(...Object.values(value).slice(0, MAX_VALUES));
    else if (value !== undefined && value !== null && value !== "" && value !== 0) return false;
  }
  return true;
}
