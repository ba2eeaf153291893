import { isDeepStrictEqual } from "node:util";

import { getMessage } from "../../../errors.ts";
import { isRecord } from "../../../model/json.ts";
import { truncateText } from "../../../shared/format-text.ts";

/** Operations of one patch. */
const MAX_OPERATIONS = 10_000;

/** Applies a JSON patch (RFC 6902) to a document, which is changed. Throws an error that names the operation that cannot be applied. */
export function applyPatch(document: unknown, patch: unknown): unknown {
  if (!Array.isArray(patch)) throw new Error('it must be a list, as in [{ "op": "remove", "path": "/paths/~1admin" }]');
  if (patch.length > MAX_OPERATIONS) throw new Error(`it has more than ${MAX_OPERATIONS} operations`);
  // The document itself can be replaced, too.
  const holder = { document };
  for (const [at, operation] of patch.entries())
    try {
      applyOperation(holder, operation as unknown);
    } catch (error) {
      const { op, path } = isRecord(operation) ? operation : {};
      const where = `operation ${at + 1} (${String(op)} ${String(path)})`;
      throw new Error(`${where}: ${getMessage(error)}`, { cause: error });
    }
  return holder.document;
}

function applyOperation(holder: { document: unknown }, operation: unknown): void {
  if (!isRecord(operation)) throw new Error("it is no object");
  const path = parsePointer(operation["path"], "path");
  switch (operation["op"]) {
    case "add":
      return put(holder, path, readValue(operation), "add");
    case "replace":
      return put(holder, path, readValue(operation), "replace");
    case "remove":
      return void remove(holder, path);
    case "copy":
      return put(holder, path, structuredClone(find(holder, parsePointer(operation["from"], "from"))), "add");
    case "move": {
      const from = parsePointer(operation["from"], "from");
      if (path.length > from.length && from.every((name, index) => name === path[index]))
        throw new Error("it moves a part into itself");
      return put(holder, path, remove(holder, from), "add");
    }
    case "test": {
      const found = find(holder, path);
      if (isDeepStrictEqual(found, readValue(operation))) return;
      throw new Error(`the document has ${truncateText(JSON.stringify(found), 80)} there`);
    }
    default:
      throw new Error('its "op" must be add, remove, replace, move, copy or test');
  }
}

/** Splits a JSON pointer (RFC 6901) into the names that lead to its target, from the holder of the document on. */
function parsePointer(pointer: unknown, field: string): readonly string[] {
  if (typeof pointer !== "string" || !/^(?:\/(?:[^~]|~[01])*)?$/s.test(pointer))
    throw new Error(
      `its "${field}" must be a JSON pointer such as /paths/~1pets/get, where ~1 stands for / and ~0 for ~`,
    );
  const names = pointer.split("/").slice(1);
  return ["document", ...names.map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"))];
}

function readValue(operation: Readonly<Record<string, unknown>>): unknown {
  if (operation["value"] === undefined) throw new Error('it has no "value"');
  return operation["value"];
}

function find(holder: object, path: readonly string[]): unknown {
  let part: unknown = holder;
  for (const [at, name] of path.entries()) {
    if (!has(part, name)) throw new Error(`the document has nothing at ${formatPointer(path.slice(0, at + 1))}`);
    part = part[name];
  }
  return part;
}

function put(holder: object, path: readonly string[], value: unknown, how: "add" | "replace"): void {
  const name = path.at(-1) ?? "";
  if (how === "replace") find(holder, path);
  const parent = find(holder, path.slice(0, -1));
  if (Array.isArray(parent)) putIntoList(parent, name, value, how);
  else if (!isRecord(parent)) throw new Error(`the document has no object at ${formatPointer(path.slice(0, -1))}`);
  // Assigned, a property __proto__ would change the object itself.
  else Object.defineProperty(parent, name, { value, writable: true, enumerable: true, configurable: true });
}

function putIntoList(list: unknown[], name: string, value: unknown, how: "add" | "replace"): void {
  const index = name === "-" ? list.length : /^(?:0|[1-9]\d*)$/.test(name) ? Number(name) : NaN;
  if (!(index <= list.length)) throw new Error(`the list has ${list.length} items, and no place ${name}`);
  list.splice(index, how === "add" ? 0 : 1, value);
}

function remove(holder: object, path: readonly string[]): unknown {
  const value = find(holder, path);
  const name = path.at(-1) ?? "";
  const parent = find(holder, path.slice(0, -1));
  if (parent === holder) throw new Error("it removes the whole document");
  if (Array.isArray(parent)) parent.splice(Number(name), 1);
  else delete (parent as Record<string, unknown>)[name];
  return value;
}

function has(part: unknown, name: string): part is Readonly<Record<string, unknown>> {
  if (Array.isArray(part)) return /^(?:0|[1-9]\d*)$/.test(name) && Number(name) < part.length;
  return isRecord(part) && Object.hasOwn(part, name);
}

function formatPointer(path: readonly string[]): string {
  return path
    .slice(1)
    .map((name) => `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`)
    .join("");
}
