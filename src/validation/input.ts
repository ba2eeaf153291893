import { type ArgumentProblem, isOpenToNames, isPlainObject } from "../model/arguments.ts";
import type { Method } from "../model/catalog.ts";
import { isRecord } from "../model/json.ts";
import { keepWrittenNumbers, mapNumbers, parseLongInteger } from "../shared/json/exact-json.ts";
import { TIMED_OUT } from "../shared/run-with-timeout.ts";
import type { TimeBudget } from "./time-budget.ts";
import { createErrorFinder, type ErrorFinder } from "./error-finder.ts";
import { parsePointer, pointerTo, removeAt, replaceAt, valueAt, type Pointer } from "./json-pointer.ts";
import { problemFrom, problemIn } from "./problems.ts";
import type { Finding } from "./schema/evaluation.ts";
import { NOTHING_UNKNOWN, summarizeErrors, type UnknownParts } from "./summarize-errors.ts";
import { copyObject, MAX_INPUT_DEPTH, MAX_INPUT_WEIGHT, measure } from "./size.ts";
import { unknownName, wrongType } from "./error-texts.ts";
import { UNKNOWN } from "../model/plan.ts";

/** Copies the input with each date as ISO 8601 text. */
function withTexts(args: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return copyObject(args, (instance) => (instance instanceof Date ? instance.toJSON() : instance));
}

/**
 * Puts the dates of `args` back into `input`, where they were replaced by texts. Only where the schema does not restrict
 * the type: there, a value of any type is valid.
 */
function restoreDates(
  input: Record<string, unknown>,
  args: Readonly<Record<string, unknown>>,
  check: ErrorFinder,
  weight: number,
): void {
  const errors = check.errorsIn(
    copyObject(args, (instance) => (instance instanceof Date ? UNKNOWN : instance)),
    weight,
  );
  if (errors === TIMED_OUT) return;
  putDates(args, input, "", new Set(errors.map(({ pointer }) => pointer)));
}

/** Puts the dates of one value into the same places of another, except of those at and below the pointers. */
function putDates(from: object, into: object, pointer: Pointer, typed: ReadonlySet<Pointer>): void {
  if (typed.has(pointer)) return;
  for (const [key, value] of Object.entries(from) as [string, unknown][]) {
    const isDate = value instanceof Date;
    if ((!isDate && !isStructure(value)) || !Object.hasOwn(into, key)) continue;
    const inner = typed.size === 0 ? pointer : pointerTo(pointer, key);
    const current: unknown = Reflect.get(into, key);
    if (!isDate && isStructure(current)) putDates(value, current, inner, typed);
    // Not an assignment: `__proto__` is a name like any other here.
    else if (isDate && !Number.isNaN(value.getTime()) && !typed.has(inner)) Object.defineProperty(into, key, { value });
  }
}

/** At most this many findings are read: one call can be wrong in half a million places. */
const MAX_FINDINGS = 5_000;

/** At most this many problems are reported; more do not help to correct the call. */
const MAX_PROBLEMS = 200;

export type Validation =
  | {
      readonly kind: "valid";
      /** A copy of the input with the defaults filled in. */
      readonly input: Record<string, unknown>;
      /** Remarks on parts that could not be checked; usually empty. */
      readonly notes: readonly string[];
    }
  /**
   * `timed out`: the validation did not finish in time; `quarantined`: it timed out before and is not tried again.
   */
  | { readonly kind: "invalid" | "timed out" | "quarantined"; readonly problems: readonly ArgumentProblem[] };

/** The check of the arguments of one method. */
export interface InputCheck {
  readonly check: ErrorFinder;
  /** The allowed argument names; `undefined` if any name is allowed. */
  readonly names: ReadonlySet<string> | undefined;
  readonly required: ReadonlySet<string>;
  readonly notes: readonly string[];
  readonly takesLongIntegers: boolean;
}

export function inputCheckFor(method: Method, budget: TimeBudget): InputCheck {
  const check = createErrorFinder(method.input, method.definition.fillsDefaults !== true, budget);
  const names = isOpenToNames(method) ? undefined : new Set(method.parameters.map(({ name }) => name));
  const required = new Set(method.parameters.filter((parameter) => parameter.required).map(({ name }) => name));
  const notes = check.note === "" ? [] : [`${method.path}: ${check.note}`];
  return { check, names, required, notes, takesLongIntegers: method.definition.takesLongIntegers === true };
}

/** Checks arguments by name, except for their unknown parts. `null` leaves out an optional argument that cannot be `null`. */
export function checkInput(
  inputCheck: InputCheck,
  args: unknown,
  findUnknownParts: (args: unknown) => UnknownParts = () => NOTHING_UNKNOWN,
): Validation {
  const { check, names, notes } = inputCheck;
  if (!isRecord(args)) return invalid(problemIn(wrongType(["object"], args)));
  const unknown = unknownNames(Object.keys(args), names);
  // Further checks take time for each name, and their problems would not be reported.
  if (unknown.length === MAX_PROBLEMS) return invalid(...unknown);
  const { depth, weight, hasDates, hasBigInts } = measure(args);
  if (depth > MAX_INPUT_DEPTH || weight > MAX_INPUT_WEIGHT) return invalid(TOO_LARGE);
  if (hasBigInts) {
    const checked = checkInput(inputCheck, mapNumbers(args, Number), findUnknownParts);
    if (checked.kind === "valid") restoreBigInts(checked.input, args);
    return checked;
  }
  const input = hasDates ? withTexts(args) : copyObject(args);
  const errors = check.errorsIn(input, weight);
  if (errors === TIMED_OUT) return { kind: "timed out", problems: [TOO_SLOW] };
  const integers = inputCheck.takesLongIntegers ? findLongIntegers(errors) : [];
  if (integers.length > 0) return checkInput(inputCheck, withIntegers(args, integers), findUnknownParts);
  const nulls = findOmittedNulls(errors, args, inputCheck);
  if (nulls.size > 0) {
    const others = Object.entries(args).filter(([name]) => !nulls.has(name));
    return checkInput(inputCheck, Object.fromEntries(others), findUnknownParts);
  }
  const found = summarizeErrors(errors.slice(0, MAX_FINDINGS), findUnknownParts(args));
  const problems = withoutDefaults(found, args, input)
    .filter((finding) => !isAboutName(finding, names))
    .map((finding) => toProblem(finding, check, input));
  const all = withoutRepeats([...problems, ...unknown]);
  if (all.length > 0) return invalid(...all.slice(0, MAX_PROBLEMS));
  if (hasDates) restoreDates(input, args, check, weight);
  return { kind: "valid", input, notes };
}

/** Puts the BigInts of `args` into `input`, which has the nearest numbers in their places. The depth is that of an input. */
function restoreBigInts(input: object, args: object): void {
  keepWrittenNumbers(args, input);
  for (const [key, value] of Object.entries(args) as [string, unknown][]) {
    const current: unknown = Reflect.get(input, key);
    if (typeof value === "bigint" && typeof current === "number") Reflect.set(input, key, value);
    else if (isStructure(value) && isStructure(current)) restoreBigInts(current, value);
  }
}

/**
 * Finds the texts of integers that a number cannot hold, where the schema has a number: results have such an integer as text, and a BigInt
 * of a program is one, too.
 */
function findLongIntegers(errors: readonly Finding[]): readonly LongInteger[] {
  return errors.flatMap(({ keyword, pointer, schema, data }) => {
    const isNumber = keyword === "type" && [schema].flat().some((type) => type === "integer" || type === "number");
    const value = isNumber && typeof data === "string" ? parseLongInteger(data) : undefined;
    return value === undefined ? [] : [{ pointer, value }];
  });
}

interface LongInteger {
  readonly pointer: Pointer;
  readonly value: bigint;
}

function withIntegers(
  args: Readonly<Record<string, unknown>>,
  integers: readonly LongInteger[],
): Readonly<Record<string, unknown>> {
  const copy = copyObject(args);
  for (const { pointer, value } of integers) replaceAt(pointer, copy, value);
  return copy;
}

function isStructure(value: unknown): value is object {
  return Array.isArray(value) || isPlainObject(value);
}

/** The optional arguments that are `null` although their schemas do not allow it. */
function findOmittedNulls(
  errors: readonly Finding[],
  args: Readonly<Record<string, unknown>>,
  { required }: InputCheck,
): ReadonlySet<string> {
  if (errors.length === 0) return new Set();
  const pointers = new Set(errors.map(({ pointer }) => pointer));
  const isOmitted = (name: string): boolean =>
    args[name] === null && !required.has(name) && pointers.has(pointerTo("", name));
  return new Set(Object.keys(args).filter(isOmitted));
}

const TOO_LARGE: ArgumentProblem = {
  field: "_root",
  type: "type_mismatch",
  reason: `nests more than ${MAX_INPUT_DEPTH} levels deep or is too large`,
  suggestions: [],
};

const TOO_SLOW: ArgumentProblem = {
  field: "_root",
  type: "invalid_pattern",
  reason: "takes too long to check against the schema",
  suggestions: [],
};

function invalid(...problems: readonly ArgumentProblem[]): Validation {
  return { kind: "invalid", problems };
}

/** Removes defaults that do not match their own schema: the caller is not to blame for them. */
function withoutDefaults(
  findings: readonly Finding[],
  args: Readonly<Record<string, unknown>>,
  input: Record<string, unknown>,
): readonly Finding[] {
  return findings.filter(({ pointer }) => {
    const filledIn = firstPlaceWithout(args, pointer);
    if (filledIn !== undefined) removeAt(filledIn, input);
    return filledIn === undefined;
  });
}

/** Returns the first prefix of a pointer at which no value was given. */
function firstPlaceWithout(args: unknown, target: Pointer): Pointer | undefined {
  let pointer: Pointer = "";
  for (const key of parsePointer(target)) {
    pointer = pointerTo(pointer, key);
    if (valueAt(pointer, args) === undefined) return pointer;
  }
  return undefined;
}

/** True for a finding about an unknown name that `unknownNames` already reports. */
function isAboutName({ keyword, pointer, params }: Finding, names: ReadonlySet<string> | undefined): boolean {
  if (names === undefined || pointer !== "") return false;
  const name =
    keyword === "additionalProperties"
      ? params["additionalProperty"]
      : keyword === "unevaluatedProperties" && params["unevaluatedProperty"];
  return typeof name === "string" && !names.has(name);
}

function toProblem(finding: Finding, check: ErrorFinder, input: unknown): ArgumentProblem {
  const problem = problemFrom(finding, input);
  if (finding.keyword !== "pattern") return problem;
  const fault = check.patternFault(String(finding.schema), String(finding.data));
  return fault === undefined ? problem : { ...problem, type: "invalid_pattern", reason: fault };
}

function unknownNames(args: readonly string[], names: ReadonlySet<string> | undefined): readonly ArgumentProblem[] {
  if (names === undefined) return [];
  const candidates = [...names];
  return args
    .filter((name) => !names.has(name))
    .slice(0, MAX_PROBLEMS)
    .map((name) => problemIn(unknownName(name, candidates, "an argument")));
}

/** Removes duplicates: a schema may require the same thing in several places. */
function withoutRepeats(problems: readonly ArgumentProblem[]): readonly ArgumentProblem[] {
  return [...new Map(problems.map((problem) => [`${problem.field} ${problem.reason}`, problem])).values()];
}
