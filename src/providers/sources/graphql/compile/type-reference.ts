import type { TypeReference } from "./schema-model.ts";

/** Lists in lists with `!` at each: introspection of most servers ends at 4 to 9. */
const MAX_WRAPPERS = 12;

/** The use of a type that cannot be read, or is nested in more lists than can be meant. */
export const NO_TYPE: TypeReference = Object.freeze({ name: "", text: "" });

/** Returns the use of a type in lists, the outermost first; `NO_TYPE` for one that the specification does not allow. */
export function toTypeReference(name: string, wrappers: readonly ("list" | "required")[]): TypeReference {
  if (wrappers.length > MAX_WRAPPERS) return NO_TYPE;
  let text = name;
  for (const wrapper of wrappers.toReversed()) {
    if (wrapper === "required" && text.endsWith("!")) return NO_TYPE;
    text = wrapper === "list" ? `[${text}]` : `${text}!`;
  }
  return { name, text };
}

/** Returns the type of the items of a list; `undefined` for a type that is no list. */
export function getItemType({ name, text }: TypeReference): TypeReference | undefined {
  const nullable = text.endsWith("!") ? text.slice(0, -1) : text;
  return nullable.startsWith("[") ? { name, text: nullable.slice(1, -1) } : undefined;
}
