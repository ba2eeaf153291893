/** A schema as plain data: read from SDL or from introspection, and not trusted before `checkSchema`. */
export interface Schema {
  readonly description: string;
  /** The name of the type of queries. */
  readonly query: string;
  /** The name of the type of mutations; absent if it has none. */
  readonly mutation?: string;
  readonly types: readonly SchemaType[];
  readonly directives: readonly SchemaDirective[];
}

export type SchemaType = ScalarType | ComposedType | UnionType | EnumType | InputType;
export type TypeKind = SchemaType["kind"];

interface NamedPart {
  readonly name: string;
  readonly description: string;
}

export interface ScalarType extends NamedPart {
  readonly kind: "scalar";
}

export interface ComposedType extends NamedPart {
  readonly kind: "type" | "interface";
  readonly interfaces: readonly string[];
  readonly fields: readonly SchemaField[];
}

export interface UnionType extends NamedPart {
  readonly kind: "union";
  readonly members: readonly string[];
}

export interface EnumType extends NamedPart {
  readonly kind: "enum";
  readonly values: readonly Deprecable[];
}

export interface InputType extends NamedPart {
  readonly kind: "input";
  readonly fields: readonly SchemaArgument[];
  /** Exactly one of its fields is given. */
  readonly hasOneValue: boolean;
}

export interface Deprecable extends NamedPart {
  /** The reason of its deprecation; absent if it is not deprecated. */
  readonly deprecated?: string;
}

/** The type of a field or an argument. */
export interface TypeReference {
  /** As SDL has it: `[Issue!]!`. */
  readonly text: string;
  /** The type without lists: `Issue`. */
  readonly name: string;
}

export interface SchemaArgument extends Deprecable {
  readonly type: TypeReference;
  /** A literal of GraphQL. */
  readonly default?: string;
}

export interface SchemaField extends Deprecable {
  readonly type: TypeReference;
  readonly arguments: readonly SchemaArgument[];
}

export interface SchemaDirective extends NamedPart {
  readonly arguments: readonly SchemaArgument[];
  readonly isRepeatable: boolean;
  readonly locations: readonly string[];
}

/** The scalars of the specification (section 3.5), which a schema need not contain. */
export const BUILT_IN_SCALARS: ReadonlySet<string> = new Set(["Int", "Float", "String", "Boolean", "ID"]);

/** True for an argument that each request must have. */
export function isRequired(argument: SchemaArgument): boolean {
  return argument.type.text.endsWith("!") && argument.default === undefined;
}
