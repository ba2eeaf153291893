import type { JsonSchema } from "../../../model/json.ts";
import { RESPONSE_ARGUMENT } from "../../../model/skill.ts";
import { truncateText } from "../../../shared/format-text.ts";

const MAX_DESCRIPTION = 600;

/** The arguments of a method, while they are collected: one flat object of parameters and fields of the body. */
export class MethodArguments {
  readonly #schemas = new Map<string, JsonSchema>();
  readonly #required: string[] = [];

  /**
   * Adds an argument and returns its name. The first one with a name keeps it; the others have their place in it, as in
   * `id_query`, and so has one with the name of the argument that every method has.
   */
  add(name: string, location: string, { schema, isRequired }: { schema: JsonSchema; isRequired: boolean }): string {
    let free = this.#schemas.has(name) || name === RESPONSE_ARGUMENT ? `${name}_${location}` : name;
    while (this.#schemas.has(free)) free += "_";
    this.#schemas.set(free, schema);
    if (isRequired) this.#required.push(free);
    return free;
  }

  toSchema(): JsonSchema {
    return {
      type: "object",
      properties: Object.fromEntries(this.#schemas),
      ...(this.#required.length > 0 && { required: this.#required }),
      additionalProperties: false,
    };
  }
}

/** The description of a parameter says more than that of its schema. */
export function describe(schema: JsonSchema, description: unknown): JsonSchema {
  if (typeof description !== "string" || description.trim() === "") return schema;
  return { ...schema, description: truncateText(description, MAX_DESCRIPTION) };
}
