import { isRecord, type JsonSchema } from "../model/json.ts";

/** How deep values are looked into, how many items of a list, and how many values of one result. */
const DEPTH = 6;
const ITEMS = 20;
const VALUES = 2_000;

/** Parts of one shape; beyond it, what is new may be anything. */
const PARTS = 300;

/** Properties by name of one object; one that has more is a dictionary, its names being data. */
const MOST_NAMES = 40;

/** An object of more than this many names, none of which is always there, is a dictionary too. */
const CHANGING_NAMES = 16;

/** What a name of a property looks like; anything else is data: an address, a date, a number, a sentence. */
const NAME = /^[@$_A-Za-z](?!.*\d{3})[\w$:-]{0,39}$/;

type Kind = "string" | "number" | "boolean" | "null" | "anything";

/** What the values at one place have in common: their types, and the names of their properties. Holds no value. */
export interface Shape {
  /** Values that were seen here. */
  times: number;
  readonly kinds: Set<Kind>;
  /** What the items of lists have in common; there if a list was seen. */
  items: Shape | undefined;
  /** There if an object was seen. */
  object: ObjectShape | undefined;
}

interface ObjectShape {
  times: number;
  properties: Map<string, Shape>;
  /** What the values of a dictionary have in common; then there are no properties. */
  values: Shape | undefined;
}

/** Where a value is not like those before it, and how. */
export interface Difference {
  /** `days[].temperature`; empty for the value itself. */
  readonly place: string;
  readonly says: string;
}

/** What may still be read of a value, and added to a shape. */
interface Budget {
  values: number;
  parts: number;
  /** The first difference, where they are looked for. */
  difference: Difference | undefined;
  readonly compares: boolean;
}

/** A place in a value, and what is known of it. */
interface Place {
  readonly name: string;
  readonly shape: Shape;
  /** How much deeper is looked. */
  readonly depth: number;
}

export function createShape(): Shape {
  return { times: 0, kinds: new Set(), items: undefined, object: undefined };
}

/** Widens a shape by one more value. Says, if it should, where the value is not like all the others were. */
export function observe(value: unknown, shape: Shape, compares: boolean): Difference | undefined {
  const budget: Budget = { values: VALUES, parts: PARTS - partsOf(shape), difference: undefined, compares };
  widen(value, { name: "", shape, depth: DEPTH }, budget);
  return budget.difference;
}

function partsOf(shape: Shape): number {
  const inner = [shape.items, shape.object?.values, ...(shape.object?.properties.values() ?? [])];
  return inner.reduce((sum, part) => sum + (part === undefined ? 0 : partsOf(part)), 1);
}

function widen(value: unknown, place: Place, budget: Budget): void {
  const { shape } = place;
  budget.values -= 1;
  if (budget.values < 0) return;
  shape.times += 1;
  if (shape.kinds.has("anything")) return;
  if (place.depth === 0) shape.kinds.add("anything");
  else if (Array.isArray(value)) widenItems(value, place, budget);
  else if (isPlain(value)) widenObject(value, place, budget);
  else widenKind(kindOf(value), place, budget);
}

function widenKind(kind: Kind, place: Place, budget: Budget): void {
  const { kinds } = place.shape;
  if (!kinds.has(kind)) isUnlike(named(kind), place, budget);
  kinds.add(kind);
}

function widenItems(list: readonly unknown[], place: Place, budget: Budget): void {
  const { name, shape, depth } = place;
  if (shape.items === undefined) isUnlike("a list", place, budget);
  shape.items ??= newPart(budget);
  for (const item of list.slice(0, ITEMS))
    widen(item, { name: `${name}[]`, shape: shape.items, depth: depth - 1 }, budget);
}

function widenObject(value: Readonly<Record<string, unknown>>, place: Place, budget: Budget): void {
  const { name, shape, depth } = place;
  if (shape.object === undefined) isUnlike("an object", place, budget);
  shape.object ??= { times: 0, properties: new Map(), values: undefined };
  const { object } = shape;
  const names = Object.keys(value);
  if (object.values === undefined && names.length <= MOST_NAMES && names.every((each) => NAME.test(each)))
    widenProperties(value, object, place, budget);
  else {
    const values = (object.values = dictionaryOf(object, budget));
    for (const each of names.slice(0, ITEMS))
      widen(value[each], { name: `${name}[]`, shape: values, depth: depth - 1 }, budget);
  }
  object.times += 1;
}

function widenProperties(
  value: Readonly<Record<string, unknown>>,
  object: ObjectShape,
  { name, depth }: Place,
  budget: Budget,
): void {
  const pathOf = (property: string): string => (name === "" ? property : `${name}.${property}`);
  for (const [property, { times }] of object.properties)
    if (times >= object.times && !Object.hasOwn(value, property)) differs(pathOf(property), "it is missing", budget);
  for (const [property, inner] of Object.entries(value)) {
    if (inner === undefined) continue;
    const shape = object.properties.get(property) ?? newPart(budget);
    object.properties.set(property, shape);
    widen(inner, { name: pathOf(property), shape, depth: depth - 1 }, budget);
  }
  const isAlways = [...object.properties.values()].some(({ times }) => times > object.times);
  const { size } = object.properties;
  if (size > MOST_NAMES || (size > CHANGING_NAMES && !isAlways)) object.values = dictionaryOf(object, budget);
}

/** What all properties have in common; their names are forgotten. */
function dictionaryOf(object: ObjectShape, budget: Budget): Shape {
  const values = object.values ?? newPart(budget);
  for (const shape of object.properties.values()) mergeInto(values, shape);
  object.properties = new Map();
  return values;
}

function mergeInto(target: Shape, shape: Shape): void {
  target.times += shape.times;
  for (const kind of shape.kinds) target.kinds.add(kind);
  if (shape.items !== undefined) {
    target.items ??= createShape();
    mergeInto(target.items, shape.items);
  }
  if (shape.object === undefined) return;
  target.object ??= { times: 0, properties: new Map(), values: undefined };
  const { object } = target;
  object.times += shape.object.times;
  if (shape.object.values !== undefined) mergeInto((object.values ??= createShape()), shape.object.values);
  for (const [name, inner] of shape.object.properties) {
    const known = object.properties.get(name) ?? createShape();
    object.properties.set(name, known);
    mergeInto(known, inner);
  }
}

/** A place of which nothing is known yet; one of which nothing will be known, when the shape has too many. */
function newPart(budget: Budget): Shape {
  budget.parts -= 1;
  const part = createShape();
  if (budget.parts < 0) part.kinds.add("anything");
  return part;
}

/** Notes that a value is of a kind that none before it was; the first value is like no other. */
function isUnlike(kind: string, { name, shape }: Place, budget: Budget): void {
  const known = typesOf(shape);
  if (known !== "") differs(name, `it is ${kind}, and was ${known}`, budget);
}

function differs(place: string, says: string, budget: Budget): void {
  if (budget.compares) budget.difference ??= { place, says };
}

/** Objects with a class of their own, and what JSON does not know, are not looked into. */
function isPlain(value: unknown): value is Record<string, unknown> {
  if (!isRecord(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

function kindOf(value: unknown): Kind {
  if (value === null) return "null";
  const kind = typeof value;
  return kind === "string" || kind === "number" || kind === "boolean" ? kind : "anything";
}

function named(kind: Kind): string {
  if (kind === "anything") return "of another kind";
  return kind === "null" ? kind : `a ${kind}`;
}

function typesOf({ kinds, items, object }: Shape): string {
  const lists = items === undefined ? [] : ["a list"];
  const objects = object === undefined ? [] : ["an object"];
  return [...Array.from(kinds, named), ...lists, ...objects].join(" or ");
}

/** A shape as JSON Schema. What was always there is required. */
export function schemaOf(shape: Shape): JsonSchema {
  if (shape.kinds.has("anything")) return {};
  const { items, object } = shape;
  const branches: JsonSchema[] = [
    ...Array.from(shape.kinds, (type) => ({ type })),
    ...(items === undefined ? [] : [{ type: "array", items: items.times === 0 ? {} : schemaOf(items) }]),
    ...(object === undefined ? [] : [objectSchema(object)]),
  ];
  const [only] = branches;
  return branches.length === 1 && only !== undefined ? only : branches.length === 0 ? {} : { anyOf: branches };
}

function objectSchema({ times, properties, values }: ObjectShape): JsonSchema {
  if (values !== undefined) return { type: "object", additionalProperties: schemaOf(values) };
  const required = [...properties].filter(([, shape]) => shape.times >= times).map(([name]) => name);
  const schemas = Object.fromEntries(Array.from(properties, ([name, shape]) => [name, schemaOf(shape)]));
  return { type: "object", properties: schemas, required };
}
