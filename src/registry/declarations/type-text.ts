import { docComment, indented } from "./text.ts";

/** Members of a union that are written out; a longer one says no more than its base type. */
export const MAX_MEMBERS = 100;

/** TypeScript multiplies the unions of an intersection out, and gives up at a hundred times this. */
const MAX_COMBINATIONS = 1_000;

const LINE_UNITS = 90;

/** The text of a type, and what must be known to put it into another. */
export interface Type {
  readonly text: string;
  /** How loosely its parts are bound: what must stand in parentheses where. */
  readonly binding: "whole" | "intersection" | "union";
  /** The number of its alternatives. */
  readonly width: number;
}

export interface ObjectMember {
  readonly name: string;
  readonly optional: boolean;
  readonly type: Type;
  readonly comment: string;
}

export const UNKNOWN: Type = whole("unknown");
export const ANY: Type = whole("any");
export const NEVER: Type = whole("never");
export const NULL: Type = whole("null");

export function whole(text: string, width = 1): Type {
  return { text, binding: "whole", width };
}

/** True for a type that says nothing: in a union it swallows the rest, in an intersection it can be left out. */
export function saysNothing(type: Type): boolean {
  return type.text === "unknown" || type.text === "any";
}

export function union(types: readonly Type[]): Type {
  const nothing = types.find(saysNothing);
  if (nothing !== undefined) return nothing;
  const members = distinct(types).filter((type) => type !== NEVER);
  const [first, ...others] = members;
  if (first === undefined) return NEVER;
  if (others.length === 0) return first;
  if (members.length > MAX_MEMBERS) return UNKNOWN;
  const width = members.reduce((sum, type) => sum + type.width, 0);
  return { text: members.map((type) => type.text).join(" | "), binding: "union", width };
}

export function intersection(types: readonly Type[]): Type {
  let width = 1;
  const members = distinct(types).filter((type) => {
    if (saysNothing(type) || width * type.width > MAX_COMBINATIONS) return false;
    width *= type.width;
    return true;
  });
  const [first, ...others] = members;
  if (first === undefined) return types.find(saysNothing) ?? UNKNOWN;
  if (others.length === 0) return first;
  const text = members.map((type) => (type.binding === "union" ? `(${type.text})` : type.text)).join(" & ");
  return { text, binding: "intersection", width };
}

export function arrayType(item: Type): Type {
  return whole(item.binding === "whole" ? `${item.text}[]` : `(${item.text})[]`);
}

/** A place of a tuple that may be missing. */
export function optionalItem(item: Type): string {
  return item.binding === "whole" ? `${item.text}?` : `(${item.text})?`;
}

/** An object type on one line; with comments, or if it is long, one line per member where that is allowed. */
export function objectType(members: readonly ObjectMember[], mayBreak: boolean): Type {
  const lines = members.map(({ name, optional, type, comment }) => ({
    comment: docComment([comment]),
    text: `${name}${optional ? "?" : ""}: ${type.text}`,
  }));
  const short = `{ ${lines.map((line) => line.text).join("; ")} }`;
  const fits = short.length <= LINE_UNITS && !short.includes("\n") && lines.every((line) => line.comment === "");
  if (fits || !mayBreak) return whole(short);
  return whole(`{\n${indented(lines.map((line) => `${line.comment}${line.text};`).join("\n"))}\n}`);
}

function distinct(types: readonly Type[]): readonly Type[] {
  return [...new Map(types.map((type) => [type.text, type])).values()];
}
