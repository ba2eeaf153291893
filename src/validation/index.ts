import { bindArguments, type ArgumentProblem } from "../model/arguments.ts";
import type { Method } from "../model/catalog.ts";
import type { JsonSchema } from "../model/json.ts";
import type { MethodDefinition } from "../model/skill.ts";
import { DEFAULT_TIMEOUTS } from "../model/timeouts.ts";
import { TIMED_OUT } from "../shared/run-with-timeout.ts";
import { createTimeBudget } from "./time-budget.ts";
import { createErrorFinder, type ErrorFinder } from "./error-finder.ts";
import { checkInput, inputCheckFor, type InputCheck, type Validation } from "./input.ts";
import { findUnknownPointers } from "./json-pointer.ts";
import { copyResult, measure } from "./size.ts";
import type { Finding } from "./schema/evaluation.ts";
import { describeErrors } from "./value-check.ts";

export type { Validation } from "./input.ts";
export { fieldAt, pointerTo } from "./json-pointer.ts";
export { createPatternTest, createSchemaCheck } from "./schema-check.ts";
export { createValueCheck, type ValueCheck } from "./value-check.ts";

/** A method is quarantined after this many validation timeouts. */
const MAX_TIMEOUTS = 2;

/** Validates the arguments and the results of methods against their schemas. */
export interface Validator {
  /** Checks arguments by name, as `bindArguments` gives them. */
  validate(method: Method, input: unknown): Validation;
  /** Returns the certain errors of a call's arguments before the call is made; the arguments may contain `UNKNOWN`. */
  problems(method: Method, args: readonly unknown[]): readonly ArgumentProblem[];
  /** Describes the errors of a result in one sentence; `undefined` if there are none, and for APIs. */
  validateOutput(method: Method, value: unknown): string | undefined;
}

/**
 * Creates a validator. A schema is read once, when first needed, and freed with its method. A validation takes at most `validationMs`.
 * A server's method that times out twice is quarantined: it is not checked any more and cannot be called.
 */
export function createValidator(
  validationMs: number = DEFAULT_TIMEOUTS.validationMs,
  isFromServer: (method: Method) => boolean = () => false,
): Validator {
  const budget = createTimeBudget(validationMs);
  const timeouts = new WeakMap<MethodDefinition, number>();
  const inputs = new WeakMap<JsonSchema, InputCheck>();
  const outputs = new WeakMap<JsonSchema, ErrorFinder>();
  const getCheck = (method: Method): InputCheck =>
    getOrCreate(inputs, method.input, () => inputCheckFor(method, budget));

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
      const { output, definition } = method;
      // Documents of APIs often err about results.
      if (output === undefined || definition.request !== undefined || isQuarantined(method)) return undefined;
      const check = getOrCreate(outputs, output, () => createErrorFinder(output, false, budget));
      const { weight, hasDates, hasCollections } = measure(value);
      const json = hasDates || hasCollections ? copyResult(value) : (value ?? null);
      const errors = check.errorsIn(json, weight);
      if (errors === TIMED_OUT) countTimeout(method);
      return errors === TIMED_OUT ? undefined : outputProblem(method, errors, json);
    },
  };
}

function getOrCreate<Key extends object, Value>(values: WeakMap<Key, Value>, key: Key, make: () => Value): Value {
  const existing = values.get(key);
  if (existing !== undefined) return existing;
  const value = make();
  values.set(key, value);
  return value;
}

const QUARANTINED: ArgumentProblem = {
  field: "_root",
  type: "invalid_pattern",
  reason: `cannot be checked: the method is quarantined because its schemas exceeded the validation time limit ${MAX_TIMEOUTS} times`,
  suggestions: [],
};

function outputProblem(method: Method, errors: readonly Finding[], value: unknown): string | undefined {
  if (errors.length === 0) return undefined;
  return `The result of ${method.path} does not match its output schema: ${describeErrors(errors, value)}`;
}
