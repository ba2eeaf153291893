import type { MemberPath } from "./page-style.ts";

const NEXT_MEMBER = /^(?:odata)?next(?:page|results?|cursor|token|link|url|uri|href|key|marker|offset|start|path)*$/;
const CURSOR_MEMBERS = words("endcursor continuationtoken continuation continue scrollid paginationtoken");

/** Members that are a cursor only if the operation has an argument of the same name. */
const SAME_NAMES = words("cursor bookmark marker offset");

/** Members of a member `next` or `cursors`. */
const INNER_MEMBERS = words("href url uri link after startingafter cursor token page offset");

/** Objects in which a cursor can be. */
const HOLDERS = words(
  "paging pagination paginator page pages pageinfo pagemeta meta metadata responsemetadata resultinfo links cursors cursor next nextpage navigation data result results response",
);

const MAX_LEVELS = 3;

/**
 * Lists the members of a body, or of its schema, that can hold a cursor or the address of the next page, those of inner objects
 * last. `items` leads to the list of the page, beside which a cursor can be, too.
 */
export function* walkCursors<Node>(
  node: Node,
  items: MemberPath,
  listMembers: (node: Node) => Iterable<readonly [name: string, member: Node]>,
  at: MemberPath = [],
): Generator<readonly [at: MemberPath, member: Node]> {
  const members = [...listMembers(node)];
  const isInner = at.length > 0 && /^(?:next|nextpage|cursors?)$/.test(toPlainName(at.at(-1) ?? ""));
  for (const [name, member] of members) {
    const plain = toPlainName(name);
    const isCursor = NEXT_MEMBER.test(plain) || CURSOR_MEMBERS.includes(plain) || SAME_NAMES.includes(plain);
    if (isCursor || (isInner && INNER_MEMBERS.includes(plain))) yield [[...at, name], member];
  }
  if (at.length === MAX_LEVELS) return;
  for (const [name, member] of members)
    if (HOLDERS.includes(toPlainName(name)) || (at.length === 0 && items.length > 1 && name === items[0]))
      yield* walkCursors(member, items, listMembers, [...at, name]);
}

/** True for a member that is something else unless an argument has its name; inside of `next`, it is a cursor. */
export function needsSameName(at: MemberPath): boolean {
  return at.length === 1 && SAME_NAMES.includes(toPlainName(at[0] ?? ""));
}

/** `nextPageToken`, `next_page_token` and `next-page-token` are one name. */
export function toPlainName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
}

export function words(text: string): readonly string[] {
  return text.split(" ");
}
