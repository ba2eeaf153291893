import {
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLSchema,
  GraphQLError,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredInputField,
  isSpecifiedScalarType,
  type OperationDefinitionNode,
  typeFromAST,
} from "graphql";

import { isRecord } from "../../../../model/json.ts";
import { UNKNOWN } from "../../../../model/plan.ts";
import type { QueryProblem } from "../../../../model/skill.ts";
import { formatChoices, formatList, quote } from "../../../../shared/format-text.ts";
import { printableName } from "../../../../shared/source-text.ts";
import { suggestNames } from "../../../../shared/suggest.ts";
import { MAX_MESSAGE_UNITS, MAX_PROBLEMS } from "./limits.ts";

/** Levels of a value that are checked: a program cannot pass a deeper one. */
const MAX_LEVELS = 100;

/** Names that a message lists where none is similar. */
const MAX_LISTED = 20;

/**
 * Checks the values of variables by their types. `UNKNOWN` fits every type, and a scalar of the API every JSON value: only the
 * server knows more of it.
 */
export function checkVariables(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
  variables: unknown,
): readonly QueryProblem[] {
  if (variables === UNKNOWN) return [];
  const check = new VariableCheck();
  if (variables !== undefined && variables !== null && !isRecord(variables)) {
    check.add("The variables must be an object with a member for each: { first: 10 }");
    return check.problems;
  }
  const values = variables ?? {};
  const declared = variableDefinitions.map(({ variable }) => variable.name.value);
  const names = new Set(declared);
  for (const name of Object.keys(values))
    if (!names.has(name)) check.addUnknown(`$${name}`, "is not a variable of the text", name, declared);
  for (const { variable, type: typeNode, defaultValue } of variableDefinitions) {
    const name = variable.name.value;
    const type = typeFromAST(schema, typeNode) as GraphQLInputType | undefined;
    if (type === undefined) continue; // a problem of the text
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value !== undefined) check.checkValue(value, type, `$${name}`);
    else if (isNonNullType(type) && defaultValue === undefined)
      check.add(`The variable $${name} of type ${String(type)} is missing; pass variables: { ${name}: … }`);
  }
  return check.problems;
}

interface InputFacts {
  readonly fields: Readonly<Record<string, GraphQLInputField>>;
  readonly names: readonly string[];
  readonly required: readonly GraphQLInputField[];
}

class VariableCheck {
  readonly #problems: QueryProblem[] = [];
  readonly #types = new Map<GraphQLInputObjectType, InputFacts>();

  get problems(): readonly QueryProblem[] {
    return this.#problems;
  }

  add(message: string, suggestions: readonly string[] = []): void {
    if (this.#problems.length < MAX_PROBLEMS)
      this.#problems.push({ message: printableName(message, MAX_MESSAGE_UNITS), suggestions });
  }

  addUnknown(path: string, what: string, name: string, names: readonly string[]): void {
    if (this.#problems.length >= MAX_PROBLEMS) return;
    const suggestions = suggestNames(name, names);
    const hint =
      suggestions.length > 0
        ? `did you mean ${formatChoices(suggestions.map((each) => `"${each}"`))}?`
        : names.length === 0
          ? ""
          : `possible: ${formatList(names, MAX_LISTED)}`;
    this.add(`${path} ${what}${hint === "" ? "" : `; ${hint}`}`, suggestions);
  }

  checkValue(value: unknown, type: GraphQLInputType, path: string, level = 0): void {
    if (value === UNKNOWN || this.#problems.length >= MAX_PROBLEMS) return;
    if (isNonNullType(type)) {
      if (value === null) return this.add(`${path} of type ${String(type)} must not be null`);
      return this.checkValue(value, type.ofType, path, level);
    }
    if (value === null || value === undefined) return;
    if (level >= MAX_LEVELS) return this.add(`${path} has more than ${MAX_LEVELS} levels`);
    if (isListType(type)) {
      const { ofType } = type;
      if (!Array.isArray(value)) return this.checkValue(value, ofType, path, level + 1);
      for (const [at, item] of value.entries()) this.checkValue(item, ofType, `${path}[${at}]`, level + 1);
    } else if (isInputObjectType(type)) this.#checkObject(value, type, path, level);
    else if (isEnumType(type)) {
      if (typeof value === "string" && type.getValue(value) !== undefined) return;
      const names = type.getValues().map(({ name }) => name);
      this.addUnknown(path, `must be a value of ${type.name}, not ${describe(value)}`, describe(value), names);
    } else if (isSpecifiedScalarType(type)) this.#checkScalar(value, type, path);
  }

  #checkObject(value: unknown, type: GraphQLInputObjectType, path: string, level: number): void {
    if (!isRecord(value)) return this.add(`${path} must be an object of type ${type.name}, not ${describe(value)}`);
    const { fields, names, required } = this.#readType(type);
    for (const name of Object.keys(value)) {
      const inner = value[name];
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
      if (field === undefined) this.addUnknown(`${path}.${name}`, `is not a field of ${type.name}`, name, names);
      else if (inner !== undefined) this.checkValue(inner, field.type, `${path}.${name}`, level + 1);
    }
    for (const field of required)
      if (!Object.hasOwn(value, field.name) || value[field.name] === undefined)
        this.add(`${path}.${field.name} of type ${String(field.type)} is missing`);
    const present = Object.values(value).filter((each) => each !== undefined);
    if (type.isOneOf && (present.length !== 1 || present[0] === null))
      this.add(`${path} of type ${type.name} must have exactly one of its fields: ${formatList(names, MAX_LISTED)}`);
  }

  /** Variables may have a million objects of a type that has a hundred fields. */
  #readType(type: GraphQLInputObjectType): InputFacts {
    const before = this.#types.get(type);
    if (before !== undefined) return before;
    const fields = type.getFields();
    const facts = { fields, names: Object.keys(fields), required: Object.values(fields).filter(isRequiredInputField) };
    this.#types.set(type, facts);
    return facts;
  }

  #checkScalar(
    value: unknown,
    type: { readonly name: string; parseValue(value: unknown): unknown },
    path: string,
  ): void {
    try {
      type.parseValue(value);
    } catch (error) {
      if (!(error instanceof GraphQLError)) throw error;
      this.add(`${path} must be of type ${type.name}, not ${describe(value)}`);
    }
  }
}

function describe(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (isRecord(value)) return "an object";
  return typeof value === "string" ? quote(value) : String(value);
}
