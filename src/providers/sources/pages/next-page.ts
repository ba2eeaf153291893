import { SkillgateError } from "../../../errors.ts";
import { getValueAt, isRecord, type JsonSchema, toRecord } from "../../../model/json.ts";
import { quote } from "../../../shared/format-text.ts";
import type { ApiOperation, ApiParameter } from "../openapi/operation.ts";
import { walkCursors } from "./cursor-members.ts";
import type { MemberPath, NextPage, PageStyle } from "./page-style.ts";

type PageArguments = Readonly<Record<string, unknown>>;

/** An answer of an API: what `includeResponse: true` gives. */
export interface ApiResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** The call whose answer is a page. */
export interface PageCall {
  readonly operation: ApiOperation & { readonly input: JsonSchema };
  readonly input: PageArguments;
  readonly pages: PageStyle;
  /** The address of the API. */
  readonly server: URL;
}

/** Returns the list of a page; `undefined` if the body does not have it. */
export function getItems({ body }: ApiResponse, { items }: PageStyle): readonly unknown[] | undefined {
  const list = getValueAt(body, items);
  return Array.isArray(list) ? list : undefined;
}

/**
 * Returns the arguments of the next page; `undefined` after the last one. Throws `PAGES_REPEAT` if they would be those of this page
 * again, and `PAGES_ELSEWHERE` if the next page is on another server.
 */
export function findNextPage(response: ApiResponse, call: PageCall): PageArguments | undefined {
  const changes = findChanges(response, call);
  if (changes === undefined) return undefined;
  const { input, operation } = call;
  const isSame = Object.entries(changes).every(([name, value]) => isEqual(value, input[name]));
  if (isSame) {
    const values = Object.entries(changes).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
    const what = values.length === 0 ? "no argument that this method has" : `the same page again, ${values.join(", ")}`;
    throw refusePages("PAGES_REPEAT", operation, `names ${what}; ask the owner to correct "pages" of this source`);
  }
  return { ...input, ...changes };
}

function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other) || String(one) === String(other);
}

/** Creates the error for pages that cannot be followed; a program catches it by its code. */
export function refusePages(code: string, { verb, path }: ApiOperation, says: string): SkillgateError {
  const message = `The answer of ${verb.toUpperCase()} ${path} ${says} (${code})`;
  return new SkillgateError("CALL_FAILED", message, { serverError: { code } });
}

/** Returns the arguments that the next page changes. */
function findChanges(response: ApiResponse, call: PageCall): PageArguments | undefined {
  const { pages, input, operation } = call;
  const { next } = pages;
  const link = response.headers["link"];
  if (link !== undefined && next.by !== "last item") {
    const target = findLink(link, "next");
    if (target !== undefined) return readAddress(target, call);
    if (next.by !== "cursor") return undefined;
  }
  const items = getItems(response, pages) ?? [];
  switch (next.by) {
    case "link":
      return undefined;
    case "cursor":
      return readCursor(
        next.at ? getValueAt(response.body, next.at) : findCursor(response.body, pages.items),
        next,
        call,
      );
    case "last item": {
      const id = toRecord(items.at(-1))[next.id];
      return getValueAt(response.body, next.more) === true && id !== undefined ? { [next.argument]: id } : undefined;
    }
    case "page":
    case "offset": {
      if (items.length === 0 || saysLast(response.body)) return undefined;
      const at = Number(input[next.argument] ?? next.first);
      if (!Number.isSafeInteger(at))
        throw refusePages(
          "PAGES_REPEAT",
          operation,
          `cannot be followed, because ${quote(next.argument)} is no number`,
        );
      return { [next.argument]: at + (next.by === "page" ? 1 : items.length) };
    }
  }
}

/** Finds the cursor in a body, where the document does not describe it. */
function findCursor(body: unknown, items: MemberPath): unknown {
  const list = (value: unknown): readonly (readonly [string, unknown])[] => Object.entries(toRecord(value));
  for (const [, value] of walkCursors(body, items, list))
    if ((typeof value === "string" && value !== "") || typeof value === "number") return value;
  return undefined;
}

const MORE_MEMBERS = ["has_more", "hasMore", "has_next", "hasNext", "has_next_page", "hasNextPage"];

/** True if a body that is counted in pages says that there are no more. */
function saysLast(body: unknown): boolean {
  if (!isRecord(body)) return false;
  const holders = [body, ...["meta", "paging", "pagination"].map((name) => toRecord(body[name]))];
  return holders.some((holder) => MORE_MEMBERS.some((name) => holder[name] === false));
}

/** A cursor in a body is a token, or the address of the next page. */
function readCursor(
  cursor: unknown,
  { argument }: Extract<NextPage, { readonly by: "cursor" }>,
  call: PageCall,
): PageArguments | undefined {
  if (cursor === undefined || cursor === null || cursor === "" || cursor === false) return undefined;
  if (typeof cursor === "string" && /^(?:https?:\/\/|[/?])/i.test(cursor)) return readAddress(cursor, call);
  if (argument !== undefined) return { [argument]: cursor };
  throw refusePages(
    "PAGES_REPEAT",
    call.operation,
    'has a cursor, and the method no argument for it; ask the owner to write "argument" in "pages" of this source',
  );
}

/** Reads the arguments of an address, of which only the parameters count: the request goes to the path of the operation. */
function readAddress(text: string, { operation, server, input }: PageCall): PageArguments {
  const url = URL.canParse(text, server.href) ? new URL(text, server) : undefined;
  if (url?.origin !== server.origin)
    throw refusePages(
      "PAGES_ELSEWHERE",
      operation,
      `says that the next page is at ${quote(url?.origin ?? text)}, not at ${server.origin}`,
    );
  const properties = toRecord(operation.input["properties"]);
  const changes = operation.parameters
    .filter((parameter) => parameter.in === "query" && url.searchParams.has(parameter.name))
    .flatMap((parameter): readonly (readonly [string, unknown])[] => {
      const { argument, name } = parameter;
      const schema = resolve(properties[argument], operation.input);
      const values = url.searchParams.getAll(name);
      const value = readParameter(values, parameter, schema);
      return value === undefined || isEqual(value, input[argument]) ? [] : [[argument, value]];
    });
  return Object.fromEntries(changes);
}

/** Reads a parameter of an address; `undefined` for a structure, which stays as it is. */
function readParameter(texts: readonly string[], { explode }: ApiParameter, schema: JsonSchema): unknown {
  const types = [schema["type"]].flat();
  const [first = ""] = texts;
  if (types.includes("object")) return undefined;
  if (types.includes("array")) return explode ? texts : first.split(",");
  const isNumber = types.some((type) => type === "integer" || type === "number") && !types.includes("string");
  // A longer integer stays a text, which is sent digit by digit.
  if (isNumber && Math.abs(Number(first)) <= Number.MAX_SAFE_INTEGER) return Number(first);
  return types.includes("boolean") && /^(?:true|false)$/.test(first) ? first === "true" : first;
}

function resolve(schema: unknown, root: JsonSchema): JsonSchema {
  const { $ref } = toRecord(schema);
  if (typeof $ref !== "string") return toRecord(schema);
  return toRecord(toRecord(root["$defs"])[$ref.slice($ref.lastIndexOf("/") + 1)]);
}

/** `<https://api.example.com/items?page=2>; rel="next"` (RFC 8288). */
const LINK = /<([^<>]*)>((?:\s*;\s*[\w!#$&+.^`|~*-]+\s*(?:=\s*(?:"[^"]*"|[^\s;,"]*))?)*)/g;

/** Finds the target of a relation in a `Link` header. */
function findLink(header: string, relation: string): string | undefined {
  for (const [, target, parameters = ""] of header.matchAll(LINK)) {
    const [, quoted, plain = ""] = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]*))/i.exec(parameters) ?? [];
    if ((quoted ?? plain).toLowerCase().split(/\s+/).includes(relation)) return target;
  }
  return undefined;
}
