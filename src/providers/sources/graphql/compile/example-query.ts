import type { CheckedSchema } from "./check-schema.ts";
import {
  BUILT_IN_SCALARS,
  type ComposedType,
  isRequired,
  type SchemaArgument,
  type SchemaField,
  type SchemaType,
  type TypeReference,
} from "./schema-model.ts";
import { getItemType } from "./type-reference.ts";

/** A text that calls a root field, and values for its variables. */
export interface ExampleQuery {
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
}

/** Fields of one selection. */
const MAX_LEAVES = 6;

/** Fields with fields of their own, where a result has no others that say something. */
const MAX_OBJECTS = 2;

/** Members of a union that the example selects from. */
const MAX_MEMBERS = 3;

/** Levels of input objects in the values of variables. */
const MAX_VALUE_LEVELS = 4;

/** Items of a page. */
const PAGE_SIZE = 10;

/** Fields that say most of an object, first. */
const TELLING = ["id", "number", "key", "name", "title", "login", "slug", "code", "state", "status", "url", "message"];

/** Returns an example of a request for a root field: required arguments, and one level of the scalars of its result. */
export function createExample(
  kind: "query" | "mutation",
  field: SchemaField,
  { byName }: Pick<CheckedSchema, "byName">,
): ExampleQuery {
  const selector = new Selector(byName);
  const size = field.arguments.find(({ name, type }) => SIZES.has(name) && /^Int!?$/.test(type.text));
  const others = field.arguments.filter((argument) => argument !== size && isRequired(argument));
  const variables = others.map(({ name, type }) => `$${name}: ${type.text}`);
  const list = [
    ...(size === undefined ? [] : [`${size.name}: ${PAGE_SIZE}`]),
    ...others.map(({ name }) => `${name}: $${name}`),
  ];
  const call = `${field.name}${list.length === 0 ? "" : `(${list.join(", ")})`}${selector.selectResult(field.type)}`;
  const head = kind === "mutation" ? "mutation " : variables.length === 0 ? "" : "query ";
  const signature = variables.length === 0 ? "" : `(${variables.join(", ")}) `;
  const query = `${head}${signature}{ ${call} }`;
  if (others.length === 0) return { query };
  const values = others.map(({ name, type }) => [name, toExampleValue({ name, type }, byName, MAX_VALUE_LEVELS)]);
  return { query, variables: Object.fromEntries(values) as Readonly<Record<string, unknown>> };
}

const SIZES: ReadonlySet<string> = new Set(["first", "limit"]);

/** Writes selections of one result. */
class Selector {
  readonly #byName: CheckedSchema["byName"];

  constructor(byName: CheckedSchema["byName"]) {
    this.#byName = byName;
  }

  /** ` { nodes { id title } pageInfo { hasNextPage endCursor } }`; empty for a scalar. */
  selectResult({ name }: TypeReference): string {
    const type = this.#byName.get(name);
    if (type?.kind === "union") return ` { ${this.#selectMembers(type.members)} }`;
    if (!isComposed(type)) return "";
    return ` { ${this.#selectPage(type) ?? this.#selectFields(type)} }`;
  }

  /** Selects from the items of a connection, directly or by its edges. */
  #selectPage(type: ComposedType): string | undefined {
    const { nodes, edges, pageInfo } = this.#getFields(type, ["nodes", "edges", "pageInfo"]);
    const node = nodes === undefined ? this.#findEdgeNode(edges) : nodes.type;
    if (node === undefined || (nodes !== undefined && getItemType(nodes.type) === undefined)) return undefined;
    const items = nodes === undefined ? `edges { node${this.#selectFlat(node)} }` : `nodes${this.#selectFlat(node)}`;
    const info = pageInfo === undefined ? undefined : this.#byName.get(pageInfo.type.name);
    const cursor = isComposed(info) ? Object.keys(this.#getFields(info, ["hasNextPage", "endCursor"])) : [];
    return cursor.length === 0 ? items : `${items} pageInfo { ${cursor.join(" ")} }`;
  }

  #findEdgeNode(edges: SchemaField | undefined): TypeReference | undefined {
    const edge = edges && this.#byName.get(edges.type.name);
    return isComposed(edge) ? this.#getFields(edge, ["node"])["node"]?.type : undefined;
  }

  /** Returns the fields with these names that can be selected without arguments. */
  #getFields(type: ComposedType, names: readonly string[]): Partial<Record<string, SchemaField>> {
    return Object.fromEntries(
      names.flatMap((name) => {
        const field = type.fields.find((each) => each.name === name);
        return field === undefined || field.arguments.some(isRequired) ? [] : [[name, field]];
      }),
    );
  }

  /** Selects scalars; of a type with hardly any, such as the result of a mutation, also those of a few of its objects. */
  #selectFields(type: ComposedType): string {
    const leaves = this.#listLeaves(type).filter(({ name }) => name !== "clientMutationId");
    if (leaves.length > 1 || leaves.some(({ name }) => name === "id")) return formatLeaves(leaves, type);
    const objects = type.fields
      .filter((field) => isSelectable(field) && !this.#isLeaf(field))
      .toSorted((one, other) => Number(isForErrors(one)) - Number(isForErrors(other)))
      .slice(0, MAX_OBJECTS)
      .map((field) => `${field.name}${this.#selectFlat(field.type)}`);
    return [...leaves.map(({ name }) => name), ...objects].join(" ") || "__typename";
  }

  /** Selects from an item without a level of objects below it. */
  #selectFlat({ name }: TypeReference): string {
    const type = this.#byName.get(name);
    if (type?.kind === "union") return ` { ${this.#selectMembers(type.members)} }`;
    return isComposed(type) ? ` { ${formatLeaves(this.#listLeaves(type), type)} }` : "";
  }

  /** Two members may have fields of one name whose types differ, which one answer cannot have (specification, section 5.3.2). */
  #selectMembers(members: readonly string[]): string {
    const types = new Map<string, string>();
    const fragments = members.slice(0, MAX_MEMBERS).flatMap((member): readonly string[] => {
      const type = this.#byName.get(member);
      if (!isComposed(type)) return [];
      const leaves = this.#listLeaves(type).filter(({ name, type: { text } }) => (types.get(name) ?? text) === text);
      for (const { name, type: each } of leaves) types.set(name, each.text);
      return leaves.length === 0 ? [] : [`... on ${member} { ${leaves.map(({ name }) => name).join(" ")} }`];
    });
    return ["__typename", ...fragments].join(" ");
  }

  #listLeaves(type: ComposedType): readonly SchemaField[] {
    return type.fields
      .filter((field) => isSelectable(field) && this.#isLeaf(field))
      .toSorted((one, other) => rank(one) - rank(other))
      .slice(0, MAX_LEAVES);
  }

  #isLeaf({ type }: SchemaField): boolean {
    if (BUILT_IN_SCALARS.has(type.name)) return true;
    const kind = this.#byName.get(type.name)?.kind;
    return kind === "scalar" || kind === "enum";
  }
}

function isComposed(type: SchemaType | undefined): type is ComposedType {
  return type?.kind === "type" || type?.kind === "interface";
}

function isSelectable(field: SchemaField): boolean {
  return field.deprecated === undefined && !field.arguments.some(isRequired);
}

function isForErrors({ name }: SchemaField): boolean {
  return /errors?$/i.test(name);
}

function rank({ name }: SchemaField): number {
  const at = TELLING.indexOf(name);
  return at < 0 ? TELLING.length : at;
}

function formatLeaves(leaves: readonly SchemaField[], { kind }: ComposedType): string {
  const names = leaves.map(({ name }) => name);
  return [...(kind === "interface" || names.length === 0 ? ["__typename"] : []), ...names].join(" ");
}

/** Returns a value that an argument accepts, as far as its type says it. */
function toExampleValue(
  { name, type }: Pick<SchemaArgument, "name" | "type">,
  byName: CheckedSchema["byName"],
  levels: number,
): unknown {
  const item = getItemType(type);
  if (item !== undefined) return [toExampleValue({ name, type: item }, byName, levels)];
  const definition = byName.get(type.name);
  if (definition?.kind === "enum") return definition.values[0]?.name;
  if (definition?.kind !== "input") return toExampleScalar(name, type.name);
  const required = definition.hasOneValue ? definition.fields.slice(0, 1) : definition.fields.filter(isRequired);
  if (levels === 0) return {};
  const values = required.map((field) => [field.name, toExampleValue(field, byName, levels - 1)]);
  return Object.fromEntries(values);
}

function toExampleScalar(name: string, type: string): unknown {
  if (type === "Int") return 1;
  if (type === "Float") return 1.5;
  if (type === "Boolean") return true;
  if (type === "ID") return "ID";
  return `a ${name
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replaceAll("_", " ")
    .toLowerCase()}`.trim();
}
