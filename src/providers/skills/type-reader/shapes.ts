import { withDoc } from "./jsdoc/constraints.ts";
import { findDoc } from "./jsdoc/docs.ts";
import { type ScopedType, type ShapeField, type SchemaReader, type TypeScope, type ObjectShape } from "./reader.ts";
import { getKey, nodeAt, nodesAt, type SyntaxNode } from "./syntax.ts";

/** Reads the fields of an object type or of the body of an interface. */
export function readMembersShape(
  holder: SyntaxNode,
  members: readonly SyntaxNode[],
  scope: TypeScope,
  reader: SchemaReader,
): ObjectShape {
  const fields = new Map<string, ShapeField>();
  let rest: ObjectShape["rest"];
  for (const [index, member] of members.entries()) {
    if (member.type === "TSIndexSignature") {
      const type = getAnnotation(member);
      rest = type === undefined ? {} : reader.type(type, scope);
      continue;
    }
    const name =
      member.type === "TSPropertySignature" || member.type === "TSMethodSignature" ? getKey(member) : undefined;
    if (name === undefined) continue;
    const doc = findDoc(scope.source, member, members[index - 1], holder);
    const { schema, required } = readField(member, scope, reader);
    fields.set(name, { schema: withDoc(schema, doc), required });
  }
  return { fields, rest };
}

function readField(member: SyntaxNode, scope: TypeScope, reader: SchemaReader): ShapeField {
  const required = member["optional"] !== true;
  if (member.type === "TSMethodSignature") {
    return {
      schema: reader.unreadable(member, scope, "functions cannot be passed", "use plain data instead"),
      required,
    };
  }
  const type = getAnnotation(member);
  if (type === undefined) return { schema: {}, required };
  return { schema: reader.type(type, scope), required: required && !mayBeUndefined(type, scope, reader) };
}

/** Reads the public fields of a class, as a returned instance has them. */
export function readClassShape(node: SyntaxNode, scope: TypeScope, reader: SchemaReader): ObjectShape {
  const fields = new Map<string, ShapeField>();
  for (const member of nodesAt(nodeAt(node, "body"), "body")) {
    const name = member.type === "PropertyDefinition" && member["static"] !== true ? getKey(member) : undefined;
    const type = getAnnotation(member);
    if (name === undefined || type === undefined || isPrivate(member)) continue;
    fields.set(name, { schema: reader.type(type, scope), required: member["optional"] !== true });
  }
  return { fields, rest: undefined };
}

export function isPrivate(member: SyntaxNode): boolean {
  return member["accessibility"] === "private" || member["accessibility"] === "protected";
}

/** Returns the type annotation of a node. */
export function getAnnotation(node: SyntaxNode | undefined): SyntaxNode | undefined {
  const annotation = nodeAt(node, "typeAnnotation");
  return annotation?.type === "TSTypeAnnotation" ? nodeAt(annotation, "typeAnnotation") : annotation;
}

/** True for a type that includes `undefined`, also through an alias: `string | undefined`. */
export function mayBeUndefined(node: SyntaxNode, scope: TypeScope, reader: SchemaReader, depth = 0): boolean {
  if (depth > 8) return false;
  const inner = ({ node, scope }: ScopedType): boolean => mayBeUndefined(node, scope, reader, depth + 1);
  switch (node.type) {
    case "TSUndefinedKeyword":
    case "TSVoidKeyword":
      return true;
    case "TSUnionType":
      return nodesAt(node, "types").some((each) => inner({ node: each, scope }));
    case "TSParenthesizedType": {
      const child = nodeAt(node, "typeAnnotation");
      return child !== undefined && inner({ node: child, scope });
    }
    case "TSTypeReference": {
      const name = nodeAt(node, "typeName");
      const found = name?.type === "Identifier" ? reader.files.find(scope.names, String(name["name"])) : undefined;
      if (found?.kind !== "type") return false;
      const { nodes, source, names } = found.declaration;
      const alias = nodeAt(nodes[0], "typeAnnotation");
      return alias !== undefined && inner({ node: alias, scope: { names, source, typeArguments: new Map() } });
    }
    default:
      return false;
  }
}

/** Merges shapes; of two fields with the same name, the later one is used. */
export function merged(shapes: readonly ObjectShape[]): ObjectShape {
  return {
    fields: new Map(shapes.flatMap(({ fields }) => [...fields])),
    rest: shapes.findLast(({ rest }) => rest !== undefined)?.rest,
  };
}

export function mapFields(
  shape: ObjectShape,
  change: (field: ShapeField, name: string) => ShapeField | undefined,
): ObjectShape {
  const fields = [...shape.fields].flatMap(([name, field]) => {
    const changed = change(field, name);
    return changed === undefined ? [] : [[name, changed] as const];
  });
  return { ...shape, fields: new Map(fields) };
}
