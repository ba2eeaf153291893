import type { HttpFailure, SkillgateError } from "../../../../errors.ts";
import { isRecord } from "../../../../model/json.ts";
import { truncateText } from "../../../../shared/format-text.ts";
import { toVisibleLine } from "../../../../shared/visible-text.ts";
import type { ApiResponse } from "../../pages/next-page.ts";

/** The body of an answer, as the specification of GraphQL describes it (section 7.1). */
export interface QueryAnswer {
  readonly response: ApiResponse;
  /** The error of a status that is not one of success. */
  readonly failure?: SkillgateError;
  /** Says what to do about its error, where more is known than its code says. */
  readonly advice?: string;
  readonly data: unknown;
  readonly errors: readonly GraphError[];
  readonly request: Pick<HttpFailure, "httpMethod" | "path">;
}

/** An error of an answer. */
export interface GraphError {
  readonly message: string;
  /** The field that it is about, by the names of the answer: `issues.nodes.0.title`; empty for the whole request. */
  readonly path: string;
  /** `extensions.code`, or `type` of GitHub; `undefined` if it has neither. */
  readonly code: string | undefined;
  /** The error as it was sent; without `extensions` that are large. */
  readonly sent: Readonly<Record<string, unknown>>;
}

/** Errors that are read; an answer may have thousands. */
const MAX_ERRORS = 20;

const MESSAGE_UNITS = 600;
const PATH_PARTS = 32;
const PATH_UNITS = 200;
const EXTENSIONS_UNITS = 2_000;

/** Reads the body of an answer; `undefined` if it is no answer of GraphQL. */
export function parseBody(body: unknown): Pick<QueryAnswer, "data" | "errors"> | undefined {
  if (!isRecord(body)) return undefined;
  const data = Object.hasOwn(body, "data") ? body["data"] : undefined;
  const sent = Object.hasOwn(body, "errors") ? body["errors"] : undefined;
  const errors = Array.isArray(sent) ? (sent as readonly unknown[]) : [];
  if (errors.length === 0 && !isRecord(data) && data !== null) return undefined;
  return { data, errors: errors.slice(0, MAX_ERRORS).map(parseError) };
}

/** Returns how many errors a body has, those included that are not read. */
export function countErrors(body: unknown): number {
  const errors = isRecord(body) ? body["errors"] : undefined;
  return Array.isArray(errors) ? errors.length : 0;
}

/** True if an answer has a value: not if `data` is null, or if errors have left all of its members null. */
export function hasData({ data, errors, failure }: Pick<QueryAnswer, "data" | "errors" | "failure">): boolean {
  if (failure !== undefined || !isRecord(data)) return false;
  return errors.length === 0 || Object.values(data).some((member) => member !== null);
}

function parseError(error: unknown): GraphError {
  const { message, path, extensions, type, locations } = isRecord(error) ? error : { message: error };
  const text = typeof message === "string" ? message : "an error without a message";
  const shortened = truncateText(text, MESSAGE_UNITS);
  const isShort = extensions !== undefined && (JSON.stringify(extensions) ?? "").length <= EXTENSIONS_UNITS;
  const parts = Array.isArray(path) ? path.slice(0, PATH_PARTS).filter(isPathPart) : [];
  return {
    message: toVisibleLine(shortened).replace(/[.\s]+$/, ""),
    path: truncateText(toVisibleLine(parts.join(".")), PATH_UNITS),
    code: findCode(extensions, type),
    sent: {
      message: shortened,
      ...(parts.length > 0 && { path: parts }),
      ...(Array.isArray(locations) && { locations: locations.slice(0, 1) }),
      ...(typeof type === "string" && { type: truncateText(type, PATH_UNITS) }),
      ...(isShort && { extensions }),
    },
  };
}

function isPathPart(part: unknown): part is string | number {
  return (typeof part === "string" && part.length <= PATH_UNITS) || typeof part === "number";
}

/** A code that a program compares with: a word. */
function findCode(extensions: unknown, type: unknown): string | undefined {
  const codes = [isRecord(extensions) ? extensions["code"] : undefined, type];
  return codes.find((code): code is string => typeof code === "string" && /^[\w.:-]{1,80}$/.test(code));
}
