import { calculationError, operate, type Numeric } from "./arithmetic.ts";
import { CONSTANTS, FUNCTIONS, type Argument } from "./functions.ts";
import type { Expression } from "./grammar.ts";

/** Evaluates an expression. Throws errors with readable messages. */
export function evaluate(expression: Expression): Numeric {
  switch (expression.kind) {
    case "number":
      return expression.value;
    case "name":
      return constant(expression.name);
    case "call":
      return call(expression.name, expression.arguments.map(argument));
    case "list":
      throw calculationError("a list can only be given to min, max and sum");
    case "negative":
      return -evaluate(expression.operand);
    case "operation":
      return operate(expression.operator, evaluate(expression.left), evaluate(expression.right));
  }
}

function constant(name: string): Numeric {
  const value = CONSTANTS.get(name);
  if (value !== undefined) return value;
  throw FUNCTIONS.has(name) ? calculationError(`${name} is a function and needs arguments`) : unknown(name);
}

function call(name: string, given: readonly Argument[]): Numeric {
  const run = FUNCTIONS.get(name);
  if (run) return run(name, given);
  throw CONSTANTS.has(name) ? calculationError(`${name} is not a function`) : unknown(name);
}

function argument(expression: Expression): Argument {
  return expression.kind === "list" ? expression.items.map(evaluate) : evaluate(expression);
}

function unknown(name: string): Error {
  return new Error(`Unknown function or variable: ${name}`);
}
