import type { JsonSchema } from "../../../model/json.ts";
import type { Files } from "./files.ts";
import { ANY, type Bound, type Reader, type Scope, type Shape } from "./reader.ts";
import { SHAPE_NODES } from "./shape-nodes.ts";
import { type SyntaxNode, textOf } from "./syntax.ts";
import { TYPE_NODES } from "./type-nodes.ts";

const DEEPEST = 40;

/** A type that cannot be read: what has it, where it stands, why it cannot be read, and what to do about it. */
export interface Unreadable {
  /** `parameter "city"`. */
  readonly subject: string;
  readonly file: string;
  readonly line: number;
  /** The type as it was written; empty where there is none. */
  readonly text: string;
  readonly why: string;
  readonly mend: string;
}

const PLAIN_DATA = "write it out as plain data, such as { city: string }";

/** A declared type that has been read, or is being read while there is no schema yet. */
interface Named {
  readonly name: string;
  /** It contains itself, so it needs a definition. */
  isUsed: boolean;
  schema: JsonSchema | undefined;
}

/** Reads the types of one method's input, or of its result. Types that contain themselves end up in `defs`. */
export class TypeReader implements Reader {
  readonly side: Reader["side"];
  readonly files: Files;
  readonly defs = new Map<string, JsonSchema>();
  depth = 0;
  /** What is being read, for whoever must mend it. */
  subject = "";
  readonly #complain: (unreadable: Unreadable) => void;
  #isTooFar = false;
  readonly #named = new Map<string, Named>();

  constructor(side: Reader["side"], files: Files, complain: (unreadable: Unreadable) => void) {
    this.side = side;
    this.files = files;
    this.#complain = complain;
  }

  type(node: SyntaxNode | undefined, scope: Scope): JsonSchema {
    if (node === undefined) return ANY;
    const read = TYPE_NODES.get(node.type);
    if (read === undefined) return this.unreadable(node, scope, "it is not plain data");
    return this.#deeper(node, scope, () => read(node, scope, this)) ?? ANY;
  }

  shape(node: SyntaxNode | undefined, scope: Scope): Shape | undefined {
    const read = SHAPE_NODES.get(node?.type ?? "");
    return node && read && this.#deeper(node, scope, () => read(node, scope, this));
  }

  unreadable(node: SyntaxNode, scope: Scope, why: string, mend = PLAIN_DATA): JsonSchema {
    const { file } = scope.source;
    return this.report({ file, line: node.loc.start.line, text: textOf(scope.source, node), why, mend });
  }

  report(unreadable: Omit<Unreadable, "subject">): JsonSchema {
    this.#complain({ subject: this.subject, ...unreadable });
    return ANY;
  }

  named(name: string, key: string, read: () => JsonSchema, place: Bound): JsonSchema {
    const known = this.#named.get(key);
    if (known !== undefined) {
      if (known.schema !== undefined) return known.schema;
      known.isUsed = true;
      return { $ref: `#/$defs/${known.name}` };
    }
    const entry: Named = { name: this.#freeName(name), isUsed: false, schema: undefined };
    this.#named.set(key, entry);
    const found = read();
    const schema = isTooLarge(found) ? this.#tooFar(place.node, place.scope) : found;
    if (entry.isUsed) this.defs.set(entry.name, schema);
    entry.schema = entry.isUsed ? { $ref: `#/$defs/${entry.name}` } : schema;
    return entry.schema;
  }

  /** Once is enough: what unfolds without end does so in many places. */
  #tooFar(node: SyntaxNode, { source: { file } }: Scope): JsonSchema {
    if (!this.#isTooFar)
      this.report({ file, line: node.loc.start.line, text: "", why: "it unfolds without end", mend: PLAIN_DATA });
    this.#isTooFar = true;
    return ANY;
  }

  #freeName(name: string): string {
    const taken = new Set([...this.#named.values()].map((named) => named.name));
    for (let number = 1; ; number++) {
      const free = number === 1 ? name : `${name}_${number}`;
      if (!taken.has(free)) return free;
    }
  }

  #deeper<T>(node: SyntaxNode, scope: Scope, read: () => T): T | undefined {
    if (this.depth >= DEEPEST || !this.files.step()) {
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

/** More parts than any type has that a person wrote out, and few enough to be sent and shown. */
const MOST_PARTS = 5_000;

/** Counts what the schema would be once written out: parts that are shared count each time. */
function isTooLarge(schema: JsonSchema): boolean {
  const open: unknown[] = [schema];
  for (let parts = 0; open.length > 0; parts++) {
    if (parts > MOST_PARTS) return true;
    const part = open.pop();
    if (typeof part === "object" && part !== null) open.push(...Object.values(part));
  }
  return false;
}
