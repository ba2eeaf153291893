import type { OperationRow, CatalogHead } from "../catalog-file.ts";
import { isRecord, type JsonSchema, toList, toRecord } from "../../../model/json.ts";
import { truncateText } from "../../../shared/format-text.ts";
import { escapeInvisible, toVisibleLine } from "../../../shared/visible-text.ts";
import { DocumentError } from "../documents/document-error.ts";
import { ProblemList } from "../documents/problem-list.ts";
import { toSummary } from "../documents/summary.ts";
import { type DescribedOperation, VERBS } from "../openapi/operation.ts";
import { findPages } from "../pages/find-pages.ts";
import { compileBody } from "./compile-body.ts";
import { compileParameters, findParameters } from "./compile-parameters.ts";
import { type Definitions, SchemaConverter } from "./convert-schema.ts";
import type { DocumentContext, FoundOperation } from "./document-context.ts";
import { type DocumentFiles, type Located, resolveReference } from "./document-files.ts";
import { isJsonType, isTextType, preferJson } from "./media-types.ts";
import { MethodArguments } from "./method-arguments.ts";
import { getOperationKey, nameOperations } from "./names.ts";
import { createSecurityFinder, readSecuritySchemes, type SecurityScheme } from "./security-schemes.ts";
import { createScopeFinder } from "./security-scopes.ts";

/** Operations of one document. The largest public one has 20,000 (Microsoft Graph). */
export const MAX_OPERATIONS = 20_000;

export interface CompiledOperation
  extends
    DescribedOperation,
    Pick<OperationRow, "name" | "summary" | "tags" | "isDeprecated" | "servers" | "scopes" | "security"> {}

/** A document as a catalog stores it, without its operations. */
export interface CompiledDocument extends Omit<CatalogHead, "schemes" | "schema"> {
  readonly definitions: Definitions;
  readonly schemes: Readonly<Record<string, SecurityScheme>>;
}

export interface DocumentOptions {
  /** The names that operations had before, by `getOperationKey`. */
  readonly names?: ReadonlyMap<string, string>;
  /** Takes each operation when it is compiled, because all of them together can be large, or says why it is left out. */
  readonly take: (operation: CompiledOperation) => string | undefined;
}

/**
 * Compiles a document of OpenAPI 2.0, 3.0, 3.1 or 3.2. What is broken is left out, with a problem that names it; a document
 * without any operation throws a `DocumentError`.
 */
export function compileDocument(files: DocumentFiles, { names, take }: DocumentOptions): CompiledDocument {
  const document = readRoot(files.root);
  const problems = new ProblemList();
  const context = createContext(files, document, problems);
  const found = findOperations(document, context, problems);
  if (found.length === 0) throw new DocumentError('the document has no operations: its "paths" are empty or missing');
  const methodNames = nameOperations(
    found.map(({ verb, path, operation: { operationId } }) => ({
      verb,
      path,
      ...(typeof operationId === "string" && { operationId }),
    })),
    names,
  );
  const used = new Set<string>();
  for (const [at, each] of found.entries()) {
    problems.location = getOperationKey(each);
    const name = methodNames[at] ?? "";
    const why = used.has(name) ? `another operation has its name, ${name}` : take(compileOne(each, name, context));
    if (why !== undefined) problems.add(`${why}; it is left out`);
    used.add(name);
  }
  problems.location = "schemas";
  const definitions = context.schemas.finish();
  const { title, version, description } = toRecord(document["info"]);
  return {
    title: toVisibleLine(toText(title)),
    version: toVisibleLine(toText(version)),
    description: truncateText(toText(description), 2_000),
    servers: readServers(document, found, context.isSwagger),
    definitions,
    schemes: readSecuritySchemes(document, files),
    problems: problems.list,
  };
}

function readRoot({ value }: Located): Readonly<Record<string, unknown>> {
  if (!isRecord(value)) throw new DocumentError("the document is no object");
  const { openapi, swagger } = value;
  if (typeof swagger === "string" && swagger.startsWith("2.")) return value;
  if (typeof openapi === "string" && /^3\.[012]\b/.test(openapi)) return value;
  const version = openapi ?? swagger;
  throw new DocumentError(
    version === undefined
      ? 'the document has neither "openapi" nor "swagger", so it is no OpenAPI document'
      : `the document is of version ${truncateText(JSON.stringify(version), 40)}; OpenAPI 2.0, 3.0, 3.1 and 3.2 are read`,
  );
}

function createContext(
  files: DocumentFiles,
  document: Readonly<Record<string, unknown>>,
  problems: ProblemList,
): DocumentContext {
  const report = (problem: string): void => problems.add(problem);
  const isSwagger = document["swagger"] !== undefined;
  const toTypes = (list: unknown): readonly string[] => toList(list).filter((type) => typeof type === "string");
  return {
    files,
    schemas: new SchemaConverter(files, report),
    isSwagger,
    consumes: toTypes(document["consumes"]),
    produces: toTypes(document["produces"]),
    credentials: findCredentials(document, files),
    findScopes: createScopeFinder(document, files),
    findSecurity: createSecurityFinder(document),
    report,
  };
}

/** Finds the parameters that the security schemes of a document describe as keys: `query api_key`. */
function findCredentials(document: Readonly<Record<string, unknown>>, files: DocumentFiles): ReadonlySet<string> {
  const schemes = document["securityDefinitions"] ?? toRecord(document["components"])["securitySchemes"];
  const keys = Object.values(toRecord(schemes)).flatMap((written) => {
    const scheme = toRecord(files.follow({ value: written, file: files.root.file })?.value);
    const { type, in: location, name } = scheme;
    return type === "apiKey" && typeof location === "string" && typeof name === "string" ? [`${location} ${name}`] : [];
  });
  return new Set(keys);
}

function findOperations(
  document: Readonly<Record<string, unknown>>,
  { files }: DocumentContext,
  problems: ProblemList,
): readonly FoundOperation[] {
  const found: FoundOperation[] = [];
  for (const [path, written] of Object.entries(toRecord(document["paths"]))) {
    if (path.startsWith("x-")) continue;
    problems.location = path;
    const target = files.follow({ value: written, file: files.root.file });
    if (target === undefined || !isRecord(target.value)) {
      problems.add(`what it refers to is missing: ${describeReference(written, files.root.file)}; it is left out`);
      continue;
    }
    const { value: item, file: itemFile } = target;
    for (const verb of VERBS) {
      if (item[verb] === undefined) continue;
      problems.location = `${verb} ${path}`;
      // Many documents have operations in files of their own.
      const own = files.follow({ value: item[verb], file: itemFile });
      if (own === undefined)
        problems.add(`what it refers to is missing: ${describeReference(item[verb], itemFile)}; it is left out`);
      else if (!isRecord(own.value)) problems.add("it is no object; it is left out");
      else if (verb === "trace") problems.add("its answer would show the credentials; it is left out");
      else if (!path.startsWith("/")) problems.add('its path does not begin with "/"; it is left out');
      else if (escapeInvisible(path) !== path) problems.add("its path has invisible characters; it is left out");
      else if (found.length === MAX_OPERATIONS)
        problems.add(`it is beyond ${MAX_OPERATIONS} operations; it is left out`);
      else found.push({ verb, path, operation: own.value, file: own.file, item, itemFile });
    }
  }
  return found;
}

function describeReference(written: unknown, file: string): string {
  const { $ref } = toRecord(written);
  return typeof $ref === "string" ? (resolveReference($ref, file) ?? $ref) : JSON.stringify(written);
}

function compileOne(found: FoundOperation, name: string, context: DocumentContext): CompiledOperation {
  const { operation } = found;
  const { summary, description, tags, deprecated } = operation;
  const text = [summary, description].find((each) => typeof each === "string" && each.trim() !== "");
  const [scopes, security] = [context.findScopes(operation), context.findSecurity(operation)];
  return {
    ...compileOperation(found, context),
    name,
    summary: toSummary(toText(text)),
    tags: toList(tags)
      .filter((tag) => typeof tag === "string")
      .slice(0, 10),
    isDeprecated: deprecated === true,
    servers: toServerUrls(readOwnServers(found)),
    ...(scopes.length > 0 && { scopes }),
    ...(security.length > 0 && { security }),
  };
}

/** A document without servers may name the same ones at each path. */
function readServers(
  document: Readonly<Record<string, unknown>>,
  found: readonly FoundOperation[],
  isSwagger: boolean,
): readonly string[] {
  if (!isSwagger) {
    const own = toServerUrls(document["servers"]);
    return own.length > 0 ? own : toServerUrls(found[0] && readOwnServers(found[0]));
  }
  const { host, basePath, schemes } = document;
  if (typeof host !== "string") return typeof basePath === "string" ? [basePath] : [];
  const secure = toList(schemes).includes("http") && !toList(schemes).includes("https") ? "http" : "https";
  return [`${secure}://${host}${toText(basePath)}`];
}

function readOwnServers({ operation, item }: FoundOperation): unknown {
  return operation["servers"] ?? item["servers"];
}

/** Variables in a URL have their defaults; the owner can give others. */
function toServerUrls(servers: unknown): readonly string[] {
  return toList(servers)
    .slice(0, 20)
    .flatMap((server) => {
      const { url, variables } = toRecord(server);
      if (typeof url !== "string") return [];
      const fill = (whole: string, name: string): string => {
        const value = toRecord(toRecord(variables)[name])["default"];
        return typeof value === "string" ? value : whole;
      };
      return [url.replaceAll(/\{([^{}]+)\}/g, fill)];
    });
}

const toText = (value: unknown): string => (typeof value === "string" ? value : "");

const MAX_DESCRIPTION = 2_000;

/** Compiles an operation to a method with one flat object of arguments. */
function compileOperation(found: FoundOperation, context: DocumentContext): DescribedOperation {
  const { verb, path, operation } = found;
  const args = new MethodArguments();
  const parts = findParameters(found, context);
  const parameters = compileParameters(parts, path, { args, context });
  const body = compileBody(found, parts, { args, context });
  const { schema: output, accepts, source, hasLinkHeader = false } = compileOutput(found, context);
  const input = args.toSchema();
  const names = [
    ...parameters.filter((each) => each.in === "query").map(({ name, argument }) => [name, argument] as const),
    ...(body?.fields ?? []).map(([argument, name]) => [name, argument] as const),
  ];
  const pages =
    source && findPages({ path, arguments: new Map(names), input, output: source, hasLinkHeader }, context.files);
  const texts = [operation["summary"], operation["description"]].filter((text) => typeof text === "string");
  return {
    verb,
    path,
    parameters,
    ...(body !== undefined && { body }),
    accepts,
    description: truncateText([...new Set(texts)].join("\n\n"), MAX_DESCRIPTION),
    input,
    ...(output !== undefined && { output }),
    ...(pages !== undefined && { pages }),
  };
}

/** A successful answer: its schema, if it is JSON, a text or empty, and the media types to ask for. */
interface Output {
  readonly schema?: JsonSchema;
  readonly accepts: readonly string[];
  /** The schema as the document has it, if the answer is JSON. */
  readonly source?: Located;
  /** The answer has the address of the next page in a header. */
  readonly hasLinkHeader?: boolean;
}

function compileOutput(found: FoundOperation, context: DocumentContext): Output {
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
