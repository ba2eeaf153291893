import { RESPONSE_ARGUMENT } from "../../../model/skill.ts";
import type { ApiOperation } from "../openapi/operation.ts";
import { type ApiResponse, findNextPage, getItems, type PageCall, refusePages } from "./next-page.ts";

/** How much of a list a program still wants, as `pages` of the sandbox writes it: `[items, pages]`. */
export type PageLimits = readonly [items: number, pages: number];

/** A page as `pages` of the sandbox reads it. */
export interface WantedPage {
  readonly items: readonly unknown[];
  /** The arguments of the next page; null after the last one that is wanted. */
  readonly next: Readonly<Record<string, unknown>> | null;
}

export interface WantedItems {
  readonly limits: PageLimits;
  /** Called if the API has more than the program wants. */
  readonly onCut: () => void;
}

/** Asks for as many items as one page can have and the program wants, unless its arguments say how many. */
export function withPageSize(
  input: Readonly<Record<string, unknown>>,
  { size }: PageCall["pages"],
  [items]: PageLimits,
): Readonly<Record<string, unknown>> {
  if (size === undefined || input[size.argument] !== undefined) return input;
  return { ...input, [size.argument]: Math.min(size.max, items) };
}

/** Reads the page of an answer. */
export function readPage(response: ApiResponse, call: PageCall, range: WantedItems): WantedPage {
  const list = getItems(response, call.pages) ?? refuseBody(call.operation, call.pages.items);
  return toWantedPage(list, findNextPage(response, call), range);
}

/** Ends the pages where the program does not want more. */
export function toWantedPage(
  list: readonly unknown[],
  next: Readonly<Record<string, unknown>> | undefined,
  { limits: [itemsLeft, pagesLeft], onCut }: WantedItems,
): WantedPage {
  const left = itemsLeft - list.length;
  const isCut = left < 0 || (next !== undefined && (left === 0 || pagesLeft <= 1));
  if (isCut) onCut();
  return {
    items: left < 0 ? list.slice(0, itemsLeft) : list,
    next: next === undefined || isCut ? null : { ...next, [RESPONSE_ARGUMENT]: [left, pagesLeft - 1] },
  };
}

function refuseBody(operation: ApiOperation, items: readonly string[]): never {
  const where = items.length === 0 ? "is no list" : `has no list at ${items.join(".")}`;
  throw refusePages("PAGES_NONE", operation, `${where}; ask the owner to correct "pages" of this source`);
}
