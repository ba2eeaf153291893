import { createError } from "../../../errors.ts";
import type { ApiRequest } from "../http/api-request.ts";
import { writeBody } from "./write-body.ts";
import { expandPath } from "./expand-path.ts";
import type { ApiOperation } from "./operation.ts";
import { toPairs } from "./serialize.ts";
import { writeHeaders } from "./write-headers.ts";
import { getMember } from "./write-value.ts";

/**
 * Builds the request of an operation from the arguments of its method; `fields` are added to its body. Throws a `SkillgateError` for arguments that cannot be sent. The
 * operation is of a document that is not trusted.
 */
export function buildRequest(
  operation: ApiOperation,
  args: Readonly<Record<string, unknown>>,
  fields?: ReadonlyMap<string, string>,
): ApiRequest {
  const method = operation.verb.toUpperCase();
  if (method === "TRACE")
    throw createError("CALL_FAILED", "TRACE is not sent, because its answer shows the credentials");
  const path = expandPath(operation, args);
  const query = operation.parameters
    .filter((parameter) => parameter.in === "query")
    .flatMap((parameter) => toPairs(parameter.name, getMember(args, parameter.argument), parameter))
    .join("&");
  const hasBody = method !== "GET" && method !== "HEAD";
  const body = hasBody ? writeBody(operation.body, args, fields) : undefined;
  return {
    method,
    operation: `${method} ${operation.path}`,
    target: query === "" ? path : `${path}${path.includes("?") ? "&" : "?"}${query}`,
    headers: {
      accept: writeAccept(operation.accepts),
      ...writeHeaders(operation, args),
      ...(body !== undefined && { "content-type": body.mediaType }),
    },
    ...(body !== undefined && { body: body.bytes }),
    ...(hasBody && { withFields: (added: ReadonlyMap<string, string>) => buildRequest(operation, args, added) }),
  };
}

/** Media types of an `Accept` header; the document may name more. */
const MAX_ACCEPTS = 10;

const MEDIA_RANGE = /^[\w!#$&^.+*-]+\/[\w!#$&^.+*-]+(?:\s*;\s*[\w-]+=(?:[\w.+-]+|"[\w .+-]*"))*$/;

function writeAccept(accepts: readonly string[]): string {
  const valid = accepts.filter((each) => MEDIA_RANGE.test(each)).slice(0, MAX_ACCEPTS);
  return valid.length === 0 ? "*/*" : valid.join(", ");
}
