import type { JsonSchema } from "../../../../model/json.ts";
import { shorten } from "./print-schema.ts";
import { isRequired, type SchemaArgument, type SchemaType, type TypeReference } from "./schema-model.ts";
import { getItemType } from "./type-reference.ts";

const MAX_TEXT = 300;

/** The JSON schemas of the scalars of the specification. A number is also accepted for an ID. */
const SCALARS: ReadonlyMap<string, JsonSchema> = new Map([
  ["Int", { type: "integer" }],
  ["Float", { type: "number" }],
  ["String", { type: "string" }],
  ["Boolean", { type: "boolean" }],
  ["ID", { type: ["string", "integer"] }],
]);

/** Returns the JSON schema of the arguments of a field. Types that are input objects or enums are references to definitions. */
export function toInputSchema(list: readonly SchemaArgument[]): JsonSchema {
  const required = list.filter(isRequired).map(({ name }) => name);
  return {
    type: "object",
    properties: Object.fromEntries(list.map((argument) => [argument.name, toArgumentSchema(argument)])),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

/** Returns the JSON schema of a type that arguments can have; `undefined` for one of results only. */
export function toDefinitionSchema(type: SchemaType): JsonSchema | undefined {
  const text = shorten(type.description, MAX_TEXT);
  const description = text === "" ? {} : { description: text };
  switch (type.kind) {
    case "scalar":
      return { title: type.name, ...description };
    case "enum":
      return { title: type.name, ...description, enum: type.values.map(({ name }) => name) };
    case "input":
      return { title: type.name, ...description, ...toInputSchema(type.fields) };
    case "type":
    case "interface":
    case "union":
      return undefined;
  }
}

function toArgumentSchema({ type, description }: SchemaArgument): JsonSchema {
  const text = shorten(description, MAX_TEXT);
  const schema = toSchema(type);
  return text === "" ? schema : { ...schema, description: text };
}

function toSchema(type: TypeReference): JsonSchema {
  if (!type.text.endsWith("!")) return { anyOf: [toSchema({ ...type, text: `${type.text}!` }), { type: "null" }] };
  const item = getItemType(type);
  if (item !== undefined) return { type: "array", items: toSchema(item) };
  return SCALARS.get(type.name) ?? { $ref: `#/$defs/${type.name}` };
}
