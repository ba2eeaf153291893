import type { JsonSchema } from "../../../model/json.ts";
import type { FileNames } from "./file-names.ts";
import type { FileReader } from "./files.ts";
import type { Source, SyntaxNode } from "./syntax.ts";

/** The context of a type: the names in scope and the source that it is part of. */
export interface TypeScope {
  readonly names: FileNames;
  readonly source: Source;
  /** Type arguments by parameter name; `undefined` if the argument is unknown. */
  readonly typeArguments: ReadonlyMap<string, ScopedType | undefined>;
}

/** A type with its scope. */
export interface ScopedType {
  readonly node: SyntaxNode;
  readonly scope: TypeScope;
}

/** Creates the scope of a file's top level. */
export function createScope(names: FileNames): TypeScope {
  return { names, source: names.source, typeArguments: new Map() };
}

/** The fields of an object type, before they become a schema. */
export interface ObjectShape {
  readonly fields: ReadonlyMap<string, ShapeField>;
  /** The schema of fields with any other name. */
  readonly rest: JsonSchema | undefined;
}

export interface ShapeField {
  readonly schema: JsonSchema;
  readonly required: boolean;
}

/** Converts types to JSON Schema. Reports a type that it cannot read, and accepts any value for it. */
export interface SchemaReader {
  /** Input objects accept only declared fields; results may have more. */
  readonly side: "input" | "output";
  readonly files: FileReader;
  /** Nesting depth of the current type; 1 for the type of the parameter itself. */
  readonly depth: number;
  type(node: SyntaxNode | undefined, scope: TypeScope): JsonSchema;
  /** Returns the fields of a type, if it is an object type. */
  shape(node: SyntaxNode | undefined, scope: TypeScope): ObjectShape | undefined;
  /** Returns the schema of a declared type, identified by `key`; a recursive use becomes a reference to its definition. */
  define(name: string, key: string, read: () => JsonSchema, use: ScopedType): JsonSchema;
  /** Reports an unreadable type with the reason and the fix. */
  unreadable(node: SyntaxNode, scope: TypeScope, why: string, fix?: string): JsonSchema;
}

export const ANY: JsonSchema = Object.freeze({});

export function shapeToSchema({ fields, rest }: ObjectShape, side: SchemaReader["side"]): JsonSchema {
  const entries = [...fields];
  const required = entries.filter(([, field]) => field.required).map(([name]) => name);
  return {
    type: "object",
    // fromEntries defines properties, so a field named __proto__ stays a field.
    properties: Object.fromEntries(entries.map(([name, field]) => [name, field.schema])),
    ...(required.length > 0 && { required }),
    ...(rest !== undefined ? { additionalProperties: rest } : side === "input" && { additionalProperties: false }),
  };
}
