import type { JsonSchema } from "../../../model/json.ts";
import type { FileNames } from "./file-names.ts";
import type { FileReader } from "./files.ts";
import type { Source, SyntaxNode } from "./syntax.ts";

/** Where a type stands: the names that it may use, and the text that it is part of. */
export interface TypeScope {
  readonly names: FileNames;
  readonly source: Source;
  /** Type parameters by name; `undefined` for one of which nothing is known. */
  readonly typeArguments: ReadonlyMap<string, ScopedType | undefined>;
}

/** A type in the place where it was written. */
export interface ScopedType {
  readonly node: SyntaxNode;
  readonly scope: TypeScope;
}

/** The top level of a file. */
export function createScope(names: FileNames): TypeScope {
  return { names, source: names.source, typeArguments: new Map() };
}

/** The fields of an object type, before they become a schema. */
export interface ObjectShape {
  readonly fields: ReadonlyMap<string, ShapeField>;
  /** What may stand under any other name. */
  readonly rest: JsonSchema | undefined;
}

export interface ShapeField {
  readonly schema: JsonSchema;
  readonly required: boolean;
}

/** Turns types into JSON Schema. What it cannot read it reports, and takes as any value. */
export interface SchemaReader {
  /** Input objects take no other fields than those that are declared; results may have more. */
  readonly side: "input" | "output";
  readonly files: FileReader;
  /** How deep the type under way stands in its parameter; 1 for the type of the parameter itself. */
  readonly depth: number;
  type(node: SyntaxNode | undefined, scope: TypeScope): JsonSchema;
  /** The fields of a type, if it is one of objects. */
  shape(node: SyntaxNode | undefined, scope: TypeScope): ObjectShape | undefined;
  /** The schema of a declared type, identified by `key`; inside itself it is a reference to its own definition. */
  named(name: string, key: string, read: () => JsonSchema, place: ScopedType): JsonSchema;
  /** Reports a type, with the reason and with what to write instead. */
  unreadable(node: SyntaxNode, scope: TypeScope, why: string, mend?: string): JsonSchema;
}

export const ANY: JsonSchema = Object.freeze({});

export function shapeToSchema({ fields, rest }: ObjectShape, side: SchemaReader["side"]): JsonSchema {
  const entries = [...fields];
  const required = entries.filter(([, field]) => field.required).map(([name]) => name);
  return {
    type: "object",
    // fromEntries defines: a field named __proto__ stays a field.
    properties: Object.fromEntries(entries.map(([name, field]) => [name, field.schema])),
    ...(required.length > 0 && { required }),
    ...(rest !== undefined ? { additionalProperties: rest } : side === "input" && { additionalProperties: false }),
  };
}
