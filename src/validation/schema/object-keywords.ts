import { isRecord, isTextList, toRecord } from "../../model/json.ts";
import { addPart, isSchema } from "./combining-keywords.ts";
import type { DescribedParts, Evaluation, ValueLocation } from "./evaluation.ts";
import type { Check, SchemaKeyword, SchemaNode } from "./schema-node.ts";
import { isObject } from "./value-keywords.ts";

/** Fills in the defaults of members that are missing, before the other keywords. */
export const fillDefaults: SchemaKeyword = (schemas) => {
  const defaults = Object.entries(toRecord(schemas)).flatMap(([name, schema]) =>
    isRecord(schema) && schema["default"] !== undefined ? [[name, schema["default"]] as const] : [],
  );
  if (defaults.length === 0) return undefined;
  return forObject((data, _place, run) => {
    if (run.fillsDefaults)
      for (const [name, value] of defaults)
        // Defined, not assigned: a name can be `__proto__`.
        if (!has(data, name)) Object.defineProperty(data, name, { ...DATA_PROPERTY, value: structuredClone(value) });
    return true;
  });
};

const DATA_PROPERTY = { enumerable: true, writable: true, configurable: true } as const;

/** The keywords for objects. */
export const OBJECT_KEYWORDS = {
  minProperties: forCount("minProperties", (count, limit) => count >= limit),
  maxProperties: forCount("maxProperties", (count, limit) => count <= limit),
  required(names, node) {
    if (!isTextList(names)) return "must be a list of names";
    return forObject((data, location, run) => {
      run.step(names.length >> 4);
      if (names.every((name) => has(data, name))) return true;
      for (const missingProperty of names.filter((name) => !has(data, name)))
        node.report("required", { value: data, location, run }, { missingProperty });
      return false;
    });
  },
  dependencies(dependencies, node, parts) {
    return isRecord(dependencies)
      ? createDependencies(dependencies, "dependencies", node, parts)
      : "must be an object of lists and schemas";
  },
  propertyNames(schema, node, parts) {
    const part = addPart(parts, node, schema, "propertyNames");
    return forObject((data, location, run) => {
      const wrong = run.listNames(data).filter((name) => !run.quietly(() => part.evaluate(name, location, run)));
      for (const propertyName of wrong) node.report("propertyNames", { value: data, location, run }, { propertyName });
      return wrong.length === 0;
    });
  },
  additionalProperties(schema, node, parts) {
    if (!isSchema(schema)) return "must be a schema";
    const part = addPart(parts, node, schema, "additionalProperties");
    const knownNames = new Set(Object.keys(toRecord(node.get("properties"))));
    const patterns = readPatterns(node);
    return forObject((data, location, run, described) => {
      let isValid = true;
      for (const name of run.listNames(data)) {
        run.step(patterns.length);
        if (knownNames.has(name) || data[name] === undefined) continue;
        if (patterns.some(({ test }) => test(name))) continue;
        described?.names.add(name);
        const isAllowed =
          schema === false
            ? node.report("additionalProperties", { value: data, location, run }, { additionalProperty: name })
            : part.evaluate(data[name], { above: location, key: name }, run);
        if (!isAllowed) isValid = false;
      }
      return isValid;
    });
  },
  properties(schemas, node, parts) {
    if (!isRecord(schemas)) return "must be an object of schemas";
    const members = Object.entries(schemas).map(([name, schema], index) => {
      return { name, index, part: addPart(parts, node, schema, "properties", name) };
    });
    const byName = new Map(members.map((member) => [member.name, member]));
    const selectMembers = (data: object, run: Evaluation): readonly MemberSchema[] => {
      if (members.length <= MAX_SCHEMAS_FOR_NAME) return members;
      const names = run.listNames(data);
      return members.length <= MAX_SCHEMAS_FOR_NAME * (1 + names.length) ? members : sortMembers(names, byName);
    };
    return forObject((data, location, run, described) => {
      let isValid = true;
      for (const { part, name } of selectMembers(data, run)) {
        if (!has(data, name)) continue;
        described?.names.add(name);
        if (part.accepts(data[name], run)) continue;
        if (!part.evaluate(data[name], { above: location, key: name }, run)) isValid = false;
      }
      return isValid;
    });
  },
  patternProperties(schemas, node, parts) {
    if (!isRecord(schemas)) return "must be an object of schemas";
    const patterns = readPatterns(node).map(({ source, test }) => ({
      test,
      part: addPart(parts, node, schemas[source], "patternProperties", source),
    }));
    return forObject((data, location, run, described) => {
      let isValid = true;
      for (const name of run.listNames(data)) {
        run.step(patterns.length);
        for (const { part } of patterns.filter(({ test }) => test(name))) {
          described?.names.add(name);
          if (!part.evaluate(data[name], { above: location, key: name }, run)) isValid = false;
        }
      }
      return isValid;
    });
  },
  dependentRequired(dependencies, node, parts) {
    if (!isRecord(dependencies) || !Object.values(dependencies).every(isTextList))
      return "must be an object of lists of names";
    return createDependencies(dependencies, "dependentRequired", node, parts);
  },
  dependentSchemas(dependencies, node, parts) {
    if (!isRecord(dependencies) || !Object.values(dependencies).every(isSchema)) return "must be an object of schemas";
    return createDependencies(dependencies, "dependentSchemas", node, parts);
  },
} as const satisfies Readonly<Record<string, SchemaKeyword>>;

/** Applies to what no other keyword has described, so it comes last. */
export const unevaluatedProperties: SchemaKeyword = (schema, node, parts) => {
  const part = addPart(parts, node, schema, "unevaluatedProperties");
  return forObject((data, location, run, described) => {
    let isValid = true;
    for (const name of run.listNames(data).filter((each) => !described?.names.has(each))) {
      described?.names.add(name);
      const isAllowed =
        schema === false
          ? node.report("unevaluatedProperties", { value: data, location, run }, { unevaluatedProperty: name })
          : part.evaluate(data[name], { above: location, key: name }, run);
      if (!isAllowed) isValid = false;
    }
    return isValid;
  });
};

function forObject(
  check: (
    data: Readonly<Record<string, unknown>>,
    location: ValueLocation,
    run: Evaluation,
    described: DescribedParts | undefined,
  ) => boolean,
): Check {
  return (data, location, run, described) => !isObject(data) || check(data, location, run, described);
}

function forCount(keyword: string, holds: (count: number, limit: number) => boolean): SchemaKeyword {
  return (limit, node) => {
    if (typeof limit !== "number") return "must be a number";
    return forObject(
      (data, location, run) =>
        holds(run.listNames(data).length, limit) || node.report(keyword, { value: data, location, run }, { limit }),
    );
  };
}

function has(data: Readonly<Record<string, unknown>>, name: string): boolean {
  return Object.hasOwn(data, name) && data[name] !== undefined;
}

interface MemberSchema {
  readonly name: string;
  readonly index: number;
  readonly part: SchemaNode;
}

/**
 * Schemas for each name of an object up to which it is asked for every member with a schema. With more, its own names are looked up
 * among the schemas, which then have to be sorted.
 */
const MAX_SCHEMAS_FOR_NAME = 8;

/** Returns the members with these names that have a schema, in the order of the schemas. */
function sortMembers(names: readonly string[], byName: ReadonlyMap<string, MemberSchema>): readonly MemberSchema[] {
  const members = names.flatMap((name) => byName.get(name) ?? []);
  return members.length < 2 ? members : members.toSorted((one, other) => one.index - other.index);
}

function readPatterns(
  node: SchemaNode,
): readonly { readonly source: string; readonly test: (name: string) => boolean }[] {
  const schemas = node.get("patternProperties");
  return Object.keys(isRecord(schemas) ? schemas : {}).map((source) => {
    const pattern = node.document.pattern(source);
    return { source, test: (name) => pattern.test(name) };
  });
}

/** Creates the check of what an object must be, or must have, where it has some name. */
function createDependencies(
  dependencies: Readonly<Record<string, unknown>>,
  keyword: string,
  node: SchemaNode,
  parts: SchemaNode[],
): Check {
  const rules = Object.entries(dependencies).map(([property, need]) => {
    if (!isTextList(need)) return { property, part: addPart(parts, node, need, keyword, property), names: [] };
    return { property, part: undefined, names: need };
  });
  return forObject((data, location, run, described) => {
    run.step(rules.length >> 4);
    let isValid = true;
    for (const { property, part, names } of rules.filter((rule) => has(data, rule.property))) {
      if (part?.evaluate(data, location, run, described) === false) isValid = false;
      for (const missingProperty of names.filter((name) => !has(data, name)))
        isValid = node.report(keyword, { value: data, location, run }, { property, missingProperty });
    }
    return isValid;
  });
}
