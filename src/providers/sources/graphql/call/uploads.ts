import { isPlainObject } from "../../../../model/arguments.ts";
import { UNKNOWN } from "../../../../model/plan.ts";
import { findFile } from "../../openapi/multipart.ts";
import { refuseArgument } from "../../openapi/refuse-argument.ts";

type VariablePath = readonly (string | number)[];

/** A file among the variables. */
export interface VariableFile {
  /** Where it is in the request: `variables.input.files.0`. */
  readonly path: string;
  /** Bytes, or `{ filename, contentType, data }`. */
  readonly value: unknown;
}

export interface SeparatedFiles {
  /** The variables, with null in place of each file. */
  readonly variables: unknown;
  readonly files: readonly VariableFile[];
}

/** Levels of lists and objects in variables. */
const MAX_LEVELS = 64;

/** Returns variables with `UNKNOWN` in place of bytes, which a check needs not see. Returns the same value without bytes. */
export function hideBytes(variables: unknown, levels = MAX_LEVELS): unknown {
  if (variables instanceof Uint8Array) return UNKNOWN;
  if (levels === 0) return variables;
  return mapMembers(variables, (member) => hideBytes(member, levels - 1));
}

/**
 * Takes the files out of variables. `uploads` are the paths of the variables that take files, without the indices of lists. Throws
 * `ARGUMENTS_INVALID` for bytes elsewhere, and for another value in place of a file.
 */
export function separateFiles(variables: unknown, uploads: readonly (readonly string[])[] = []): SeparatedFiles {
  const files: VariableFile[] = [];
  const separate = (
    value: unknown,
    path: VariablePath,
    names: readonly string[],
    open: readonly (readonly string[])[],
  ): unknown => {
    if (Array.isArray(value)) return mapMembers(value, (item, index) => separate(item, [...path, index], names, open));
    const isUpload = open.some(({ length }) => length === names.length);
    if (isUpload && value !== null && value !== undefined) {
      files.push({ path: ["variables", ...path].join("."), value: toFile(value, path) });
      return null;
    }
    if (value instanceof Uint8Array) throw refuseBytes(path, uploads);
    if (path.length >= MAX_LEVELS) return value;
    return mapMembers(value, (member, name) => {
      const inside = open.filter((upload) => upload[names.length] === name);
      return separate(member, [...path, name], [...names, String(name)], inside);
    });
  };
  return { variables: separate(variables, [], [], uploads), files };
}

function toFile(value: unknown, path: VariablePath): unknown {
  if (typeof value === "string") return { filename: "file.txt", contentType: "text/plain", data: value };
  if (findFile(value) !== undefined) return value;
  throw refuseArgument(
    path.join("."),
    "must be a file: write a Uint8Array, a text, or { filename, contentType, data }",
  );
}

function refuseBytes(path: VariablePath, uploads: readonly (readonly string[])[]): Error {
  const targets = uploads.map((upload) => upload.join(".")).join(", ");
  const advice = targets === "" ? "no variable of this text takes a file" : `files belong into ${targets}`;
  return refuseArgument(path.join("."), `is bytes, and its type is no upload: ${advice}; write bytes as a text`);
}

/** Returns the same value if no member changes. */
function mapMembers(value: unknown, change: (member: unknown, name: string | number) => unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item, index) => change(item, index));
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  if (!isPlainObject(value)) return value;
  const changes = Object.entries(value)
    .map(([name, member]) => ({ name, member, next: change(member, name) }))
    .filter(({ member, next }) => next !== member);
  // A spread keeps how numbers were written.
  return changes.length === 0
    ? value
    : { ...value, ...Object.fromEntries(changes.map(({ name, next }) => [name, next])) };
}
