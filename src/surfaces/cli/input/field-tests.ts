import { isRecord } from "../../../model/json.ts";

/** Tests the value of a field. */
export type FieldTest = (value: unknown) => boolean;

export const isText: FieldTest = (value) => typeof value === "string";
export const isNumber: FieldTest = (value) => typeof value === "number";
export const isBoolean: FieldTest = (value) => typeof value === "boolean";
export const isNumberList: FieldTest = (value) => Array.isArray(value) && value.every(isNumber);

/** Returns a test that a missing field passes, too. */
export function orAbsent(test: FieldTest): FieldTest {
  return (value) => value === undefined || test(value);
}

/** Returns the tested fields of a value, without those that are absent; `undefined` if one does not pass its test. */
export function pickFields(
  value: unknown,
  tests: Readonly<Record<string, FieldTest>>,
): Readonly<Record<string, unknown>> | undefined {
  if (!isRecord(value)) return undefined;
  const fields = Object.keys(tests).map((name) => [name, value[name]] as const);
  if (!fields.every(([name, field]) => tests[name]?.(field))) return undefined;
  return Object.fromEntries(fields.filter(([, field]) => field !== undefined));
}
