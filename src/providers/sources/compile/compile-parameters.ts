import { isRecord, toList, toRecord } from "../../../model/json.ts";
import type { DocumentContext, FoundOperation, FoundParameter } from "./document-context.ts";
import type { Located } from "./document-files.ts";
import { describe, type MethodArguments } from "./method-arguments.ts";
import type { ApiParameter, Place, Serialization } from "../openapi/operation.ts";
import { isSettable } from "../openapi/write-headers.ts";

/** Where two parameters have one name, that of the first of these locations keeps it. */
const PLACES: readonly Place[] = ["path", "query", "header", "cookie"];

/** The parameters of an operation. */
export interface FoundParameters {
  readonly ofRequest: readonly FoundParameter[];
  /** Those of Swagger 2.0 that are the body, or fields of a form. */
  readonly ofBody: readonly FoundParameter[];
}

/** Finds the parameters of an operation. Those of the operation replace those of its path, by location and name. */
export function findParameters(
  found: FoundOperation,
  { files, credentials, report }: DocumentContext,
): FoundParameters {
  const byKey = new Map<string, FoundParameter>();
  const written: readonly Located[] = [
    ...toList(found.item["parameters"]).map((value) => ({ value, file: found.itemFile })),
    ...toList(found.operation["parameters"]).map((value) => ({ value, file: found.file })),
  ];
  for (const each of written) {
    const target = files.follow(each);
    const value = target?.value;
    if (target === undefined || !isRecord(value) || typeof value["name"] !== "string") {
      report("a parameter that leads nowhere, or has no name, is left out");
      continue;
    }
    const name = value["name"];
    byKey.set(`${String(value["in"])} ${name}`, { value: { ...value, name }, file: target.file });
  }
  const all = [...byKey].filter(([key]) => !credentials.has(key)).map(([, parameter]) => parameter);
  const isOfBody = ({ value }: FoundParameter): boolean => value["in"] === "body" || value["in"] === "formData";
  const isOwn = ({ value }: FoundParameter): boolean => value["in"] === "header" && !isSettable(value.name);
  const isUnused = ({ value }: FoundParameter): boolean =>
    value["in"] === "path" && !found.path.includes(`{${value.name}}`);
  return {
    ofRequest: all.filter((each) => !isOfBody(each) && !isOwn(each) && !isUnused(each)),
    ofBody: all.filter(isOfBody),
  };
}

/** Adds the arguments of all parameters outside of the body. */
export function compileParameters(
  { ofRequest }: FoundParameters,
  path: string,
  { args, context }: { readonly args: MethodArguments; readonly context: DocumentContext },
): readonly ApiParameter[] {
  const parameters = PLACES.flatMap((location) =>
    ofRequest
      .filter(({ value }) => value["in"] === location)
      .map((each) => compileParameter(each, location, { args, context })),
  );
  const described = new Set(parameters.filter((each) => each.in === "path").map(({ name }) => name));
  const inPath = new Set([...path.matchAll(/\{([^{}]+)\}/g)].map(([, name = ""]) => name));
  // A parameter in the path that the document does not describe is a text.
  const missing = [...inPath]
    .filter((name) => !described.has(name))
    .map((name): ApiParameter => {
      const argument = args.add(name, "path", { schema: { type: "string" }, isRequired: true });
      return { argument, in: "path", name, style: "simple", explode: false };
    });
  return [...parameters, ...missing];
}

function compileParameter(
  { value, file }: FoundParameter,
  location: Place,
  { args, context: { schemas, isSwagger } }: { readonly args: MethodArguments; readonly context: DocumentContext },
): ApiParameter {
  const [mediaType, media] = isSwagger ? [] : (Object.entries(toRecord(value["content"]))[0] ?? []);
  const written = mediaType === undefined ? value["schema"] : toRecord(media)["schema"];
  const own = isSwagger ? getOwnSchema(value) : withExample(written, value["example"]);
  const schema = describe(schemas.convert(own ?? {}, file, "input"), value["description"]);
  const isRequired = value["required"] === true || location === "path";
  return {
    argument: args.add(value.name, location, { schema, isRequired }),
    in: location,
    name: value.name,
    ...(isSwagger ? readCollectionFormat(value, location) : readStyle(value, location)),
    ...(mediaType !== undefined && { mediaType }),
  };
}

const STYLES = ["matrix", "label", "simple", "form", "spaceDelimited", "pipeDelimited", "deepObject"] as const;

function readStyle(value: Readonly<Record<string, unknown>>, location: Place): Serialization {
  const usual = location === "query" || location === "cookie" ? "form" : "simple";
  const style = STYLES.find((each) => each === value["style"]) ?? usual;
  const explode = typeof value["explode"] === "boolean" ? value["explode"] : style === "form";
  return { style, explode, ...(value["allowReserved"] === true && { allowReserved: true }) };
}

/** Converts `collectionFormat` of Swagger 2.0 to styles of OpenAPI 3. */
export function readCollectionFormat(
  { collectionFormat }: Readonly<Record<string, unknown>>,
  location: Place | "formData",
): Serialization {
  const isQuery = location === "query" || location === "formData";
  if (collectionFormat === "ssv") return { style: "spaceDelimited", explode: false };
  if (collectionFormat === "tsv") return { style: "tabDelimited", explode: false };
  if (collectionFormat === "pipes") return { style: "pipeDelimited", explode: false };
  if (collectionFormat === "multi" && isQuery) return { style: "form", explode: true };
  return { style: isQuery ? "form" : "simple", explode: false };
}

/** Returns the schema of a parameter of Swagger 2.0, which is the parameter itself. */
export function getOwnSchema(value: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { name: _name, in: _in, required: _required, description: _description, ...schema } = value;
  return schema;
}

function withExample(schema: unknown, example: unknown): unknown {
  return example === undefined || !isRecord(schema) || schema["$ref"] !== undefined ? schema : { example, ...schema };
}
