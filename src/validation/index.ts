import { bindArguments, problemText, type ArgumentProblem } from "../model/arguments.ts";
import type { Method } from "../model/catalog.ts";
import type { JsonSchema } from "../model/json.ts";
import { DEFAULT_TIMEOUTS } from "../model/timeouts.ts";
import { TIMED_OUT } from "../model/within.ts";
import { createClock } from "./clock.ts";
import { compile, type Check } from "./compile.ts";
import { checkInput, inputCheckFor, type InputCheck, type Validation } from "./input.ts";
import { unknownPlaces } from "./places.ts";
import { findingFrom, problemFrom } from "./problems.ts";
import { NO_DOUBT, settle } from "./settle.ts";
import { sizeOf } from "./size.ts";

export type { Validation } from "./input.ts";

/** How many things that are wrong with a result are told. */
const TOLD_PROBLEMS = 3;

/** Checks what goes into a method and what comes out of it against its schemas (T6). */
export interface Validator {
  /** Checks arguments by name, as `bindArguments` gives them. */
  validate(method: Method, input: unknown): Validation;
  /** What is certainly wrong with the arguments of a call before it is made; they may hold `UNKNOWN`. */
  problems(method: Method, args: readonly unknown[]): readonly ArgumentProblem[];
  /** What is wrong with a result, in one sentence. */
  validateOutput(method: Method, value: unknown): string | undefined;
}

/**
 * Schemas are compiled when first needed, once, and forgotten with their methods. With that, no validation takes longer
 * than `validationMs`.
 */
export function createValidator(validationMs: number = DEFAULT_TIMEOUTS.validationMs): Validator {
  const clock = createClock(validationMs);
  const inputs = new WeakMap<JsonSchema, InputCheck>();
  const outputs = new WeakMap<JsonSchema, Check>();
  const checkOf = (method: Method): InputCheck => kept(inputs, method.input, () => inputCheckFor(method, clock));

  return {
    validate: (method, input) => checkInput(checkOf(method), input),
    problems(method, args) {
      const binding = bindArguments(method, args);
      if (binding.kind === "unfit") return binding.problems;
      const validation = checkInput(checkOf(method), binding.input, (input) => ({
        unknown: unknownPlaces(input),
        openNames: !binding.complete,
      }));
      return validation.kind === "invalid" ? validation.problems : [];
    },
    validateOutput(method, value) {
      const { output } = method;
      if (output === undefined) return undefined;
      const check = kept(outputs, output, () => compile(output, false, clock));
      return outputProblem(method, check, value ?? null);
    },
  };
}

function kept<Key extends object, Value>(values: WeakMap<Key, Value>, key: Key, make: () => Value): Value {
  const known = values.get(key);
  if (known !== undefined) return known;
  const made = make();
  values.set(key, made);
  return made;
}

function outputProblem(method: Method, check: Check, value: unknown): string | undefined {
  const errors = check.errorsIn(value, sizeOf(value).weight);
  if (errors === TIMED_OUT || errors.length === 0) return undefined;
  const findings = settle(errors.slice(0, 100).map(findingFrom), NO_DOUBT);
  const told = findings.slice(0, TOLD_PROBLEMS).map((finding) => problemText(problemFrom(finding, value), "it"));
  return `The result of ${method.path} does not fit its output schema: ${told.join("; ")}`;
}
