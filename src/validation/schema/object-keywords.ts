import { isRecord, isTextList, toRecord } from "../../model/json.ts";
import { addPart, isSchema } from "./combining-keywords.ts";
import type { Described, Evaluation, Place } from "./evaluation.ts";
import type { Check, Keyword, SchemaNode } from "./schema-node.ts";
import { isObject } from "./value-keywords.ts";

/** Fills in the defaults of members that are missing, before the other keywords. */
export const fillDefaults: Keyword = (schemas) => {
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
    return forObject((data, place, run) => {
      run.step(names.length >> 4);
      const missing = names.filter((name) => !has(data, name));
      for (const missingProperty of missing) node.report("required", { value: data, place, run }, { missingProperty });
      return missing.length === 0;
    });
  },
  dependencies(dependencies, node, parts) {
    return isRecord(dependencies)
      ? createDependencies(dependencies, "dependencies", node, parts)
      : "must be an object of lists and schemas";
  },
  propertyNames(schema, node, parts) {
    const part = addPart(parts, node, schema, "propertyNames");
    return forObject((data, place, run) => {
      const wrong = Object.keys(data).filter((name) => !run.quietly(() => part.evaluate(name, place, run)));
      for (const propertyName of wrong) node.report("propertyNames", { value: data, place, run }, { propertyName });
      return wrong.length === 0;
    });
  },
  additionalProperties(schema, node, parts) {
    if (!isSchema(schema)) return "must be a schema";
    const part = addPart(parts, node, schema, "additionalProperties");
    const properties: unknown = node.get("properties");
    const patterns = readPatterns(node);
    return forObject((data, place, run, described) => {
      let isValid = true;
      for (const name of Object.keys(data)) {
        run.step(patterns.length);
        if (data[name] === undefined || (isRecord(properties) && Object.hasOwn(properties, name))) continue;
        if (patterns.some(({ test }) => test(name))) continue;
        described?.names.add(name);
        const isAllowed =
          schema === false
            ? node.report("additionalProperties", { value: data, place, run }, { additionalProperty: name })
            : part.evaluate(data[name], { above: place, key: name }, run);
        if (!isAllowed) isValid = false;
      }
      return isValid;
    });
  },
  properties(schemas, node, parts) {
    if (!isRecord(schemas)) return "must be an object of schemas";
    const named = new Map(
      Object.entries(schemas).map(([name, schema], index) => [
        name,
        { name, index, part: addPart(parts, node, schema, "properties", name) },
      ]),
    );
    return forObject((data, place, run, described) => {
      let isValid = true;
      for (const { part, name } of findMembers(data, named)) {
        described?.names.add(name);
        if (!part.evaluate(data[name], { above: place, key: name }, run)) isValid = false;
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
    return forObject((data, place, run, described) => {
      let isValid = true;
      for (const name of Object.keys(data)) {
        run.step(patterns.length);
        for (const { part } of patterns.filter(({ test }) => test(name))) {
          described?.names.add(name);
          if (!part.evaluate(data[name], { above: place, key: name }, run)) isValid = false;
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
} as const satisfies Readonly<Record<string, Keyword>>;

/** Applies to what no other keyword has described, so it comes last. */
export const unevaluatedProperties: Keyword = (schema, node, parts) => {
  const part = addPart(parts, node, schema, "unevaluatedProperties");
  return forObject((data, place, run, described) => {
    let isValid = true;
    for (const name of Object.keys(data).filter((each) => !described?.names.has(each))) {
      described?.names.add(name);
      const isAllowed =
        schema === false
          ? node.report("unevaluatedProperties", { value: data, place, run }, { unevaluatedProperty: name })
          : part.evaluate(data[name], { above: place, key: name }, run);
      if (!isAllowed) isValid = false;
    }
    return isValid;
  });
};

function forObject(
  check: (
    data: Readonly<Record<string, unknown>>,
    place: Place,
    run: Evaluation,
    described: Described | undefined,
  ) => boolean,
): Check {
  return (data, place, run, described) => !isObject(data) || check(data, place, run, described);
}

function forCount(keyword: string, holds: (count: number, limit: number) => boolean): Keyword {
  return (limit, node) => {
    if (typeof limit !== "number") return "must be a number";
    return forObject(
      (data, place, run) =>
        holds(Object.keys(data).length, limit) || node.report(keyword, { value: data, place, run }, { limit }),
    );
  };
}

function has(data: Readonly<Record<string, unknown>>, name: string): boolean {
  return Object.hasOwn(data, name) && data[name] !== undefined;
}

interface NamedPart {
  readonly name: string;
  readonly index: number;
  readonly part: SchemaNode;
}

/** Returns the members of an object that have a schema, in the order of the schemas. Takes time for the members only. */
function findMembers(
  data: Readonly<Record<string, unknown>>,
  named: ReadonlyMap<string, NamedPart>,
): readonly NamedPart[] {
  const members = Object.keys(data).flatMap((name) => (data[name] === undefined ? [] : (named.get(name) ?? [])));
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
  const rules = Object.entries(dependencies).map(([property, wanted]) => {
    if (!isTextList(wanted)) return { property, part: addPart(parts, node, wanted, keyword, property), names: [] };
    return { property, part: undefined, names: wanted };
  });
  return forObject((data, place, run, described) => {
    run.step(rules.length >> 4);
    let isValid = true;
    for (const { property, part, names } of rules.filter((rule) => has(data, rule.property))) {
      if (part?.evaluate(data, place, run, described) === false) isValid = false;
      for (const missingProperty of names.filter((name) => !has(data, name)))
        isValid = node.report(keyword, { value: data, place, run }, { property, missingProperty });
    }
    return isValid;
  });
}
