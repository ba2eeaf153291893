import { isRecord, type JsonSchema, toList, toRecord } from "../../../model/json.ts";
import { readCollectionFormat, getOwnSchema, type FoundParameters } from "./compile-parameters.ts";
import type { DocumentContext, FoundOperation } from "./document-context.ts";
import type { Located } from "./document-files.ts";
import { preferJson } from "./media-types.ts";
import { describe, type MethodArguments } from "./method-arguments.ts";
import type { ApiBody, BodyForm, PartEncoding } from "../openapi/operation.ts";
import { isJsonType } from "../openapi/serialize.ts";

/** A body with more fields than this is one argument. */
const MAX_FLAT_FIELDS = 80;

/** The body of an operation as it is described. */
interface FoundBody {
  readonly isRequired: boolean;
  readonly forms: readonly BodyForm[];
  readonly description?: unknown;
  /** The schema for the first of the forms. */
  readonly schema: Located;
}

/** Adds the arguments of the body; `undefined` if the operation has none. `fetch` sends no body with GET and HEAD. */
export function compileBody(
  found: FoundOperation,
  { ofBody }: FoundParameters,
  { args, context }: { readonly args: MethodArguments; readonly context: DocumentContext },
): ApiBody | undefined {
  if (found.verb === "get" || found.verb === "head") return undefined;
  const written = context.isSwagger ? findSwaggerBody(found, ofBody, context) : findBody(found, context);
  if (written === undefined) return undefined;
  const body = toWritable(written, context);
  const { isRequired, forms } = body;
  const bound = addFields(body, args, context) ?? addWhole(body, args, context);
  if (forms.length === 1) return { required: isRequired, forms, ...bound };
  const types = forms.map(({ mediaType }) => mediaType);
  const description = `The media type of the body; ${types[0]} if not given`;
  const formArgument = args.add("contentType", "body", { schema: { enum: types, description }, isRequired: false });
  return { required: isRequired, forms, ...bound, formArgument };
}

/**
 * Leaves out the media types in which no object and no list can be written, such as XML. If there are no others, the caller writes a text
 * or bytes.
 */
function toWritable(body: FoundBody, { files }: DocumentContext): FoundBody {
  const { type, properties, items, allOf } = toRecord(files.follow(body.schema)?.value);
  const isStructure = [properties, items, allOf].some(Boolean) || type === "object" || type === "array";
  if (!isStructure) return body;
  const forms = body.forms.filter(({ mediaType }) => takesStructure(mediaType));
  if (forms.length > 0) return { ...body, forms };
  const value = { type: "string", format: "binary", description: body.forms[0]?.mediaType };
  return { ...body, schema: { ...body.schema, value } };
}

function takesStructure(mediaType: string): boolean {
  return isJsonType(mediaType) || /\*|^application\/x-www-form-urlencoded|^multipart\//i.test(mediaType);
}

/** Makes the fields of the body arguments, if it is an object with known fields; `undefined` for another body. */
function addFields(
  { schema, isRequired }: FoundBody,
  args: MethodArguments,
  { files, schemas }: DocumentContext,
): Pick<ApiBody, "fields"> | undefined {
  const target = files.follow(schema);
  const object = target?.value;
  if (target === undefined || !isRecord(object) || !isRecord(object["properties"])) return undefined;
  const isOpen = isRecord(object["additionalProperties"]) || object["additionalProperties"] === true;
  if (isOpen || ["allOf", "oneOf", "anyOf", "if", "not"].some((keyword) => object[keyword] !== undefined))
    return undefined;
  const { file } = target;
  const own = Object.entries(object["properties"]).filter(([, each]) => !schemas.isLeftOut(each, file, "input"));
  if (own.length === 0 || own.length > MAX_FLAT_FIELDS) return undefined;
  const required = new Set(isRequired ? toList(object["required"]) : []);
  const fields = own.map(([name, each]): readonly [string, string] => {
    const field = { schema: schemas.convert(each, file, "input"), isRequired: required.has(name) };
    return [args.add(name, "body", field), name];
  });
  return { fields };
}

function addWhole(
  { schema: { value, file }, isRequired, description }: FoundBody,
  args: MethodArguments,
  { schemas }: DocumentContext,
): Pick<ApiBody, "argument"> {
  const schema: JsonSchema = describe(schemas.convert(value ?? {}, file, "input"), description);
  return { argument: args.add("body", "body", { schema, isRequired }) };
}

function findBody(found: FoundOperation, { files }: DocumentContext): FoundBody | undefined {
  const target = files.follow({ value: found.operation["requestBody"], file: found.file });
  const body = toRecord(target?.value);
  const content = toRecord(body["content"]);
  const types = preferJson(Object.keys(content));
  const [first] = types;
  if (target === undefined || first === undefined) return undefined;
  const { file } = target;
  const schema = toRecord(content[first])["schema"];
  // The arguments are those of the first type: one with another schema cannot be chosen.
  const forms = types
    .filter((type) => type === first || isSame(toRecord(content[type])["schema"], schema))
    .map((mediaType) => {
      const encoding = readEncoding(toRecord(content[mediaType])["encoding"]);
      return { mediaType, ...(encoding !== undefined && { encoding }) };
    });
  return {
    isRequired: body["required"] === true,
    description: body["description"],
    forms,
    schema: { value: schema, file },
  };
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

function readEncoding(written: unknown): Readonly<Record<string, PartEncoding>> | undefined {
  if (!isRecord(written)) return undefined;
  const entries = Object.entries(written).map(([name, each]): readonly [string, PartEncoding] => {
    const { contentType, style, explode, allowReserved } = toRecord(each);
    return [
      name,
      {
        ...(typeof contentType === "string" && { contentType }),
        ...((style === "form" || style === "spaceDelimited" || style === "pipeDelimited" || style === "deepObject") && {
          style,
        }),
        ...(typeof explode === "boolean" && { explode }),
        ...(allowReserved === true && { allowReserved }),
      },
    ];
  });
  return Object.fromEntries(entries);
}

function findSwaggerBody(
  found: FoundOperation,
  ofBody: FoundParameters["ofBody"],
  { consumes }: DocumentContext,
): FoundBody | undefined {
  const own = toList(found.operation["consumes"]).filter((type) => typeof type === "string");
  const types = own.length > 0 ? own : consumes;
  const whole = ofBody.find(({ value }) => value["in"] === "body");
  if (whole !== undefined) {
    const [mediaType = "application/json"] = preferJson(types);
    return {
      isRequired: whole.value["required"] === true,
      description: whole.value["description"],
      forms: [{ mediaType }],
      schema: { value: whole.value["schema"], file: whole.file },
    };
  }
  const [first] = ofBody;
  if (first === undefined) return undefined;
  const isMultipart = types.includes("multipart/form-data") || ofBody.some(({ value }) => value["type"] === "file");
  const properties = ofBody.map(({ value }) => [
    value.name,
    { ...getOwnSchema(value), description: value["description"] },
  ]);
  const encoding = ofBody.map(({ value }) => [value.name, readCollectionFormat(value, "formData")]);
  const required = ofBody.filter(({ value }) => value["required"] === true).map(({ value }) => value.name);
  return {
    isRequired: required.length > 0,
    forms: [
      {
        mediaType: isMultipart ? "multipart/form-data" : "application/x-www-form-urlencoded",
        encoding: Object.fromEntries(encoding),
      },
    ],
    schema: { value: { type: "object", properties: Object.fromEntries(properties), required }, file: first.file },
  };
}
