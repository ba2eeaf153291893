import { isRecord, toList } from "../../model/json.ts";
import type { DescribedParts, Evaluation, ValueLocation } from "./evaluation.ts";
import type { Check, SchemaKeyword, SchemaNode } from "./schema-node.ts";

/** The keywords that apply other schemas to the same value. */
export const COMBINING_KEYWORDS = {
  $ref(reference, node, parts) {
    if (typeof reference !== "string") return "must be a text";
    const target = node.document.resolve(reference, node);
    if (target === undefined) return `must refer to a schema in the document, not to "${reference}"`;
    parts.push(target);
    return applied(target);
  },
  $dynamicRef(reference, node, parts) {
    if (typeof reference !== "string") return "must be a text";
    const target = node.document.resolve(reference, node);
    if (target === undefined) return `must refer to a schema in the document, not to "${reference}"`;
    parts.push(target);
    const name = reference.slice(reference.indexOf("#") + 1);
    if (target.get("$dynamicAnchor") !== name) return applied(target);
    return (data, location, run, described) => {
      const found = node.document.resolveDynamic(name, run.resources) ?? target;
      return run.follow(found, location, () => found.evaluate(data, location, run, described));
    };
  },
  $recursiveRef(reference, node) {
    if (reference !== "#") return 'must be "#"';
    const { resource } = node;
    if (resource.get("$recursiveAnchor") !== true) return applied(resource);
    return (data, location, run, described) => {
      const found = findRecursive(run.resources, resource);
      return run.follow(found, location, () => found.evaluate(data, location, run, described));
    };
  },
  not(schema, node, parts) {
    const part = addPart(parts, node, schema, "not");
    return (data, location, run) =>
      !run.quietly(() => part.evaluate(data, location, run)) || node.report("not", { value: data, location, run });
  },
  anyOf(schemas, node, parts) {
    if (!isSchemaList(schemas)) return "must be a list of schemas";
    const branches = schemas.map((schema, index) => addPart(parts, node, schema, "anyOf", index));
    return (data, location, run, described) => {
      const isValid = run.withAlternatives((tryOne) => {
        const applies = (branch: SchemaNode): boolean => tryOne(() => branch.evaluate(data, location, run, described));
        return described === undefined ? branches.some(applies) : branches.filter(applies).length > 0;
      });
      return isValid || node.report("anyOf", { value: data, location, run });
    };
  },
  oneOf(schemas, node, parts) {
    if (!isSchemaList(schemas)) return "must be a list of schemas";
    const branches = schemas.map((schema, index) => addPart(parts, node, schema, "oneOf", index));
    return (data, location, run, described) => {
      const passing: number[] = [];
      const isValid = run.withAlternatives((tryOne) => {
        for (const [index, branch] of branches.entries())
          if (passing.length < 2 && tryOne(() => branch.evaluate(data, location, run, described))) passing.push(index);
        return passing.length === 1;
      });
      const params = { passingSchemas: passing.length > 1 ? passing : null };
      return isValid || node.report("oneOf", { value: data, location, run }, params);
    };
  },
  allOf(schemas, node, parts) {
    if (!isSchemaList(schemas)) return "must be a list of schemas";
    const all = schemas.map((schema, index) => addPart(parts, node, schema, "allOf", index));
    return (data, location, run, described) =>
      all.filter((each) => !each.evaluate(data, location, run, described)).length === 0;
  },
  if(schema, node, parts) {
    const condition = addPart(parts, node, schema, "if");
    const [whenTrue, whenFalse] = (["then", "else"] as const).map((keyword) => {
      const value = node.get(keyword);
      return value === undefined ? undefined : addPart(parts, node, value, keyword);
    });
    return (data, location, run, described) => {
      const isTrue = run.quietly(() => condition.evaluate(data, location, run, described));
      const applies = isTrue ? whenTrue : whenFalse;
      if (applies === undefined || applies.evaluate(data, location, run, described)) return true;
      return node.report("if", { value: data, location, run }, { failingKeyword: isTrue ? "then" : "else" });
    };
  },
} as const satisfies Readonly<Record<string, SchemaKeyword>>;

/** Creates the node of a schema that a keyword applies. */
export function addPart(
  parts: SchemaNode[],
  node: SchemaNode,
  schema: unknown,
  ...at: readonly [keyword: string, key?: string | number]
): SchemaNode {
  const part = node.createPart(schema, ...at);
  parts.push(part);
  return part;
}

function applied(target: SchemaNode): Check {
  return (data: unknown, location: ValueLocation, run: Evaluation, described: DescribedParts | undefined) =>
    run.follow(target, location, () => target.evaluate(data, location, run, described));
}

/** The outermost resource with a recursive anchor, as far out as each one has it. */
function findRecursive(resources: readonly unknown[], own: SchemaNode): SchemaNode {
  let found = own;
  for (const resource of [...(resources as readonly SchemaNode[])].reverse()) {
    if (resource.get("$recursiveAnchor") !== true) break;
    found = resource;
  }
  return found;
}

function isSchemaList(value: unknown): value is readonly unknown[] {
  return toList(value).length > 0 && toList(value).every(isSchema);
}

export function isSchema(value: unknown): boolean {
  return isRecord(value) || typeof value === "boolean";
}
