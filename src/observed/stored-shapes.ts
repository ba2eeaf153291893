import { isRecord } from "../model/json.ts";
import { createShape, NAME, type ObservedProperty, SHARED, type ValueKind, type ValueShape } from "./infer-schema.ts";

/** The stored data of one method: the digest of its definition, and the shape of its results. Types and names, no values. */
export interface StoredMethod {
  readonly digest: string;
  readonly shape: ValueShape;
}

const FORMAT = 1;

/** Maximum methods, length of the text, depth and parts of what is stored of one skill. */
const MAX_METHODS = 300;
const MAX_UNITS = 1 << 20;
const MAX_DEPTH = 12;
const MAX_PARTS = 30_000;

const KINDS: ReadonlySet<unknown> = new Set<ValueKind>([
  "string",
  "json text",
  "number",
  "boolean",
  "null",
  "anything",
]);

/** Converts the methods of one skill, the newest last, to JSON; `undefined` if they are too large. */
export function serializeMethods(methods: ReadonlyMap<string, StoredMethod>): unknown {
  const newest = [...methods].slice(-MAX_METHODS);
  const stored = newest.map(([name, { digest, shape }]) => ({ name, digest, shape: serialize(shape) }));
  const value = { format: FORMAT, methods: stored };
  return JSON.stringify(value).length > MAX_UNITS ? undefined : value;
}

/** Parses what was stored; `undefined` if it is not valid, or of another version. */
export function parseMethods(value: unknown): ReadonlyMap<string, StoredMethod> | undefined {
  if (!isRecord(value) || value["format"] !== FORMAT || !Array.isArray(value["methods"])) return undefined;
  const budget = { parts: MAX_PARTS };
  const methods = new Map<string, StoredMethod>();
  for (const stored of value["methods"].slice(0, MAX_METHODS) as unknown[]) {
    if (!isRecord(stored)) return undefined;
    const { name, digest } = stored;
    const shape = parse(stored["shape"], MAX_DEPTH, budget);
    if (typeof name !== "string" || typeof digest !== "string" || shape === undefined) return undefined;
    methods.set(name, { digest, shape });
  }
  return methods;
}

/** `caller` is the id of the one caller that may see a property, or true for all. */
function serialize(shape: ValueShape): Readonly<Record<string, unknown>> {
  const { times, kinds, items, object } = shape;
  return {
    times,
    ...(kinds.size > 0 && { kinds: [...kinds] }),
    ...(items !== undefined && { items: serialize(items) }),
    ...(object !== undefined && {
      object: {
        times: object.times,
        properties: [...object.properties].map(([name, property]) => ({
          name,
          caller: property.caller === SHARED ? true : property.caller,
          ...serialize(property),
        })),
        ...(object.values !== undefined && { values: serialize(object.values) }),
      },
    }),
  };
}

function parse(value: unknown, depth: number, budget: { parts: number }): ValueShape | undefined {
  budget.parts -= 1;
  if (!isRecord(value) || depth < 0 || budget.parts < 0) return undefined;
  const { times, kinds = [], items, object } = value;
  if (!isCount(times) || !Array.isArray(kinds) || !kinds.every((kind) => KINDS.has(kind))) return undefined;
  const shape: ValueShape = { ...createShape(), times, kinds: new Set(kinds as ValueKind[]) };
  if (items !== undefined && (shape.items = parse(items, depth - 1, budget)) === undefined) return undefined;
  if (object !== undefined && (shape.object = parseObject(object, depth - 1, budget)) === undefined) return undefined;
  return shape;
}

function parseObject(value: unknown, depth: number, budget: { parts: number }): ValueShape["object"] {
  if (!isRecord(value)) return undefined;
  const { times, properties, values } = value;
  if (!isCount(times) || !Array.isArray(properties)) return undefined;
  const parsed = new Map<string, ObservedProperty>();
  for (const property of properties as unknown[]) {
    const shape = parse(property, depth, budget);
    const { name, caller } = isRecord(property) ? property : {};
    if (shape === undefined || typeof name !== "string" || !NAME.test(name)) return undefined;
    if (caller !== true && typeof caller !== "string") return undefined;
    parsed.set(name, { ...shape, caller: caller === true ? SHARED : caller });
  }
  const dictionary = values === undefined ? undefined : parse(values, depth, budget);
  if (values !== undefined && dictionary === undefined) return undefined;
  return { times, properties: parsed, values: dictionary };
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
