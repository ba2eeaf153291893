import { isRecord } from "../../model/json.ts";
import { pointerTo } from "../json-pointer.ts";
import { DescribedParts, type Evaluation, type Finding, type ValueLocation } from "./evaluation.ts";
import type { SchemaDocument } from "./schema-document.ts";

/** Applies one keyword to a value. Returns false if the value does not satisfy it, after the findings were reported. */
export type Check = (
  value: unknown,
  location: ValueLocation,
  run: Evaluation,
  described: DescribedParts | undefined,
) => boolean;

/**
 * Creates the check of a keyword, and adds the schemas that it applies to `parts`. Returns `undefined` if there is nothing to check,
 * and what its value must be, as a text, if that is invalid.
 */
export type SchemaKeyword = (value: unknown, node: SchemaNode, parts: SchemaNode[]) => Check | string | undefined;

/** A schema within a document. Its keywords are read when it is first applied: most parts of a large schema never are. */
export class SchemaNode {
  readonly schema: unknown;
  readonly document: SchemaDocument;
  /** The schema with an identifier that this one is in, by which references are resolved. */
  readonly resource: SchemaNode;
  readonly #path: string | PathBelow;
  #content: NodeContent | undefined;

  constructor(
    schema: unknown,
    document: SchemaDocument,
    { path, resource }: { readonly path: string | PathBelow; readonly resource?: SchemaNode },
  ) {
    this.schema = schema;
    this.document = document;
    this.#path = path;
    this.resource = resource !== undefined && !hasIdentifier(schema) ? resource : this;
  }

  /** The place in the document: `#/properties/query`. */
  get path(): string {
    if (typeof this.#path === "string") return this.#path;
    const { above, key } = this.#path;
    return `${above.path}/${key}`;
  }

  /** Why the schema is not checked; `undefined` if it is. */
  get fault(): string | undefined {
    return this.#open().fault;
  }

  /** The schemas that this one applies. */
  get parts(): readonly SchemaNode[] {
    return this.#open().parts;
  }

  /** Returns a value of the schema; `undefined` for one without. */
  get(keyword: string): unknown {
    return isRecord(this.schema) && Object.hasOwn(this.schema, keyword) ? this.schema[keyword] : undefined;
  }

  /** Creates the node of a schema below a keyword, or below a name or an index in it. */
  createPart(schema: unknown, keyword: string, key?: string | number): SchemaNode {
    const path = { above: this, key: key === undefined ? keyword : keyword + pointerTo("", String(key)) };
    if (hasIdentifier(schema)) return this.document.nodeAt(schema, `${this.path}/${path.key}`, this.resource);
    return new SchemaNode(schema, this.document, { path, resource: this.resource });
  }

  /** Checks a value. What its schemas describe is added to `into`, if it is valid. */
  evaluate(value: unknown, location: ValueLocation, run: Evaluation, into?: DescribedParts): boolean {
    if (this.schema === true) return true;
    if (this.schema === false) return this.report(FALSE_SCHEMA, { value, location, run });
    const { checks } = this.#open();
    const described = this.document.describes ? new DescribedParts() : undefined;
    const isOther = run.resources.at(-1) !== this.resource;
    if (isOther) run.resources.push(this.resource);
    run.enter(value);
    let isValid = true;
    for (const check of checks) if (!check(value, location, run, described)) isValid = false;
    run.leave();
    if (isOther) run.resources.pop();
    if (isValid && described !== undefined) into?.add(described);
    return isValid;
  }

  /** True for a value that needs no further check: the schema asks for its type, and for nothing else. */
  accepts(value: unknown, run: Evaluation): boolean {
    const { test } = this.#open();
    if (test === undefined) return false;
    run.step();
    return test(value);
  }

  /** Reports that a value does not satisfy a keyword. */
  report(
    keyword: string,
    at: { readonly value: unknown; readonly location: ValueLocation; readonly run: Evaluation },
    params: Finding["params"] = {},
  ): false {
    const parent = isRecord(this.schema) ? this.schema : {};
    const schema = keyword === FALSE_SCHEMA ? false : parent[keyword];
    const schemaPath = `${this.path}/${keyword}`;
    return at.run.report({ keyword, schemaPath, params, schema, parent, data: at.value }, at.location);
  }

  #open(): NodeContent {
    return (this.#content ??= this.document.read(this));
  }
}

export interface NodeContent {
  readonly checks: readonly Check[];
  readonly parts: readonly SchemaNode[];
  readonly fault: string | undefined;
  /** The test of a schema that only asks for a type. */
  readonly test?: ((value: unknown) => boolean) | undefined;
}

interface PathBelow {
  readonly above: SchemaNode;
  readonly key: string;
}

const FALSE_SCHEMA = "false schema";

/** True for a schema that begins a resource of its own. */
export function hasIdentifier(schema: unknown): boolean {
  return isRecord(schema) && typeof schema["$id"] === "string" && !schema["$id"].startsWith("#");
}
