import { withDoc } from "./constraints.ts";
import { docOf } from "./docs.ts";
import { type Bound, type Field, type Reader, type Scope, type Shape } from "./reader.ts";
import { keyOf, nodeAt, nodesAt, type SyntaxNode } from "./syntax.ts";

/** The fields of an object type or of the body of an interface. */
export function shapeOfMembers(
  holder: SyntaxNode,
  members: readonly SyntaxNode[],
  scope: Scope,
  reader: Reader,
): Shape {
  const fields = new Map<string, Field>();
  let rest: Shape["rest"];
  for (const [index, member] of members.entries()) {
    if (member.type === "TSIndexSignature") {
      const type = annotationOf(member);
      rest = type === undefined ? {} : reader.type(type, scope);
      continue;
    }
    const name =
      member.type === "TSPropertySignature" || member.type === "TSMethodSignature" ? keyOf(member) : undefined;
    if (name === undefined) continue;
    const doc = docOf(scope.source, member, members[index - 1], holder);
    const { schema, required } = fieldOf(member, scope, reader);
    fields.set(name, { schema: withDoc(schema, doc), required });
  }
  return { fields, rest };
}

function fieldOf(member: SyntaxNode, scope: Scope, reader: Reader): Field {
  const required = member["optional"] !== true;
  if (member.type === "TSMethodSignature") {
    return {
      schema: reader.unreadable(member, scope, "functions cannot be passed", "take plain data instead"),
      required,
    };
  }
  const type = annotationOf(member);
  if (type === undefined) return { schema: {}, required };
  return { schema: reader.type(type, scope), required: required && !mayBeUndefined(type, scope, reader) };
}

/** The public fields of a class, as they arrive when an object of it is returned. */
export function shapeOfClass(node: SyntaxNode, scope: Scope, reader: Reader): Shape {
  const fields = new Map<string, Field>();
  for (const member of nodesAt(nodeAt(node, "body"), "body")) {
    const name = member.type === "PropertyDefinition" && member["static"] !== true ? keyOf(member) : undefined;
    const type = annotationOf(member);
    if (name === undefined || type === undefined || isPrivate(member)) continue;
    fields.set(name, { schema: reader.type(type, scope), required: member["optional"] !== true });
  }
  return { fields, rest: undefined };
}

export function isPrivate(member: SyntaxNode): boolean {
  return member["accessibility"] === "private" || member["accessibility"] === "protected";
}

/** The type behind the colon. */
export function annotationOf(node: SyntaxNode | undefined): SyntaxNode | undefined {
  const annotation = nodeAt(node, "typeAnnotation");
  return annotation?.type === "TSTypeAnnotation" ? nodeAt(annotation, "typeAnnotation") : annotation;
}

/** True for a type that says itself that the value may be left out: `string | undefined`, also through an alias. */
export function mayBeUndefined(node: SyntaxNode, scope: Scope, reader: Reader, depth = 0): boolean {
  if (depth > 8) return false;
  const inner = ({ node, scope }: Bound): boolean => mayBeUndefined(node, scope, reader, depth + 1);
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
      return alias !== undefined && inner({ node: alias, scope: { names, source, bound: new Map() } });
    }
    default:
      return false;
  }
}

/** All fields of all of them; of two fields with one name the later one counts. */
export function merged(shapes: readonly Shape[]): Shape {
  return {
    fields: new Map(shapes.flatMap(({ fields }) => [...fields])),
    rest: shapes.findLast(({ rest }) => rest !== undefined)?.rest,
  };
}

export function mapFields(shape: Shape, change: (field: Field, name: string) => Field | undefined): Shape {
  const fields = [...shape.fields].flatMap(([name, field]) => {
    const changed = change(field, name);
    return changed === undefined ? [] : [[name, changed] as const];
  });
  return { ...shape, fields: new Map(fields) };
}
