import { truncateText } from "../../../../shared/format-text.ts";
import { DocumentError } from "../../documents/document-error.ts";
import type { ProblemList } from "../../documents/problem-list.ts";
import {
  BUILT_IN_SCALARS,
  type ComposedType,
  isRequired,
  type Schema,
  type SchemaArgument,
  type SchemaDirective,
  type SchemaField,
  type SchemaType,
  type TypeKind,
  type TypeReference,
} from "./schema-model.ts";

/** Types of a schema. GitLab has 4,000. */
export const MAX_TYPES = 20_000;

/** Fields, values or members of one type. The root types of large databases have thousands. */
export const MAX_FIELDS = 10_000;

/** Arguments of one field. */
export const MAX_ARGUMENTS = 500;

/** Fields, values, members and arguments of all types: twenty times those of GitHub. */
export const MAX_PARTS = 400_000;

/** A part that depends on one that is left out is left out itself. No schema needs more rounds, which alternate in direction. */
const MAX_ROUNDS = 500;

/** As the specification has names (section 2.1.9), up to a length; `__` begins those of introspection. */
const NAME = /^(?!__)[_A-Za-z][_0-9A-Za-z]{0,199}$/;

const NOT_ENUM_VALUES: ReadonlySet<string> = new Set(["true", "false", "null"]);

/** Directives that a request may have (specification, section 3.13); the others are those of the schema itself. */
const REQUEST_LOCATIONS: ReadonlySet<string> = new Set([
  "QUERY",
  "MUTATION",
  "FIELD",
  "FRAGMENT_DEFINITION",
  "FRAGMENT_SPREAD",
  "INLINE_FRAGMENT",
  "VARIABLE_DEFINITION",
]);

/** Directives that each server has. */
const OWN_DIRECTIVES: ReadonlySet<string> = new Set(["include", "skip", "deprecated", "specifiedBy", "oneOf"]);

const MAX_DIRECTIVES = 200;

/** A schema in which each name leads to a type of the right kind, in an order that does not depend on that of its source. */
export interface CheckedSchema extends Schema {
  readonly byName: ReadonlyMap<string, SchemaType>;
}

/**
 * Leaves out what is broken or beyond the bounds, and reports it. Throws a `DocumentError` for a schema without a type of queries,
 * and for one with more parts than can be read.
 */
export function checkSchema(schema: Schema, problems: ProblemList): CheckedSchema {
  const byName = new Map<string, SchemaType>();
  for (const type of takeParts(schema.types, { owner: "schema", max: MAX_TYPES, isName: isTypeName }, problems)) {
    byName.set(type.name, boundParts(type, problems));
  }
  requirePartBound(byName.values());
  removeBroken(byName, problems);
  const { query, mutation } = schema;
  if (byName.get(query)?.kind !== "type")
    throw new DocumentError(
      `the schema has no type of queries that can be used${query === "" ? "" : `: ${truncateText(query, 100)}`}`,
    );
  const hasMutations = mutation !== undefined && byName.get(mutation)?.kind === "type";
  problems.location = "schema";
  if (mutation !== undefined && !hasMutations) problems.add("it has no type of mutations that can be used");
  if (query === mutation) problems.add("it has one type for queries and mutations, so a query counts as a mutation");
  const names = [...byName.keys()].toSorted();
  const sorted = names.map((name) => sortParts(byName.get(name) as SchemaType));
  return {
    description: schema.description,
    query,
    ...(hasMutations && { mutation }),
    types: sorted,
    byName: new Map(sorted.map((type) => [type.name, type])),
    directives: checkDirectives(schema.directives, byName, problems),
  };
}

const isTypeName = (name: string): boolean => NAME.test(name) && !BUILT_IN_SCALARS.has(name);
const isName = (name: string): boolean => NAME.test(name);
const isValueName = (name: string): boolean => NAME.test(name) && !NOT_ENUM_VALUES.has(name);

interface PartBounds {
  readonly owner: string;
  readonly max: number;
  readonly isName: (name: string) => boolean;
}

/** Takes the parts whose names can be used, the first of each name, up to a number. */
function takeParts<Part extends { readonly name: string }>(
  parts: readonly Part[],
  { owner, max, isName: isUsable }: PartBounds,
  problems: ProblemList,
): readonly Part[] {
  const byName = new Map<string, Part>();
  problems.location = owner;
  for (const part of parts) {
    const { name } = part;
    if (BUILT_IN_SCALARS.has(name) && !isUsable(name)) continue;
    if (!isUsable(name)) problems.add(`${describeName(name)} cannot be a name; it is left out`);
    else if (byName.has(name)) problems.add(`a second ${name} is left out`);
    else if (byName.size === max) {
      problems.add(`what it has beyond ${max} parts is left out, ${name} first`);
      break;
    } else byName.set(name, part);
  }
  return [...byName.values()];
}

function describeName(name: string): string {
  return name === "" ? "a part without a name" : JSON.stringify(truncateText(name, 60));
}

/** Leaves out parts of a type whose names cannot be used, and those beyond the bounds. */
function boundParts(type: SchemaType, problems: ProblemList): SchemaType {
  const bounds = { owner: type.name, max: MAX_FIELDS, isName };
  switch (type.kind) {
    case "scalar":
      return type;
    case "type":
    case "interface": {
      const fields = takeParts(type.fields, bounds, problems).map((field) => ({
        ...field,
        arguments: takeParts(
          field.arguments,
          { owner: `${type.name}.${field.name}`, max: MAX_ARGUMENTS, isName },
          problems,
        ),
      }));
      return { ...type, fields, interfaces: [...new Set(type.interfaces)].slice(0, MAX_FIELDS) };
    }
    case "union":
      return { ...type, members: [...new Set(type.members)].slice(0, MAX_FIELDS) };
    case "enum":
      return { ...type, values: takeParts(type.values, { ...bounds, isName: isValueName }, problems) };
    case "input":
      return { ...type, fields: takeParts(type.fields, bounds, problems) };
  }
}

function requirePartBound(types: Iterable<SchemaType>): void {
  let parts = 0;
  for (const type of types) {
    if (type.kind === "union") parts += type.members.length;
    else if (type.kind === "enum") parts += type.values.length;
    else if (type.kind === "input") parts += type.fields.length;
    else if (type.kind !== "scalar")
      parts += type.fields.reduce((sum, field) => sum + 1 + field.arguments.length, type.interfaces.length);
  }
  if (parts > MAX_PARTS)
    throw new DocumentError(`the schema has ${parts} fields, arguments and values; at most ${MAX_PARTS} are read`);
}

type TypesByName = ReadonlyMap<string, SchemaType>;

/** Removes what leads to types that are missing or of the wrong kind, until nothing does. */
function removeBroken(byName: Map<string, SchemaType>, problems: ProblemList): void {
  for (let round = 0, hasChanged = true; hasChanged; round++) {
    if (round === MAX_ROUNDS) throw new DocumentError("its types depend on broken types in too long a row");
    hasChanged = false;
    const entries = [...byName];
    for (const [name, type] of round % 2 === 0 ? entries : entries.toReversed()) {
      problems.location = name;
      const usable = withoutBroken(type, byName, problems);
      if (usable === type) continue;
      hasChanged = true;
      if (usable === undefined) byName.delete(name);
      else byName.set(name, usable);
    }
  }
}

/** Returns the type itself if nothing of it is broken; `undefined` if nothing of it is left. */
function withoutBroken(type: SchemaType, byName: TypesByName, problems: ProblemList): SchemaType | undefined {
  const context = { byName, problems, owner: type.name };
  switch (type.kind) {
    case "scalar":
      return type;
    case "type":
    case "interface":
      return checkFields(type, context);
    case "union": {
      const members = type.members.filter((name) => {
        if (byName.get(name)?.kind === "type") return true;
        problems.add(`its member ${describeName(name)} is no type of objects; it is left out`);
        return false;
      });
      return withParts(type, { members }, problems);
    }
    case "enum":
      return withParts(type, { values: type.values }, problems);
    case "input": {
      const fields = checkArguments(type.fields, context);
      if (fields !== undefined) return withParts(type, { fields }, problems);
      problems.add("a field that it requires has no type that can be used; it is left out");
      return undefined;
    }
  }
}

/** Returns the type with other parts, or itself if they are the same; `undefined` if it has none. */
function withParts<Type extends SchemaType>(
  type: Type,
  changed: Partial<Type>,
  problems: ProblemList,
): Type | undefined {
  const entries = Object.entries(changed) as [keyof Type, readonly unknown[]][];
  const [[, parts] = ["", []]] = entries;
  if (parts.length === 0) {
    problems.add("it has no parts that can be used; it is left out");
    return undefined;
  }
  const isSame = entries.every(([key, list]) => (type[key] as readonly unknown[]).length === list.length);
  return isSame &&
    entries.every(([key, list]) => list.every((part, at) => part === (type[key] as readonly unknown[])[at]))
    ? type
    : { ...type, ...changed };
}

interface PartContext {
  readonly byName: TypesByName;
  readonly problems: ProblemList;
  /** The type, or the field of a type. */
  readonly owner: string;
}

function checkFields(type: ComposedType, context: PartContext): ComposedType | undefined {
  const { byName, problems } = context;
  const fields = type.fields.flatMap((field): readonly SchemaField[] => {
    const owner = `${type.name}.${field.name}`;
    problems.location = owner;
    if (!isUsable(field.type, OUTPUT_KINDS, byName)) {
      problems.add(`${describeType(field.type)} is no type of results; it is left out`);
      return [];
    }
    const list = checkArguments(field.arguments, { ...context, owner });
    if (list === undefined) {
      problems.add("an argument that it requires has no type that can be used; it is left out");
      return [];
    }
    return [list === field.arguments ? field : { ...field, arguments: list }];
  });
  problems.location = type.name;
  const interfaces = type.interfaces.filter((name) => {
    if (byName.get(name)?.kind === "interface" && name !== type.name) return true;
    problems.add(`${describeName(name)} is no interface, and does not count`);
    return false;
  });
  return withParts(type, { fields, interfaces }, problems);
}

const OUTPUT_KINDS: ReadonlySet<TypeKind> = new Set(["scalar", "type", "interface", "union", "enum"]);
const INPUT_KINDS: ReadonlySet<TypeKind> = new Set(["scalar", "enum", "input"]);

/** Leaves out arguments without a usable type; `undefined` if one of them is required. */
function checkArguments(
  list: readonly SchemaArgument[],
  { byName, problems, owner }: PartContext,
): readonly SchemaArgument[] | undefined {
  const broken = new Set(list.filter(({ type }) => !isUsable(type, INPUT_KINDS, byName)));
  if (broken.size === 0) return list;
  if ([...broken].some(isRequired)) return undefined;
  for (const { name, type } of broken) {
    problems.location = `${owner}.${name}`;
    problems.add(`${describeType(type)} is no type of arguments; it is left out`);
  }
  problems.location = owner;
  return list.filter((argument) => !broken.has(argument));
}

function isUsable({ name }: TypeReference, kinds: ReadonlySet<TypeKind>, byName: TypesByName): boolean {
  if (BUILT_IN_SCALARS.has(name)) return true;
  const kind = byName.get(name)?.kind;
  return kind !== undefined && kinds.has(kind);
}

function describeType({ text }: TypeReference): string {
  return text === "" ? "a type that cannot be read" : JSON.stringify(truncateText(text, 60));
}

/** Keeps the directives that a request may have. */
function checkDirectives(
  directives: readonly SchemaDirective[],
  byName: TypesByName,
  problems: ProblemList,
): readonly SchemaDirective[] {
  const usable = directives
    .filter(({ name, locations }) => !OWN_DIRECTIVES.has(name) && locations.some((each) => REQUEST_LOCATIONS.has(each)))
    .slice(0, MAX_DIRECTIVES);
  return takeParts(usable, { owner: "directives", max: MAX_DIRECTIVES, isName }, problems)
    .flatMap((directive): readonly SchemaDirective[] => {
      const context = { byName, problems, owner: `@${directive.name}` };
      const list = takeParts(directive.arguments, { owner: context.owner, max: MAX_ARGUMENTS, isName }, problems);
      const usableList = checkArguments(list, context);
      if (usableList === undefined) {
        problems.add("an argument that it requires has no type that can be used; it is left out");
        return [];
      }
      const locations = directive.locations.filter((each) => REQUEST_LOCATIONS.has(each)).toSorted();
      return [{ ...directive, locations: [...new Set(locations)], arguments: usableList.toSorted(byNames) }];
    })
    .toSorted(byNames);
}

function sortParts(type: SchemaType): SchemaType {
  switch (type.kind) {
    case "scalar":
      return type;
    case "type":
    case "interface": {
      const fields = type.fields.map((field) => ({ ...field, arguments: field.arguments.toSorted(byNames) }));
      return { ...type, fields: fields.toSorted(byNames), interfaces: type.interfaces.toSorted() };
    }
    case "union":
      return { ...type, members: type.members.toSorted() };
    case "enum":
      return { ...type, values: type.values.toSorted(byNames) };
    case "input":
      return { ...type, fields: type.fields.toSorted(byNames) };
  }
}

function byNames({ name: one }: { readonly name: string }, { name: other }: { readonly name: string }): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
