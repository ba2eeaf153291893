import type { AnyNode } from "acorn";
import { literalValue } from "../ast/literals.ts";
import { literalName } from "../ast/walk.ts";
import type { CheckContext } from "../context.ts";

/** A value as the program writes it, so that a correction of one part repeats the others. */
export type WrittenValue =
  | { readonly kind: "leaf"; readonly value: unknown; readonly text: string }
  | { readonly kind: "object"; readonly members: ReadonlyMap<string, WrittenValue> }
  | { readonly kind: "list"; readonly items: readonly WrittenValue[] };

/** Members of a value, from the outside: `["filters", 0, "name"]`. */
export type ValuePath = readonly (string | number)[];

/** Longer expressions, and those of several lines, are shown as `…`. */
const MAX_LEAF_UNITS = 80;

/** Deeper values are not read. */
const MAX_DEPTH = 20;

const OMITTED = "…";

export function readWritten(node: AnyNode, context: CheckContext, depth = 0): WrittenValue {
  const { program, scopes } = context;
  const value = literalValue(node, scopes);
  const leaf: WrittenValue = { kind: "leaf", value, text: program.text.slice(node.start, node.end) };
  if (depth >= MAX_DEPTH) return leaf;
  if (node.type === "ArrayExpression" && Array.isArray(value)) {
    const items = node.elements.filter((element) => element !== null);
    return { kind: "list", items: items.map((item) => readWritten(item, context, depth + 1)) };
  }
  if (node.type !== "ObjectExpression" || typeof value !== "object") return leaf;
  const members = new Map<string, WrittenValue>();
  for (const property of node.properties) {
    if (property.type !== "Property" || property.kind !== "init" || property.method) return leaf;
    members.set(literalName(property.key, property.computed) ?? "", readWritten(property.value, context, depth + 1));
  }
  return { kind: "object", members };
}

export function toWritten(value: unknown): WrittenValue {
  if (Array.isArray(value)) return { kind: "list", items: value.map(toWritten) };
  if (typeof value !== "object" || value === null)
    return { kind: "leaf", value, text: JSON.stringify(value) ?? "undefined" };
  return { kind: "object", members: new Map(Object.entries(value).map(([key, inner]) => [key, toWritten(inner)])) };
}

/** The value, with `UNKNOWN` for parts that are known only at run time. */
export function toValue(written: WrittenValue): unknown {
  switch (written.kind) {
    case "leaf":
      return written.value;
    case "list":
      return written.items.map(toValue);
    case "object":
      // Unlike assignment, `fromEntries` keeps a key `__proto__` as data.
      return Object.fromEntries([...written.members].map(([name, member]) => [name, toValue(member)]));
  }
}

export function formatWritten(written: WrittenValue): string {
  switch (written.kind) {
    case "leaf":
      return written.text.length > MAX_LEAF_UNITS || written.text.includes("\n") ? OMITTED : written.text;
    case "list":
      return `[${written.items.map(formatWritten).join(", ")}]`;
    case "object": {
      const members = [...written.members].map(([name, member]) => formatMember(name, formatWritten(member)));
      return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
    }
  }
}

function formatMember(name: string, text: string): string {
  if (name === text) return name;
  // In a literal, a bare `__proto__` would set the prototype.
  if (name === "__proto__") return `["__proto__"]: ${text}`;
  return `${/^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name) ? name : JSON.stringify(name)}: ${text}`;
}

export function findWritten(path: ValuePath, written: WrittenValue): WrittenValue | undefined {
  const [key, ...rest] = path;
  if (key === undefined) return written;
  const inner =
    written.kind === "list"
      ? written.items[Number(key)]
      : written.kind === "object"
        ? written.members.get(String(key))
        : undefined;
  return inner && findWritten(rest, inner);
}

/** Returns a copy with another value at a path; without one, the member is removed. */
export function replaceWritten(path: ValuePath, written: WrittenValue, value: WrittenValue | undefined): WrittenValue {
  const [key, ...rest] = path;
  if (key === undefined) return value ?? written;
  if (written.kind === "list") {
    return {
      kind: "list",
      items: written.items.map((item, at) => (at === key ? replaceWritten(rest, item, value) : item)),
    };
  }
  if (written.kind !== "object") return written;
  const name = String(key);
  const members = new Map(written.members);
  const inner = members.get(name);
  const changed = rest.length === 0 || inner === undefined ? value : replaceWritten(rest, inner, value);
  if (changed === undefined) members.delete(name);
  else members.set(name, changed);
  return { kind: "object", members };
}

/** Returns a copy in which a member has another name, at the same position. */
export function renameWritten(path: ValuePath, written: WrittenValue, name: string): WrittenValue {
  const holder = findWritten(path.slice(0, -1), written);
  if (holder?.kind !== "object") return written;
  const members = [...holder.members].map(([key, member]) => [key === path.at(-1) ? name : key, member] as const);
  return replaceWritten(path.slice(0, -1), written, { kind: "object", members: new Map(members) });
}
