import { docComment, indented } from "./text.ts";

/** Maximum members of a union; a longer one becomes its base type. */
export const MAX_MEMBERS = 100;

/** Maximum combinations in an intersection of unions; TypeScript expands them and fails at a hundred times this. */
const MAX_COMBINATIONS = 1_000;

const LINE_UNITS = 90;

/** The text of a type, with the facts needed to nest it in another type. */
export interface Type {
  readonly text: string;
  /** The outermost operator: determines where parentheses are needed. */
  readonly binding: "whole" | "intersection" | "union";
  /** Number of alternatives. */
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

/** True for `unknown` and `any`: in a union they absorb the rest, in an intersection they can be dropped. */
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

/** Writes an optional tuple element. */
export function optionalItem(item: Type): string {
  return item.binding === "whole" ? `${item.text}?` : `(${item.text})?`;
}

/** Writes an object type on one line, or one line per member if `mayBreak` and it has comments or is long. */
export function objectType(members: readonly ObjectMember[], mayBreak: boolean): Type {
  const texts = members.map(({ name, optional, type }) => `${name}${optional ? "?" : ""}: ${type.text}`);
  const short = `{ ${texts.join("; ")} }`;
  if (!mayBreak) return whole(short);
  const comments = members.map(({ comment }) => docComment([comment]));
  const fits = short.length <= LINE_UNITS && !short.includes("\n") && comments.every((comment) => comment === "");
  if (fits) return whole(short);
  return whole(`{\n${indented(texts.map((text, at) => `${comments[at]}${text};`).join("\n"))}\n}`);
}

function distinct(types: readonly Type[]): readonly Type[] {
  return types.length < 2 ? types : [...new Map(types.map((type) => [type.text, type])).values()];
}
