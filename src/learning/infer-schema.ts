import { type Caller, OWNER } from "../model/caller.ts";
import { isRecord } from "../model/json.ts";

/** How deep values are looked into, how many items of a list, and how many values of one result. */
const MAX_DEPTH = 6;
const MAX_ITEMS = 20;
const MAX_VALUES = 2_000;

/** Parts of one shape; beyond it, what is new may be anything. */
const MAX_PARTS = 300;

/** Properties by name of one object; one that has more is a dictionary, its names being data. */
const MAX_NAMES = 40;

/** An object of more than this many names, none of which is always there, is a dictionary too. */
const CHANGING_NAMES = 16;

/** What a name of a property looks like; anything else is data: an address, a date, a number, a sentence. */
const NAME = /^[@$_A-Za-z](?!.*\d{3})[\w$:-]{0,39}$/;

type ValueKind = "string" | "number" | "boolean" | "null" | "anything";

/** What the values at one place have in common: their types, and the names of their properties. Holds no value. */
export interface ValueShape {
  /** Values that were seen here. */
  times: number;
  readonly kinds: Set<ValueKind>;
  /** What the items of lists have in common; there if a list was seen. */
  items: ValueShape | undefined;
  /** There if an object was seen. */
  object: ObservedObject | undefined;
}

export interface ObservedObject {
  times: number;
  properties: Map<string, Property>;
  /** What the values of a dictionary have in common; then there are no properties. */
  values: ValueShape | undefined;
}

/** Stands for two callers or more. */
const SHARED = Symbol("shared");

/** What the values of one property have in common. */
export interface Property extends ValueShape {
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
interface ObserveState {
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

export function createShape(): ValueShape {
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
  shape: ValueShape,
  { caller, compares }: { readonly caller: Caller; readonly compares: boolean },
): Observation {
  const state: ObserveState = {
    values: MAX_VALUES,
    parts: MAX_PARTS - countParts(shape),
    path: [],
    hasChanged: shape.times === 0,
    difference: undefined,
    caller,
    compares,
  };
  widen(value, shape, state);
  return state;
}

function countParts({ items, object }: ValueShape): number {
  let sum = 1;
  if (items !== undefined) sum += countParts(items);
  if (object?.values !== undefined) sum += countParts(object.values);
  if (object !== undefined) for (const property of object.properties.values()) sum += countParts(property);
  return sum;
}

/** Every result passes here: what is like all the others leaves nothing behind on the way. */
function widen(value: unknown, shape: ValueShape, state: ObserveState): void {
  state.values -= 1;
  if (state.values < 0) {
    state.hasChanged = true; // what is not counted was not always there
    return;
  }
  shape.times += 1;
  if (shape.kinds.has("anything")) return;
  if (state.path.length === MAX_DEPTH) addKind("anything", shape, state);
  else if (Array.isArray(value)) widenItems(value, shape, state);
  else if (isPlain(value)) widenObject(value, shape, state);
  else widenKind(getKind(value), shape, state);
}

function widenInner(step: string, value: unknown, shape: ValueShape, state: ObserveState): void {
  state.path.push(step);
  widen(value, shape, state);
  state.path.pop();
}

function widenKind(kind: ValueKind, shape: ValueShape, state: ObserveState): void {
  if (shape.kinds.has(kind)) return;
  isUnlike(named(kind), shape, state);
  addKind(kind, shape, state);
}

function addKind(kind: ValueKind, shape: ValueShape, state: ObserveState): void {
  shape.kinds.add(kind);
  state.hasChanged = true;
}

function widenItems(list: readonly unknown[], shape: ValueShape, state: ObserveState): void {
  if (shape.items === undefined) isUnlike("an array", shape, state);
  const items = (shape.items ??= newPart(state));
  state.hasChanged ||= items.times === 0;
  const end = Math.min(list.length, MAX_ITEMS);
  for (let index = 0; index < end; index++) widenInner(ITEM, list[index], items, state);
}

function widenObject(value: Readonly<Record<string, unknown>>, shape: ValueShape, state: ObserveState): void {
  if (shape.object === undefined) isUnlike("an object", shape, state);
  state.hasChanged ||= shape.object === undefined;
  const object = (shape.object ??= { times: 0, properties: new Map(), values: undefined });
  const names = Object.keys(value);
  if (object.values === undefined && names.length <= MAX_NAMES && names.every((each) => NAME.test(each)))
    widenProperties(value, names, object, state);
  else {
    const values = (object.values = toDictionary(object, state));
    for (const each of names.slice(0, MAX_ITEMS)) widenInner(ITEM, value[each], values, state);
  }
  object.times += 1;
}

function widenProperties(
  value: Readonly<Record<string, unknown>>,
  names: readonly string[],
  object: ObservedObject,
  state: ObserveState,
): void {
  for (const [name, property] of object.properties)
    if (property.times >= object.times && !Object.hasOwn(value, name)) isMissing(name, property, state);
  for (const property of names) {
    const inner = value[property];
    state.hasChanged ||= inner === undefined;
    if (inner === undefined) continue;
    let shape = object.properties.get(property);
    if (shape === undefined) object.properties.set(property, (shape = { ...newPart(state), caller: state.caller.id }));
    if (addCaller(state.caller.id, shape)) state.hasChanged = true;
    widenInner(property, inner, shape, state);
  }
  if (hasChangingNames(object)) object.values = toDictionary(object, state);
}

/** Says if others may see more of the property now. */
function addCaller(caller: Property["caller"], property: Property): boolean {
  if (property.caller === SHARED || property.caller === caller) return false;
  property.caller = SHARED;
  return true;
}

function hasChangingNames({ properties, times }: ObservedObject): boolean {
  if (properties.size <= CHANGING_NAMES) return false;
  return properties.size > MAX_NAMES || ![...properties.values()].some((shape) => shape.times > times);
}

/** What all properties have in common; their names are forgotten. */
function toDictionary(object: ObservedObject, state: ObserveState): ValueShape {
  const values = object.values ?? newPart(state);
  forgetNames(object, values);
  return values;
}

function forgetNames(object: ObservedObject, values: ValueShape): void {
  const shapes = [...object.properties.values()];
  object.properties = new Map();
  for (const shape of shapes) mergeInto(values, shape);
}

function mergeInto(target: ValueShape, shape: ValueShape): void {
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
function newPart(state: ObserveState): ValueShape {
  state.hasChanged = true;
  state.parts -= 1;
  const part = createShape();
  if (state.parts < 0) part.kinds.add("anything");
  return part;
}

/** Notes that a value is of a kind that none before it was; the first value is like no other. */
function isUnlike(kind: string, shape: ValueShape, state: ObserveState): void {
  const known = formatTypes(shape);
  if (known !== "") differs(state.path, `it is ${kind}, previously ${known}`, state);
}

/** A property that has always been there is not. */
function isMissing(name: string, property: Property, state: ObserveState): void {
  state.hasChanged = true;
  if (isShownTo(property, state.caller)) differs([...state.path, name], "it is missing", state);
}

function differs(path: readonly string[], says: string, state: ObserveState): void {
  if (!state.compares) return;
  const place = path.reduce((text, step) => (text === "" || step === ITEM ? text + step : `${text}.${step}`), "");
  state.difference ??= { place, says };
}

/** Objects with a class of their own, and what JSON does not know, are not looked into. */
function isPlain(value: unknown): value is Record<string, unknown> {
  if (!isRecord(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

function getKind(value: unknown): ValueKind {
  if (value === null) return "null";
  const kind = typeof value;
  return kind === "string" || kind === "number" || kind === "boolean" ? kind : "anything";
}

function named(kind: ValueKind): string {
  if (kind === "anything") return "of another type";
  return kind === "null" ? kind : `a ${kind}`;
}

function formatTypes({ kinds, items, object }: ValueShape): string {
  const lists = items === undefined ? [] : ["an array"];
  const objects = object === undefined ? [] : ["an object"];
  return [...Array.from(kinds, named), ...lists, ...objects].join(" or ");
}
