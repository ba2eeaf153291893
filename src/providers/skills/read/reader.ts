import type { JsonSchema } from "../../../model/json.ts";
import type { FileNames } from "./file-names.ts";
import type { Files } from "./files.ts";
import type { Source, SyntaxNode } from "./syntax.ts";

/** Where a type stands: the names that it may use, and the text that it is part of. */
export interface Scope {
  readonly names: FileNames;
  readonly source: Source;
  /** Type parameters by name; `undefined` for one of which nothing is known. */
  readonly bound: ReadonlyMap<string, Bound | undefined>;
}

/** A type in the place where it was written. */
export interface Bound {
  readonly node: SyntaxNode;
  readonly scope: Scope;
}

/** The top level of a file. */
export function scopeOf(names: FileNames): Scope {
  return { names, source: names.source, bound: new Map() };
}

/** The fields of an object type, before they become a schema. */
export interface Shape {
  readonly fields: ReadonlyMap<string, Field>;
  /** What may stand under any other name. */
  readonly rest: JsonSchema | undefined;
}

export interface Field {
  readonly schema: JsonSchema;
  readonly required: boolean;
}

/** Turns types into JSON Schema. What it cannot read it reports, and takes as any value. */
export interface Reader {
  /** Input objects take no other fields than those that are declared; results may have more. */
  readonly side: "input" | "output";
  readonly files: Files;
  /** How deep the type under way stands in its parameter; 1 for the type of the parameter itself. */
  readonly depth: number;
  type(node: SyntaxNode | undefined, scope: Scope): JsonSchema;
  /** The fields of a type, if it is one of objects. */
  shape(node: SyntaxNode | undefined, scope: Scope): Shape | undefined;
  /** The schema of a declared type, identified by `key`; inside itself it is a reference to its own definition. */
  named(name: string, key: string, read: () => JsonSchema, place: Bound): JsonSchema;
  /** Reports a type, with the reason and with what to write instead. */
  unreadable(node: SyntaxNode, scope: Scope, why: string, mend?: string): JsonSchema;
}

export const ANY: JsonSchema = Object.freeze({});

export function schemaOfShape({ fields, rest }: Shape, side: Reader["side"]): JsonSchema {
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
