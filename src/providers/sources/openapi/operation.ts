import type { JsonSchema } from "../../../model/json.ts";
import type { PageStyle } from "../pages/page-style.ts";

/** The verbs of HTTP that an OpenAPI document can describe, in lower case. */
export const VERBS = ["get", "put", "post", "delete", "options", "head", "patch", "trace"] as const;
export type Verb = (typeof VERBS)[number];

/** Where a parameter stands in a request. */
export type Place = "path" | "query" | "header" | "cookie";

/**
 * How arrays and objects are written: the styles of OpenAPI 3.1 (section 4.8.12.2), and `tabDelimited` for the
 * `collectionFormat: tsv` of Swagger 2.0.
 */
export type Style =
  | "matrix"
  | "label"
  | "simple"
  | "form"
  | "spaceDelimited"
  | "pipeDelimited"
  | "tabDelimited"
  | "deepObject";

/** How one value is written into a URL or a form. */
export interface Serialization {
  readonly style: Style;
  readonly explode: boolean;
  /** Leaves the reserved characters of RFC 3986 as they are. */
  readonly allowReserved?: boolean;
  /** The value is written in this media type instead (`content` of a parameter). */
  readonly mediaType?: string;
}

/** A parameter of an operation, and the argument of the method that it comes from. */
export interface ApiParameter extends Serialization {
  readonly argument: string;
  readonly in: Place;
  /** Its name in the request. */
  readonly name: string;
}

/** How a part of a form is written, by the name of its field. */
export interface PartEncoding extends Partial<Serialization> {
  /** Media types of the part, separated by commas; the first one is used, unless the value says its own. */
  readonly contentType?: string;
  /** Headers of the part, of multipart forms only. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** One media type in which the body of an operation can be sent. */
export interface BodyForm {
  readonly mediaType: string;
  readonly encoding?: Readonly<Record<string, PartEncoding>>;
}

/** The body of an operation. */
export interface ApiBody {
  readonly required: boolean;
  /** At least one; the first one is the default, and another one is chosen by the argument `contentType`. */
  readonly forms: readonly BodyForm[];
  /** The argument that is the whole body; absent if the fields of the body are arguments. */
  readonly argument?: string;
  /** The arguments that are fields of the body, and the names of the fields. */
  readonly fields?: readonly (readonly [argument: string, name: string])[];
  /** The argument that names the media type, where there are several. */
  readonly formArgument?: string;
}

/** The facts that a request of an operation needs. Everything in it comes from a document that is not trusted. */
export interface ApiOperation {
  readonly verb: Verb;
  /** The template of the path, with parameters in braces: `/repos/{owner}`. */
  readonly path: string;
  readonly parameters: readonly ApiParameter[];
  readonly body?: ApiBody;
  /** The media types of its successful answers, most wanted first. */
  readonly accepts: readonly string[];
}

/** An operation with the texts and schemas of its method. */
export interface DescribedOperation extends ApiOperation {
  readonly description: string;
  readonly input: JsonSchema;
  readonly output?: JsonSchema;
  /** Present if its answer is a part of a list. */
  readonly pages?: PageStyle;
}
