import { isRecord, type JsonSchema, toRecord } from "../../model/json.ts";
import { compilePattern } from "./compile-pattern.ts";

/** The keywords whose values are schemas by name. */
const SCHEMAS_BY_NAME: ReadonlySet<string> = new Set([
  "$defs",
  "definitions",
  "properties",
  "patternProperties",
  "dependentSchemas",
  "dependencies",
]);

/** The keywords whose values are not schemas, although they may look like some. */
const VALUES: ReadonlySet<string> = new Set(["const", "default", "enum", "example", "examples"]);

/** The keywords with a schema that must not apply to every value. */
const CONDITIONS: ReadonlySet<string> = new Set(["not", "if"]);

/**
 * Leaves out of a schema the patterns that are not regular expressions of JavaScript, such as those of Perl: they could be checked for
 * no value. A name or a condition with such a pattern is not checked either. Returns the schema itself if it has none.
 */
export function leaveOutForeignPatterns(schema: JsonSchema, report: (pattern: string) => void): JsonSchema {
  const isForeign = (pattern: string): boolean => {
    if (compilePattern(pattern) !== undefined) return false;
    report(pattern);
    return true;
  };
  const convertSchema: Convert = ([keyword, value]) => {
    if (VALUES.has(keyword)) return [keyword, value];
    if (keyword === "pattern" && typeof value === "string" && isForeign(value)) return undefined;
    const part = convert(value, SCHEMAS_BY_NAME.has(keyword) ? convertMember : convertSchema);
    if (keyword === "patternProperties" && isRecord(part))
      return [keyword, convert(part, (member) => (isForeign(member[0]) ? ANY_NAME : member))];
    if (part === value) return [keyword, value];
    if (CONDITIONS.has(keyword)) return undefined;
    return [keyword === "oneOf" ? "anyOf" : keyword, part];
  };
  const convertMember: Convert = ([name, member]) => [name, convert(member, convertSchema)];
  return toRecord(convert(schema, convertSchema));
}

/** Converts a member of an object; `undefined` leaves it out. */
type Convert = (member: readonly [name: string, value: unknown]) => readonly [name: string, value: unknown] | undefined;

/** Converts the members of an object, or of the objects of a list; returns the same value if none changes. */
function convert(value: unknown, convertMember: Convert): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => convert(item, convertMember));
    return items.every((item, at) => item === value[at]) ? value : items;
  }
  if (!isRecord(value)) return value;
  const members = Object.entries(value);
  const copies = members.map(convertMember);
  const isSame = copies.every((member, at) => member?.[0] === members[at]?.[0] && member?.[1] === members[at]?.[1]);
  return isSame ? value : Object.fromEntries(copies.filter((member) => member !== undefined));
}

/** A pattern of names that matches each, with a schema that accepts everything. */
const ANY_NAME = ["", true] as const;
