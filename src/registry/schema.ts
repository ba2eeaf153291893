import { splitPointer } from "../shared/json/split-pointer.ts";
import { isRecord, type JsonSchema } from "../model/json.ts";

/** Maximum references followed in a row; more count as a cycle. */
const REFERENCE_HOPS = 32;

/**
 * Resolves a `$ref` within its root: `#`, a JSON pointer, an `$anchor`, or the `$id` of the root or of a definition.
 * Any other reference is external: it is never fetched and gives `undefined`.
 */
export function resolveReference(reference: string, root: JsonSchema): unknown {
  const hash = reference.indexOf("#");
  const base = hash < 0 ? reference : reference.slice(0, hash);
  const fragment = hash < 0 ? "" : reference.slice(hash + 1);
  const document = base === "" || base === root["$id"] ? root : findDefinition("$id", base, root);
  if (!isRecord(document)) return undefined;
  if (fragment === "") return document;
  if (!fragment.startsWith("/")) return findDefinition("$anchor", fragment, root);
  return atPointer(document, fragment);
}

/** Follows a chain of bare references to the schema; `undefined` for a cycle or an unknown reference. */
export function dereference(schema: unknown, root: JsonSchema): unknown {
  let current = schema;
  for (let hops = 0; hops < REFERENCE_HOPS; hops++) {
    if (!isRecord(current) || typeof current["$ref"] !== "string") return current;
    current = resolveReference(current["$ref"], root);
  }
  return undefined;
}

function findDefinition(keyword: "$id" | "$anchor", value: string, root: JsonSchema): unknown {
  for (const definitions of [root["$defs"], root["definitions"]]) {
    if (!isRecord(definitions)) continue;
    const found = Object.values(definitions).find((schema) => isRecord(schema) && schema[keyword] === value);
    if (found !== undefined) return found;
  }
  return root[keyword] === value ? root : undefined;
}

function atPointer(document: JsonSchema, pointer: string): unknown {
  let current: unknown = document;
  for (const key of splitPointer(pointer)) {
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, key)) return undefined;
    current = (current as Record<string, unknown>)[key];
  }
  return current;
}
