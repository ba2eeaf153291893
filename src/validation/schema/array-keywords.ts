import { isSchema, addPart } from "./combining-keywords.ts";
import type { Check, SchemaKeyword, SchemaNode } from "./schema-node.ts";
import type { DescribedParts, Evaluation, ValueLocation } from "./evaluation.ts";

/** The keywords for lists. */
export const ARRAY_KEYWORDS = {
  minItems: forCount("minItems", (count, limit) => count >= limit),
  maxItems: forCount("maxItems", (count, limit) => count <= limit),
  uniqueItems(value, node) {
    if (typeof value !== "boolean") return "must be true or false";
    if (!value) return undefined;
    return forList(
      (list, location, run) => areUnique(list, run) || node.report("uniqueItems", { value: list, location, run }),
    );
  },
  prefixItems(schemas, node, parts) {
    return Array.isArray(schemas) ? createTuple(schemas, "prefixItems", node, parts) : "must be a list of schemas";
  },
  items(schema, node, parts) {
    if (Array.isArray(schema)) return createTuple(schema, "items", node, parts);
    const prefix: unknown = node.get("prefixItems");
    return createRest(schema, { keyword: "items", start: Array.isArray(prefix) ? prefix.length : 0 }, node, parts);
  },
  additionalItems(schema, node, parts) {
    const items: unknown = node.get("items");
    if (!Array.isArray(items)) return undefined;
    return createRest(schema, { keyword: "additionalItems", start: items.length }, node, parts);
  },
  contains(schema, node, parts) {
    const part = addPart(parts, node, schema, "contains");
    const [minContains, maxContains] = ["minContains", "maxContains"].map((name) => node.get(name));
    const least = typeof minContains === "number" ? minContains : 1;
    const most = typeof maxContains === "number" ? maxContains : Infinity;
    return forList((list, location, run, described) => {
      let count = 0;
      for (const [key, item] of list.entries())
        if (run.quietly(() => part.evaluate(item, { above: location, key }, run))) {
          count++;
          described?.items.add(key);
        }
      const params = { minContains: least, ...(most < Infinity && { maxContains: most }) };
      return (count >= least && count <= most) || node.report("contains", { value: list, location, run }, params);
    });
  },
} as const satisfies Readonly<Record<string, SchemaKeyword>>;

/** Applies to what no other keyword has described, so it comes last. */
export const unevaluatedItems: SchemaKeyword = (schema, node, parts) => {
  const part = addPart(parts, node, schema, "unevaluatedItems");
  return forList((list, location, run, described) => {
    const others = [...list.keys()].filter((key) => key >= (described?.itemCount ?? 0) && !described?.items.has(key));
    if (schema === false && others.length > 0)
      return node.report("unevaluatedItems", { value: list, location, run }, { limit: list.length - others.length });
    const failed = others.filter((key) => !part.evaluate(list[key], { above: location, key }, run));
    describeItems(described, list.length);
    return failed.length === 0;
  });
};

function forList(
  check: (
    list: readonly unknown[],
    location: ValueLocation,
    run: Evaluation,
    described: DescribedParts | undefined,
  ) => boolean,
): Check {
  return (data, location, run, described) => !Array.isArray(data) || check(data, location, run, described);
}

function forCount(keyword: string, holds: (count: number, limit: number) => boolean): SchemaKeyword {
  return (limit, node) => {
    if (typeof limit !== "number") return "must be a number";
    return forList(
      (list, location, run) =>
        holds(list.length, limit) || node.report(keyword, { value: list, location, run }, { limit }),
    );
  };
}

function areUnique(list: readonly unknown[], run: Evaluation): boolean {
  return new Set(list.map((item) => run.writeKey(item))).size === list.length;
}

/** Creates the check of the first items, each with a schema of its own. */
function createTuple(schemas: readonly unknown[], keyword: string, node: SchemaNode, parts: SchemaNode[]): Check {
  const nodes = schemas.map((schema, index) => addPart(parts, node, schema, keyword, index));
  return forList((list, location, run, described) => {
    const failed = nodes.filter(
      (each, key) => key < list.length && !each.evaluate(list[key], { above: location, key }, run),
    );
    describeItems(described, Math.min(nodes.length, list.length));
    return failed.length === 0;
  });
}

/** Creates the check of the items from `start` on. */
function createRest(
  schema: unknown,
  { keyword, start }: { readonly keyword: string; readonly start: number },
  node: SchemaNode,
  parts: SchemaNode[],
): Check | string {
  if (!isSchema(schema)) return "must be a schema";
  const part = addPart(parts, node, schema, keyword);
  return forList((list, location, run, described) => {
    if (schema === false && start > 0)
      return list.length <= start || node.report(keyword, { value: list, location, run }, { limit: start });
    let isValid = true;
    for (let key = start; key < list.length; key++) {
      if (part.accepts(list[key], run)) continue;
      if (!part.evaluate(list[key], { above: location, key }, run)) isValid = false;
    }
    describeItems(described, list.length);
    return isValid;
  });
}

function describeItems(described: DescribedParts | undefined, count: number): void {
  if (described !== undefined) described.itemCount = Math.max(described.itemCount, count);
}
