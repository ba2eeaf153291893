import type { ArgumentProblem } from "../model/arguments.ts";
import type { Method } from "../model/catalog.ts";
import { isRecord } from "../model/json.ts";
import { TIMED_OUT } from "../model/within.ts";
import type { Clock } from "./clock.ts";
import { compile, type Check } from "./compile.ts";
import { restoreDates, withTexts } from "./dates.ts";
import { isOpenToNames } from "./names.ts";
import { keysOf, pointerTo, removeAt, valueAt, type Pointer } from "./places.ts";
import { findingFrom, problemFrom, problemIn, type Finding } from "./problems.ts";
import { NO_DOUBT, settle, type Doubt } from "./settle.ts";
import { copyOfObject, DEEPEST_INPUT, HEAVIEST_INPUT, sizeOf } from "./size.ts";
import { unknownName, wrongType } from "./words.ts";

/** How much of what ajv found is looked at: one call can be wrong in half a million places. */
const MOST_FINDINGS = 5_000;

/** Problems beyond these add nothing to what whoever must mend the call needs to know. */
const MOST_PROBLEMS = 200;

export type Validation =
  | {
      readonly kind: "valid";
      /** A copy of the input with the defaults filled in. */
      readonly input: Record<string, unknown>;
      /** What could not be checked; usually empty. */
      readonly notes: readonly string[];
    }
  /**
   * `timed out`: whether it fits could not be found out in the time that there is; `quarantined`: that has happened before,
   * and it is not tried again.
   */
  | { readonly kind: "invalid" | "timed out" | "quarantined"; readonly problems: readonly ArgumentProblem[] };

/** What the arguments of one method are checked against. */
export interface InputCheck {
  readonly check: Check;
  /** The names that arguments may have; `undefined` if any will do. */
  readonly names: ReadonlySet<string> | undefined;
  readonly notes: readonly string[];
}

export function inputCheckFor(method: Method, clock: Clock): InputCheck {
  const check = compile(method.input, true, clock);
  const names = isOpenToNames(method) ? undefined : new Set(method.parameters.map(({ name }) => name));
  return { check, names, notes: check.note === "" ? [] : [`${method.path}: ${check.note}`] };
}

/** Checks arguments by name, all but what is in doubt. */
export function checkInput(
  { check, names, notes }: InputCheck,
  given: unknown,
  doubtIn: (given: unknown) => Doubt = () => NO_DOUBT,
): Validation {
  if (!isRecord(given)) return invalid(problemIn(wrongType(["object"], given)));
  const { depth, weight, hasDates } = sizeOf(given);
  if (depth > DEEPEST_INPUT || weight > HEAVIEST_INPUT) return invalid(TOO_LARGE);
  const input = hasDates ? withTexts(given) : copyOfObject(given);
  const errors = check.errorsIn(input, weight);
  if (errors === TIMED_OUT) return { kind: "timed out", problems: [TOO_SLOW] };
  const found = settle(errors.slice(0, MOST_FINDINGS).map(findingFrom), doubtIn(given));
  const problems = withoutDefaults(found, given, input)
    .filter((finding) => !isAboutName(finding, names))
    .map((finding) => problemOf(finding, check, input));
  const all = withoutRepeats([...problems, ...unknownNames(Object.keys(given), names)]);
  if (all.length > 0) return invalid(...all.slice(0, MOST_PROBLEMS));
  if (hasDates) restoreDates(input, given, check, weight);
  return { kind: "valid", input, notes };
}

const TOO_LARGE: ArgumentProblem = {
  field: "_root",
  type: "type_mismatch",
  reason: `nests more than ${DEEPEST_INPUT} levels deep, or holds too much`,
  suggestions: [],
};

const TOO_SLOW: ArgumentProblem = {
  field: "_root",
  type: "invalid_pattern",
  reason: "takes too long to be checked against the schema",
  suggestions: [],
};

function invalid(...problems: readonly ArgumentProblem[]): Validation {
  return { kind: "invalid", problems };
}

/** Takes back the defaults that do not fit their own schema: nobody who calls the method is to blame for them. */
function withoutDefaults(
  findings: readonly Finding[],
  given: Readonly<Record<string, unknown>>,
  input: Record<string, unknown>,
): readonly Finding[] {
  return findings.filter(({ place }) => {
    const filledIn = firstPlaceWithout(given, place);
    if (filledIn !== undefined) removeAt(filledIn, input);
    return filledIn === undefined;
  });
}

/** On the way to a place, the first at which nothing was given. */
function firstPlaceWithout(given: unknown, place: Pointer): Pointer | undefined {
  let pointer: Pointer = "";
  for (const key of keysOf(place)) {
    pointer = pointerTo(pointer, key);
    if (valueAt(pointer, given) === undefined) return pointer;
  }
  return undefined;
}

/** ajv, too, may find a name unknown that `unknownNames` tells of. */
function isAboutName({ keyword, place, params }: Finding, names: ReadonlySet<string> | undefined): boolean {
  if (names === undefined || place !== "") return false;
  const name =
    keyword === "additionalProperties"
      ? params["additionalProperty"]
      : keyword === "unevaluatedProperties" && params["unevaluatedProperty"];
  return typeof name === "string" && !names.has(name);
}

function problemOf(finding: Finding, check: Check, input: unknown): ArgumentProblem {
  const problem = problemFrom(finding, input);
  if (finding.keyword !== "pattern") return problem;
  const fault = check.patternFault(String(finding.schema), String(finding.data));
  return fault === undefined ? problem : { ...problem, type: "invalid_pattern", reason: fault };
}

function unknownNames(given: readonly string[], names: ReadonlySet<string> | undefined): readonly ArgumentProblem[] {
  if (names === undefined) return [];
  const known = [...names];
  return given
    .filter((name) => !names.has(name))
    .slice(0, MOST_PROBLEMS)
    .map((name) => problemIn(unknownName(name, known, "an argument")));
}

/** A schema may ask for the same thing in several places. */
function withoutRepeats(problems: readonly ArgumentProblem[]): readonly ArgumentProblem[] {
  return [...new Map(problems.map((problem) => [`${problem.field} ${problem.reason}`, problem])).values()];
}
