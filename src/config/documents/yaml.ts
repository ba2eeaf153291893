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
} from "../../shared/package/yaml.ts";

import { getMessage } from "../../errors.ts";
import { isRecord } from "../../model/json.ts";
import { configError } from "../read-file.ts";
import type { ConfigDocument, Path } from "./index.ts";

/** Aliases of aliases of aliases must not grow beyond this. */
const MAX_ALIASES = 100;

/** Reads one YAML document, a map. */
export function parseYaml(text: string, label: string): ConfigDocument {
  const lines = new LineCounter();
  const document = readYaml(text, lines);
  const placeAt = (offset: number): { line: number; column: number } => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  const wrong = document.errors[0] ?? document.warnings[0] ?? repeatedKey(document);
  if (wrong !== undefined) throw configError(label, wrong.message, placeAt(wrong.pos[0]));
  const value: unknown = plainValue(document, label) ?? {};
  if (!isRecord(value)) throw configError(label, "sections are expected", { line: 1, column: 1 });
  const pairs = createIndex();
  return { value, locate: (path) => placeAt(findOffset(document, path, pairs)), repeated: [] };
}

/** Without a look at its mistakes. The parser compares every key of a map with every other one; that is done faster below. */
export function readYaml(text: string, lineCounter = new LineCounter()): Document {
  return parseDocument(text, { schema: "core", uniqueKeys: false, prettyErrors: false, lineCounter });
}

interface YamlMistake {
  readonly message: string;
  readonly pos: readonly [start: number, end?: number];
}

function repeatedKey(document: Document): YamlMistake | undefined {
  let found: YamlMistake | undefined;
  visit(document, {
    Map(_key, map) {
      const keys = new Set<unknown>();
      for (const { key } of map.items) {
        const name = isScalar(key) ? key.value : key;
        if (keys.has(name)) found ??= { message: `the key "${String(name)}" appears twice`, pos: [getStart(key) ?? 0] };
        keys.add(name);
      }
      return found === undefined ? undefined : visit.BREAK;
    },
  });
  return found;
}

function plainValue(document: Document, label: string): unknown {
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch (thrown) {
    if (thrown instanceof ReferenceError) throw configError(label, getMessage(thrown));
    throw thrown;
  }
}

type Pairs = (map: YAMLMap, key: unknown) => Pair | undefined;

/** Finds pairs by their keys, however many there are. */
function createIndex(): Pairs {
  const cache = new WeakMap<YAMLMap, ReadonlyMap<unknown, Pair>>();
  return (map, key) => {
    let pairs = cache.get(map);
    if (pairs === undefined) {
      pairs = new Map(map.items.map((pair) => [isScalar(pair.key) ? pair.key.value : pair.key, pair]));
      cache.set(map, pairs);
    }
    return pairs.get(key);
  };
}

function findOffset(document: Document, path: Path, pairs: Pairs): number {
  let node: unknown = document.contents;
  let offset = getStart(node) ?? 0;
  for (const key of path) {
    const pair = isMap(node) ? pairs(node, key) : undefined;
    const member = pair?.value ?? (isSeq(node) && typeof key === "number" ? node.items[key] : undefined);
    offset = getStart(pair?.key ?? member) ?? offset;
    if (member == null) break;
    node = member;
  }
  return offset;
}

function getStart(item: unknown): number | undefined {
  return isNode(item) ? item.range?.[0] : undefined;
}
