import { calculationError } from "./arithmetic.ts";
import { evaluate } from "./evaluate.ts";
import { print } from "./format.ts";
import { parse } from "./grammar.ts";

const MAX_CHARACTERS = 500;

/** Exact arithmetic with Python's meanings, without running any code. */
export class CalculatorSkill {
  /**
   * Evaluate a mathematical expression. The result is text; Number(result) is the number. Operators: + - * / // % **,
   * parentheses. Names: abs, round, min, max, sum, sqrt, pow, sin, cos, tan, log, log10, pi, e; min, max and sum take
   * lists too.
   *
   * @param expression Mathematical expression to evaluate (e.g., '2 + 2', 'sqrt(16)', '2**10')
   * @returns The result as text: an integer in full, any other number with six significant digits
   * @category math
   * @capability computation
   * @readonly
   * @idempotent
   * @example device.CalculatorSkill.calculate("47.50 * 0.15")
   */
  calculate(expression: string): string {
    if (expression.trim() === "") throw new Error("No expression provided");
    if (expression.length > MAX_CHARACTERS) {
      throw calculationError(`expression too long (max ${MAX_CHARACTERS} characters)`);
    }
    return print(evaluate(parse(expression)));
  }
}
