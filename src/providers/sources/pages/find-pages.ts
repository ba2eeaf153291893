import { isRecord, type JsonSchema, toList, toRecord } from "../../../model/json.ts";
import type { DocumentFiles, Located } from "../compile/document-files.ts";
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

/** Names in plain form: small letters and digits only. */
const CURSOR_ARGUMENTS = words(
  "cursor pagetoken nextpagetoken nexttoken nextcursor startcursor pagecursor paginationtoken continuationtoken continuation after startingafter aftercursor bookmark marker scrollid startkey exclusivestartkey pageid",
);
const PAGE_ARGUMENTS = words("page pagenumber pageno pagenum currentpage pageindex");
const OFFSET_ARGUMENTS = words("offset skip start startat startindex startposition");
const LAST_ARGUMENTS = words("startingafter after afterid");
const SIZE_ARGUMENTS = words("perpage pagesize limit maxresults count size take top itemsperpage pagelimit first rows");

const NEXT_MEMBER = /^(?:odata)?next(?:page|results?|cursor|token|link|url|uri|href|key|marker|offset|start|path)*$/;
const CURSOR_MEMBERS = words("endcursor continuationtoken continuation scrollid paginationtoken");
const URL_MEMBER = /(?:link|url|uri|href)$/;
/** Members that are a cursor if the operation has an argument of the same name. */
const SAME_NAME = words("cursor bookmark marker offset");
/** Members of a member `next` or `cursors`. */
const INNER_MEMBERS = words("href url uri link after startingafter cursor token page");
const MORE_MEMBERS = words("hasmore hasnext hasnextpage more");

/** Objects in which a cursor or a list can be. */
const CURSOR_HOLDERS = words(
  "paging pagination paginator page pages pageinfo pagemeta meta metadata responsemetadata resultinfo links cursors cursor next navigation data result results response",
);
const LIST_HOLDERS = words("data result results response embedded");
const LIST_NAMES = words("data items results values value entries records objects resources list nodes elements hits");

const MAX_LEVELS = 3;

/** Finds out how the pages of an operation follow each other; `undefined` for an operation without pages. */
export function findPages(operation: PagedOperation, files: DocumentFiles): PageStyle | undefined {
  const items = findList(operation, files);
  const next = items === undefined ? undefined : findNext(operation, files);
  if (items === undefined || next === undefined) return undefined;
  const size = findSize(operation);
  return { items, next, ...(size !== undefined && { size }) };
}

function findNext(operation: PagedOperation, files: DocumentFiles): NextPage | undefined {
  const cursor = findCursor(operation, files);
  if (cursor !== undefined) return cursor;
  const last = findArgument(LAST_ARGUMENTS, operation);
  const more = [...listMembers(operation.output, files)].find(([name]) => MORE_MEMBERS.includes(toPlain(name)))?.[0];
  if (last !== undefined && more !== undefined) return { by: "last item", argument: last, more: [more], id: "id" };
  if (operation.hasLinkHeader) return { by: "link" };
  for (const [by, names] of [
    ["page", PAGE_ARGUMENTS],
    ["offset", OFFSET_ARGUMENTS],
  ] as const) {
    const argument = findArgument(names, operation, isWholeNumber);
    if (argument !== undefined) return { by, argument, first: findFirst(by, argument, operation) };
  }
  return last === undefined ? undefined : { by: "link" };
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
  const [, written] = /\bmax(?:imum)?\b\W{0,3}(?:(?:is|of) )?(\d{1,5})\b/i.exec(toText(description)) ?? [];
  const max = typeof maximum === "number" ? maximum : Number(written);
  return max > 1 && max <= MAX_SIZE ? { argument, max } : undefined;
}

const MAX_SIZE = 1_000;

function findArgument(
  names: readonly string[],
  operation: PagedOperation,
  isFit: (schema: JsonSchema) => boolean = () => true,
): string | undefined {
  const byPlainName = new Map([...operation.arguments].map(([name, argument]) => [toPlain(name), argument]));
  return names
    .flatMap((name) => byPlainName.get(name) ?? [])
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
  for (const [name, member] of members) {
    const inner = LIST_HOLDERS.includes(toPlain(name))
      ? chooseList(listMembers(member, files), path, files)
      : undefined;
    if (inner !== undefined) return [name, inner];
  }
  return undefined;
}

function chooseList(members: ReadonlyMap<string, Located>, path: string, files: DocumentFiles): string | undefined {
  const lists = [...members].filter(([, member]) => isListSchema(member, files)).map(([name]) => name);
  if (lists.length <= 1) return lists[0];
  const segment = toPlain(path.split("/").findLast((part) => part !== "" && !part.includes("{")) ?? "");
  return (
    lists.find((name) => LIST_NAMES.includes(toPlain(name))) ??
    lists.find((name) => toPlain(name) === segment) ??
    lists.find((name) => toPlain(name).endsWith(segment))
  );
}

function findCursor(operation: PagedOperation, files: DocumentFiles): NextPage | undefined {
  for (const [at, schema] of walkMembers(operation.output, files, [])) {
    const name = toPlain(at.at(-1) ?? "");
    const isUrl =
      URL_MEMBER.test(name) ||
      /\bur[il]\b|\blink\b/i.test(`${toText(schema["format"])} ${toText(schema["description"])}`);
    const argument = findCursorArgument(name, schema, operation);
    if (argument !== undefined) return { by: "cursor", at, argument };
    if (isUrl && !SAME_NAME.includes(name)) return { by: "cursor", at };
  }
  return undefined;
}

function findCursorArgument(member: string, schema: JsonSchema, operation: PagedOperation): string | undefined {
  const isText = [schema["type"]].flat().includes("string");
  const same = SAME_NAME.includes(member) ? findArgument([member], operation) : undefined;
  if (SAME_NAME.includes(member)) return isText ? same : undefined;
  const argument = findArgument(CURSOR_ARGUMENTS, operation);
  return argument ?? (isText ? undefined : findArgument(PAGE_ARGUMENTS, operation));
}

/** Lists the members that can hold a cursor or an address, those of inner objects last. */
function* walkMembers(
  holder: Located,
  files: DocumentFiles,
  at: MemberPath,
): Generator<readonly [at: MemberPath, schema: JsonSchema]> {
  const members = [...listMembers(holder, files)];
  const inner = at.length > 0 && /^(?:next|cursors?)$/.test(toPlain(at.at(-1) ?? ""));
  for (const [name, member] of members) {
    const plain = toPlain(name);
    const isCursor =
      NEXT_MEMBER.test(plain) ||
      CURSOR_MEMBERS.includes(plain) ||
      SAME_NAME.includes(plain) ||
      (inner && INNER_MEMBERS.includes(plain));
    const schema = toRecord(files.follow(member)?.value);
    const isValue =
      !isRecord(schema["properties"]) &&
      ![schema["type"]].flat().some((type) => type === "object" || type === "array" || type === "boolean");
    if (isCursor && isValue) yield [[...at, name], schema];
  }
  if (at.length === MAX_LEVELS) return;
  for (const [name, member] of members)
    if (CURSOR_HOLDERS.includes(toPlain(name))) yield* walkMembers(member, files, [...at, name]);
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
  const { properties, allOf } = toRecord(value);
  const parts = toList(allOf).flatMap((part) => [...listMembers({ value: part, file }, files, levels - 1)]);
  const own = Object.entries(toRecord(properties)).map(([name, each]) => [name, { value: each, file }] as const);
  return new Map([...parts, ...own]);
}

/** `nextPageToken`, `next_page_token` and `next-page-token` are one name. */
function toPlain(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
}

function words(text: string): readonly string[] {
  return text.split(" ");
}

const toText = (value: unknown): string => (typeof value === "string" ? value : "");
