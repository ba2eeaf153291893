import type { JsonSchema } from "../../../model/json.ts";
import type { FileReader } from "./files.ts";
import { ANY, type ScopedType, type SchemaReader, type TypeScope, type ObjectShape } from "./reader.ts";
import { SHAPE_NODES } from "./shape-nodes.ts";
import { type SyntaxNode, getText } from "./syntax.ts";
import { TYPE_NODES } from "./type-nodes.ts";

const MAX_DEPTH = 40;

/** A type that cannot be read: its owner, its position, the reason and the fix. */
export interface Unreadable {
  /** `parameter "city"`. */
  readonly subject: string;
  readonly file: string;
  readonly line: number;
  /** The source text of the type; empty without a type. */
  readonly text: string;
  readonly why: string;
  readonly fix: string;
}

const PLAIN_DATA = "write it out as plain data, such as { city: string }";

/** A declared type that has been read, or is being read if it has no schema yet. */
interface NamedType {
  readonly name: string;
  /** True if it contains itself and needs a definition. */
  isUsed: boolean;
  schema: JsonSchema | undefined;
}

/** Reads the types of one method's input or result. Recursive types are put in `defs`. */
export class TypeReader implements SchemaReader {
  readonly side: SchemaReader["side"];
  readonly files: FileReader;
  readonly defs = new Map<string, JsonSchema>();
  depth = 0;
  /** The value whose type is being read, for reports. */
  subject = "";
  readonly #complain: (unreadable: Unreadable) => void;
  #isTooFar = false;
  readonly #definitions = new Map<string, NamedType>();

  constructor(side: SchemaReader["side"], files: FileReader, complain: (unreadable: Unreadable) => void) {
    this.side = side;
    this.files = files;
    this.#complain = complain;
  }

  type(node: SyntaxNode | undefined, scope: TypeScope): JsonSchema {
    if (node === undefined) return ANY;
    const read = TYPE_NODES.get(node.type);
    if (read === undefined) return this.unreadable(node, scope, "it is not plain data");
    return this.#deeper(node, scope, () => read(node, scope, this)) ?? ANY;
  }

  shape(node: SyntaxNode | undefined, scope: TypeScope): ObjectShape | undefined {
    const read = SHAPE_NODES.get(node?.type ?? "");
    return node && read && this.#deeper(node, scope, () => read(node, scope, this));
  }

  unreadable(node: SyntaxNode, scope: TypeScope, why: string, fix = PLAIN_DATA): JsonSchema {
    const { file } = scope.source;
    return this.report({ file, line: node.loc.start.line, text: getText(scope.source, node), why, fix });
  }

  report(unreadable: Omit<Unreadable, "subject">): JsonSchema {
    this.#complain({ subject: this.subject, ...unreadable });
    return ANY;
  }

  define(name: string, key: string, read: () => JsonSchema, use: ScopedType): JsonSchema {
    const existing = this.#definitions.get(key);
    if (existing !== undefined) {
      if (existing.schema !== undefined) return existing.schema;
      existing.isUsed = true;
      return { $ref: `#/$defs/${existing.name}` };
    }
    const entry: NamedType = { name: this.#freeName(name), isUsed: false, schema: undefined };
    this.#definitions.set(key, entry);
    const found = read();
    const schema = isTooLarge(found) ? this.#tooFar(use.node, use.scope) : found;
    if (entry.isUsed) this.defs.set(entry.name, schema);
    entry.schema = entry.isUsed ? { $ref: `#/$defs/${entry.name}` } : schema;
    return entry.schema;
  }

  /** Reports an infinite type once; it usually occurs in many places. */
  #tooFar(node: SyntaxNode, { source: { file } }: TypeScope): JsonSchema {
    if (!this.#isTooFar)
      this.report({ file, line: node.loc.start.line, text: "", why: "it expands without end", fix: PLAIN_DATA });
    this.#isTooFar = true;
    return ANY;
  }

  #freeName(name: string): string {
    const used = new Set([...this.#definitions.values()].map((definition) => definition.name));
    for (let number = 1; ; number++) {
      const free = number === 1 ? name : `${name}_${number}`;
      if (!used.has(free)) return free;
    }
  }

  #deeper<T>(node: SyntaxNode, scope: TypeScope, read: () => T): T | undefined {
    if (this.depth >= MAX_DEPTH || !this.files.step()) {
      this.#tooFar(node, scope);
      return undefined;
    }
    this.depth++;
    try {
      return read();
    } finally {
      this.depth--;
    }
  }
}

/** Size limit of a schema: larger than any hand-written type, small enough to send and show. */
const MAX_PARTS = 5_000;

/** Checks the size of the serialized schema: shared parts count each time. */
function isTooLarge(schema: JsonSchema): boolean {
  const open: unknown[] = [schema];
  for (let parts = 0; open.length > 0; parts++) {
    if (parts > MAX_PARTS) return true;
    const part = open.pop();
    if (typeof part === "object" && part !== null) open.push(...Object.values(part));
  }
  return false;
}
