import { isRecord, type JsonSchema, toList } from "../../model/json.ts";
import { dereference } from "../schema.ts";

/** Levels of `allOf` in which a member is searched. */
const MAX_LEVELS = 8;

/** Returns the schema of the list that a method with pages has in its body; items may be anything if the body is not described. */
export function getPageList(output: JsonSchema | undefined, names: readonly string[]): JsonSchema {
  let schema: unknown = output;
  for (const name of names) schema = output && findMember(schema, name, output, MAX_LEVELS);
  const list = output && dereference(schema, output);
  return { type: "array", ...(isRecord(list) && list["items"] !== undefined && { items: list["items"] }) };
}

function findMember(schema: unknown, name: string, root: JsonSchema, levels: number): unknown {
  const target = dereference(schema, root);
  if (!isRecord(target) || levels === 0) return undefined;
  const { properties } = target;
  if (isRecord(properties) && Object.hasOwn(properties, name)) return properties[name];
  for (const part of ["allOf", "anyOf", "oneOf"].flatMap((keyword) => toList(target[keyword]))) {
    const found = findMember(part, name, root, levels - 1);
    if (found !== undefined) return found;
  }
  return undefined;
}
