import { isRecord, type JsonSchema, toList, toRecord } from "../../model/json.ts";

/**
 * Tests a value against a schema of settings. Such schemas are ours and use few keywords of JSON Schema; a keyword that is not
 * known here is an error of the schema. A library compiles each schema, which takes a tenth of a second at every start.
 */
export function matchesSchema(schema: JsonSchema, value: unknown): boolean {
  return Object.entries(schema).every(([keyword, operand]) => {
    const isMet = KEYWORDS[keyword];
    if (isMet === undefined) throw new Error(`A schema of settings has the unknown keyword ${keyword}`);
    return isMet(operand, value, schema);
  });
}

type SettingKeyword = (operand: unknown, value: unknown, schema: JsonSchema) => boolean;

/** The keywords by their names. Each holds for values of other types than its own, as in JSON Schema. */
const KEYWORDS: Readonly<Record<string, SettingKeyword>> = {
  type: (types, value) => [types].flat().some((type) => TYPES[String(type)]?.(value) === true),
  enum: (choices, value) => toList(choices).includes(value),
  const: (constant, value) => value === constant,
  anyOf: (schemas, value) => toList(schemas).some((each) => matchesSchema(toRecord(each), value)),
  minimum: compareNumbers((value, bound) => value >= bound),
  maximum: compareNumbers((value, bound) => value <= bound),
  exclusiveMinimum: compareNumbers((value, bound) => value > bound),
  // Lengths are those of UTF-16 units.
  minLength: (length, value) => typeof value !== "string" || value.length >= Number(length),
  maxLength: (length, value) => typeof value !== "string" || value.length <= Number(length),
  pattern: (pattern, value) => typeof value !== "string" || new RegExp(String(pattern), "u").test(value),
  minItems: (length, value) => !Array.isArray(value) || value.length >= Number(length),
  maxItems: (length, value) => !Array.isArray(value) || value.length <= Number(length),
  items: (schema, value) => toList(value).every((item) => matchesSchema(toRecord(schema), item)),
  required: (names, value) => !isRecord(value) || toList(names).every((name) => hasMember(value, String(name))),
  properties: (schemas, value) =>
    !isRecord(value) ||
    Object.entries(toRecord(schemas)).every(
      ([name, schema]) => !hasMember(value, name) || matchesSchema(toRecord(schema), value[name]),
    ),
  additionalProperties: (schema, value, { properties }) =>
    !isRecord(value) ||
    Object.keys(value)
      .filter((name) => !Object.hasOwn(toRecord(properties), name))
      .every((name) => schema !== false && matchesSchema(toRecord(schema), value[name])),
  default: () => true,
  description: () => true,
};

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === "string",
  number: (value) => typeof value === "number",
  integer: (value) => Number.isInteger(value) || value === Infinity || value === -Infinity,
  boolean: (value) => typeof value === "boolean",
  object: isRecord,
  array: Array.isArray,
  null: (value) => value === null,
};

function compareNumbers(holds: (value: number, bound: number) => boolean): SettingKeyword {
  return (bound, value) => typeof value !== "number" || holds(value, Number(bound));
}

/** JSON has no `undefined`: such a member is absent. */
function hasMember(record: Readonly<Record<string, unknown>>, name: string): boolean {
  return Object.hasOwn(record, name) && record[name] !== undefined;
}
