import { getIntrospectionQuery } from "graphql";

import { isRecord, parseJson, toList, toRecord } from "../../../../model/json.ts";
import { truncateText } from "../../../../shared/format-text.ts";
import { exchange } from "../../../../shared/http/exchange.ts";
import { getHeader } from "../../../../shared/http/headers.ts";
import { VERSION } from "../../../../shared/version.ts";
import { toVisibleLine } from "../../../../shared/visible-text.ts";
import { CredentialRefused, DocumentError } from "../../documents/document-error.ts";
import { createGrowingBuffer, readFlowing } from "../../../../shared/http/growing-buffer.ts";
import { MAX_DOCUMENT_BYTES } from "../../documents/read-file.ts";
import type { IntrospectionRequest } from "../../compile/protocol.ts";

/** A large schema is written by its server only then. */
const HEADERS_MS = 60_000;
const BODY_MS = 60_000;

/** Texts of an introspection: what newer servers have, and what each one has. */
const QUERIES = [
  getIntrospectionQuery({ schemaDescription: true, inputValueDeprecation: true, oneOf: true }),
  getIntrospectionQuery({ schemaDescription: true, inputValueDeprecation: true }),
  getIntrospectionQuery(),
];

interface GraphAnswer {
  readonly status: number;
  /** The parsed body; `undefined` if it is no JSON. */
  readonly value: unknown;
  readonly challenge: string | undefined;
  readonly location: string | undefined;
}

/**
 * Asks an endpoint for its schema. Returns the answer, with `data.__schema`. Throws a `DocumentError` that says what to do where it
 * has none, and `CredentialRefused` where it wants a credential.
 */
export async function introspect(request: IntrospectionRequest, isPrivate: boolean): Promise<unknown> {
  let answer: GraphAnswer | undefined;
  for (const query of QUERIES) {
    answer = await post(request, query, isPrivate);
    if (isRecord(toRecord(toRecord(answer.value)["data"])["__schema"])) return answer.value;
    // An older server does not know the newer parts of introspection.
    if (readErrors(answer.value).length === 0 || isOff(answer.value)) break;
  }
  throw explain(answer as GraphAnswer, request);
}

async function post({ url, headers }: IntrospectionRequest, query: string, isPrivate: boolean): Promise<GraphAnswer> {
  const server = new URL(url);
  const signal = AbortSignal.timeout(HEADERS_MS + BODY_MS);
  const wire = {
    method: "POST",
    target: server.pathname + server.search,
    headers: {
      "user-agent": `skillgate/${VERSION}`,
      ...headers,
      host: server.host,
      accept: "application/graphql-response+json, application/json",
      "accept-encoding": "gzip, deflate, br",
      "content-type": "application/json",
    },
    body: Buffer.from(JSON.stringify({ query, operationName: "IntrospectionQuery" })),
  };
  const reach = isPrivate ? "private" : "public";
  const {
    status,
    headers: received,
    body,
  } = await exchange(wire, { server, reach, agent: false, headersMs: HEADERS_MS, signal });
  const content = createGrowingBuffer({ bytes: MAX_DOCUMENT_BYTES });
  let length = 0;
  await readFlowing(body, (chunk) => {
    length += chunk.length;
    if (length <= MAX_DOCUMENT_BYTES) content.append(chunk);
    else body.destroy(new DocumentError(`the answer has more than ${MAX_DOCUMENT_BYTES >> 20} MB`));
  });
  return {
    status,
    value: parseJson(content.get().toString()),
    challenge: getHeader(received, "www-authenticate"),
    location: getHeader(received, "location"),
  };
}

function readErrors(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return toList(toRecord(value)["errors"]).filter(isRecord).slice(0, 20);
}

/** Words and codes of servers that do not describe their schema (Apollo, GraphQL Yoga, graphql-java, Hot Chocolate, Hasura, graphene). */
function isOff(value: unknown): boolean {
  return readErrors(value).some(({ message, extensions }) => {
    const { code } = toRecord(extensions);
    return /introspection|cannot query field ["'`]?__schema|__schema.*not (?:found|allowed)/i.test(
      `${String(message)} ${String(code)}`,
    );
  });
}

const SAVE = "save the schema as SDL, and write schema: with its file";

/** Says why an endpoint has described no schema, and what to do. */
function explain({ status, value, challenge, location }: GraphAnswer, { url }: IntrospectionRequest): Error {
  const { origin, pathname, host } = new URL(url);
  const endpoint = origin + pathname;
  if (isOff(value)) return new DocumentError(`introspection is off at ${endpoint}; ${SAVE}`);
  const [first] = readErrors(value);
  const words = typeof first?.["message"] === "string" ? quoteAnswer(first["message"]) : undefined;
  const says = words === undefined ? "" : ` (${words})`;
  if (status === 401 || status === 403)
    return new CredentialRefused(
      `${endpoint} wants a credential: it answers HTTP ${status}${says}; write headers: { Authorization: … }, or an account, or ${SAVE}`,
      { status, challenge },
    );
  if (location !== undefined && status >= 300 && status < 400)
    return new DocumentError(`${endpoint} is elsewhere: ${quoteAnswer(withoutQuery(location))}; write that address`);
  if (words !== undefined)
    return new DocumentError(`${host} does not describe its schema: ${words}; correct that, or ${SAVE}`);
  if (status === 429 || status >= 500)
    return new DocumentError(`${host} does not describe its schema: it answers HTTP ${status}; try again later`);
  return new DocumentError(
    `${endpoint} is no GraphQL endpoint: it answers a query with HTTP ${status}${value === undefined ? " and no JSON" : " and no __schema"}; write the address that takes queries, often with /graphql at its end`,
  );
}

/** A server repeats the parameters of a request, and one of them may be a credential. */
function withoutQuery(location: string): string {
  return location.replace(/[?#].*$/s, "");
}

function quoteAnswer(text: string): string {
  return toVisibleLine(JSON.stringify(truncateText(text.slice(0, 1_000).replaceAll(/\s+/g, " ").trim(), 200)));
}
