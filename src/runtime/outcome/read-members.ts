import type { JsonSchema } from "../../model/json.ts";

/** True if a program names a member, or reads all members without their names. */
export function readsMember(source: string, name: string): boolean {
  if (name === "" || /\bObject\.(?:entries|values)\b|\bJSON\.stringify\b/.test(source)) return true;
  return source.split(/[^\w$@:-]+/).includes(name) || source.split(/[^\w$]+/).includes(name);
}

/** True if results are known, and the program names a member that neither they nor the language have. */
export function hasStrangeMember(code: string, schemas: readonly JsonSchema[]): boolean {
  if (schemas.length === 0) return false;
  for (const [, name] of code.matchAll(MEMBER)) {
    if (name === undefined || LANGUAGE_MEMBERS.has(name)) continue;
    if (!schemas.some((schema) => getWords(schema).has(name))) return true;
  }
  return false;
}

/** Caches the words of schemas, which stay the same for most runs. */
const WORDS = new WeakMap<JsonSchema, ReadonlySet<string>>();

/** Returns the keys and texts in a schema that can be names of members. */
function getWords(schema: JsonSchema): ReadonlySet<string> {
  const cached = WORDS.get(schema);
  if (cached !== undefined) return cached;
  const words = new Set([...JSON.stringify(schema).matchAll(/"([\w$]+)"/g)].map(([, word = ""]) => word));
  WORDS.set(schema, words);
  return words;
}

/** A path of `device`, which is no member of a result; or a member, with its name. */
const MEMBER = /\bdevice\s*\.\s*[\w$]+\s*\.\s*[\w$]+|\.\s*([a-z_$][\w$]*)/gi;

/** Members of what programs have without asking. */
const LANGUAGE_MEMBERS: ReadonlySet<string> = new Set(
  [Array, String, Number, Boolean, Object, Promise, Map, Set, Date, RegExp, Error, Function, JSON, Math, console]
    .flatMap((each) => [each, (each as { readonly prototype?: object }).prototype ?? {}])
    .flatMap((each) => Object.getOwnPropertyNames(each)),
);
