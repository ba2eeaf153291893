import type { ErrorObject } from "ajv";

import { bindArguments, formatProblem, type ArgumentProblem } from "../model/arguments.ts";
import type { Method } from "../model/catalog.ts";
import type { JsonSchema } from "../model/json.ts";
import type { MethodDefinition } from "../model/skill.ts";
import { DEFAULT_TIMEOUTS } from "../model/timeouts.ts";
import { TIMED_OUT } from "../shared/run-with-timeout.ts";
import { createTimeBudget } from "./time-budget.ts";
import { compile, type CompiledCheck } from "./compile.ts";
import { checkInput, inputCheckFor, type InputCheck, type Validation } from "./input.ts";
import { findUnknownPointers } from "./json-pointer.ts";
import { findingFrom, problemFrom } from "./problems.ts";
import { NOTHING_UNKNOWN, summarizeErrors } from "./summarize-errors.ts";
import { measure } from "./size.ts";

export type { Validation } from "./input.ts";

/** So often may a schema hold validation to its time limit. */
const MAX_TIMEOUTS = 2;

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
 * than `validationMs`. A method of a server whose schemas need all of that time twice is quarantined: nothing of it is
 * checked any more, and so it cannot be called.
 */
export function createValidator(
  validationMs: number = DEFAULT_TIMEOUTS.validationMs,
  isFromServer: (method: Method) => boolean = () => false,
): Validator {
  const budget = createTimeBudget(validationMs);
  const timeouts = new WeakMap<MethodDefinition, number>();
  const inputs = new WeakMap<JsonSchema, InputCheck>();
  const outputs = new WeakMap<JsonSchema, CompiledCheck>();
  const getCheck = (method: Method): InputCheck => kept(inputs, method.input, () => inputCheckFor(method, budget));

  const isQuarantined = ({ definition }: Method): boolean => (timeouts.get(definition) ?? 0) >= MAX_TIMEOUTS;
  const countTimeout = (method: Method): void => {
    const { definition } = method;
    if (isFromServer(method)) timeouts.set(definition, (timeouts.get(definition) ?? 0) + 1);
  };

  return {
    validate(method, input) {
      if (isQuarantined(method)) return { kind: "quarantined", problems: [QUARANTINED] };
      const validation = checkInput(getCheck(method), input);
      if (validation.kind === "timed out") countTimeout(method);
      return validation;
    },
    problems(method, args) {
      if (isQuarantined(method)) return [];
      const binding = bindArguments(method, args);
      if (binding.kind === "unfit") return binding.problems;
      const validation = checkInput(getCheck(method), binding.input, (input) => ({
        unknown: findUnknownPointers(input),
        openNames: !binding.complete,
      }));
      if (validation.kind === "timed out") countTimeout(method);
      return validation.kind === "invalid" ? validation.problems : [];
    },
    validateOutput(method, value) {
      const { output } = method;
      if (output === undefined || isQuarantined(method)) return undefined;
      const check = kept(outputs, output, () => compile(output, false, budget));
      const errors = check.errorsIn(value ?? null, measure(value).weight);
      if (errors === TIMED_OUT) countTimeout(method);
      return errors === TIMED_OUT ? undefined : outputProblem(method, errors, value ?? null);
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

const QUARANTINED: ArgumentProblem = {
  field: "_root",
  type: "invalid_pattern",
  reason: `cannot be checked: the method is quarantined because its schemas exceeded the validation time limit ${MAX_TIMEOUTS} times`,
  suggestions: [],
};

function outputProblem(method: Method, errors: readonly ErrorObject[], value: unknown): string | undefined {
  if (errors.length === 0) return undefined;
  const findings = summarizeErrors(errors.slice(0, 100).map(findingFrom), NOTHING_UNKNOWN);
  const told = findings.slice(0, TOLD_PROBLEMS).map((finding) => formatProblem(problemFrom(finding, value), "it"));
  return `The result of ${method.path} does not match its output schema: ${told.join("; ")}`;
}
