import { isRecord, type JsonSchema, toList, toRecord } from "../../../model/json.ts";
import type { DocumentContext, FoundOperation } from "./document-context.ts";
import type { Located } from "./document-files.ts";
import { isJsonType, isTextType, preferJson } from "./media-types.ts";

/** A successful answer: its schema, if it is JSON, a text or empty, and the media types to ask for. */
export interface Output {
  readonly schema?: JsonSchema;
  readonly accepts: readonly string[];
  /** The schema as the document has it, if the answer is JSON. */
  readonly source?: Located;
  /** The answer has the address of the next page in a header. */
  readonly hasLinkHeader?: boolean;
}

export function compileOutput(found: FoundOperation, context: DocumentContext): Output {
  const { files, isSwagger, produces } = context;
  const responses = toRecord(files.follow({ value: found.operation["responses"], file: found.file })?.value);
  const codes = Object.keys(responses).filter((code) => /^2(?:\d\d|XX)$/i.test(code));
  const answers = (codes.length > 0 ? codes.toSorted() : ["default"]).flatMap((code): readonly Located[] => {
    const answer = files.follow({ value: responses[code], file: found.file });
    return answer !== undefined && isRecord(answer.value) ? [answer] : [];
  });
  const own = toList(found.operation["produces"]).filter((type) => typeof type === "string");
  const swaggerTypes = preferJson(own.length > 0 ? own : produces);
  for (const { value, file } of answers) {
    const { schema, content, headers } = toRecord(value);
    const hasLinkHeader = Object.keys(toRecord(headers)).some((name) => /^link$/i.test(name));
    const types = isSwagger ? swaggerTypes : preferJson(Object.keys(toRecord(content)));
    const own = isSwagger ? schema : toRecord(toRecord(content)[types[0] ?? ""])["schema"];
    if (isSwagger ? schema !== undefined : types.length > 0)
      return { ...describeOutput({ value: own, file }, types, context), hasLinkHeader };
  }
  const isEmpty = codes.length > 0 && answers.length === codes.length;
  return { accepts: isSwagger ? swaggerTypes : [], ...(isEmpty && { schema: { type: "null" } }) };
}

/** Lines of JSON and events are lists, of which the document says only the parts. */
function describeOutput({ value, file }: Located, types: readonly string[], { schemas }: DocumentContext): Output {
  const [type = "application/json"] = types;
  if (isTextType(type)) return { accepts: types, schema: { type: "string" } };
  if (!isJsonType(type) || value === undefined) return { accepts: types };
  return { accepts: types, schema: schemas.convert(value, file, "output"), source: { value, file } };
}
