import {
  type FieldNode,
  getNamedType,
  type GraphQLCompositeType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  isAbstractType,
  isEnumType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from "graphql";

import type { JsonSchema } from "../../../../model/json.ts";
import type { Fragments } from "./measure-selection.ts";
import { collectFields, type FieldGroup, listConditions, type TypedSelection } from "./collect-fields.ts";

/** Schemas of one output: about 100 KB of JSON. What is beyond them takes any value. */
const MAX_SCHEMAS = 2_000;

/** Forms of a union that are written. */
const MAX_FORMS = 50;

/** The names of an enumeration that are listed. */
const MAX_NAMES = 50;

/** Returns the JSON Schema of `data` by what an operation selects. */
export function createSelectionOutput(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  fragments: Fragments,
): JsonSchema {
  const root = schema.getRootType(operation.operation);
  if (root == null) return {};
  return new OutputWriter(schema, fragments).writeObject([toSelection(operation.selectionSet, root)], root);
}

function toSelection(set: SelectionSetNode, parent: GraphQLCompositeType): TypedSelection {
  return { set, parent, isOptional: false };
}

class OutputWriter {
  readonly #schema: GraphQLSchema;
  readonly #fragments: Fragments;
  #written = 0;

  constructor(schema: GraphQLSchema, fragments: Fragments) {
    this.#schema = schema;
    this.#fragments = fragments;
  }

  /** Writes the object that a selection gives for a type of object. */
  writeObject(
    selections: readonly TypedSelection[],
    type: GraphQLObjectType,
    names: readonly string[] = [type.name],
  ): JsonSchema {
    const groups = collectFields(selections, type, { schema: this.#schema, fragments: this.#fragments });
    this.#written += groups.size + 1;
    const entries = [...groups].map(([key, group]) => [key, this.#writeField(group, names)] as const);
    return {
      type: "object",
      properties: Object.fromEntries(entries),
      required: [...groups].flatMap(([key, { isOptional }]) => (isOptional ? [] : [key])),
      additionalProperties: false,
    };
  }

  #writeField({ nodes, type }: FieldGroup, typeNames: readonly string[]): JsonSchema {
    if (nodes[0]?.name.value === "__typename") return writeNames(typeNames);
    return type === undefined ? {} : this.#writeType(type, nodes);
  }

  #writeType(type: GraphQLOutputType, nodes: readonly FieldNode[]): JsonSchema {
    if (this.#written > MAX_SCHEMAS) return {};
    if (!isNonNullType(type)) return orNull(this.#writeValue(type, nodes));
    return this.#writeValue(type.ofType, nodes);
  }

  #writeValue(type: GraphQLOutputType, nodes: readonly FieldNode[]): JsonSchema {
    if (isListType(type)) return { type: "array", items: this.#writeType(type.ofType, nodes) };
    const innermost = getNamedType(type);
    if (isEnumType(innermost)) return writeNames(innermost.getValues().map(({ name }) => name));
    if (isLeafType(innermost)) return SCALARS.get(innermost.name) ?? {};
    const selections = nodes.flatMap(({ selectionSet }) =>
      selectionSet ? [toSelection(selectionSet, innermost)] : [],
    );
    return isObjectType(innermost) ? this.writeObject(selections, innermost) : this.#writeForms(selections, innermost);
  }

  /** Writes one form for all types of objects of which the same fragments hold. */
  #writeForms(selections: readonly TypedSelection[], type: GraphQLCompositeType): JsonSchema {
    if (!isAbstractType(type)) return {};
    const conditions = listConditions(selections, this.#fragments).flatMap((name) => this.#schema.getType(name) ?? []);
    const groups = new Map<string, GraphQLObjectType[]>();
    for (const each of this.#schema.getPossibleTypes(type)) {
      const holds = (condition: (typeof conditions)[number]): boolean =>
        condition === each || (isAbstractType(condition) && this.#schema.isSubType(condition, each));
      const key = conditions.map((condition) => (holds(condition) ? "1" : "0")).join("");
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [each]);
      else group.push(each);
    }
    if (groups.size > MAX_FORMS) return {};
    const forms = [...groups.values()].flatMap((types) => {
      const [first] = types;
      return first === undefined
        ? []
        : [
            this.writeObject(
              selections,
              first,
              types.map(({ name }) => name),
            ),
          ];
    });
    return forms.length === 1 ? (forms[0] ?? {}) : { anyOf: forms };
  }
}

/** A server serializes ids as texts. */
const SCALARS: ReadonlyMap<string, JsonSchema> = new Map([
  ["ID", { type: "string" }],
  ["String", { type: "string" }],
  ["Int", { type: "integer" }],
  ["Float", { type: "number" }],
  ["Boolean", { type: "boolean" }],
]);

function writeNames(names: readonly string[]): JsonSchema {
  if (names.length === 1) return { const: names[0] };
  return names.length > MAX_NAMES ? { type: "string" } : { type: "string", enum: names };
}

function orNull(schema: JsonSchema): JsonSchema {
  if (Object.keys(schema).length === 0) return schema;
  return {
    anyOf: [...(Array.isArray(schema["anyOf"]) ? (schema["anyOf"] as JsonSchema[]) : [schema]), { type: "null" }],
  };
}
