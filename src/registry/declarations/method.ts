import type { Method, Parameter } from "../../model/catalog.ts";
import { isRecord, type JsonSchema, toList } from "../../model/json.ts";
import { RESPONSE_ARGUMENT, type ResponseForms } from "../../model/skill.ts";
import { getShownParameters } from "../parameters.ts";
import { dereference } from "../schema.ts";
import { shortened } from "../token-count.ts";
import { documented, holdsJson, TEXT_HOLDING_JSON } from "./doc-comments.ts";
import { formatOrigin } from "./inferred-output.ts";
import { type Signed, takesAnyObject } from "./signature.ts";
import { bindingName, docComment, propertyName } from "./text.ts";
import { createTypeNames, type TypeNames } from "./type-names.ts";
import { toType, type TypeStyle } from "./types.ts";

/** A parameter or result type longer than this gets a name. */
const INLINE_UNITS = 80;

const DEPTH = 24;

/** The inputs of a declaration; a `Method` has all of them. */
export type DeclaredMethod = Signed &
  Pick<Method, "description" | "metadata"> & {
    /** Number of results from which the output was inferred; 0 for an example in the description. */
    readonly observed?: number;
  };

/** A method as TypeScript: its doc comment, one signature for each way to call it, and the types they name. */
export interface MethodText {
  readonly comment: string;
  /** `(a: number, b: number): Promise<number>`. */
  readonly positional: string;
  /** `(args: { a: number; b: number }): Promise<number>`; absent if it is the only form, or the same as the positional one. */
  readonly byName: string | undefined;
  /** The signature that gives the whole response, of a method of an API: `(args: { id: number; includeResponse: true }): Promise<…>`. */
  readonly response?: string;
  /** The signature of `pages`, of a method with pages. */
  readonly pages?: string;
  readonly types: ReadonlyMap<string, string>;
  /** Signatures for the texts of a query language, which come first. */
  readonly ofTexts?: readonly string[];
}

/** `/** … *\/ add(a: number, b: number): Promise<number>;`, followed by the types that it names. */
export function formatDeclaration(method: DeclaredMethod): string {
  const { comment, positional, types } = methodText(method);
  const aliases = [...types].map(([name, text]) => `\ntype ${name} = ${text};`);
  return `${comment}${propertyName(method.name)}${positional};${aliases.join("")}`;
}

export interface TextStyle {
  /** Stands before every name of a type. */
  readonly qualifier?: string;
  /** The beginning of every name of a type. */
  readonly prefix?: string;
  /** False for the compiler, which does not read comments. */
  readonly comments?: boolean;
  /** Depth to which objects without a name are shown. */
  readonly depth?: number;
  /** Longest text about a parameter. */
  readonly parameterUnits?: number;
  /** Names types that a schema leaves out. */
  readonly namesOmitted?: boolean;
}

export function methodText(
  method: DeclaredMethod,
  {
    qualifier = "",
    prefix = "",
    comments = true,
    depth = DEPTH,
    parameterUnits = Infinity,
    namesOmitted = false,
  }: TextStyle = {},
): MethodText {
  const names = createTypeNames(prefix, namesOmitted);
  const style = { names, qualifier, depth, comments } as const;
  const input: TypeStyle = { ...style, root: method.input, of: "input" };
  const output = method.output;
  const result =
    output === undefined
      ? "any"
      : shortOrNamed(output, `${method.name} result`, { ...style, root: output, of: "output" }, names);
  const returns = `: Promise<${result}>`;
  const parameters = namedParameters(method, input, names);
  const hasComment = comments || parameterUnits < Infinity;
  const comment = hasComment ? formatComment(method, parameters, parameterUnits) : "";
  const common = { comment, types: names.definitions };
  if (takesAnyObject(method))
    return { ...common, positional: `(args?: ${toType(method.input, input).text})${returns}`, byName: undefined };
  return {
    ...common,
    positional: `(${parameters.map(({ binding, mark, type }) => `${binding}${mark}: ${type}`).join(", ")})${returns}`,
    byName: `(${argumentsObject(parameters)})${returns}`,
    ...(method.response && writeResponse(method, method.response, { parameters, result, style, names })),
  };
}

const PAGE_OPTIONS = "options?: { items?: number; pages?: number }";

/** Writes the other forms of a result. */
function writeResponse(
  { name, output }: DeclaredMethod,
  { items }: ResponseForms,
  {
    parameters,
    result,
    style,
    names,
  }: {
    readonly parameters: readonly NamedParameter[];
    readonly result: string;
    readonly style: Omit<TypeStyle, "root" | "of">;
    readonly names: TypeNames;
  },
): Pick<MethodText, "response" | "pages"> {
  const args = argumentsObject(parameters, [`${RESPONSE_ARGUMENT}: true`]);
  const next = items === undefined ? "" : `; next: ${args.replace(/^args: /, "")} | null`;
  const whole = `{ status: number; headers: Record<string, string>; body: ${result}${next} }`;
  const response = `(${args}): Promise<${whole}>`;
  if (items === undefined) return { response };
  const list = shortOrNamed(
    getPageList(output, items),
    `${name} items`,
    { ...style, root: output ?? {}, of: "output" },
    names,
  );
  return { response, pages: `(${argumentsObject(parameters)}, ${PAGE_OPTIONS}): Promise<${list}>` };
}

interface NamedParameter {
  readonly parameter: Parameter;
  readonly binding: string;
  readonly mark: "" | "?";
  readonly type: string;
}

function namedParameters(method: DeclaredMethod, style: TypeStyle, names: TypeNames): readonly NamedParameter[] {
  const used = new Set<string>();
  return getShownParameters(method).map((parameter) => {
    const binding = freeBinding(parameter.name, used);
    used.add(binding);
    const type = shortOrNamed(parameter.schema, `${method.name} ${parameter.name}`, style, names);
    return { parameter, binding, mark: parameter.required ? "" : "?", type };
  });
}

function freeBinding(name: string, used: ReadonlySet<string>): string {
  const preferred = bindingName(name);
  let binding = preferred;
  for (let number = 2; used.has(binding); number++) binding = `${preferred}_${number}`;
  return binding;
}

/** Writes a type inline or, if it is long, under a name that both signatures use. */
function shortOrNamed(schema: unknown, preferred: string, style: TypeStyle, names: TypeNames): string {
  const { text } = toType(schema, style);
  if (text.length <= INLINE_UNITS && !text.includes("\n")) return text;
  const name = names.reserve(preferred);
  names.definitions.set(name, toType(schema, { ...style, qualifier: "" }).text);
  return `${style.qualifier ?? ""}${name}`;
}

function argumentsObject(parameters: readonly NamedParameter[], further: readonly string[] = []): string {
  if (parameters.length + further.length === 0) return "args: Record<string, never>";
  const isRequired = further.length > 0 || parameters.some(({ mark }) => mark === "");
  const members = parameters.map(({ parameter, mark, type }) => `${propertyName(parameter.name)}${mark}: ${type}`);
  return `args${isRequired ? "" : "?"}: { ${[...members, ...further].join("; ")} }`;
}

function formatComment(method: DeclaredMethod, parameters: readonly NamedParameter[], units: number): string {
  const lines = parameters.flatMap(({ parameter, binding }) => {
    const text = units === 0 ? "" : shortened(documented(parameter.description, parameter.schema), units);
    const real = binding === parameter.name ? "" : `(by name: ${propertyName(parameter.name)}) `;
    return text === "" && real === "" ? [] : [`@param ${binding} ${real}${text}`.trimEnd()];
  });
  const { deprecated } = method.metadata;
  const { observed, output } = method;
  const holds = output !== undefined && holdsJson(output) ? `${TEXT_HOLDING_JSON}, ` : "";
  return docComment([
    ...(method.description === "" ? [] : [method.description]),
    ...lines,
    ...(observed === undefined ? [] : [`@returns ${holds}${formatOrigin(observed)}`]),
    ...(deprecated === false ? [] : [`@deprecated ${deprecated}`]),
  ]);
}

/** Levels of `allOf` in which a member is searched. */
const MAX_LEVELS = 8;

/** Returns the schema of the list that a method with pages has in its body; items may be anything if the body is not described. */
function getPageList(output: JsonSchema | undefined, names: readonly string[]): JsonSchema {
  let schema: unknown = output;
  for (const name of names) schema = output && findMember(schema, name, output, MAX_LEVELS);
  const list = output && dereference(schema, output);
  return { type: "array", ...(isRecord(list) && list["items"] !== undefined && { items: list["items"] }) };
}

function findMember(schema: unknown, name: string, root: JsonSchema, levels: number): unknown {
  const target = dereference(schema, root);
  if (!isRecord(target) || levels === 0) return undefined;
  const { properties } = target;
  if (isRecord(properties) && Object.hasOwn(properties, name)) return properties[name];
  for (const part of ["allOf", "anyOf", "oneOf"].flatMap((keyword) => toList(target[keyword]))) {
    const found = findMember(part, name, root, levels - 1);
    if (found !== undefined) return found;
  }
  return undefined;
}
