import * as fc from "../support/fuzz.ts";
import { repetitions } from "../support/repetitions.ts";
import { describe, expect, test } from "vitest";
import { CalculatorSkill } from "../../skills/calculator/skill.ts";

/** Every result is the one that Python 3 gives, printed as B1 says. */
const RESULTS: readonly (readonly [expression: string, result: string])[] = [
  ["2 + 2", "4"],
  ["  7  ", "7"],
  ["1+2*3-4", "3"],
  ["(1 + 2) * 3", "9"],
  ["10 - 3 - 2", "5"],
  ["47.50 * 0.15", "7.125"],
  ["0.1 + 0.2", "0.3"],
  ["1_000_000 + .5 + 5.", "1.00001e+06"],
  ["1e3", "1000"],
  ["2.5e-3", "0.0025"],
  ["00 + 007.5", "7.5"],

  ["7 / 2", "3.5"],
  ["4 / 2", "2"],
  ["1 / 3", "0.333333"],
  ["-1 / 3", "-0.333333"],
  ["10**400 / 10**399", "10"],
  ["(10**400 + 1) / (3 * 10**400)", "0.333333"],
  ["9007199254740993 / 1", "9007199254740992"],
  ["7 // 2", "3"],
  ["-7 // 2", "-4"],
  ["7 // -2", "-4"],
  ["-7 // -2", "3"],
  ["7.5 // 2", "3"],
  ["1 // 0.1", "9"],
  ["-7 % 3", "2"],
  ["7 % -3", "-2"],
  ["-7.5 % 2", "0.5"],
  ["5.5 % -2", "-0.5"],
  ["6 % 3", "0"],

  ["2**10", "1024"],
  ["2**100", "1267650600228229401496703205376"],
  ["-2**2", "-4"],
  ["(-2)**2", "4"],
  ["2**-1", "0.5"],
  ["2**-2 * 4", "1"],
  ["2**3**2", "512"],
  ["2 ** -1 ** 2", "0.5"],
  ["4**0.5", "2"],
  ["8**(1/3)", "2"],
  ["0**0", "1"],
  ["1.5**2", "2.25"],
  ["999999.5**3", "999998500000749952"],
  ["--3", "3"],
  ["-+-3", "3"],
  ["2 - -2", "4"],
  ["2*-3", "-6"],
  ["1.05**1000", "1546318920731992522752"],

  ["1e-7", "1e-07"],
  ["123456789.123", "1.23457e+08"],
  ["1234567.5", "1.23457e+06"],
  ["100000.5", "100000"],
  ["100001.5", "100002"],
  ["0.0001", "0.0001"],
  ["0.00001", "1e-05"],
  ["0.00012345678", "0.000123457"],
  ["999999.5", "1e+06"],
  ["9.9999999 / 10", "1"],
  ["-0.0", "0"],
  ["1e22", "10000000000000000000000"],
  ["1e-310", "1e-310"],

  ["abs(-3)", "3"],
  ["abs(-2.5)", "2.5"],
  ["round(2.5)", "2"],
  ["round(3.5)", "4"],
  ["round(-2.5)", "-2"],
  ["round(2.675, 2)", "2.67"],
  ["round(0.125, 2)", "0.12"],
  ["round(1250, -2)", "1200"],
  ["round(1350, -2)", "1400"],
  ["round(-1250, -2)", "-1200"],
  ["round(5, 3)", "5"],
  ["round(1e300, -400)", "0"],
  ["round(7, -9)", "0"],
  ["round(2.5, 400)", "2.5"],
  ["min(3, 1, 2)", "1"],
  ["max([3, 1, 2])", "3"],
  ["max(1, 1.5)", "1.5"],
  ["min(2**53, 2.0**53 + 2)", "9007199254740992"],
  ["max(2**53 + 1, 2.0**53)", "9007199254740993"],
  ["sum([1, 2, 3])", "6"],
  ["sum([0.5, 1])", "1.5"],
  ["sum([], 3)", "3"],
  ["sum([1, 2, 3,], 10,)", "16"],
  ["sqrt(16)", "4"],
  ["sqrt(2)", "1.41421"],
  ["pow(2, 10)", "1024"],
  ["pow(2, -1)", "0.5"],
  ["pow(3, 200, 13)", "9"],
  ["pow(2, -1, 7)", "4"],
  ["pow(-2, 3, 5)", "2"],
  ["pow(2, 3, -5)", "-2"],
  ["sin(0)", "0"],
  ["sin(pi / 2)", "1"],
  ["sin(pi)", "1.22465e-16"],
  ["cos(pi)", "-1"],
  ["tan(1)", "1.55741"],
  ["log(e)", "1"],
  ["log(8, 2)", "3"],
  ["log(100)", "4.60517"],
  ["log10(1000)", "3"],
  ["log10(10**400)", "400"],
  ["log(10**400)", "921.034"],
  ["pi", "3.14159"],
  ["e", "2.71828"],
  ["sqrt(abs(min(-9, 4)) + max([1, sum([3, 4])]))", "4"],
];

const ERRORS: readonly (readonly [expression: string, message: string])[] = [
  ["", "No expression provided"],
  [" \t\n", "No expression provided"],
  ["2 +", "Invalid expression: 2 +"],
  ["* 2", "Invalid expression: * 2"],
  ["(1 + 2", "Invalid expression: (1 + 2"],
  ["1 + 2)", "Invalid expression: 1 + 2)"],
  ["()", "Invalid expression: ()"],
  ["[1, 2", "Invalid expression: [1, 2"],
  ["max(1,, 2)", "Invalid expression: max(1,, 2)"],
  ["max(, 1)", "Invalid expression: max(, 1)"],
  ["1 2", "Invalid expression: 1 2"],
  ["2pi", "Invalid expression: 2pi"],
  ["2(3)", "Invalid expression: 2(3)"],
  ["(2)(3)", "Invalid expression: (2)(3)"],
  ["010", "Invalid expression: 010"],
  ["1__0", "Invalid expression: 1__0"],
  ["1.2.3", "Invalid expression: 1.2.3"],
  ["1 = 1", "Invalid expression: 1 = 1"],
  ["hello world", "Invalid expression: hello world"],
  ["__import__('os').system('ls')", "Invalid expression: __import__('os').system('ls')"],
  ["(1).constructor", "Invalid expression: (1).constructor"],
  ["2^3", "Invalid expression: 2^3 (use ** for powers)"],
  ["foo", "Unknown function or variable: foo"],
  ["foo(1) + 1", "Unknown function or variable: foo"],
  ["2*e*e1", "Unknown function or variable: e1"],
  ["PI", "Unknown function or variable: PI"],
  ["constructor", "Unknown function or variable: constructor"],
  ["__proto__(1)", "Unknown function or variable: __proto__"],
  ["eval(1)", "Unknown function or variable: eval"],
  ["1 / 0", "Calculation error: division by zero"],
  ["1.0 / 0.0", "Calculation error: division by zero"],
  ["1 // 0", "Calculation error: division by zero"],
  ["1 % 0", "Calculation error: division by zero"],
  ["1.5 % 0", "Calculation error: division by zero"],
  ["log(8, 1)", "Calculation error: division by zero"],
  ["0 ** -1", "Calculation error: zero to a negative power"],
  ["sqrt(-1)", "Calculation error: math domain error"],
  ["(-8) ** 0.5", "Calculation error: math domain error"],
  ["log(0)", "Calculation error: math domain error"],
  ["log10(-1)", "Calculation error: math domain error"],
  ["sin(1e999)", "Calculation error: math domain error"],
  ["1e308 * 10", "Calculation error: the result is infinite"],
  ["1e999 - 1e999", "Calculation error: the result is not a number"],
  ["round(1e999)", "Calculation error: cannot convert float infinity to integer"],
  ["10.0 ** 400", "Calculation error: numerical result out of range"],
  ["10**400 * 1.0", "Calculation error: int too large to convert to float"],
  ["10**400 / 2", "Calculation error: integer division result too large for a float"],
  ["pow(2, 3, 0)", "Calculation error: pow() 3rd argument cannot be 0"],
  ["pow(2, -1, 4)", "Calculation error: base is not invertible for the given modulus"],
  ["pow(2.5, 2, 3)", "Calculation error: pow() needs an integer here, not 2.5"],
  ["round(2.5, 1.0)", "Calculation error: round() needs an integer here, not 1"],
  ["min([])", "Calculation error: min() arg is an empty sequence"],
  ["max()", "Calculation error: max() arg is an empty sequence"],
  ["max(5)", "Calculation error: max() takes a list, or 2 numbers or more"],
  ["sum(1, 2)", "Calculation error: sum() takes a list and a number to start from, as in sum([1, 2, 3])"],
  ["abs()", "Calculation error: abs() takes 1 argument (0 given)"],
  ["sqrt(1, 2)", "Calculation error: sqrt() takes 1 argument (2 given)"],
  ["log(1, 2, 3)", "Calculation error: log() takes 1 or 2 arguments (3 given)"],
  ["pow(2)", "Calculation error: pow() takes 2 or 3 arguments (1 given)"],
  ["abs([1])", "Calculation error: abs() takes no list here"],
  ["[1, 2]", "Calculation error: a list can only be given to min, max and sum"],
  ["[1] + [2]", "Calculation error: a list can only be given to min, max and sum"],
  ["max([[1], [2]])", "Calculation error: a list can only be given to min, max and sum"],
  ["sqrt", "Calculation error: sqrt is a function and needs arguments"],
  ["pi(2)", "Calculation error: pi is not a function"],
  ["2**1001", "Calculation error: exponent too large (max 1000)"],
  ["2.5**1000.5", "Calculation error: exponent too large (max 1000)"],
  ["pow(2, 1001, 7)", "Calculation error: exponent too large (max 1000)"],
  ["9**9**9**9", "Calculation error: exponent too large (max 1000)"],
  ["((9**1000)**1000)**1000", "Calculation error: integer too large (max 4300 digits)"],
  ["10**1000 * 10**1000 * 10**1000 * 10**1000 * 10**300", "Calculation error: integer too large (max 4300 digits)"],
];

const skill = new CalculatorSkill();

describe("evaluates an expression as Python does [B1]", () => {
  test.each(RESULTS)("%s [B1]", (expression, result) => {
    expect(answer(expression)).toBe(result);
  });
});

describe("reports what cannot be calculated in plain words [B1]", () => {
  test.each(ERRORS)("%j [B1]", (expression, message) => {
    expect(() => skill.calculate(expression)).toThrow(new Error(message));
  });
});

test("accepts expressions of up to 500 characters [B1]", () => {
  expect(skill.calculate("1" + "+1".repeat(249))).toBe("250");
  expect(() => skill.calculate("1".repeat(501))).toThrow(
    new Error("Calculation error: expression too long (max 500 characters)"),
  );
});

test("accepts up to 20 levels of brackets [B1]", () => {
  const nested = (levels: number) => "(".repeat(levels) + "1" + ")".repeat(levels);
  expect(skill.calculate(nested(20))).toBe("1");
  expect(() => skill.calculate(nested(21))).toThrow(
    new Error("Calculation error: expression too deep (max 20 levels)"),
  );
  expect(() => skill.calculate("-".repeat(100) + "1")).toThrow("expression too deep");
  expect(() => skill.calculate("[".repeat(400))).toThrow("expression too deep");
});

test("calculates with the largest exponent and the longest integer [B1]", () => {
  expect(skill.calculate("2**1000")).toBe((2n ** 1000n).toString());
  expect(skill.calculate("10**1000 * 10**1000 * 10**1000 * 10**1000 * 10**299")).toHaveLength(4300);
});

test("calculates exactly with integers of any size [B1]", { tags: "repeated" }, () => {
  fc.assert(
    fc.property(fc.bigInt(-(10n ** 30n), 10n ** 30n), fc.bigInt(1n, 10n ** 30n), (left, right) => {
      expect(skill.calculate(`${left} * ${right}`)).toBe((left * right).toString());
      expect(skill.calculate(`(${left}) // ${right} * ${right} + (${left}) % ${right}`)).toBe(left.toString());
    }),
  );
});

test("gives a result or one of four errors for any text [B1]", { tags: "repeated" }, () => {
  const pieces = "0 1 2 9 12 . + - * / % ( ) [ ] , _ e ^ ' ** // pi sum pow round log x".split(" ");
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces, " "), { maxLength: 40 }), (chosen) => {
      expect(answer(chosen.join(""))).toMatch(
        /^(-?[\d.]+(e[+-]\d+)?$|No expression provided$|Invalid expression: |Unknown function or variable: |Calculation error: )/,
      );
    }),
    { numRuns: repetitions(500, 1_000) },
  );
});

function answer(expression: string): string {
  try {
    return skill.calculate(expression);
  } catch (error) {
    return error instanceof Error ? error.message : "thrown, but no error";
  }
}
