import { type Caller, OWNER } from "../model/caller.ts";
import { isRecord } from "../model/json.ts";

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

export interface ObjectShape {
  times: number;
  properties: Map<string, Property>;
  /** What the values of a dictionary have in common; then there are no properties. */
  values: Shape | undefined;
}

/** Stands for two callers or more. */
const SHARED = Symbol("shared");

/** What the values of one property have in common. */
export interface Property extends Shape {
  /** The id of the one caller whose results have had the property. */
  caller: string | typeof SHARED;
}

/** Where a value is not like those before it, and how. */
export interface Difference {
  /** `days[].temperature`; empty for the value itself. */
  readonly place: string;
  readonly says: string;
}

/** What a look at a value has found. */
export interface Observation {
  /** True if the shape says more, or less, than before. */
  readonly hasChanged: boolean;
  /** The first place where the value is not like all the others were, if they are looked for. */
  readonly difference: Difference | undefined;
}

/** A look at a value: what may still be read of it and added to the shape, and where we are. */
interface Look {
  values: number;
  parts: number;
  /** Names of properties, and `[]` for items. */
  readonly path: string[];
  hasChanged: boolean;
  difference: Difference | undefined;
  readonly caller: Caller;
  readonly compares: boolean;
}

const ITEM = "[]";

export function createShape(): Shape {
  return { times: 0, kinds: new Set(), items: undefined, object: undefined };
}

/**
 * True if the caller may see the name of a property: it was in a result of the caller, or in results of two others. The
 * owner sees every name.
 */
export function isShownTo({ caller }: Property, viewer: Caller): boolean {
  return viewer === OWNER || caller === SHARED || caller === viewer.id;
}

/** Widens a shape by one more value, a caller's. If `compares`, says where the value is not like all the others were. */
export function observe(
  value: unknown,
  shape: Shape,
  { caller, compares }: { readonly caller: Caller; readonly compares: boolean },
): Observation {
  const look: Look = {
    values: VALUES,
    parts: PARTS - partsOf(shape),
    path: [],
    hasChanged: shape.times === 0,
    difference: undefined,
    caller,
    compares,
  };
  widen(value, shape, look);
  return look;
}

function partsOf({ items, object }: Shape): number {
  let sum = 1;
  if (items !== undefined) sum += partsOf(items);
  if (object?.values !== undefined) sum += partsOf(object.values);
  if (object !== undefined) for (const property of object.properties.values()) sum += partsOf(property);
  return sum;
}

/** Every result passes here: what is like all the others leaves nothing behind on the way. */
function widen(value: unknown, shape: Shape, look: Look): void {
  look.values -= 1;
  if (look.values < 0) {
    look.hasChanged = true; // what is not counted was not always there
    return;
  }
  shape.times += 1;
  if (shape.kinds.has("anything")) return;
  if (look.path.length === DEPTH) addKind("anything", shape, look);
  else if (Array.isArray(value)) widenItems(value, shape, look);
  else if (isPlain(value)) widenObject(value, shape, look);
  else widenKind(kindOf(value), shape, look);
}

function widenInner(step: string, value: unknown, shape: Shape, look: Look): void {
  look.path.push(step);
  widen(value, shape, look);
  look.path.pop();
}

function widenKind(kind: Kind, shape: Shape, look: Look): void {
  if (shape.kinds.has(kind)) return;
  isUnlike(named(kind), shape, look);
  addKind(kind, shape, look);
}

function addKind(kind: Kind, shape: Shape, look: Look): void {
  shape.kinds.add(kind);
  look.hasChanged = true;
}

function widenItems(list: readonly unknown[], shape: Shape, look: Look): void {
  if (shape.items === undefined) isUnlike("a list", shape, look);
  const items = (shape.items ??= newPart(look));
  look.hasChanged ||= items.times === 0;
  const end = Math.min(list.length, ITEMS);
  for (let index = 0; index < end; index++) widenInner(ITEM, list[index], items, look);
}

function widenObject(value: Readonly<Record<string, unknown>>, shape: Shape, look: Look): void {
  if (shape.object === undefined) isUnlike("an object", shape, look);
  look.hasChanged ||= shape.object === undefined;
  const object = (shape.object ??= { times: 0, properties: new Map(), values: undefined });
  const names = Object.keys(value);
  if (object.values === undefined && names.length <= MOST_NAMES && names.every((each) => NAME.test(each)))
    widenProperties(value, names, object, look);
  else {
    const values = (object.values = dictionaryOf(object, look));
    for (const each of names.slice(0, ITEMS)) widenInner(ITEM, value[each], values, look);
  }
  object.times += 1;
}

function widenProperties(
  value: Readonly<Record<string, unknown>>,
  names: readonly string[],
  object: ObjectShape,
  look: Look,
): void {
  for (const [name, property] of object.properties)
    if (property.times >= object.times && !Object.hasOwn(value, name)) isMissing(name, property, look);
  for (const property of names) {
    const inner = value[property];
    look.hasChanged ||= inner === undefined;
    if (inner === undefined) continue;
    let shape = object.properties.get(property);
    if (shape === undefined) object.properties.set(property, (shape = { ...newPart(look), caller: look.caller.id }));
    if (addCaller(look.caller.id, shape)) look.hasChanged = true;
    widenInner(property, inner, shape, look);
  }
  if (hasChangingNames(object)) object.values = dictionaryOf(object, look);
}

/** Says if others may see more of the property now. */
function addCaller(caller: Property["caller"], property: Property): boolean {
  if (property.caller === SHARED || property.caller === caller) return false;
  property.caller = SHARED;
  return true;
}

function hasChangingNames({ properties, times }: ObjectShape): boolean {
  if (properties.size <= CHANGING_NAMES) return false;
  return properties.size > MOST_NAMES || ![...properties.values()].some((shape) => shape.times > times);
}

/** What all properties have in common; their names are forgotten. */
function dictionaryOf(object: ObjectShape, look: Look): Shape {
  const values = object.values ?? newPart(look);
  forgetNames(object, values);
  return values;
}

function forgetNames(object: ObjectShape, values: Shape): void {
  const shapes = [...object.properties.values()];
  object.properties = new Map();
  for (const shape of shapes) mergeInto(values, shape);
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
    const known = object.properties.get(name) ?? { ...createShape(), caller: inner.caller };
    object.properties.set(name, known);
    addCaller(inner.caller, known);
    mergeInto(known, inner);
  }
  if (object.values !== undefined) forgetNames(object, object.values);
}

/** A place of which nothing is known yet; one of which nothing will be known, when the shape has too many. */
function newPart(look: Look): Shape {
  look.hasChanged = true;
  look.parts -= 1;
  const part = createShape();
  if (look.parts < 0) part.kinds.add("anything");
  return part;
}

/** Notes that a value is of a kind that none before it was; the first value is like no other. */
function isUnlike(kind: string, shape: Shape, look: Look): void {
  const known = typesOf(shape);
  if (known !== "") differs(look.path, `it is ${kind}, and was ${known}`, look);
}

/** A property that has always been there is not. */
function isMissing(name: string, property: Property, look: Look): void {
  look.hasChanged = true;
  if (isShownTo(property, look.caller)) differs([...look.path, name], "it is missing", look);
}

function differs(path: readonly string[], says: string, look: Look): void {
  if (!look.compares) return;
  const place = path.reduce((text, step) => (text === "" || step === ITEM ? text + step : `${text}.${step}`), "");
  look.difference ??= { place, says };
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
