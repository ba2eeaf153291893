import { type Node, type ParseError, parseTree, printParseErrorCode } from "../../shared/package/jsonc.ts";

import { configError } from "../read-file.ts";
import type { ConfigDocument, Path } from "./index.ts";
import { createLineIndex } from "./line-index.ts";

/** Reads JSON, with or without comments and trailing commas. */
export function parseJson(text: string, label: string): ConfigDocument {
  const placeAt = createLineIndex(text);
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  const [first] = errors;
  if (first !== undefined) throw configError(label, inWords(first), placeAt(first.offset));
  if (root?.type !== "object") throw configError(label, "an object is expected", { line: 1, column: 1 });
  const members = createIndex();
  return {
    value: plainValue(root) as Record<string, unknown>,
    locate: (path) => placeAt(findOffset(root, path, members)),
    repeated: repeatedIn(root, []).map(({ path, offset }) => ({ path, location: placeAt(offset) })),
  };
}

/** `CommaExpected` → `comma expected` */
function inWords({ error }: ParseError): string {
  return printParseErrorCode(error)
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, " ")
    .toLowerCase();
}

/** Returns the node at a path; `undefined` if it does not exist. */
export function nodeAt(root: Node, path: Path, members = createIndex()): Node | undefined {
  let node: Node | undefined = root;
  for (const key of path) node = node && members(node, key);
  return node;
}

type Members = (node: Node, key: string | number) => Node | undefined;

/** Finds members of objects by name, however many there are. */
function createIndex(): Members {
  const cache = new WeakMap<Node, ReadonlyMap<string, Node>>();
  return (node, key) => {
    if (typeof key === "number") return node.type === "array" ? node.children?.[key] : undefined;
    let members = cache.get(node);
    if (members === undefined) {
      members = new Map(
        getProperties(node)
          .map((property) => [property.key, property.value] as const)
          .reverse(),
      );
      cache.set(node, members);
    }
    return members.get(key);
  };
}

export interface JsonProperty {
  /** Key and value. */
  readonly node: Node;
  readonly key: string;
  readonly value: Node;
}

export function getProperties(object: Node): readonly JsonProperty[] {
  if (object.type !== "object") return [];
  return (object.children ?? []).flatMap((node) => {
    const [key, value] = node.children ?? [];
    return key && value ? [{ node, key: String(key.value), value }] : [];
  });
}

/** Returns the offset of a value; for a property, that of its key. */
function findOffset(root: Node, path: Path, members: Members): number {
  for (let length = path.length; length > 0; length--) {
    const node = nodeAt(root, path.slice(0, length), members);
    if (node !== undefined) return node.parent?.type === "property" ? node.parent.offset : node.offset;
  }
  return root.offset;
}

/** The value of a node; `__proto__` is a key like any other, and of two equal keys the first counts. */
function plainValue(node: Node): unknown {
  if (node.type === "array") return (node.children ?? []).map(plainValue);
  if (node.type !== "object") return node.value;
  const members = new Map<string, Node>();
  for (const { key, value } of getProperties(node)) if (!members.has(key)) members.set(key, value);
  return Object.fromEntries([...members].map(([key, value]) => [key, plainValue(value)]));
}

function repeatedIn(node: Node, path: Path): readonly { readonly path: Path; readonly offset: number }[] {
  const keys = new Set<string>();
  return (node.children ?? []).flatMap((child, index) => {
    const [key, value] = child.type === "property" ? (child.children ?? []) : [];
    if (key === undefined || value === undefined) return repeatedIn(child, [...path, index]);
    const at = [...path, String(key.value)];
    const isRepeated = keys.has(String(key.value));
    keys.add(String(key.value));
    return isRepeated ? [{ path: at, offset: key.offset }] : repeatedIn(value, at);
  });
}
