import { isRecord, type JsonSchema, toList, toRecord } from "../../../model/json.ts";
import type { DocumentFiles, Located } from "../compile/document-files.ts";
import { needsSameName, toPlainName, walkCursors, words } from "./cursor-members.ts";
import type { MemberPath, NextPage, PageStyle } from "./page-style.ts";

/** An operation, as far as its pages depend on it. */
export interface PagedOperation {
  readonly path: string;
  /** The arguments by their names in the request: those of the query, and the fields of the body. */
  readonly arguments: ReadonlyMap<string, string>;
  readonly input: JsonSchema;
  /** The schema of the body of its answer. */
  readonly output: Located;
  readonly hasLinkHeader: boolean;
}

const URL_MEMBER = /(?:link|url|uri|href)$/;

/** Names in plain form: small letters and digits only. */
const CURSOR_ARGUMENTS = words(
  "cursor pagetoken nextpagetoken nexttoken nextcursor startcursor pagecursor paginationtoken continuationtoken continuation continue after afterid startingafter aftercursor bookmark marker scrollid startkey exclusivestartkey pageid",
);
const PAGE_ARGUMENTS = words("page pagenumber pageno pagenum currentpage pageindex");
const OFFSET_ARGUMENTS = words("offset skip start startat startindex startposition");
const NEXT_ARGUMENTS = [...CURSOR_ARGUMENTS, ...PAGE_ARGUMENTS, ...OFFSET_ARGUMENTS, ...words("since before")];
const LAST_ARGUMENTS = words("startingafter after afterid");
const SIZE_ARGUMENTS = words("perpage pagesize limit maxresults count size take top itemsperpage pagelimit first rows");

const MORE_MEMBERS = words("hasmore hasnext hasnextpage more");

const LIST_HOLDERS = words("data result results response embedded");
const LIST_NAMES = words("data items results values value entries records objects resources list nodes elements hits");

const MAX_LEVELS = 3;

/** Finds out how the pages of an operation follow each other; `undefined` for an operation without pages. */
export function findPages(found: PagedOperation, files: DocumentFiles): PageStyle | undefined {
  const plain = [...found.arguments].map(([name, argument]) => [toPlainName(name), argument] as const);
  const operation = { ...found, arguments: new Map(plain) };
  // Every way to the next page changes an argument; few operations have one.
  if (findArgument(NEXT_ARGUMENTS, operation) === undefined) return undefined;
  const items = findList(operation, files);
  const next = items === undefined ? undefined : findNext(operation, items, files);
  if (items === undefined || next === undefined) return undefined;
  const size = findSize(operation);
  return { items, next, ...(size !== undefined && { size }) };
}

function findNext(operation: PagedOperation, items: MemberPath, files: DocumentFiles): NextPage | undefined {
  const cursor = findCursor(operation, items, files);
  if (cursor !== undefined) return cursor;
  const last = findArgument(LAST_ARGUMENTS, operation);
  const more = [...listMembers(operation.output, files)].find(([name]) =>
    MORE_MEMBERS.includes(toPlainName(name)),
  )?.[0];
  if (last !== undefined && more !== undefined) return { by: "last item", argument: last, more: [more], id: "id" };
  if (operation.hasLinkHeader) return { by: "link" };
  const page = findArgument(PAGE_ARGUMENTS, operation, isWholeNumber);
  if (page !== undefined) return { by: "page", argument: page, first: findFirst("page", page, operation) };
  // The other names are those of pages only beside a number of items: "after" may be a date, and "start" a time.
  if (findArgument(SIZE_ARGUMENTS, operation) === undefined) return undefined;
  const offset = findArgument(OFFSET_ARGUMENTS, operation, isWholeNumber);
  if (offset !== undefined) return { by: "offset", argument: offset, first: findFirst("offset", offset, operation) };
  // Many documents do not describe the cursor in the body, which is searched in each answer then.
  const argument = findArgument([...CURSOR_ARGUMENTS, "offset"], operation, isTextSchema);
  return argument === undefined ? undefined : { by: "cursor", argument };
}

/** Pages count from 1 and items from 0, unless the document says otherwise. */
function findFirst(by: "page" | "offset", argument: string, operation: PagedOperation): number {
  const { default: standard, minimum } = readSchema(argument, operation);
  const first = [standard, minimum].find((value) => value === 0 || value === 1);
  return typeof first === "number" ? first : by === "page" && !/index$/i.test(argument) ? 1 : 0;
}

function findSize(operation: PagedOperation): PageStyle["size"] {
  const argument = findArgument(SIZE_ARGUMENTS, operation, isWholeNumber);
  if (argument === undefined) return undefined;
  const { maximum, description } = readSchema(argument, operation);
  const [, written, upper] = MAXIMUM.exec(toText(description)) ?? [];
  const max = typeof maximum === "number" ? maximum : Number(written ?? upper);
  return max > 1 && max <= MAX_SIZE ? { argument, max } : undefined;
}

const MAX_SIZE = 1_000;
const MAXIMUM = /\bmax(?:imum)?\b\W{0,3}(?:(?:is|of) )?(\d{1,5})\b|\bbetween 1 and (\d{1,5})\b/i;

function findArgument(
  names: readonly string[],
  operation: PagedOperation,
  isFit: (schema: JsonSchema) => boolean = () => true,
): string | undefined {
  return names
    .flatMap((name) => operation.arguments.get(name) ?? [])
    .find((argument) => isFit(readSchema(argument, operation)));
}

function isWholeNumber({ type }: JsonSchema): boolean {
  return [type].flat().some((each) => each === undefined || each === "integer" || each === "number");
}

function readSchema(argument: string, { input }: PagedOperation): JsonSchema {
  return toRecord(toRecord(input["properties"])[argument]);
}

/** Finds the list in the body: the body itself, or the member that is meant, in it or in an object that only wraps it. */
function findList({ path, output }: PagedOperation, files: DocumentFiles): MemberPath | undefined {
  if (isListSchema(output, files)) return [];
  const members = listMembers(output, files);
  const own = chooseList(members, path, files);
  if (own !== undefined) return [own];
  const objects = [...members]
    .map(([name, member]) => [name, listMembers(member, files)] as const)
    .filter(([, inner]) => inner.size > 0);
  for (const [name, inner] of objects) {
    const isWrapper = objects.length === 1 || LIST_HOLDERS.includes(toPlainName(name));
    const list = isWrapper ? chooseList(inner, path, files) : undefined;
    if (list !== undefined) return [name, list];
  }
  return undefined;
}

function chooseList(members: ReadonlyMap<string, Located>, path: string, files: DocumentFiles): string | undefined {
  const lists = [...members].filter(([, member]) => isListSchema(member, files)).map(([name]) => name);
  if (lists.length <= 1) return lists[0];
  const segment = toPlainName(path.split("/").findLast((part) => part !== "" && !part.includes("{")) ?? "");
  return (
    lists.find((name) => LIST_NAMES.includes(toPlainName(name))) ??
    lists.find((name) => toPlainName(name) === segment) ??
    lists.find((name) => toPlainName(name).endsWith(segment))
  );
}

function findCursor(operation: PagedOperation, items: MemberPath, files: DocumentFiles): NextPage | undefined {
  const list = (holder: Located): Iterable<readonly [string, Located]> => listMembers(holder, files);
  for (const [at, member] of walkCursors(operation.output, items, list)) {
    const schema = toRecord(files.follow(member)?.value);
    if (!isValueSchema(schema)) continue;
    const name = toPlainName(at.at(-1) ?? "");
    const argument = findCursorArgument(at, schema, operation);
    if (argument !== undefined) return { by: "cursor", at, argument };
    const words = `${toText(schema["format"])} ${toText(schema["description"])}`;
    const isAddress = URL_MEMBER.test(name) || /\bur[il]\b|\blink\b/i.test(words);
    if (isAddress && !needsSameName(at)) return { by: "cursor", at };
  }
  return undefined;
}

function isValueSchema({ type, properties }: JsonSchema): boolean {
  return !isRecord(properties) && ![type].flat().some((each) => ["object", "array", "boolean"].includes(String(each)));
}

function findCursorArgument(at: MemberPath, { type }: JsonSchema, operation: PagedOperation): string | undefined {
  const isText = [type].flat().includes("string");
  const name = toPlainName(at.at(-1) ?? "");
  if (needsSameName(at)) return isText ? findArgument([name], operation, isTextSchema) : undefined;
  const isFit = (schema: JsonSchema): boolean => !isText || isTextSchema(schema);
  return (
    findArgument(CURSOR_ARGUMENTS, operation) ?? findArgument([name, "offset", ...PAGE_ARGUMENTS], operation, isFit)
  );
}

function isTextSchema({ type }: JsonSchema): boolean {
  return [type].flat().some((each) => each === undefined || each === "string");
}

function isListSchema(located: Located, files: DocumentFiles): boolean {
  const schema = toRecord(files.follow(located)?.value);
  return [schema["type"]].flat().includes("array") || (schema["type"] === undefined && isRecord(schema["items"]));
}

/** Lists the members of an object, with those of the parts that it is composed of. */
function listMembers(located: Located, files: DocumentFiles, levels = MAX_LEVELS): ReadonlyMap<string, Located> {
  const target = files.follow(located);
  if (target === undefined || levels === 0) return new Map();
  const { value, file } = target;
  const { properties, ...others } = toRecord(value);
  const parts = ["allOf", "anyOf", "oneOf"]
    .flatMap((keyword) => toList(others[keyword]))
    .flatMap((part) => [...listMembers({ value: part, file }, files, levels - 1)]);
  const own = Object.entries(toRecord(properties)).map(([name, each]) => [name, { value: each, file }] as const);
  return new Map([...parts, ...own]);
}

const toText = (value: unknown): string => (typeof value === "string" ? value : "");
