import type { Method } from "../../../model/catalog.ts";
import { isRecord } from "../../../model/json.ts";

/** Finds the parts of an input schema that have no effect, so that any value is accepted in their place. */
export function schemaFindings({ input, definition }: Method): readonly string[] {
  if (isRecord(definition.input["properties"]) && input["properties"] === undefined)
    return ["its input schema is too large or nests too deeply, so any arguments are accepted; simplify it"];
  return [...new Set(referencesIn(input))].flatMap((reference) => {
    if (!reference.startsWith("#"))
      return `its schema refers to ${JSON.stringify(reference)}, which is not resolved, so any value is accepted; put it under $defs`;
    return isThere(reference, input)
      ? []
      : `its schema refers to ${JSON.stringify(reference)}, which it does not contain, so any value is accepted`;
  });
}

/** Every `$ref` in a schema, which is known to be neither deep nor large. */
function referencesIn(schema: unknown): readonly string[] {
  if (Array.isArray(schema)) return schema.flatMap(referencesIn);
  if (!isRecord(schema)) return [];
  const own = typeof schema["$ref"] === "string" ? [schema["$ref"]] : [];
  return [...own, ...Object.values(schema).flatMap(referencesIn)];
}

/** True if the reference resolves. Only a pointer is followed; an anchor may be anywhere. */
function isThere(reference: string, schema: unknown): boolean {
  if (reference !== "#" && !reference.startsWith("#/")) return true;
  const names = reference.split("/").slice(1);
  return names.reduce<unknown>((holder, name) => getMember(holder, name), schema) !== undefined;
}

function getMember(holder: unknown, name: string): unknown {
  const key = name.replaceAll("~1", "/").replaceAll("~0", "~");
  return typeof holder === "object" && holder !== null && Object.hasOwn(holder, key)
    ? Reflect.get(holder, key)
    : undefined;
}
