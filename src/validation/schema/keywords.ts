import type { JsonSchema } from "../../model/json.ts";
import { ARRAY_KEYWORDS, unevaluatedItems } from "./array-keywords.ts";
import { COMBINING_KEYWORDS } from "./combining-keywords.ts";
import { fillDefaults, OBJECT_KEYWORDS, unevaluatedProperties } from "./object-keywords.ts";
import type { SchemaKeyword } from "./schema-node.ts";
import { VALUE_KEYWORDS } from "./value-keywords.ts";

/** The keywords of all drafts from 6 to 2020-12, in the order in which they are checked. */
const ALL: readonly (readonly [name: string, create: SchemaKeyword])[] = [
  ["properties", fillDefaults],
  ...Object.entries<SchemaKeyword>({ ...VALUE_KEYWORDS, ...COMBINING_KEYWORDS, ...ARRAY_KEYWORDS, ...OBJECT_KEYWORDS }),
  ["unevaluatedItems", unevaluatedItems],
  ["unevaluatedProperties", unevaluatedProperties],
];

const NAMES: ReadonlySet<string> = new Set(ALL.map(([name]) => name));

/** Returns the keywords of a schema, in the order in which they are checked. */
export function listKeywords(schema: JsonSchema): readonly (readonly [name: string, create: SchemaKeyword])[] {
  const names = new Set(Object.keys(schema).filter((name) => NAMES.has(name)));
  return ALL.filter(([name]) => names.has(name));
}
