import {
  type Document,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Pair,
  parseDocument,
  visit,
  type YAMLMap,
} from "yaml";

import { messageOf } from "../../errors.ts";
import { isRecord } from "../../model/json.ts";
import { invalid } from "../file.ts";
import type { ConfigDocument, Path } from "./index.ts";

/** Aliases of aliases of aliases must not grow beyond this. */
const MOST_ALIASES = 100;

/** Reads one YAML document, a map. */
export function parseYaml(text: string, label: string): ConfigDocument {
  const lines = new LineCounter();
  const document = readYaml(text, lines);
  const placeAt = (offset: number): { line: number; column: number } => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  const wrong = document.errors[0] ?? document.warnings[0] ?? repeatedKey(document);
  if (wrong !== undefined) throw invalid(label, wrong.message, placeAt(wrong.pos[0]));
  const value: unknown = plainValue(document, label) ?? {};
  if (!isRecord(value)) throw invalid(label, "sections are expected", { line: 1, column: 1 });
  const pairs = createIndex();
  return { value, placeOf: (path) => placeAt(offsetOf(document, path, pairs)), repeated: [] };
}

/** Without a look at its mistakes. The parser compares every key of a map with every other one; that is done faster below. */
export function readYaml(text: string, lineCounter = new LineCounter()): Document {
  return parseDocument(text, { schema: "core", uniqueKeys: false, prettyErrors: false, lineCounter });
}

interface Mistake {
  readonly message: string;
  readonly pos: readonly [start: number, end?: number];
}

function repeatedKey(document: Document): Mistake | undefined {
  let found: Mistake | undefined;
  visit(document, {
    Map(_key, map) {
      const keys = new Set<unknown>();
      for (const { key } of map.items) {
        const name = isScalar(key) ? key.value : key;
        if (keys.has(name)) found ??= { message: `the key "${String(name)}" is there twice`, pos: [startOf(key) ?? 0] };
        keys.add(name);
      }
      return found === undefined ? undefined : visit.BREAK;
    },
  });
  return found;
}

function plainValue(document: Document, label: string): unknown {
  try {
    return document.toJS({ maxAliasCount: MOST_ALIASES });
  } catch (thrown) {
    if (thrown instanceof ReferenceError) throw invalid(label, messageOf(thrown));
    throw thrown;
  }
}

type Pairs = (map: YAMLMap, key: unknown) => Pair | undefined;

/** Finds pairs by their keys, however many there are. */
function createIndex(): Pairs {
  const known = new WeakMap<YAMLMap, ReadonlyMap<unknown, Pair>>();
  return (map, key) => {
    let pairs = known.get(map);
    if (pairs === undefined) {
      pairs = new Map(map.items.map((pair) => [isScalar(pair.key) ? pair.key.value : pair.key, pair]));
      known.set(map, pairs);
    }
    return pairs.get(key);
  };
}

function offsetOf(document: Document, path: Path, pairs: Pairs): number {
  let node: unknown = document.contents;
  let offset = startOf(node) ?? 0;
  for (const key of path) {
    const pair = isMap(node) ? pairs(node, key) : undefined;
    const member = pair?.value ?? (isSeq(node) && typeof key === "number" ? node.items[key] : undefined);
    offset = startOf(pair?.key ?? member) ?? offset;
    if (member == null) break;
    node = member;
  }
  return offset;
}

function startOf(item: unknown): number | undefined {
  return isNode(item) ? item.range?.[0] : undefined;
}
