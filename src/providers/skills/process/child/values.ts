import type { ExportPath } from "../../type-reader/index.ts";

/** Returns the value at a path of own properties; `undefined` if the path does not exist. */
export function valueAt(root: unknown, path: ExportPath): unknown {
  return path.reduce<unknown>((holder, name) => {
    const isHolder = (typeof holder === "object" && holder !== null) || typeof holder === "function";
    return isHolder && Object.hasOwn(holder, name) ? Reflect.get(holder, name) : undefined;
  }, root);
}

export function isFunction(value: unknown): value is (...args: unknown[]) => unknown {
  return typeof value === "function";
}
