import type { CredentialPlace } from "../../model/account.ts";
import { isRecord, type JsonSchema, toList, toRecord } from "../../model/json.ts";
import type { ApiBody, ApiParameter, DescribedOperation } from "./openapi/operation.ts";

/** Leaves out the arguments for what the owner fills in: the document may require a token of each call. */
export function withoutPlaces(
  operation: DescribedOperation,
  locations: readonly CredentialPlace[],
): DescribedOperation {
  const isOwn = ({ in: location, name }: Pick<ApiParameter, "in" | "name">): boolean =>
    locations.some((each) => each.in === location && isSameName(each, name));
  const parameters = operation.parameters.filter((parameter) => !isOwn(parameter));
  const fields = new Set(locations.filter((location) => location.in === "body").map(({ name }) => name));
  const { body } = operation;
  const left = new Set([
    ...operation.parameters.filter(isOwn).map(({ argument }) => argument),
    ...(body?.fields ?? []).filter(([, name]) => fields.has(name)).map(([argument]) => argument),
  ]);
  if (left.size === 0 && (fields.size === 0 || body?.argument === undefined)) return operation;
  return {
    ...operation,
    parameters,
    ...(body !== undefined && { body: withoutBodyFields(body, fields) }),
    input: withoutArguments(operation.input, left, { argument: body?.argument, fields }),
  };
}

/** The names of headers have no case. */
function isSameName({ in: location, name }: CredentialPlace, other: string): boolean {
  return location === "header" ? name.toLowerCase() === other.toLowerCase() : name === other;
}

function withoutBodyFields(body: ApiBody, names: ReadonlySet<string>): ApiBody {
  return body.fields === undefined ? body : { ...body, fields: body.fields.filter(([, name]) => !names.has(name)) };
}

function withoutArguments(
  { properties, required, ...input }: JsonSchema,
  left: ReadonlySet<string>,
  whole: { readonly argument: string | undefined; readonly fields: ReadonlySet<string> },
): JsonSchema {
  const others = Object.entries(toRecord(properties)).filter(([name]) => !left.has(name));
  const toSchema = (name: string, schema: unknown): unknown =>
    name === whole.argument && whole.fields.size > 0 ? withoutFields(schema, whole.fields, input) : schema;
  return {
    ...input,
    properties: Object.fromEntries(others.map(([name, schema]) => [name, toSchema(name, schema)])),
    required: toList(required).filter((name) => !left.has(String(name))),
  };
}

/** How far references and compositions of a body are followed. */
const MAX_DEPTH = 6;

/** Leaves fields out of the schema of a body, also in the schemas that it is composed of. */
function withoutFields(schema: unknown, names: ReadonlySet<string>, root: JsonSchema, depth = 0): unknown {
  if (!isRecord(schema) || depth > MAX_DEPTH) return schema;
  const { $ref, ...own } = schema;
  const target = typeof $ref === "string" ? toRecord(root["$defs"])[$ref.slice($ref.lastIndexOf("/") + 1)] : undefined;
  const { properties, required, ...rest } = target === undefined ? schema : { ...toRecord(target), ...own };
  const parts = ["allOf", "anyOf", "oneOf"].filter((keyword) => Array.isArray(rest[keyword]));
  return {
    ...rest,
    ...(isRecord(properties) && {
      properties: Object.fromEntries(Object.entries(properties).filter(([name]) => !names.has(name))),
    }),
    ...(required !== undefined && { required: toList(required).filter((name) => !names.has(String(name))) }),
    ...Object.fromEntries(
      parts.map((keyword) => [
        keyword,
        toList(rest[keyword]).map((part) => withoutFields(part, names, root, depth + 1)),
      ]),
    ),
  };
}
