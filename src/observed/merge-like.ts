import { getCategories, createShape, mergeInto, type ObservedObject, type ValueShape } from "./infer-schema.ts";

/** Objects with fewer properties are too common to be the same thing in two methods. */
const MIN_PROPERTIES = 3;

/** Maximum objects of one skill that are compared. */
const MAX_OBJECTS = 2_000;

/** The objects that the methods of one skill return, by the names of their properties. */
export type ObjectsByNames = ReadonlyMap<string, readonly ObservedObject[]>;

/** Collects the objects in the results of the methods of one skill. */
export function collectObjects(shapes: readonly ValueShape[]): ObjectsByNames {
  const objects = new Map<string, ObservedObject[]>();
  const open = [...shapes];
  for (let count = 0; open.length > 0 && count < MAX_OBJECTS;) {
    const shape = open.pop();
    if (shape?.items !== undefined) open.push(shape.items);
    const object = shape?.object;
    if (object === undefined) continue;
    count += 1;
    open.push(...object.properties.values(), ...(object.values === undefined ? [] : [object.values]));
    const names = getNames(object);
    if (names !== undefined) objects.set(names, [...(objects.get(names) ?? []), object]);
  }
  return objects;
}

/**
 * Copies a shape, and widens its objects by those that other methods return alike: a member that is null in one result
 * may be a number in another one.
 */
export function mergeLike(shape: ValueShape, objects: ObjectsByNames): ValueShape {
  const copy = createShape();
  mergeInto(copy, shape);
  widenObjects(copy, objects);
  return copy;
}

function widenObjects(shape: ValueShape, objects: ObjectsByNames): void {
  if (shape.items !== undefined) widenObjects(shape.items, objects);
  const { object } = shape;
  if (object === undefined) return;
  if (object.values !== undefined) widenObjects(object.values, objects);
  const names = getNames(object);
  const like = names === undefined ? [] : (objects.get(names) ?? []).filter((other) => isLike(object, other));
  // The object itself is among them: it counts twice, and so do its properties.
  if (like.length > 1) for (const other of like) mergeInto(shape, { ...createShape(), object: other });
  for (const property of object.properties.values()) widenObjects(property, objects);
}

function getNames({ properties }: ObservedObject): string | undefined {
  return properties.size < MIN_PROPERTIES ? undefined : [...properties.keys()].sort().join(" ");
}

/** True if the whole structure matches, apart from what was null or empty in one of them. */
function isLike(a: ObservedObject, b: ObservedObject): boolean {
  if (a.properties.size !== b.properties.size) return false;
  if (a.values !== undefined && b.values !== undefined && !isLikeShape(a.values, b.values)) return false;
  return [...a.properties].every(([name, shape]) => {
    const other = b.properties.get(name);
    return other !== undefined && isLikeShape(shape, other);
  });
}

function isLikeShape(a: ValueShape, b: ValueShape): boolean {
  const [one, two] = [a, b].map((shape) =>
    [...getCategories(shape)]
      .filter((each) => each !== "null")
      .sort()
      .join(" "),
  );
  if (one === "" || two === "") return true;
  if (one !== two) return false;
  if (a.items !== undefined && b.items !== undefined && !isLikeShape(a.items, b.items)) return false;
  return a.object === undefined || b.object === undefined || isLike(a.object, b.object);
}
