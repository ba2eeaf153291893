import type { Method, Parameter } from "../../model/catalog.ts";
import { isRecord } from "../../model/json.ts";
import { formatRange } from "../number-range.ts";
import { getShownParameters } from "../parameters.ts";
import { shownDefault } from "./doc-comments.ts";
import { formatPartLine } from "./part.ts";
import { propertyName } from "./text.ts";
import { toType } from "./types.ts";

/** A signature that is longer than this shows objects as `object`. */
const SIGNATURE_UNITS = 240;

const UNION_UNITS = 120;

/** The inputs of a signature; a `Method` has all of them. */
export type Signed = Pick<Method, "name" | "input" | "output" | "parameters"> & Partial<Pick<Method, "response">>;

/**
 * Formats a method on one line, for models: `search(query: string, count?: number = 10)`, with `: Promise<…>` if its output is
 * known. Parameter names that are not identifiers are quoted.
 */
export function formatSignature(method: Signed): string {
  // The types of an API's results can be so large that they are not written deeper than needed.
  const shallow = signatureAt(method, 1);
  if (shallow.length > SIGNATURE_UNITS) return signatureAt(method, 0);
  const deep = signatureAt(method, 3);
  return deep.length <= SIGNATURE_UNITS ? deep : shallow;
}

/** Formats the signature with as many optional parameters as fit into `units`; `…` stands for the rest. */
export function briefSignature(method: Method, units: number): string {
  if (method.definition.partOf !== undefined) return formatPartLine(method, units);
  const parameters = getShownParameters(method);
  const candidates = parameters.slice(0, MAX_BRIEF_PARAMETERS);
  const isCut = candidates.length < parameters.length;
  if (!isCut && method.signature.length <= units) return method.signature;
  const texts = candidates.map((parameter) => parameterText(parameter, method, 0));
  let count = candidates.filter((parameter) => parameter.required).length;
  let length = method.name.length + texts.slice(0, count).join(", ").length;
  for (; count < texts.length; count++) {
    length += (texts[count]?.length ?? 0) + 2;
    if (length + 5 > units) break;
  }
  const parts = [...texts.slice(0, count), ...(isCut || count < texts.length ? ["…"] : [])];
  return `${method.name}(${parts.join(", ")})`;
}

/** Parameters of a method that a brief signature considers: writing thousands of types takes long. */
const MAX_BRIEF_PARAMETERS = 50;

/** True for an input without named properties, so that only one object can be passed. */
export function takesAnyObject(method: Pick<Method, "input" | "parameters">): boolean {
  const { properties, additionalProperties } = method.input;
  return method.parameters.length === 0 && additionalProperties !== false && !isRecord(properties);
}

function signatureAt(method: Signed, depth: number): string {
  const parameters = takesAnyObject(method)
    ? [`args?: ${toType(method.input, { root: method.input, depth, comments: false, of: "input" }).text}`]
    : getShownParameters(method).map((parameter) => parameterText(parameter, method, depth));
  return `${method.name}(${parameters.join(", ")})${returnText(method, depth)}`;
}

function parameterText(parameter: Parameter, method: Signed, depth: number): string {
  const style = { root: method.input, depth, comments: false, of: "input" } as const;
  const type = toType(parameter.schema, style).text;
  const standard = shownDefault(parameter.schema);
  const shortType =
    type.length > UNION_UNITS && depth === 0 ? `${type.slice(0, UNION_UNITS).replace(/[^|]*$/, "")} …` : type;
  const suffix = standard === undefined || parameter.required ? "" : ` = ${standard}`;
  const range = type === "number" ? findMaximum(parameter) : "";
  return `${propertyName(parameter.name)}${parameter.required ? "" : "?"}: ${shortType}${range}${suffix}`;
}

/** Formats the range of a number with a maximum as a comment; empty without one. */
function findMaximum({ schema, description }: Parameter): string {
  const range = formatRange({ description, ...schema });
  return range === undefined || range.endsWith("..") ? "" : ` /* ${range} */`;
}

function returnText(method: Signed, depth: number): string {
  if (method.output === undefined) return "";
  return `: Promise<${toType(method.output, { root: method.output, depth, comments: false, of: "output" }).text}>`;
}
