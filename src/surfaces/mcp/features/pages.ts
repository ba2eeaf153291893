import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { truncateText } from "../../../shared/format-text.ts";

/** Items per page of a list. */
const PAGE = 500;

/** Returns one page of a list, under the name that the protocol uses for its items. */
export function listedPage<Name extends string, Item>(
  name: Name,
  items: readonly Item[],
  cursor: string | undefined,
): { [Key in Name]: Item[] } & { nextCursor?: string } {
  const start = cursor === undefined ? 0 : Number(cursor);
  if (!Number.isSafeInteger(start) || start < 0 || start > items.length)
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Invalid cursor: ${truncateText(String(cursor), 50)}`);
  const end = start + PAGE;
  const page = { [name]: items.slice(start, end) } as { [Key in Name]: Item[] };
  return end < items.length ? { ...page, nextCursor: String(end) } : page;
}
