import { createHash } from "node:crypto";

import type { ApiRequest } from "../../http/api-request.ts";
import { writeMultipart } from "../../openapi/multipart.ts";
import { toJsonText } from "../../openapi/write-value.ts";
import type { VariableFile } from "./uploads.ts";

/** A document as it is sent. */
export interface GraphRequest {
  /** The address that takes all requests of the API. */
  readonly endpoint: URL;
  readonly text: string;
  readonly operationName?: string | undefined;
  readonly variables?: unknown;
  readonly files: readonly VariableFile[];
}

/** How a document is sent: whole, by its digest alone, or whole with its digest, for a server that stores it under that. */
export type DocumentForm = "text" | "digest" | "both";

/** As "GraphQL over HTTP" orders them: the newer media type has statuses that are to be believed. */
const ACCEPT = "application/graphql-response+json, application/json;q=0.9";

/** Servers that guard against requests of pages in browsers take GET and forms only with one of these headers (Apollo, Hot Chocolate). */
const PREFLIGHT = { "apollo-require-preflight": "true", "graphql-preflight": "1" };

/** Longer addresses are refused by usual servers and proxies. */
const MAX_TARGET_UNITS = 6_000;

/** Builds the request of a document: JSON, or a form if it has files (graphql-multipart-request-spec). */
export function buildPost(request: GraphRequest, form: DocumentForm = "text"): ApiRequest {
  const build = (fields?: ReadonlyMap<string, string>): ApiRequest => {
    const json = toJsonText({ ...toMembers(request, form), ...Object.fromEntries(fields ?? []) });
    const body =
      request.files.length === 0
        ? { mediaType: "application/json", bytes: Buffer.from(json) }
        : writeMultipart("multipart/form-data", listFormFields(json, request.files), {});
    return {
      method: "POST",
      operation: `POST ${request.endpoint.pathname}`,
      target: getTarget(request.endpoint),
      headers: {
        accept: ACCEPT,
        "content-type": body.mediaType,
        ...(request.files.length > 0 && PREFLIGHT),
      },
      body: body.bytes,
      withFields: build,
    };
  };
  return build();
}

/** Builds a request of a query without a body; `undefined` if its address would be too long. */
export function buildGet(request: GraphRequest): ApiRequest | undefined {
  const { endpoint, operationName, variables, text } = request;
  const parameters = new URLSearchParams(endpoint.search);
  parameters.set("query", text);
  if (operationName !== undefined) parameters.set("operationName", operationName);
  if (variables !== undefined) parameters.set("variables", toJsonText(variables));
  const target = `${endpoint.pathname}?${parameters.toString()}`;
  if (target.length > MAX_TARGET_UNITS) return undefined;
  return { method: "GET", operation: `GET ${endpoint.pathname}`, target, headers: { accept: ACCEPT, ...PREFLIGHT } };
}

function getTarget({ pathname, search }: URL): string {
  return `${pathname}${search}`;
}

/** Returns the members of the JSON of a request. */
function toMembers({ text, operationName, variables }: GraphRequest, form: DocumentForm): Record<string, unknown> {
  return {
    ...(form !== "digest" && { query: text }),
    ...(operationName !== undefined && { operationName }),
    ...(variables !== undefined && { variables }),
    ...(form !== "text" && { extensions: { persistedQuery: { version: 1, sha256Hash: digest(text) } } }),
  };
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function listFormFields(
  operations: string,
  files: readonly VariableFile[],
): readonly { readonly name: string; readonly value: unknown; readonly written: undefined }[] {
  const map = Object.fromEntries(files.map(({ path }, index) => [String(index), [path]]));
  const fields = [
    ["operations", operations],
    ["map", JSON.stringify(map)],
    ...files.map(({ value }, index) => [String(index), value]),
  ];
  return fields.map(([name, value]) => ({ name: String(name), value, written: undefined }));
}
