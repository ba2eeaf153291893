import { isRecord, type JsonSchema } from "../../model/json.ts";
import { createPattern, createTextTest, MIDDLE_TEXT, type Pattern } from "../patterns.ts";
import type { TimeBudget } from "../time-budget.ts";
import { parsePointer } from "../json-pointer.ts";
import { listKeywords } from "./keywords.ts";
import { hasIdentifier, type NodeContent, SchemaNode } from "./schema-node.ts";
import { createTypeTest } from "./value-keywords.ts";

/** The keywords whose values are schemas by name. */
const SCHEMAS_BY_NAME: ReadonlySet<string> = new Set([
  "$defs",
  "definitions",
  "properties",
  "patternProperties",
  "dependentSchemas",
  "dependencies",
]);

/** The keywords whose values are no schemas, although they may look like some. */
const VALUES: ReadonlySet<string> = new Set(["const", "default", "enum", "example", "examples"]);

/** Stands for the address of a schema without one. */
const OWN_ADDRESS = "schema:";

/** At most this many schemas are searched for mistakes before a value is checked; the others are, when one is applied. */
const MAX_SEARCHED = 2_000;

/** A schema with all that its references lead to. References to other documents lead nowhere: none is ever fetched. */
export class SchemaDocument {
  readonly root: SchemaNode;
  /** True if a check must know what other schemas describe. */
  readonly describes: boolean;
  readonly #budget: TimeBudget;
  readonly #patterns = new Map<string, Pattern>();
  readonly #nodes = new Map<unknown, SchemaNode>();
  #resources: ReadonlyMap<string, SchemaNode> | undefined;
  /** The addresses of the schemas with an identifier. */
  readonly #addresses = new Map<SchemaNode, string>();
  readonly #anchors = new Map<SchemaNode, Map<string, Anchor>>();

  constructor(schema: JsonSchema, budget: TimeBudget) {
    this.#budget = budget;
    this.root = new SchemaNode(schema, this, { path: "#" });
    this.describes = hasUnevaluated(schema);
    this.#nodes.set(schema, this.root);
  }

  /** Returns the test of a pattern. */
  pattern(source: string): Pattern {
    const pattern = this.#patterns.get(source) ?? createPattern(source, this.#budget);
    this.#patterns.set(source, pattern);
    return pattern;
  }

  /** Bounds the time of a test of texts. */
  guard(test: (text: string) => boolean): (text: string) => boolean {
    return createTextTest(test, MIDDLE_TEXT, this.#budget).test;
  }

  /** Returns why a text could not be tested against a pattern; `undefined` if it could. */
  findPatternFault(source: string, text: string): string | undefined {
    return this.#patterns.get(source)?.faultFor(text);
  }

  /** Returns the first mistake in the schema; `undefined` if it has none. */
  findFault(): string | undefined {
    const nodes = new Set([this.root]);
    for (const node of nodes) {
      if (typeof node.schema === "boolean") continue;
      if (node.fault !== undefined) return node.fault;
      for (const part of node.parts) if (nodes.size < MAX_SEARCHED) nodes.add(part);
    }
    return undefined;
  }

  /** Reads the keywords of a schema. One with a mistake is not checked; at the top, its other keywords are. */
  read(node: SchemaNode): NodeContent {
    const { schema } = node;
    if (!isRecord(schema)) return { checks: [], parts: [], fault: `${node.path} is not a schema` };
    const parts: SchemaNode[] = [];
    const faults: string[] = [];
    const keywords = listKeywords(schema);
    const checks = keywords.flatMap(([keyword, create]) => {
      const check = create(node.get(keyword), node, parts);
      if (typeof check === "string") faults.push(`"${keyword}" at ${node.path} ${check}`);
      return typeof check === "function" ? [check] : [];
    });
    const isChecked = faults.length === 0 || node === this.root;
    if (!isChecked) return { checks: [], parts: [], fault: faults[0] };
    const hasOnlyType = keywords.every(([keyword]) => keyword === "type");
    return { checks, parts, fault: faults[0], test: hasOnlyType ? createTypeTest(node.get("type"), node) : undefined };
  }

  /** Finds the schema that a reference leads to; `undefined` for none. */
  resolve(reference: string, from: SchemaNode): SchemaNode | undefined {
    const hash = reference.indexOf("#");
    const [uri, fragment] = hash < 0 ? [reference, ""] : [reference.slice(0, hash), decode(reference.slice(hash + 1))];
    const resource = uri === "" ? from.resource : this.#findResource(uri, from.resource);
    if (resource === undefined) return undefined;
    if (fragment === "") return resource;
    return fragment.startsWith("/") ? this.#follow(fragment, resource) : this.#findAnchor(fragment, resource)?.node;
  }

  /** Finds the schema with a dynamic anchor in the resource that was entered first. */
  resolveDynamic(name: string, resources: readonly unknown[]): SchemaNode | undefined {
    for (const resource of resources) {
      const anchor = resource instanceof SchemaNode ? this.#findAnchor(name, resource) : undefined;
      if (anchor?.isDynamic === true) return anchor.node;
    }
    return undefined;
  }

  #findResource(uri: string, from: SchemaNode): SchemaNode | undefined {
    const resources = this.#index();
    const base = this.#addresses.get(from) ?? OWN_ADDRESS;
    return resources.get(joinAddress(uri, base));
  }

  #findAnchor(name: string, resource: SchemaNode): Anchor | undefined {
    this.#index();
    return this.#anchors.get(resource)?.get(name);
  }

  /** Finds the schemas with an identifier or an anchor, once. */
  #index(): ReadonlyMap<string, SchemaNode> {
    if (this.#resources !== undefined) return this.#resources;
    const resources = new Map<string, SchemaNode>();
    this.#resources = resources;
    const pending: (readonly [schema: unknown, path: string, resource: SchemaNode | undefined])[] = [
      [this.root.schema, "#", undefined],
    ];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const [schema, path, above] = next;
      if (!isRecord(schema)) continue;
      const node = this.nodeAt(schema, path, above);
      const { resource } = node;
      const { $id, $anchor, $dynamicAnchor } = schema;
      if (resource === node) {
        const address = joinAddress(typeof $id === "string" ? $id : "", above && this.#addresses.get(above));
        this.#addresses.set(node, address);
        if (!resources.has(address)) resources.set(address, node);
      } else if (typeof $id === "string") this.#addAnchor($id.slice(1), { node, isDynamic: false });
      if (typeof $anchor === "string") this.#addAnchor($anchor, { node, isDynamic: false });
      if (typeof $dynamicAnchor === "string") this.#addAnchor($dynamicAnchor, { node, isDynamic: true });
      for (const [inner, innerPath] of listSchemas(schema, path)) pending.push([inner, innerPath, resource]);
    }
    return resources;
  }

  #addAnchor(name: string, anchor: Anchor): void {
    const { resource } = anchor.node;
    const anchors = this.#anchors.get(resource) ?? new Map<string, Anchor>();
    this.#anchors.set(resource, anchors);
    if (!anchors.has(name)) anchors.set(name, anchor);
  }

  /** Follows a pointer from a resource. */
  #follow(pointer: string, from: SchemaNode): SchemaNode | undefined {
    let { schema, path, resource } = from;
    for (const key of parsePointer(pointer)) {
      if (typeof schema !== "object" || schema === null || !Object.hasOwn(schema, key)) return undefined;
      schema = Reflect.get(schema, key);
      path += `/${key}`;
      if (hasIdentifier(schema)) resource = this.nodeAt(schema, path, resource);
    }
    return isRecord(schema) || typeof schema === "boolean" ? this.nodeAt(schema, path, resource) : undefined;
  }

  /** One node for each schema that references lead to, so that a cycle of references ends. */
  nodeAt(schema: unknown, path: string, resource: SchemaNode | undefined): SchemaNode {
    const existing = isRecord(schema) ? this.#nodes.get(schema) : undefined;
    if (existing !== undefined) return existing;
    const node = new SchemaNode(schema, this, { path, ...(resource && { resource }) });
    if (isRecord(schema)) this.#nodes.set(schema, node);
    return node;
  }
}

interface Anchor {
  readonly node: SchemaNode;
  readonly isDynamic: boolean;
}

/** True if a schema, or a part of it, applies to what the others do not describe. */
function hasUnevaluated(schema: JsonSchema): boolean {
  const pending: unknown[] = [schema];
  while (pending.length > 0) {
    const next = pending.pop();
    if (typeof next !== "object" || next === null) continue;
    if (Object.hasOwn(next, "unevaluatedProperties") || Object.hasOwn(next, "unevaluatedItems")) return true;
    for (const part of Object.values(next)) if (typeof part === "object") pending.push(part);
  }
  return false;
}

function listSchemas(schema: Readonly<Record<string, unknown>>, path: string): readonly (readonly [unknown, string])[] {
  return Object.entries(schema).flatMap(([keyword, value]) => {
    const at = `${path}/${keyword}`;
    if (VALUES.has(keyword)) return [];
    if (Array.isArray(value)) return value.map((each, index) => [each, `${at}/${index}`] as const);
    if (!SCHEMAS_BY_NAME.has(keyword) || !isRecord(value)) return [[value, at] as const];
    return Object.entries(value).map(([name, each]) => [each, `${at}/${name}`] as const);
  });
}

/** Joins the address of a reference or an identifier with the one that it is relative to, without its fragment. */
function joinAddress(uri: string, base = OWN_ADDRESS): string {
  const [whole = ""] = uri.split("#", 1);
  if (whole === "") return base;
  try {
    return new URL(whole, base).href;
  } catch {
    return whole;
  }
}

function decode(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}
