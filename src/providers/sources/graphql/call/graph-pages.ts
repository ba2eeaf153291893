import { SkillgateError } from "../../../../errors.ts";
import { isRecord, toRecord } from "../../../../model/json.ts";
import { type PageLimits, toWantedPage, type WantedItems, type WantedPage } from "../../pages/read-page.ts";
import type { CheckedDocument, ConnectionPages } from "../check/index.ts";

/** A call whose answer is a page of a connection. */
export interface GraphPageCall {
  /** `TrackerGraph.query` */
  readonly path: string;
  /** The arguments of the method. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly pages: ConnectionPages;
}

/** Items of a page, if a text has a variable for it and the program does not set it: most servers allow 100. */
const PAGE_ITEMS = 100;

/** Sets the variable for the size of a page, unless the program does. */
export function withSize(
  variables: unknown,
  { size }: ConnectionPages,
  [items]: PageLimits,
): Readonly<Record<string, unknown>> {
  const own = toRecord(variables);
  if (size === undefined || (own[size] ?? undefined) !== undefined) return own;
  return { ...own, [size]: Math.min(PAGE_ITEMS, items) };
}

/** Reads the page of an answer. */
export function readGraphPage(data: unknown, call: GraphPageCall, range: WantedItems): WantedPage {
  const { pages, path } = call;
  const list = findConnection(data, call)[pages.list];
  if (!Array.isArray(list))
    throw refusePages("PAGES_NONE", `The answer of ${path} has no list at ${[...pages.path, pages.list].join(".")}`);
  // A page that is read backward has its items in the order of the connection.
  const items: readonly unknown[] = pages.backward === true ? list.toReversed() : list;
  return toWantedPage(items, findNextArguments(data, call), range);
}

/** Returns the arguments of the next page; `undefined` after the last one. Throws `PAGES_REPEAT` if they would be those of this page. */
export function findNextArguments(data: unknown, call: GraphPageCall): Readonly<Record<string, unknown>> | undefined {
  const { pages, input, path } = call;
  const [more, at] = pages.backward === true ? ["hasPreviousPage", "startCursor"] : ["hasNextPage", "endCursor"];
  const info = toRecord(findConnection(data, call)["pageInfo"]);
  if (info[more] !== true) return undefined;
  const cursor = info[at];
  const variables = toRecord(input["variables"]);
  if (typeof cursor === "string" && cursor !== "" && cursor !== variables[pages.cursor])
    return { ...input, variables: { ...variables, [pages.cursor]: cursor } };
  const member = [...pages.path, "pageInfo", at].join(".");
  const flaw = cursor === variables[pages.cursor] ? "names the same page again" : "has no cursor of the next page";
  throw refusePages(
    "PAGES_REPEAT",
    `The answer of ${path} ${flaw}, ${member}: ${JSON.stringify(cursor)?.slice(0, 100)}`,
  );
}

function findConnection(data: unknown, { pages, path }: GraphPageCall): Readonly<Record<string, unknown>> {
  let value = data;
  for (const name of pages.path) value = isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  if (isRecord(value)) return value;
  throw refusePages("PAGES_NONE", `The answer of ${path} has nothing at ${pages.path.join(".")}`);
}

/** Creates the error for a text whose pages cannot be followed: what it lacks, and the text to write. */
export function refuseText(
  { text, fields: [field = "items"] }: Pick<CheckedDocument, "text" | "fields">,
  path: string,
): SkillgateError {
  const has = (...words: readonly RegExp[]): boolean => words.every((word) => word.test(text));
  const missing = [
    ...(has(/\b(?:after|before|cursor)\s*:\s*\$/) ? [] : ["an argument after: $after from a variable"]),
    ...(has(/\bpageInfo\b/, /\bhas(?:Next|Previous)Page\b/, /\b(?:end|start)Cursor\b/)
      ? []
      : ["pageInfo { hasNextPage endCursor }"]),
    ...(has(/\bnodes\b|\bedges\b/) ? [] : ["nodes { … } or edges { … }"]),
  ];
  const says =
    missing.length > 0
      ? `lacks ${missing.join(", and ")}`
      : "has more than one connection, or one inside of a list, or one without the names nodes, edges and pageInfo";
  const example = `query ($first: Int, $after: String) { ${field}(first: $first, after: $after) { nodes { id } pageInfo { hasNextPage endCursor } } }`;
  return refusePages(
    "PAGES_NONE",
    `pages of ${path} cannot follow this text: it ${says}. Write one connection, as in: ${example}`,
  );
}

/** Creates the error for pages that cannot be followed; a program catches it by its code. */
function refusePages(code: string, says: string): SkillgateError {
  return new SkillgateError("CALL_FAILED", `${says} (${code})`, { serverError: { code }, attempts: 1 });
}
