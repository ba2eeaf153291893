import { type Caller, OWNER } from "../model/caller.ts";
import { isRecord, parseJson } from "../model/json.ts";

/** Limits of reading a result: its depth, the items of one array, and its values in all. */
const MAX_DEPTH = 6;
const MAX_ITEMS = 20;
const MAX_VALUES = 2_000;

/** Maximum parts of one shape; beyond this, new parts may be anything. */
const MAX_PARTS = 300;

/** Maximum named properties of one object; an object with more is a dictionary, whose names are data. */
const MAX_NAMES = 40;

/** An object with more names than this, none of which is always present, is a dictionary too. */
const CHANGING_NAMES = 16;

/** The pattern of a property name; anything else is data: an address, a date, a number, a sentence. */
export const NAME = /^[@$_A-Za-z](?!.*\d{3})[\w$:-]{0,39}$/;

/** `json text`: strings that are JSON objects or arrays, as long as no other string was seen. */
export type ValueKind = "string" | "json text" | "number" | "boolean" | "null" | "anything";

/** A longer string is not parsed to see whether it is JSON. */
const MAX_JSON_TEXT = 64 << 10;

/** The common type of the values at one place: their kinds and property names. Holds no value. */
export interface ValueShape {
  /** Number of values seen. */
  times: number;
  readonly kinds: Set<ValueKind>;
  /** The common type of array items; set if an array was seen. */
  items: ValueShape | undefined;
  /** Set if an object was seen. */
  object: ObservedObject | undefined;
}

export interface ObservedObject {
  times: number;
  properties: Map<string, ObservedProperty>;
  /** The common type of the values of a dictionary; a dictionary has no properties. */
  values: ValueShape | undefined;
}

/** Stands for two callers or more. */
export const SHARED = Symbol("shared");

/** The common type of the values of one property. */
export interface ObservedProperty extends ValueShape {
  /** The id of the one caller whose results have had the property. */
  caller: string | typeof SHARED;
}

/** A difference between a value and those before it. */
export interface Difference {
  /** `days[].temperature`; empty for the value itself. */
  readonly path: string;
  readonly says: string;
}

/** The result of observing one value. */
export interface Observation {
  /** True if the shape has changed. */
  readonly hasChanged: boolean;
  /** The first difference from the values before; `undefined` unless `compares`. */
  readonly difference: Difference | undefined;
}

/** State of observing one value: the remaining budgets and the current path. */
interface ObserveState {
  values: number;
  parts: number;
  /** Names of properties, and `[]` for items. */
  readonly path: string[];
  hasChanged: boolean;
  difference: Difference | undefined;
  readonly caller: Caller;
  readonly compares: boolean;
  readonly dataNames: ReadonlySet<string>;
}

const ITEM = "[]";

export function createShape(): ValueShape {
  return { times: 0, kinds: new Set(), items: undefined, object: undefined };
}

/**
 * True if the caller may see the name of a property: it was in a result of the caller, or in results of two others. The
 * owner sees every name.
 */
export function isShownTo({ caller }: ObservedProperty, viewer: Caller): boolean {
  return viewer === OWNER || caller === SHARED || caller === viewer.id;
}

export interface ObserveOptions {
  readonly caller: Caller;
  /** Reports the first difference from the values before. */
  readonly compares: boolean;
  /** Texts of the arguments; a property with such a name is data. */
  readonly dataNames?: ReadonlySet<string>;
}

const NO_NAMES: ReadonlySet<string> = new Set();

/** Widens a shape by one value of a caller's result. */
export function observe(
  value: unknown,
  shape: ValueShape,
  { caller, compares, dataNames = NO_NAMES }: ObserveOptions,
): Observation {
  const state: ObserveState = {
    values: MAX_VALUES,
    parts: MAX_PARTS - countParts(shape),
    path: [],
    hasChanged: shape.times === 0,
    difference: undefined,
    caller,
    compares,
    dataNames,
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

/** Widens a shape by one value. Runs for every result, so a value like those before it allocates nothing. */
function widen(value: unknown, shape: ValueShape, state: ObserveState): void {
  state.values -= 1;
  if (state.values < 0) {
    state.hasChanged = true; // a value that is not counted may have lacked a property
    return;
  }
  shape.times += 1;
  if (shape.kinds.has("anything")) return;
  if (state.path.length === MAX_DEPTH) addKind("anything", shape, state);
  else if (Array.isArray(value)) widenItems(value, shape, state);
  else if (isPlain(value)) widenObject(value, shape, state);
  else widenKind(getKind(value, shape.kinds), shape, state);
}

function widenInner(step: string, value: unknown, shape: ValueShape, state: ObserveState): void {
  state.path.push(step);
  widen(value, shape, state);
  state.path.pop();
}

function widenKind(kind: ValueKind, shape: ValueShape, state: ObserveState): void {
  if (shape.kinds.has(kind)) return;
  // Both are strings, so neither is a difference from the other.
  const isString = kind === "string" ? shape.kinds.delete("json text") : false;
  if (!isString) noteOtherKind(formatKind(kind), shape, state);
  addKind(kind, shape, state);
}

function addKind(kind: ValueKind, shape: ValueShape, state: ObserveState): void {
  shape.kinds.add(kind);
  state.hasChanged = true;
}

function widenItems(list: readonly unknown[], shape: ValueShape, state: ObserveState): void {
  if (shape.items === undefined) noteOtherKind("an array", shape, state);
  const items = (shape.items ??= newPart(state));
  state.hasChanged ||= items.times === 0;
  const end = Math.min(list.length, MAX_ITEMS);
  for (let index = 0; index < end; index++) widenInner(ITEM, list[index], items, state);
}

function widenObject(value: Readonly<Record<string, unknown>>, shape: ValueShape, state: ObserveState): void {
  if (shape.object === undefined) noteOtherKind("an object", shape, state);
  state.hasChanged ||= shape.object === undefined;
  const object = (shape.object ??= { times: 0, properties: new Map(), values: undefined });
  const names = Object.keys(value);
  const isNamed = (name: string): boolean => NAME.test(name) && !state.dataNames.has(name);
  if (
    object.values === undefined &&
    names.length <= MAX_NAMES &&
    names.every(isNamed) &&
    !isOther(value, names, object, state.caller)
  )
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
    if (property.times >= object.times && !Object.hasOwn(value, name)) noteMissing(name, property, state);
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

/** Returns true if other callers may now see the property. */
function addCaller(caller: ObservedProperty["caller"], property: ObservedProperty): boolean {
  if (property.caller === SHARED || property.caller === caller) return false;
  property.caller = SHARED;
  return true;
}

/** True for values of one kind under names none of which this caller's results had before: such names are data. */
function isOther(
  value: Readonly<Record<string, unknown>>,
  names: readonly string[],
  { properties }: ObservedObject,
  { id }: Caller,
): boolean {
  if (names.length === 0 || properties.size === 0 || names.some((name) => properties.has(name))) return false;
  if (![...properties.values()].some(({ caller }) => caller === SHARED || caller === id)) return false;
  const kinds = new Set(names.map((name) => getCategory(value[name])));
  for (const shape of properties.values()) for (const kind of getCategories(shape)) kinds.add(kind);
  return kinds.size === 1;
}

type Category = Exclude<ValueKind, "json text"> | "array" | "object";

function getCategory(value: unknown): Category {
  if (Array.isArray(value)) return "array";
  if (isPlain(value)) return "object";
  return typeof value === "string" ? "string" : (getKind(value, NO_KINDS) as Category);
}

const NO_KINDS: ReadonlySet<ValueKind> = new Set();

/** Returns the categories of the values at one place. */
export function getCategories({ kinds, items, object }: ValueShape): ReadonlySet<Category> {
  const categories = new Set<Category>();
  for (const kind of kinds) categories.add(kind === "json text" ? "string" : kind);
  if (items !== undefined) categories.add("array");
  if (object !== undefined) categories.add("object");
  return categories;
}

function hasChangingNames({ properties, times }: ObservedObject): boolean {
  if (properties.size <= CHANGING_NAMES) return false;
  return properties.size > MAX_NAMES || ![...properties.values()].some((shape) => shape.times > times);
}

/** Turns an object into a dictionary: merges the types of its properties and forgets their names. */
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

/** Widens a shape by the values of another one. */
export function mergeInto(target: ValueShape, shape: ValueShape): void {
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
    const property = object.properties.get(name) ?? { ...createShape(), caller: inner.caller };
    object.properties.set(name, property);
    addCaller(inner.caller, property);
    mergeInto(property, inner);
  }
  if (object.values !== undefined) forgetNames(object, object.values);
}

/** Creates an empty part; when the shape has too many parts, one that may be anything. */
function newPart(state: ObserveState): ValueShape {
  state.hasChanged = true;
  state.parts -= 1;
  const part = createShape();
  if (state.parts < 0) part.kinds.add("anything");
  return part;
}

/** Records that a value is of a new kind, unless it is the first value. */
function noteOtherKind(kind: string, shape: ValueShape, state: ObserveState): void {
  const types = formatTypes(shape);
  if (types !== "") noteDifference(state.path, `it is ${kind}, previously ${types}`, state);
}

/** Records that a property that was always present is missing. */
function noteMissing(name: string, property: ObservedProperty, state: ObserveState): void {
  state.hasChanged = true;
  if (isShownTo(property, state.caller)) noteDifference([...state.path, name], "it is missing", state);
}

function noteDifference(path: readonly string[], says: string, state: ObserveState): void {
  if (!state.compares) return;
  const location = path.reduce((text, step) => (text === "" || step === ITEM ? text + step : `${text}.${step}`), "");
  state.difference ??= { path: location, says };
}

/** True for plain objects; class instances and non-JSON values are not inspected. */
function isPlain(value: unknown): value is Record<string, unknown> {
  if (!isRecord(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

function getKind(value: unknown, kinds: ReadonlySet<ValueKind>): ValueKind {
  if (value === null) return "null";
  const kind = typeof value;
  if (typeof value === "string" && !kinds.has("string") && isJsonText(value, kinds.has("json text")))
    return "json text";
  return kind === "string" || kind === "number" || kind === "boolean" ? kind : "anything";
}

/** Tests whether a string is a JSON object or array; where all before it were, its brackets are enough. */
function isJsonText(text: string, wereAll: boolean): boolean {
  const ends = `${text.at(0)}${text.at(-1)}`;
  if ((ends !== "{}" && ends !== "[]") || text.length > MAX_JSON_TEXT) return false;
  return wereAll || parseJson(text) !== undefined;
}

function formatKind(kind: ValueKind): string {
  if (kind === "anything") return "of another type";
  if (kind === "json text") return "a string";
  return kind === "null" ? kind : `a ${kind}`;
}

function formatTypes({ kinds, items, object }: ValueShape): string {
  const lists = items === undefined ? [] : ["an array"];
  const objects = object === undefined ? [] : ["an object"];
  return [...Array.from(kinds, formatKind), ...lists, ...objects].join(" or ");
}
