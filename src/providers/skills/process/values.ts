import type { ExportPath } from "../read/index.ts";

/** The value at the end of a path, by own properties only; `undefined` where the path breaks off. */
export function valueAt(root: unknown, path: ExportPath): unknown {
  return path.reduce<unknown>((holder, name) => {
    const isHolder = (typeof holder === "object" && holder !== null) || typeof holder === "function";
    return isHolder && Object.hasOwn(holder, name) ? Reflect.get(holder, name) : undefined;
  }, root);
}

export function isFunction(value: unknown): value is (...args: unknown[]) => unknown {
  return typeof value === "function";
}

const MOST_VISITED = 10_000;

/** Says what in a value cannot leave its process: `"result.next" is a function`. Guards against cycles and size. */
export function findForeign(value: unknown): string {
  const seen = new Set<unknown>();
  const open: { readonly where: string; readonly value: unknown }[] = [{ where: "result", value }];
  for (let next = open.pop(); next !== undefined && seen.size < MOST_VISITED; next = open.pop()) {
    const { where, value } = next;
    const kind = foreignKind(value);
    if (kind !== undefined) return `"${where}" is ${kind}`;
    if (typeof value !== "object" || value === null || seen.has(value)) continue;
    seen.add(value);
    const keys = Object.keys(value).reverse();
    open.push(
      ...keys.map((key) => ({
        where: Array.isArray(value) ? `${where}[${key}]` : `${where}.${key}`,
        value: read(value, key),
      })),
    );
  }
  return "it holds something that is no data";
}

function foreignKind(value: unknown): string | undefined {
  if (typeof value === "function" || typeof value === "symbol") return `a ${typeof value}`;
  if (value instanceof Promise) return "a promise; await it";
  const tag = Object.prototype.toString.call(value).slice("[object ".length, -1);
  return /^(?:Async)?Generator$|^Weak/.test(tag) ? `a ${tag}` : undefined;
}

function read(holder: object, key: string): unknown {
  try {
    return Reflect.get(holder, key) as unknown;
  } catch {
    // A getter that throws: it is not the function that is looked for.
    return undefined;
  }
}
