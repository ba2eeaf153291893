import type { JsonSchema } from "../../../model/json.ts";
import { jsonOr } from "./jsdoc/constraints.ts";
import type { Doc, DocValue } from "./jsdoc/docs.ts";
import { typeFromDoc } from "./jsdoc/doc-types.ts";
import { literalValue } from "./literals.ts";
import { ANY, type ShapeField, type TypeScope, shapeToSchema } from "./reader.ts";
import { getAnnotation, mayBeUndefined } from "./shapes.ts";
import { getKey, getName, nodeAt, nodesAt, type SyntaxNode } from "./syntax.ts";
import type { TypeReader } from "./types.ts";
import { valueToSchema } from "./unions.ts";

/** The mapping of named arguments to the parameters of a function. */
export interface Layout {
  /** `positional`: one argument each, in the order of `names`; `object`: one object that the function destructures. */
  readonly form: "positional" | "object";
  readonly names: readonly string[];
  /** True if the last parameter is a rest parameter. */
  readonly rest: boolean;
  /** True if the context is the last argument. */
  readonly context: boolean;
  /** Arguments that arrive as text and are converted. */
  readonly revive: Readonly<Record<string, "Date" | "URL">>;
}

export interface Parameters {
  readonly input: JsonSchema;
  readonly layout: Layout;
}

/** Reads the declared parameters of a function: their schema and layout. */
export function readParameters(fn: SyntaxNode, doc: Doc, scope: TypeScope, reader: TypeReader): Parameters {
  const declared = nodesAt(fn, "params").filter((param) => getName(param) !== "this");
  const last = declared.at(-1);
  const context = last !== undefined && isContext(last, declared.length - 1, doc, scope);
  const own = (context ? declared.slice(0, -1) : declared).map((node, index) => toParameter(node, index, doc));
  const [only] = own;
  const isObject = own.length === 1 && only?.target.type === "ObjectPattern";
  const fields = isObject
    ? readPatternFields(only, doc, scope, reader)
    : new Map(own.map((each) => [each.name, readField(each, scope, reader)]));
  const open = isObject && nodesAt(only?.target, "properties").some(({ type }) => type === "RestElement");
  const schema = shapeToSchema({ fields, rest: open ? ANY : undefined }, "input");
  return {
    input: reader.defs.size === 0 ? schema : { ...schema, $defs: Object.fromEntries(reader.defs) },
    layout: {
      form: isObject ? "object" : "positional",
      names: [...fields.keys()],
      rest: own.at(-1)?.rest === true,
      context,
      revive: Object.fromEntries(own.flatMap((each) => findRevivals(each, scope))),
    },
  };
}

/** A parameter with its annotation, default and doc tag. */
interface ParameterSyntax {
  readonly name: string;
  readonly node: SyntaxNode;
  /** The identifier or pattern itself. */
  readonly target: SyntaxNode;
  readonly annotation: SyntaxNode | undefined;
  readonly fallback: SyntaxNode | undefined;
  readonly rest: boolean;
  readonly doc: DocValue | undefined;
}

function toParameter(node: SyntaxNode, index: number, { params }: Doc): ParameterSyntax {
  const target = nodeAt(node, "left") ?? nodeAt(node, "argument") ?? node;
  const documented = params.filter(({ name }) => !name.includes("."));
  const written = getName(target);
  const doc = written === undefined ? documented[index] : documented.find(({ name }) => name === written);
  return {
    name: written ?? doc?.name ?? (target.type === "ObjectPattern" ? "options" : `arg${index + 1}`),
    node,
    target,
    annotation: getAnnotation(target) ?? getAnnotation(node),
    fallback: nodeAt(node, "right"),
    rest: node.type === "RestElement",
    doc,
  };
}

const CONTEXT_FIELDS: ReadonlySet<string> = new Set([
  "caller",
  "runId",
  "callId",
  "signal",
  "log",
  "settings",
  "progress",
]);

const PLAIN_TYPES: ReadonlySet<string> = new Set([
  "TSStringKeyword",
  "TSNumberKeyword",
  "TSBooleanKeyword",
  "TSArrayType",
  "TSLiteralType",
  "TSUnionType",
]);

/** True for a last parameter of type `CallContext`, or with the name `context` and no plain type. */
function isContext(node: SyntaxNode, index: number, doc: Doc, scope: TypeScope): boolean {
  const { target, annotation, doc: documented } = toParameter(node, index, doc);
  const docType = documented?.type ?? "";
  if (isContextType(annotation, scope) || /\bCallContext$/.test(docType)) return true;
  const name = getName(target);
  if (name === "context" || name === "_context") {
    return annotation === undefined
      ? !/^(?:string|number|boolean|.*\[\])$/.test(docType)
      : !PLAIN_TYPES.has(annotation.type);
  }
  return index > 0 && annotation === undefined && takesContextApart(target);
}

function isContextType(annotation: SyntaxNode | undefined, { names }: TypeScope): boolean {
  const type = getName(nodeAt(annotation, "typeName") ?? nodeAt(annotation, "qualifier"));
  return type !== undefined && (type === "CallContext" || names.imports.get(type)?.name === "CallContext");
}

/** True for a pattern of context fields: `{ signal, log }`. */
function takesContextApart(target: SyntaxNode): boolean {
  const fields = target.type === "ObjectPattern" ? nodesAt(target, "properties").map(getKey) : [];
  return fields.length > 0 && fields.every((field) => field !== undefined && CONTEXT_FIELDS.has(field));
}

function readField(parameter: ParameterSyntax, scope: TypeScope, reader: TypeReader): ShapeField {
  const { name, node, target, annotation, fallback, rest, doc } = parameter;
  reader.subject = `parameter "${name}"`;
  const optional = target["optional"] === true || node["optional"] === true || doc?.optional === true;
  const open = annotation !== undefined && mayBeUndefined(annotation, scope, reader);
  return {
    schema: described(readType(parameter, scope, reader), parameter, scope, reader),
    required: !optional && !open && !rest && fallback === undefined,
  };
}

/** Adds the description and the default of a parameter to its schema. */
function described(
  schema: JsonSchema,
  { fallback, doc }: ParameterSyntax,
  scope: TypeScope,
  reader: TypeReader,
): JsonSchema {
  const written = literalValue(fallback, scope.names, reader.files);
  const value = written === undefined && doc?.default !== undefined ? jsonOr(doc.default) : written;
  return {
    ...schema,
    ...(doc !== undefined && doc.description !== "" && { description: doc.description }),
    ...(value !== undefined && { default: value }),
  };
}

/** Reads the type from the annotation, else from the doc comment, else from the default. */
function readType(
  { name, annotation, fallback, rest, doc, node }: ParameterSyntax,
  scope: TypeScope,
  reader: TypeReader,
): JsonSchema {
  if (annotation !== undefined) return reader.type(annotation, scope);
  if (doc !== undefined && doc.type !== "") {
    const type = docType(doc, scope, reader);
    return rest && !doc.type.startsWith("...") && type["type"] !== "array" ? { type: "array", items: type } : type;
  }
  const value = literalValue(fallback, scope.names, reader.files);
  if (value !== undefined) return valueToSchema(value, false);
  const { file } = scope.source;
  const fix = /\.[mc]?ts$/.test(file)
    ? `write ${name}: string, or whatever it is`
    : `add @param {string} ${name}, or whatever it is, to its doc comment`;
  reader.report({ file, line: node.loc.start.line, text: "", why: "no type is declared", fix });
  return rest ? { type: "array" } : ANY;
}

/** Returns the schema of the type between the braces of a tag. */
export function docType({ type, line }: DocValue, scope: TypeScope, reader: TypeReader): JsonSchema {
  const { file } = scope.names.source;
  const found = typeFromDoc(file, type, line);
  if (found !== undefined) return reader.type(found.node, { ...scope, source: found.source });
  return reader.report({ file, line, text: type, why: "it is not a type", fix: "write a TypeScript type" });
}

/** Reads the fields of a destructured parameter: `({ city, days = 3 }: Query)`. */
function readPatternFields(
  written: ParameterSyntax,
  doc: Doc,
  scope: TypeScope,
  reader: TypeReader,
): ReadonlyMap<string, ShapeField> {
  reader.subject = "the parameters";
  const declared = declaredFields(written, scope, reader);
  const fields = new Map(declared ?? []);
  for (const property of nodesAt(written.target, "properties")) {
    const name = getKey(property);
    if (name === undefined) continue;
    const value = nodeAt(property, "value");
    const docParam = doc.params.find((param) => param.name === name || param.name.endsWith(`.${name}`));
    const part = {
      ...written,
      name,
      node: property,
      target: property,
      annotation: undefined,
      fallback: nodeAt(value, "right"),
      doc: docParam,
    };
    const field = fields.get(name);
    if (field !== undefined) {
      const schema = described(field.schema, part, scope, reader);
      fields.set(name, { schema, required: field.required && part.fallback === undefined });
    } else if (declared === undefined) {
      fields.set(name, readField(part, scope, reader));
    }
  }
  return fields;
}

/** Reads the fields of the pattern's type; `undefined` if it has no type. */
function declaredFields(
  { annotation, doc, node }: ParameterSyntax,
  scope: TypeScope,
  reader: TypeReader,
): ReadonlyMap<string, ShapeField> | undefined {
  const docType = annotation === undefined && doc !== undefined && !/^(?:object)?$/i.test(doc.type) ? doc : undefined;
  const found = docType && typeFromDoc(scope.names.source.file, docType.type, docType.line);
  const type = annotation ?? found?.node;
  if (type === undefined) return undefined;
  const shape = reader.shape(type, found === undefined ? scope : { ...scope, source: found.source });
  if (shape === undefined) reader.unreadable(node, scope, "its fields are not known");
  return shape?.fields;
}

function findRevivals(
  { name, annotation }: ParameterSyntax,
  scope: TypeScope,
): readonly (readonly [string, "Date" | "URL"])[] {
  const type = getName(nodeAt(annotation, "typeName"));
  return (type === "Date" || type === "URL") && !scope.names.types.has(type) && !scope.names.imports.has(type)
    ? [[name, type]]
    : [];
}
