import {
  getNamedType,
  type GraphQLNamedType,
  type GraphQLSchema,
  isInputObjectType,
  isScalarType,
  type OperationDefinitionNode,
  typeFromAST,
} from "graphql";

/** The scalar of the multipart convention, https://github.com/jaydenseric/graphql-multipart-request-spec. */
const UPLOAD = "Upload";

/** Members in members that are looked at: types of input may contain themselves. */
const MAX_LEVELS = 6;

const MAX_PATHS = 50;

/** Lists the paths of variables, and of members of them, that take files. */
export function listUploads(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
): readonly (readonly string[])[] {
  if (!isScalarType(schema.getType(UPLOAD))) return [];
  const finder = new UploadTypes();
  const members = variableDefinitions.flatMap(({ variable, type: node }) => {
    const type = typeFromAST(schema, node);
    return type === undefined ? [] : [{ type: getNamedType(type), path: [variable.name.value] }];
  });
  const paths: (readonly string[])[] = [];
  // The list grows during the loop.
  for (const { type, path } of members) {
    if (paths.length >= MAX_PATHS) break;
    if (!finder.contains(type)) continue;
    if (type.name === UPLOAD) paths.push(path);
    else if (isInputObjectType(type) && path.length < MAX_LEVELS)
      for (const field of Object.values(type.getFields()))
        members.push({ type: getNamedType(field.type), path: [...path, field.name] });
  }
  return paths;
}

/** Finds out once for each type whether it contains files, so that wide types without them cost little. */
class UploadTypes {
  readonly #results = new Map<GraphQLNamedType, boolean>();

  contains(type: GraphQLNamedType): boolean {
    const before = this.#results.get(type);
    if (before !== undefined) return before;
    const reached = new Set<GraphQLNamedType>([type]);
    // The set grows during the loop.
    for (const each of reached) {
      if (each.name === UPLOAD || this.#results.get(each) === true) {
        this.#results.set(type, true);
        return true;
      }
      if (!isInputObjectType(each) || this.#results.get(each) === false) continue;
      for (const field of Object.values(each.getFields())) reached.add(getNamedType(field.type));
    }
    for (const each of reached) this.#results.set(each, false);
    return false;
  }
}
