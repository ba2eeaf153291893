import { splitPointer } from "../../../shared/json/split-pointer.ts";
import { isRecord } from "../../../model/json.ts";

/** A value of a document, and the URL of the file that it stands in, from which its references lead on. */
export interface Located {
  readonly value: unknown;
  readonly file: string;
}

const MAX_REFERENCES_IN_A_ROW = 32;

/** The files of a document: the document itself, and those that its references lead to. */
export class DocumentFiles {
  readonly root: Located;
  readonly #files: ReadonlyMap<string, unknown>;

  /** `files` has the parsed content of each file by its URL, the document itself first. */
  constructor(files: ReadonlyMap<string, unknown>) {
    const [first] = files;
    if (first === undefined) throw new Error("A document has at least one file");
    this.root = { file: first[0], value: first[1] };
    this.#files = files;
  }

  /** Follows references up to a value that is not a reference. Returns `undefined` if one leads nowhere, or in a circle. */
  follow({ value, file }: Located): Located | undefined {
    let at: Located = { value, file };
    for (let step = 0; isReference(at.value); step++) {
      const next = step < MAX_REFERENCES_IN_A_ROW ? this.find(at.value.$ref, at.file) : undefined;
      if (next === undefined) return undefined;
      at = next;
    }
    return at;
  }

  /** Returns what a reference in a file leads to; `undefined` if it leads nowhere. */
  find(reference: string, file: string): Located | undefined {
    const key = resolveReference(reference, file);
    if (key === undefined) return undefined;
    const [url, pointer] = splitKey(key);
    if (!this.#files.has(url)) return undefined;
    let value = this.#files.get(url);
    for (const name of parsePointer(pointer)) {
      if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
      value = (value as Readonly<Record<string, unknown>>)[name];
    }
    return value === undefined ? undefined : { value, file: url };
  }
}

/** All objects and lists in a parsed value, itself included. */
export function* walkObjects(value: unknown): Iterable<Readonly<Record<string, unknown>>> {
  const open: unknown[] = [value];
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    if (typeof part !== "object" || part === null) continue;
    yield part as Readonly<Record<string, unknown>>;
    for (const each of Object.values(part)) if (typeof each === "object" && each !== null) open.push(each);
  }
}

export interface Reference {
  readonly $ref: string;
}

export function isReference(value: unknown): value is Reference {
  return isRecord(value) && typeof value["$ref"] === "string";
}

/**
 * Returns the location that a reference in a file means, as the URL of its file and a JSON pointer: the same text for the same
 * location. Returns `undefined` for a text that is not a URL.
 */
export function resolveReference(reference: string, file: string): string | undefined {
  if (reference.startsWith("#")) return file + reference;
  if (!URL.canParse(reference, file)) return undefined;
  const url = new URL(reference, file);
  const pointer = url.hash || "#";
  url.hash = "";
  return url.href + pointer;
}

/** Splits a location into the URL of its file and a JSON pointer. */
export function splitKey(key: string): readonly [file: string, pointer: string] {
  const hash = key.indexOf("#");
  return [key.slice(0, hash), key.slice(hash + 1)];
}

/** Splits a JSON pointer (RFC 6901) in a fragment of a URL into names. */
function parsePointer(pointer: string): readonly string[] {
  return pointer.startsWith("/") ? splitPointer(pointer) : [];
}
