import { truncateText } from "../../../../shared/format-text.ts";
import { toVisibleLine } from "../../../../shared/visible-text.ts";
import type { CheckedSchema } from "./check-schema.ts";
import type { Deprecable, SchemaArgument, SchemaDirective, SchemaField, SchemaType } from "./schema-model.ts";

/** Units of a text beside a field of a type. */
const MAX_TEXT = 120;

/** Units of the text above a type. */
const MAX_TYPE_TEXT = 600;

/** Units of the definition of a type, for models. */
export const MAX_DEFINITION = 60_000;

/** Units of a reason for a deprecation. */
const MAX_REASON = 200;

/** Prints a schema in the schema definition language, without descriptions: for checking requests. */
export function printSchema({ query, mutation, types, directives }: CheckedSchema): string {
  const roots = [`  query: ${query}`, ...(mutation === undefined ? [] : [`  mutation: ${mutation}`])];
  return [
    `schema {\n${roots.join("\n")}\n}`,
    ...directives.map(printDirective),
    ...types.map((type) => printType(type, (part) => printPart(part))),
  ].join("\n");
}

/** Prints one type for models, with short texts as comments; a very long one is cut. */
export function printDefinition(type: SchemaType): string {
  const text = shorten(type.description, MAX_TYPE_TEXT);
  const lines = printType(type, (part) => {
    const comment = shorten(part.description, MAX_TEXT);
    return `${printPart(part)}${comment === "" ? "" : ` # ${comment}`}`;
  });
  const whole = text === "" ? lines : `# ${text}\n${lines}`;
  return whole.length <= MAX_DEFINITION ? whole : `${truncateText(whole, MAX_DEFINITION)}\n# more is left out\n}`;
}

/** `issues(first: Int = 10, states: [IssueState!]): IssueConnection!` */
export function printSignature(field: SchemaField): string {
  return `${field.name}${printArguments(field.arguments)}: ${field.type.text}`;
}

/** Joins the lines of a foreign text, makes what shows nothing visible, and cuts it. */
export function shorten(text: string, max: number): string {
  return truncateText(toVisibleLine(text.slice(0, 4 * max)), max);
}

type SchemaPart = Deprecable | SchemaField | SchemaArgument;

function printType(type: SchemaType, print: (part: SchemaPart) => string): string {
  const body = (parts: readonly SchemaPart[]): string => `{\n${parts.map((part) => `  ${print(part)}`).join("\n")}\n}`;
  switch (type.kind) {
    case "scalar":
      return `scalar ${type.name}`;
    case "type":
    case "interface": {
      const parents = type.interfaces.length === 0 ? "" : ` implements ${type.interfaces.join(" & ")}`;
      return `${type.kind} ${type.name}${parents} ${body(type.fields)}`;
    }
    case "union":
      return `union ${type.name} = ${type.members.join(" | ")}`;
    case "enum":
      return `enum ${type.name} ${body(type.values)}`;
    case "input":
      return `input ${type.name}${type.hasOneValue ? " @oneOf" : ""} ${body(type.fields)}`;
  }
}

function printPart(part: SchemaPart): string {
  const text = "arguments" in part ? printSignature(part) : "type" in part ? printArgument(part) : part.name;
  return `${text}${printDeprecation(part)}`;
}

function printArguments(list: readonly SchemaArgument[]): string {
  return list.length === 0 ? "" : `(${list.map(printArgument).join(", ")})`;
}

function printArgument({ name, type, default: value }: SchemaArgument): string {
  return `${name}: ${type.text}${value === undefined ? "" : ` = ${value}`}`;
}

function printDeprecation({ deprecated }: Deprecable): string {
  return deprecated === undefined ? "" : ` @deprecated(reason: ${JSON.stringify(shorten(deprecated, MAX_REASON))})`;
}

function printDirective({ name, arguments: list, isRepeatable, locations }: SchemaDirective): string {
  return `directive @${name}${printArguments(list)}${isRepeatable ? " repeatable" : ""} on ${locations.join(" | ")}`;
}
