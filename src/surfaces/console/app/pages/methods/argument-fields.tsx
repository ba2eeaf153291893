import type { MethodDetail } from "../../../messages.ts";
import { InputError } from "../../api.ts";
import { type Choice, Field, type FormValues } from "../../components/form.tsx";

/** A field of the form for the arguments of a method. */
export interface ArgumentField {
  readonly name: string;
  /** `all` is one field for all arguments. */
  readonly kind: "all" | "choice" | "json" | "number" | "text";
  readonly isRequired: boolean;
  readonly description: string;
  /** The text at first; the index of one of the values for a choice. */
  readonly text: string;
  /** The values of a choice. */
  readonly values: readonly unknown[];
}

/** Methods with more parameters have one field for all arguments. */
const MAX_FIELDS = 60;

const MAX_CHOICES = 200;

/** Lists the fields for the arguments of a method, or for the input of an automation, by its schema, filled with an example. */
export function listArguments({
  input,
  arguments: example,
}: Pick<MethodDetail, "arguments" | "input">): readonly ArgumentField[] {
  const schema = toRecord(input);
  const properties = Object.entries(toRecord(schema["properties"]));
  const isUnnamed =
    properties.length === 0 && UNNAMED.some((key) => schema[key] !== undefined && schema[key] !== false);
  if (input === null || isUnnamed || properties.length > MAX_FIELDS) return [createAllField(example)];
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  return properties.map(([name, property]) => {
    const about = toRecord(property);
    const values = listValues(about);
    const kind = values.length > 0 ? "choice" : findKind(about);
    return {
      name,
      kind,
      isRequired: required.includes(name),
      description: typeof about["description"] === "string" ? about["description"] : "",
      text: formatValue(example[name], { kind, values }),
      values,
    };
  });
}

/** Keys of schemas that describe properties in another way than by their names. */
const UNNAMED = ["additionalProperties", "patternProperties", "anyOf", "oneOf", "allOf", "$ref"];

function createAllField(example: MethodDetail["arguments"]): ArgumentField {
  const text = JSON.stringify(example, null, 2);
  return { name: "arguments", kind: "all", isRequired: true, description: "All arguments", text, values: [] };
}

/** Lists the values of a list to choose from; empty for other fields. */
function listValues(schema: Readonly<Record<string, unknown>>): readonly unknown[] {
  const words: unknown = schema["enum"];
  if (Array.isArray(words) && words.length <= MAX_CHOICES) return words;
  return schema["type"] === "boolean" ? [true, false] : [];
}

function findKind(schema: Readonly<Record<string, unknown>>): ArgumentField["kind"] {
  const [type, ...others] = [schema["type"]].flat().filter((each) => each !== "null");
  if (others.length > 0) return "json";
  if (type === "number" || type === "integer") return "number";
  return type === "string" ? "text" : "json";
}

function formatValue(value: unknown, { kind, values }: Pick<ArgumentField, "kind" | "values">): string {
  if (value === undefined) return "";
  if (kind === "choice") return String(values.indexOf(value));
  return kind === "text" && typeof value === "string" ? value : JSON.stringify(value, null, kind === "json" ? 2 : 0);
}

/** Returns the arguments that the form has; empty fields are left out. Throws for a text that is not of the type. */
export function readArguments(fields: readonly ArgumentField[], texts: FormValues): Readonly<Record<string, unknown>> {
  const entries = fields.flatMap((field) => {
    const text = texts[field.name] ?? "";
    const isGiven = text !== "" || (field.kind === "text" && field.isRequired);
    return isGiven ? [[field.name, parseValue(text, field)] as const] : [];
  });
  return fields[0]?.kind === "all" ? toRecord(entries[0]?.[1]) : Object.fromEntries(entries);
}

function parseValue(text: string, { name, kind, values }: ArgumentField): unknown {
  if (kind === "text") return text;
  if (kind === "choice") return values[Number(text)];
  if (kind === "number" && Number.isNaN(Number(text))) throw new InputError(`${name} must be a number, such as 12.5`);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new InputError(`${name} is not valid JSON. Write a value such as ["a", "b"] or { "name": "a" }`);
  }
}

function toRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

/** Strings of these names are often long. */
const LONG = /text|content|body|query|code|sql|message|prompt|markdown|html/i;

const JSON_ROWS = 4;

export function ArgumentFields({ fields }: { readonly fields: readonly ArgumentField[] }) {
  if (fields.length === 0) return <p class="muted">The method has no arguments.</p>;
  return (
    <>
      {fields.map(({ name, kind, isRequired, description, text, values }) => (
        <Field
          key={name}
          name={name}
          label={isRequired ? `${name} (required)` : name}
          note={kind === "json" || kind === "all" ? `${description} (JSON)`.trim() : description}
          value={text}
          choices={kind === "choice" ? listChoices(values, isRequired) : undefined}
          {...((kind === "json" || kind === "all") && { rows: JSON_ROWS })}
          {...(kind === "text" && (LONG.test(name) || text.includes("\n")) && { rows: 2 })}
        />
      ))}
    </>
  );
}

const MAX_WORD_UNITS = 200;

function listChoices(values: readonly unknown[], isRequired: boolean): readonly Choice[] {
  const words = values.map((value) => (typeof value === "string" ? value : JSON.stringify(value)));
  return [
    ["", isRequired ? "choose" : "not given"],
    ...words.map((word, at) => [String(at), word.slice(0, MAX_WORD_UNITS)] as const),
  ];
}
